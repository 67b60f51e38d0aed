"""``/v1/chat/completions``."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/chat", tags=["chat"])
