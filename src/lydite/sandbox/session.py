"""The supervisor's side of a session with one of our own back ends."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from lydite.errors import UnavailableError
from lydite.sandbox.classify import classify
from lydite.sandbox.jail import session as jail
from lydite.sandbox.jail import wire
from lydite.sandbox.native import Native
from lydite.sandbox.piped import exchange
from lydite.sandbox.result import MIB, ExecResult, Job, Limits, Status
from lydite.sandbox.worker import GRACE_S, ending_of, request

PATIENCE_S = 60.0  # for a file operation


class NativeSession:
    """A tree in a zygote of its own (see :class:`~lydite.sandbox.result.Tree`)."""

    def __init__(self, native: Native, files: dict[str, bytes], limits: Limits) -> None:
        self._native, self._limits = native, limits
        self._keeper, self._number, self._uid, self._socket = native.spawn("session", limits)
        self._lost: str | None = None
        self._memory = False
        self._kills = 0  # processes killed for memory, as far as its replies told
        try:
            for path, data in files.items():
                self.write(path, data, 0o755 if data.startswith(b"#!") else 0o644)
        except BaseException:
            self.close()
            raise

    def exec(self, argv: Sequence[str], *, stdin: bytes, env: dict[str, str], limits: Limits) -> ExecResult:
        """Run a command in the workspace; what it left running goes on running."""
        job = Job(argv=tuple(argv), env=env, limits=limits)
        cap, patience = limits.output_kb * 1024, limits.timeout + GRACE_S
        message = request(wire.ARGV, job, list(argv))

        def send(message: wire.Request, fds: tuple[int, ...], seconds: float) -> socket.socket:
            del seconds
            wire.send(self._socket, message, fds, prefix=bytes([jail.EXEC]))
            return self._socket

        if self._lost is not None:
            return self._gone()
        try:
            reply, fds, out, err = exchange(send, lambda: self._uid, message, stdin, cap, patience)
        except OSError as error:
            self._lose(str(error))
            return self._gone()
        except BaseException:
            self._lose("a command was interrupted")  # nobody has read its answer
            raise
        for fd in fds:
            os.close(fd)
        ending = ending_of(reply)
        self._kills += abs(ending.killed)
        return classify(ending, out, err, limits, self._native.name)

    def _gone(self) -> ExecResult:
        if self._memory:
            return ExecResult(
                status=Status.MEMORY,
                exit_code=None,
                backend=self._native.name,
                limit="memory_mb",
                detail="its memory ran out, and took the session along",
            )
        if self._native.closed:
            return ExecResult(
                status=Status.KILLED, exit_code=None, backend=self._native.name, detail="the sandbox was closed"
            )
        return ExecResult(
            status=Status.INVALID,
            exit_code=None,
            backend=self._native.name,
            detail=f"the session was lost: {self._lost}",
        )

    def _lose(self, reason: str) -> None:
        self._lost = reason
        self._end()

    def forget(self) -> None:
        """After a fork, in the child: the session is the parent's."""
        self._lost = "it belongs to the process that made it"
        self._socket.close()

    def _end(self) -> None:
        self._socket.close()
        if not self._native.closed:
            self._memory = self._keeper.end(self._number) > self._kills

    def _ask(self, operation: int, path: str, data: bytes = b"", number: int = 0) -> bytes:
        if self._lost is not None:
            raise UnavailableError(f"the session was lost: {self._lost}")
        try:
            self._socket.settimeout(PATIENCE_S)
            try:
                wire.send_plain(self._socket, (path, data, number), bytes([operation]))
                reply, fds, _, _ = socket.recv_fds(self._socket, wire.INLINE + 4096, 1)
            finally:
                self._socket.settimeout(None)
            if not reply:
                raise OSError("its process is gone")
        except OSError as error:
            self._lose(str(error))
            raise UnavailableError(f"the session was lost: {error}") from None
        except BaseException:
            self._lose("an operation was interrupted")
            raise
        code, size = wire.FILE.unpack_from(reply)
        content = reply[wire.FILE.size :]
        if fds:
            content = wire.read_all(fds[0], size)
            os.close(fds[0])
        if code == wire.NO_PATH:
            raise ValueError(content.decode(errors="replace"))
        if code:
            raise OSError(code, content.decode(errors="replace"), path or None)
        return content

    def read(self, path: str, limit: int) -> bytes:
        return self._ask(jail.READ, path, number=limit)

    def write(self, path: str, data: bytes, mode: int) -> None:
        self._ask(jail.WRITE, path, data, mode)

    def remove(self, path: str) -> None:
        self._ask(jail.REMOVE, path)

    def list(self, path: str) -> list[str]:
        names = self._ask(jail.LIST, path)
        return [os.fsdecode(name) for name in names.split(b"\0")] if names else []

    def freeze(self) -> None:
        self._ask(jail.FREEZE, "")

    def pack(self) -> bytes:
        return self._ask(jail.PACK, "", number=2 * self._limits.disk_mb * MIB)

    def unpack(self, data: bytes) -> None:
        self._ask(jail.UNPACK, "", data)

    def close(self) -> None:
        if self._lost is None:
            self._lose("it was closed")
