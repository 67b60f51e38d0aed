"""Addresses without empty parameters: a form that is sent without scripts has one for every field."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, HTTPException, Request


def filled(request: Request) -> None:
    """Send a request with empty parameters to the address without them."""
    pairs = request.query_params.multi_items()
    kept = [(name, value) for name, value in pairs if value.strip()]
    if len(kept) < len(pairs):
        query = urlencode(kept, errors="replace")
        raise HTTPException(303, headers={"Location": request.url.path + (f"?{query}" if query else "")})


Filled = Annotated[None, Depends(filled)]
"""A parameter of a route with filters; stands before them."""
