"""Where our own back ends cannot work: importing is no error, and the message says what does work."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("sys.platform = 'darwin'", "needs Linux; this is darwin"),
        ("sys.platform = 'win32'", "needs Linux; this is win32"),
        ("import platform; platform.machine = lambda: 'riscv64'", "no system call table for riscv64"),
    ],
)
def test_a_sandbox_says_why_it_cannot_be(place: str, said: str) -> None:
    script = f"""
import asyncio, subprocess, sys
{place}
from lydite.errors import UnavailableError
from lydite.sandbox import Sandbox
for backend in ('auto', 'namespaces', 'namespaces-nocgroup', 'landlock'):
    try: Sandbox(backend)
    except UnavailableError as error: print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(said in line for line in lines), lines
