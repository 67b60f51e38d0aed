"""``/v1/rlvr/runs``: runs, groups, rollouts, series."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/rlvr/runs", tags=["runs"])
