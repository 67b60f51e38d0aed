"""How a service is set up: where its home is, where it listens, how much it takes."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import msgspec


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of one server process.

    Attributes:
        home: the folder whose ``runs/`` are shown; ``.lydite/`` in it is the service's own.
        host, port: where it listens.
        database: SQLAlchemy URL of the index; empty for ``.lydite/index.sqlite3`` in the home.
        allowed_hosts: names, beside the address itself, under which requests may ask for the service (``Host``).
        require_token: whether a token is asked for on loopback too, where other users of the machine can reach it.
        body_limit: bytes of one request's body; ``upload_limit`` of an uploaded file.
        jobs: how many jobs may run at once; the others wait.
        resume_jobs: whether jobs that were killed go on when the service starts; without, they are failed.
        poll_seconds: how often run folders and jobs are looked at.
    """

    home: Path
    host: str = "127.0.0.1"
    port: int = 7799
    database: str = ""
    allowed_hosts: tuple[str, ...] = ()
    require_token: bool = False
    body_limit: int = 16 << 20
    upload_limit: int = 512 << 20
    jobs: int = 1
    resume_jobs: bool = False
    poll_seconds: float = 0.5

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the service; then no token is asked for."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def guarded(self) -> bool:
        """Whether requests need a token."""
        return self.require_token or not self.loopback
