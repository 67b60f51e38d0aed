"""SIGINT and SIGTERM while an event loop runs."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def stop_on_signals(loop: asyncio.AbstractEventLoop) -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set; a second signal acts as it did before. Only the main thread hears them."""
    stop = asyncio.Event()
    before: dict[signal.Signals, Any] = {}

    def heard() -> None:
        stop.set()
        restore()

    def restore() -> None:
        for number in list(before):
            loop.remove_signal_handler(number)
            signal.signal(number, before.pop(number))

    for number in (signal.SIGINT, signal.SIGTERM):
        previous = signal.getsignal(number)
        try:
            loop.add_signal_handler(number, heard)
        except (ValueError, RuntimeError, NotImplementedError):
            break
        before[number] = previous
    try:
        yield stop
    finally:
        restore()
