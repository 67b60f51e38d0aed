"""What routes ask for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from lydite.server.service import Service


def service_of(request: Request) -> Service:
    """The service that the application belongs to."""
    service: Service = request.app.state.service
    return service


Given = Annotated[Service, Depends(service_of)]
"""A route's parameter: the service."""
