"""``/v1/rlvr/flags``."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/rlvr/flags", tags=["flags"])
