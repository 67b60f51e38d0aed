"""From a checker to a compiled check that never raises."""

from __future__ import annotations

import hashlib
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from lydite.codec import canonical, well_formed
from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.task import Checker
from lydite.userfile import locate
from lydite.verdict import Verdict
from lydite.verifiers.protocol import Check, Step, Submission, Verifier
from lydite.verifiers.registry import BUILTIN, find

CACHE_SIZE = 4096
"""Compiled checkers kept; a group of attempts at one task shares one."""


class CompiledChecker:
    """A check that judges many submissions: deterministic, thread-safe, and it never raises.

    Attributes:
        checker: what it was compiled from.
        id: ``name@version`` of the verifier; a composite's names its components too.
        source: hex SHA-256 over the verifier's source files, those of components too; stable between processes.
        waits: whether judging waits for other processes (the verifier's attribute ``waits``).
    """

    __slots__ = ("_check", "checker", "id", "source", "waits")

    def __init__(self, checker: Checker, verifier: Verifier) -> None:
        self.checker = checker
        self.id = f"{verifier.name}@{verifier.version}"
        self.source = source_hash(verifier)
        self.waits: bool = getattr(verifier, "waits", False)
        try:
            self._check: Check = verifier.compile(checker.config)
            self.id, self.source = getattr(self._check, "identity", (self.id, self.source))
        except (InputError, MissingExtraError, UnavailableError, KeyboardInterrupt):
            raise
        except BaseException as error:  # a fault of the verifier's: no attempt may be blamed for it
            verdict = Verdict.invalid("verifier_error", self.id, detail=f"compile: {_told(error)}")
            self._check = lambda submission: verdict

    def __call__(self, submission: Submission) -> Verdict:
        """The verdict. A fault of the verifier's own is ``invalid`` with reason ``verifier_error``, never a score."""
        try:
            verdict = self._check(_clean(submission))
            if type(verdict) is Verdict:
                return verdict
            fault = f"returned {type(verdict).__name__}, not a Verdict"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit, and what libraries in other languages call a panic
            fault = _told(error)
        return Verdict.invalid("verifier_error", self.id, detail=fault)

    def explain(self, submission: Submission) -> tuple[Step, ...]:
        """The steps that led to the verdict; none where the verifier does not tell them. Never raises."""
        tell = getattr(self._check, "explain", None)
        if tell is None:
            return ()
        try:
            return tuple(tell(_clean(submission)))
        except Exception as error:
            return (Step("explain", _told(error)),)


def _clean(submission: Submission) -> Submission:
    """A submission whose text has no lone surrogates."""
    text = submission.text
    if text.isascii() or (clean := well_formed(text)) is text:
        return submission
    return msgspec.structs.replace(submission, text=clean)


def _told(error: BaseException) -> str:
    """An exception as its author can use it: class, message (300 characters at most), file and line of the last
    frame."""
    try:
        message = well_formed(" ".join(str(error)[:300].split()))
    except Exception:
        message = ""
    name = type(error).__name__
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f" ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})" if frame is not None else ""
    return (f"{name}: {message}" if message else name) + place


def build(checker: Checker | dict[str, Any]) -> CompiledChecker:
    """The compiled check of a checker, from a cache where it was compiled before.

    Args:
        checker: a ``Checker`` or ``{"type": ..., "config": {...}}``.

    Raises:
        InputError: unknown type, or a configuration that the verifier refuses; names the field and the remedy.
        UnavailableError: what the verifier needs (a sandbox, a tool) is not on this machine.
        MissingExtraError: a library that it needs is not installed.
    """
    if not isinstance(checker, Checker):
        plain = _plain(checker)
        if plain is not None:
            return of_text(*plain)
        checker = _parse(checker)
    try:
        key = canonical(checker)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        remedy = "use texts, finite numbers, true, false, null, lists and objects only"
        raise InputError(f"not plain JSON: {error}", field="checker.config", remedy=remedy) from None
    return _compiled(key, locate(checker.type))


def _plain(document: Any) -> tuple[str, str, str] | None:
    """Type, field and value of a checker whose configuration is one text: most are; no encoding to be found."""
    if type(document) is not dict or len(document) != 2:
        return None
    kind, config = document.get("type"), document.get("config")
    if type(kind) is not str or type(config) is not dict or len(config) != 1 or ":" in kind:
        return None
    ((field, value),) = config.items()
    return (kind, field, value) if type(field) is str and type(value) is str else None


@lru_cache(maxsize=CACHE_SIZE)
def of_text(kind: str, field: str, value: str) -> CompiledChecker:
    """The compiled check of a checker whose configuration is one text; raises as ``build`` does."""
    if kind in BUILTIN and field.isascii() and value.isascii():  # what a canonical spelling would say as well
        return _made(Checker(type=kind, config={field: value}))
    return build(Checker(type=kind, config={field: value}))


def _parse(document: Any) -> Checker:
    if not isinstance(document, dict):
        told = f"expected an object, found {type(document).__name__}"
        raise InputError(told, field="checker", remedy='give {"type": …, "config": {…}}')
    extra = sorted(set(document) - {"type", "config"})
    if extra:
        raise InputError(f"unknown field {extra[0]!r}", field="checker", remedy='it has "type" and "config" only')
    if not isinstance(document.get("type"), str):
        raise InputError("missing, or not a text", field="checker.type", remedy="name a verifier, for example math")
    if not isinstance(document.get("config", {}), dict):
        raise InputError("expected an object", field="checker.config", remedy="give fields by name, or leave it out")
    return Checker(type=document["type"], config=document.get("config", {}))


@lru_cache(maxsize=CACHE_SIZE)
def _compiled(key: bytes, path: str) -> CompiledChecker:
    # Compiled from the canonical bytes, not from the caller's object: later changes to that object cannot reach it,
    # and what is compiled is exactly what a ledger's digest speaks of.
    return _made(msgspec.json.decode(key, type=Checker))


def _made(checker: Checker) -> CompiledChecker:
    try:
        return CompiledChecker(checker, find(checker.type))
    except InputError as error:
        raise error.at(prefix="checker" if error.field == "type" else "checker.config") from None


def forget() -> None:
    """Let go of all compiled checkers: for processes that judge by those of strangers, which may be large."""
    of_text.cache_clear()
    _compiled.cache_clear()


def source_hash(verifier: Verifier) -> str:
    """Hex SHA-256 over a verifier's source files.

    The files are those of the modules named in the verifier's attribute ``modules`` (default: the module of its class);
    a package stands for all of its Python files. Names and contents count, folders do not.
    """
    return _hash_of(tuple(getattr(verifier, "modules", (type(verifier).__module__,))))


@lru_cache(maxsize=256)
def _hash_of(modules: tuple[str, ...]) -> str:
    total = hashlib.sha256()
    for name in modules:
        module = sys.modules.get(name) or __import__(name, fromlist=["_"])
        file = Path(module.__file__ or "")
        for path in sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]:
            data = path.read_bytes() if path.is_file() else b""
            total.update(f"{path.name}\0{len(data)}\0".encode())
            total.update(data)
    return total.hexdigest()
