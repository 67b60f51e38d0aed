"""A server on a real socket, and the real ``openai`` client that asks it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import uvicorn

from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings


class Asked:
    """Attributes: ``service``, ``url``, ``client`` (which tries nothing twice)."""

    def __init__(self, service: Service, url: str) -> None:
        self.service, self.url = service, url
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=120)


@contextlib.contextmanager
def asking(home: Path, **settings: Any) -> Iterator[Asked]:
    """A server in a thread, gone at the end with all that it started."""
    service = Service(Settings(home=home, **settings))
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(service), log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        end = time.monotonic() + 20
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < end, "the server did not start in time"
            time.sleep(0.01)
        asked = Asked(service, f"http://127.0.0.1:{listener.getsockname()[1]}")
        yield asked
        asked.client.close()
    finally:
        server.should_exit = True
        thread.join(15)
        listener.close()
        service.close()
