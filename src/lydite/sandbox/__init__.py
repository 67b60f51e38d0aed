"""Run untrusted code, and hold private file trees."""

from __future__ import annotations

from lydite.sandbox.choose import Found, probe
from lydite.sandbox.result import ExecResult, Limits, Status
from lydite.sandbox.sandbox import Sandbox
from lydite.sandbox.snapshot import Snapshot
from lydite.sandbox.workspace import Workspace

__all__ = ["ExecResult", "Found", "Limits", "Sandbox", "Snapshot", "Status", "Workspace", "probe"]
