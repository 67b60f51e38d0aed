"""``/v1/models``."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/models", tags=["models"])
