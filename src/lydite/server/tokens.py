"""Tokens that let a client in, and the sessions of browsers that showed one.

What is covered: a token is 256 random bits, shown once; the file holds its SHA-256 (a slow hash protects weak
passwords, of which there are none here) and nobody but its owner reads it; a wrong one costs as long as a right one;
one that is revoked is refused from the next request on, and so are the sessions that it opened.

What is not covered: what one token may do and another not (each may do everything), and a client that loses its token.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import logging
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lydite.errors import InputError
from lydite.ledger.files import open_regular, storage, sync_folder, write_all
from lydite.server.home import check_id

PREFIX = "lyd_"
SHORTEST = 16
"""Characters that a token from the environment has at least."""
SESSION_SECONDS = 7 * 86400.0
"""A browser is asked again after this time."""
SESSIONS = 1000
"""Sessions that are kept; the oldest goes first."""
FROM_ENVIRONMENT = "LYDITE_TOKEN"

log = logging.getLogger("lydite.server")


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a token. ``created`` in seconds since the epoch; ``hash`` is its SHA-256 in hex."""

    name: str
    hash: str
    created: float


class Tokens:
    """The tokens of a home, in ``tokens.json``. Safe from threads and beside other processes.

    Args:
        folder: the private folder of the home.
        extra: a token beside those of the file, such as the environment's.

    Raises:
        InputError: ``extra`` is too short to guard anything.
    """

    def __init__(self, folder: Path, extra: str = "") -> None:
        if extra and len(extra) < SHORTEST:
            message = f"the token in {FROM_ENVIRONMENT} is shorter than {SHORTEST} characters"
            raise InputError(message, remedy="lydite tokens new NAME makes one that cannot be guessed")
        self._path = folder / "tokens.json"
        self._extra = (Token(name=FROM_ENVIRONMENT, hash=digest(extra), created=0.0),) if extra else ()
        self._seen: tuple[int, int, int] | None = None
        self._kept: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """What the file holds.

        Raises:
            InputError: it is damaged.
        """
        try:
            with open_regular(self._path) as file:
                data = file.readall()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=self._path) from error
        try:
            return msgspec.json.decode(data, type=tuple[Token, ...])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            remedy = "remove the file and make new tokens: lydite tokens new NAME"
            raise InputError(f"is damaged: {error}", path=self._path, remedy=remedy) from error

    def new(self, name: str) -> str:
        """Make a token; the only time that it is told.

        Raises:
            InputError: there is one of this name, or it is no name.
            StorageError: the file cannot be written.
        """
        check_id(name)
        token = PREFIX + secrets.token_urlsafe(32)
        with self._changing() as kept:
            if any(other.name == name for other in kept):
                raise InputError(f"there is a token {name!r}", field="name", remedy="revoke it, or take another name")
            kept.append(Token(name=name, hash=digest(token), created=round(time.time(), 3)))
        return token

    def revoke(self, name: str) -> None:
        """Take a token away, at once and in a running server too.

        Raises:
            InputError: there is none of this name.
        """
        with self._changing() as kept:
            left = [token for token in kept if token.name != name]
            if len(left) == len(kept):
                raise InputError(f"there is no token {name[:80]!r}", field="name", remedy="lydite tokens list")
            kept[:] = left

    def known(self) -> tuple[Token, ...]:
        """Tokens that are good now: a look at the file's times, and a read where they changed. A damaged file lets
        nobody in."""
        try:
            state = self._path.stat()
            seen = (state.st_mtime_ns, state.st_ino, state.st_size)
        except OSError:
            self._seen, self._kept = None, ()
            return self._extra
        if seen != self._seen:
            try:
                self._kept = self.all()
            except InputError as error:
                log.error("%s", error)
                self._kept = ()
            self._seen = seen
        return (*self._kept, *self._extra)

    def find(self, token: str) -> Token | None:
        """The token that this text is, in a time that says nothing about it."""
        asked, found = digest(token), None
        for known in self.known():
            if hmac.compare_digest(known.hash, asked):
                found = known
        return found

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        lock = self._path.with_name("tokens.lock")
        with storage(lock):
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            kept = list(self.all())
            yield kept
            self._write(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
        finally:
            os.close(descriptor)

    def _write(self, data: bytes) -> None:
        draft = self._path.with_name(f".tokens.{os.getpid()}.tmp")
        with storage(self._path):
            draft.unlink(missing_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(draft, self._path)
        sync_folder(self._path.parent)


class Sessions:
    """Browsers that showed a token: a random word each, held in memory, forgotten when the server ends."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._open: dict[str, tuple[str, float]] = {}  # digest of the word: digest of its token, when it ends

    def begin(self, token: str) -> str | None:
        """A new session's word; ``None`` where the token is not good."""
        found = self._tokens.find(token)
        if found is None:
            return None
        word = secrets.token_urlsafe(32)
        while len(self._open) >= SESSIONS:
            del self._open[next(iter(self._open))]
        self._open[digest(word)] = (found.hash, time.monotonic() + SESSION_SECONDS)
        return word

    def good(self, word: str) -> bool:
        """Whether a session is open and its token still good. The word is looked up by its hash, so that the time which
        that takes says nothing about words that there are."""
        key = digest(word)
        held = self._open.get(key)
        if held is None:
            return False
        if held[1] < time.monotonic() or all(token.hash != held[0] for token in self._tokens.known()):
            self._open.pop(key, None)
            return False
        return True

    def end(self, word: str) -> None:
        self._open.pop(digest(word), None)


def digest(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
