"""A server process: its home locked, its address bound, its signals heard."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import logging
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path

import msgspec
import uvicorn
from sqlalchemy.exc import SQLAlchemyError

from lydite.errors import InputError, StorageError
from lydite.server.app import create_app
from lydite.server.home import Home
from lydite.server.limits import Streams
from lydite.server.protocol import Protocol
from lydite.server.security import HEAD_BYTES, host_name
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.server.tokens import FROM_ENVIRONMENT, Tokens

CLOSING_SECONDS = 3
"""For requests that are under way when the server is told to end."""
ENDING_SECONDS = 8.0
"""After which a server that was told to end does, whatever its threads wait for; files are replaced whole or not at
all, so nothing is left half done."""
FILES = 65536
"""Open files that the process asks the kernel to allow it; every connection is one."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """What a server tells of itself: where it answers, for which home, as which process."""

    url: str
    home: str
    pid: int


def run(settings: Settings, tell: Callable[[Address], None]) -> None:
    """Serve until a signal says to end.

    Args:
        settings: of the service; port 0 takes a free one.
        tell: called once, when requests are answered.

    Raises:
        InputError: the home, the address or the database cannot be used; what to do is said.
    """
    settings = _checked(settings)
    try:
        home = Home(settings.home)
        guard = Claim(home.private)
    except StorageError as error:
        remedy = "make the folder writable, or give another one with --home"
        raise InputError(f"the home cannot be written: {error.__cause__}", path=settings.home, remedy=remedy) from error
    with guard, _bound(settings) as own:
        host, port = own.getsockname()[:2]
        if settings.guarded and not Tokens(home.private, os.environ.get(FROM_ENVIRONMENT, "")).known():
            reach = "can be reached from elsewhere" if not settings.loopback else "asks for a token"
            message = f"a service at {settings.host} {reach}, and there is no token"
            remedy = f"lydite tokens new NAME --home {settings.home} makes one, or set {FROM_ENVIRONMENT}"
            raise InputError(message, field="host", remedy=remedy)
        address = Address(url=_url(host, port), home=str(home.path), pid=os.getpid())
        guard.note(address)
        try:
            service = Service(msgspec.structs.replace(settings, port=port))
        except SQLAlchemyError as error:
            what = str(getattr(error, "orig", None) or error).splitlines()[0]
            message = f"the database cannot be used: {what[:300]}"
            raise InputError(message, field="database", remedy="look at its URL, or leave it out") from error
        last = hurry(ENDING_SECONDS)

        def ending() -> None:
            last.start()
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # has a page to say of each request cut off

        try:
            app = create_app(service)
            os.environ.pop(FROM_ENVIRONMENT, None)  # no job and no sandbox is to see it
            _more_files()
            logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
            logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # warns of every request that is no HTTP
            config = uvicorn.Config(
                app,
                http=Protocol,
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                h11_max_incomplete_event_size=HEAD_BYTES,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=CLOSING_SECONDS,
            )
            server = Server(config, app.state.streams, lambda: tell(address), ending)
            with server.signals():
                asyncio.run(server.serve([own]))
            if not server.started:
                raise InputError("the service could not start; what is printed above says why")
        finally:
            service.close()
            last.cancel()


def hurry(seconds: float) -> threading.Timer:
    """What ends this process, once it is started, with 0 after some seconds, whatever its threads wait for."""
    last = threading.Timer(seconds, os._exit, (0,))
    last.daemon = True
    return last


class Server(uvicorn.Server):
    """uvicorn's server, which ends streams of events when it ends, and leaves with 0 after a signal.

    Args:
        config: uvicorn's.
        streams: what is open.
        listening, ending: called when requests are answered, and when they are not any more.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        streams: Streams,
        listening: Callable[[], None] = lambda: None,
        ending: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._streams, self._listening, self._ending = streams, listening, ending

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Hear signals from now on, before there is anything to end."""
        heard = [number for number in SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, self.handle_exit) for number in heard}  # nohup's stays ignored
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # uvicorn's own raises them again at the end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:  # the lifespan failed and said why
            self.should_exit = True
            return
        self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        self._streams.close()
        await super().shutdown(sockets)


class Claim:
    """The right to serve a home: one process at a time. The kernel lets go of it when the process dies.

    Raises:
        InputError: another server has it; its address is named.
        StorageError: the home cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / "server.lock"
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(str(error)) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            other = self._other()
            os.close(self._fd)
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise StorageError(str(error)) from error
            where = f" at {other.url} (process {other.pid})" if other else ""
            message = f"this home is served already{where}"
            raise InputError(message, path=folder.parent, remedy="use that one, or end it first") from None

    def _other(self) -> Address | None:
        try:
            return msgspec.json.decode(os.pread(self._fd, 4096, 0), type=Address)
        except (OSError, msgspec.DecodeError):
            return None

    def note(self, address: Address) -> None:
        """Say who has it."""
        data = msgspec.json.encode(address)
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, data, 0)

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *_: object) -> None:
        os.ftruncate(self._fd, 0)
        os.close(self._fd)


def _checked(settings: Settings) -> Settings:
    if not settings.host or not settings.host.isprintable():
        raise InputError("is no address", field="host", remedy="for example 127.0.0.1")
    names = []
    for name in settings.allowed_hosts:
        found = host_name(name)
        if found is None:
            raise InputError(
                f"{name[:200]!r} is no name of a host", field="allow-host", remedy="for example rl.example.org"
            )
        names.append(found)
    if not 0 <= settings.port < 65536:
        raise InputError(f"{settings.port} is no port", field="port", remedy="1 to 65535, or 0 for a free one")
    if settings.home.exists() and not settings.home.is_dir():
        raise InputError("is no folder", path=settings.home, remedy="give a folder with --home")
    host = settings.host.strip("[]")
    return msgspec.structs.replace(settings, host=host, allowed_hosts=tuple(names))


def _bound(settings: Settings) -> socket.socket:
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        found.sort(key=lambda entry: entry[0] != socket.AF_INET)
        family, _, _, _, target = found[0]
        own = socket.create_server(target[:2], family=family, backlog=2048)
    except OSError as error:
        raise _unusable(host, port, error) from error
    except UnicodeError as error:
        raise InputError(f"{host[:100]!r} is no address", field="host", remedy="for example 127.0.0.1") from error
    if settings.loopback and not ip_address(own.getsockname()[0]).is_loopback:
        own.close()
        raise InputError(f"{host} is not this machine alone", field="host", remedy="give 127.0.0.1")
    return own


def _unusable(host: str, port: int, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    if error.errno == errno.EADDRINUSE:
        remedy = "end what listens there, or give another --port (0 takes a free one)"
        return InputError(f"port {port} of {host} is in use", field="port", remedy=remedy)
    if error.errno == errno.EACCES:
        return InputError(f"port {port} may not be used: {reason}", field="port", remedy="give one above 1023")
    return InputError(
        f"cannot listen at {host[:100]}: {reason}", field="host", remedy="give an address of this machine"
    )


def _url(host: str, port: int) -> str:
    found = ip_address(host.partition("%")[0])
    if found.is_unspecified:  # all addresses: the one that works from here
        return f"http://127.0.0.1:{port}" if found.version == 4 else f"http://[::1]:{port}"
    return f"http://{host}:{port}" if found.version == 4 else f"http://[{host}]:{port}"


def _more_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
