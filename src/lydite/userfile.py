"""Python files that a user names: ``path.py:name``. Such a file is executed: name only files that you trust."""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
import threading
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from lydite.codec import sha256
from lydite.errors import InputError

_importing = threading.RLock()
"""A module stands in ``sys.modules`` before it is complete: nobody else may look until it is."""


def locate(name: str) -> str:
    """The absolute path of ``path.py:name``, ``~`` and the current folder resolved; empty for any other name."""
    path, colon, _ = name.rpartition(":")
    return os.path.abspath(os.path.expanduser(path)) if colon and path.endswith(".py") else ""


def absolute(name: str, folder: str = "") -> str:
    """``path.py:name`` with the path made absolute, from a folder or the current one; any other name as it is. For
    whoever uses a name again later: a verifier may have gone to another folder by then."""
    path, _, attribute = name.rpartition(":")
    if not locate(name):
        return name
    return f"{os.path.abspath(os.path.join(folder, os.path.expanduser(path)))}:{attribute}"


def attribute_of(path: str, attribute: str, field: str = "type") -> Any:
    """What a file calls ``attribute``. The file is executed, once in a process. ``field``: what errors name.

    Raises:
        InputError: no such file, it cannot be imported (with the line that failed), or it has no such name.
    """
    module = _module_of(Path(path), field)
    try:
        return getattr(module, attribute)
    except AttributeError:
        own = [
            name
            for name, value in vars(module).items()
            if callable(value) and getattr(value, "__module__", None) == module.__name__ and name[:1] != "_"
        ]
        near = difflib.get_close_matches(attribute, own, 1)
        told = f"it has {', '.join(own)[:200]}" if own else "it defines no class and no function"
        remedy = f"did you mean '{near[0]}'?" if near else told
        raise InputError(f"has no {attribute!r:.80}", path=path, field=field, remedy=remedy) from None


def _module_of(path: Path, field: str) -> ModuleType:
    if not path.is_file():
        raise InputError(
            "no such file", path=path, field=field, remedy="give the path of a Python file before the colon"
        )
    resolved = path.resolve()
    key = f"_lydite_user_{sha256(str(resolved).encode())[:16]}"
    with _importing:
        if key in sys.modules:
            return sys.modules[key]
        spec = importlib.util.spec_from_file_location(key, resolved)
        if spec is None or spec.loader is None:
            raise InputError("not a Python file", path=path, field=field, remedy="give the path of one")
        module = importlib.util.module_from_spec(spec)
        sys.modules[key] = module
        try:
            spec.loader.exec_module(module)
        except KeyboardInterrupt:
            del sys.modules[key]
            raise
        except BaseException as error:  # a script that calls sys.exit() too
            del sys.modules[key]
            raise import_failure(error, str(path), str(resolved), field) from error
    return module


def import_failure(error: BaseException, path: str, file: str | None = None, field: str = "type") -> InputError:
    """Why something cannot be imported, with the line that failed.

    Args:
        path: what the message names.
        file: the file whose line is told, as tracebacks call it; where there is none, the file and line in which the
            error was raised are part of the message.
    """
    message = f"cannot be imported: {type(error).__name__}: {str(error)[:300]}".rstrip(": ")
    remedy = "mend it, or install what it imports"
    if isinstance(error, SyntaxError) and error.filename:
        message = f"cannot be imported: {type(error).__name__}: {error.msg}"
        if error.filename == file:
            return InputError(message, path=path, line=error.lineno, field=field, remedy=remedy)
        return InputError(f"{message} ({error.filename}:{error.lineno})", path=path, field=field, remedy=remedy)
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith("<frozen")
    ]
    own = [line for name, line in frames if name == file]
    place = f" ({frames[-1][0]}:{frames[-1][1]})" if frames and frames[-1][0] != file else ""
    return InputError(message + place, path=path, line=own[-1] if own else None, field=field, remedy=remedy)
