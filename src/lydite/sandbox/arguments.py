"""What a caller hands over, checked before anything runs: a mistake of the caller is no error of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.sandbox.jail.packing import check_path
from lydite.sandbox.result import Limits


def override(limits: Limits, changes: Mapping[str, Any]) -> Limits:
    """These limits with what was given replaced; None keeps what is there.

    Raises:
        InputError: there is no such limit, or it is no number above 0.
    """
    for name in changes:
        if name not in Limits.__struct_fields__:
            near = get_close_matches(name, Limits.__struct_fields__, 1)
            remedy = f"did you mean {near[0]}?" if near else f"limits are {', '.join(Limits.__struct_fields__)}"
            raise InputError("no such limit", field=name, remedy=remedy)
    given = {name: value for name, value in changes.items() if value is not None}
    return msgspec.structs.replace(limits, **given) if given else limits


def content(data: bytes | str, field: str) -> bytes:
    """Bytes as they are, text as UTF-8.

    Raises:
        InputError: it is neither.
    """
    if isinstance(data, str):
        return data.encode("utf-8", "surrogateescape" if _escaped(data) else "surrogatepass")
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise InputError(f"is a {type(data).__name__}", field=field, remedy="give bytes or text")


def _escaped(text: str) -> bool:
    """Whether its surrogates, if any, stand for bytes that were no UTF-8."""
    return not any("\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff" for char in text)


def words(argv: Sequence[str], field: str = "argv") -> tuple[str, ...]:
    """The words of a command.

    Raises:
        InputError: no list of words, or a word that no program can be given.
    """
    remedy = 'give a list of words such as ["ls", "-l"]'
    if isinstance(argv, (str, bytes)) or not isinstance(argv, Sequence) or not argv:
        raise InputError(f"{argv!r:.40} is no list of words", field=field, remedy=remedy)
    for word in argv:
        if not isinstance(word, str) or "\0" in word:
            raise InputError(f"{word!r:.40} is no word of a command", field=field, remedy=remedy)
    return tuple(argv)


def environ(env: Mapping[str, str] | None) -> dict[str, str]:
    """Environment variables.

    Raises:
        InputError: a name or value that no program can be given.
    """
    for name, value in (env or {}).items():
        if not isinstance(name, str) or not isinstance(value, str) or not name or "=" in name or "\0" in name + value:
            raise InputError(f"{name!r:.40}={value!r:.40} is no variable", field="env", remedy="give text for text")
    return dict(env or {})


def checked_files(files: Mapping[str, bytes | str]) -> dict[str, bytes]:
    """File contents by normal path.

    Raises:
        InputError: a path that leads out of the workspace.
    """
    checked = {}
    for path, data in files.items():
        try:
            checked[check_path(path)] = content(data, f"files.{path}")
        except ValueError as error:
            raise InputError(str(error), field="files", remedy="give paths relative to the workspace") from None
    return checked
