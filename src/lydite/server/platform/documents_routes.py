"""``/doc``."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/doc", tags=["platform"])
