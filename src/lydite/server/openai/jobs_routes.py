"""``/v1/fine_tuning/jobs``."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/fine_tuning/jobs", tags=["fine-tuning"])
