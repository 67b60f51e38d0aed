"""Reward servers in the shapes of OpenRLHF and NeMo Gym."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="", tags=["compat"])
