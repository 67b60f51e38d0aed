"""``/v1/rlvr/events``: what happens, as server-sent events."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/rlvr/events", tags=["events"])
