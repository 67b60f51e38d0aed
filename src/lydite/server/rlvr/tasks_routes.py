"""``/v1/rlvr/tasks``: author, validate, probe."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/rlvr/tasks", tags=["tasks"])
