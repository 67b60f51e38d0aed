"""``/v1/fine_tuning/alpha/graders``."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/fine_tuning/alpha/graders", tags=["graders"])
