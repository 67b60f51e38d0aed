"""The ledger of a run: head, proofs; exports."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1/rlvr/runs", tags=["ledger"])
