"""``/v1/rlvr/verify``: verdicts, one or many."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/rlvr/verify", tags=["verify"])
