"""A real HTTP server on loopback that misbehaves on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

Reply = Callable[[dict[str, Any], asyncio.StreamWriter], Any]


def choice(content: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}


def completion(*choices: dict[str, Any], prompt_tokens: int = 7, completion_tokens: int = 5) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return {"model": "served-2024", "choices": list(choices), "usage": usage}


def answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A whole answer: JSON, or bytes as they are."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()

    def send(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    return send


def refuse(status: int, message: str = "no", headers: Mapping[str, str] | None = None, **error: Any) -> Reply:
    return answer({"error": {"message": message, **error}}, status, headers)


def cut(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """Promise a body and hang up in the middle of it."""
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices": [')


async def slow(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """A byte now and then: no single read takes long, the whole takes for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(400):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


def echo(body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """A server as it should be: ``n`` choices, each telling its seed."""
    choices = [choice(f"{body.get('seed')}/{index}") for index in range(body.get("n", 1))]
    answer(completion(*choices, completion_tokens=5 * len(choices)))(body, writer)


class MisbehavingServer:
    """Plays ``script`` reply by reply, then ``echo``. Keeps what it was asked, and how many asked at once."""

    def __init__(self) -> None:
        self.script: list[Reply] = []
        self.otherwise: Reply = echo
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[str] = []
        self.most_at_once = 0
        self.delay = 0.0
        self._now = 0
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> MisbehavingServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(int(line.split(":")[1]) for line in head.lower().splitlines() if "content-length" in line)
            body = json.loads(await reader.readexactly(length))
            self.headers.append(head)
            self.bodies.append(body)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            await asyncio.sleep(self.delay)
            self._now -= 1
            reply = self.script.pop(0) if self.script else self.otherwise
            result = reply(body, writer)
            if result is not None:
                await result
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client gave up first, as some tests want it to
        finally:
            writer.close()
