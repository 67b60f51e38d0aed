"""Plain values as bytes, between processes that do not trust each other.

Covered: any bytes. :func:`decode` takes time linear in them, builds nothing but exact built-in types, and raises
nothing but :class:`MalformedError`. Not covered: whether a value is true; whoever writes the channel may claim any.

Grammar (a count or length is decimal and ends in ``;``)::

    N None   T True   F False   i-ff; int, hex   f<16 hex> float   c<32 hex> complex
    s<n>;<UTF-8> str   b<n>;<bytes>   l<n>;… list   t<n>;… tuple   S<n>;… set   Z<n>;… frozenset   d<n>;k v … dict

Standard library only: a candidate's process and a test's process run this text too.
"""

from __future__ import annotations

import collections
import struct
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 100
MAX_NODES = 200_000
MAX_HEX = 40_000
"""Hexadecimal digits of one integer: some 48,000 decimal ones."""
MAX_COLLISIONS = 64
"""Members of one set, or keys of one dict, that may share hashes: more are made to keep the reader busy."""

_HEX = b"0123456789abcdef"
_DICTS = (dict, collections.Counter, collections.OrderedDict, collections.defaultdict)
_SEQUENCES: dict[type, bytes] = {list: b"l", tuple: b"t", set: b"S", frozenset: b"Z"}
_MAKERS: dict[int, Callable[[list[Any]], Any]] = {ord("l"): list, ord("t"): tuple, ord("S"): set, ord("Z"): frozenset}


class NotPlainError(Exception):
    """The value is not made of plain built-in values, or it is too large or too deep."""


class MalformedError(Exception):
    """The bytes are not one plain value."""


def encode(value: Any) -> bytes:
    """A plain value as bytes. Exact types only (a subclass may compare as it likes); ``Counter``, ``OrderedDict`` and
    ``defaultdict`` become the dict that they equal. Members of sets are sorted by their bytes.

    Raises:
        NotPlainError: anything else is in it, or a limit is exceeded.
    """
    out: list[bytes] = []
    _put(value, out, 0, [MAX_NODES])
    return b"".join(out)


def _put(value: Any, out: list[bytes], depth: int, left: list[int]) -> None:
    left[0] -= 1
    if left[0] < 0:
        raise NotPlainError(f"more than {MAX_NODES} values")
    if depth > MAX_DEPTH:
        raise NotPlainError(f"nested more than {MAX_DEPTH} deep")
    kind = type(value)
    if value is None:
        out.append(b"N")
    elif kind is bool:
        out.append(b"T" if value else b"F")
    elif kind is int:
        if value.bit_length() > 4 * MAX_HEX:
            raise NotPlainError("an int of too many digits")
        out.append(b"i%x;" % value)
    elif kind is float:
        out.append(b"f" + struct.pack(">d", value).hex().encode())
    elif kind is complex:
        out.append(b"c" + struct.pack(">dd", value.real, value.imag).hex().encode())
    elif kind is str:
        data = value.encode("utf-8", "surrogatepass")
        out.append(b"s%d;" % len(data) + data)
    elif kind is bytes:
        out.append(b"b%d;" % len(value) + value)
    elif kind is list or kind is tuple:
        out.append(_SEQUENCES[kind] + b"%d;" % len(value))
        for item in value:
            _put(item, out, depth + 1, left)
    elif kind is set or kind is frozenset:
        members: list[bytes] = []
        for item in value:
            member: list[bytes] = []
            _put(item, member, depth + 1, left)
            members.append(b"".join(member))
        out.append(_SEQUENCES[kind] + b"%d;" % len(members))
        out.extend(sorted(members))
    elif any(kind is known for known in _DICTS):
        out.append(b"d%d;" % len(value))
        for key, item in dict.items(value):
            _put(key, out, depth + 1, left)
            _put(item, out, depth + 1, left)
    else:
        raise NotPlainError(_name(kind))


def _name(kind: type) -> str:
    """A type's own name; what a metaclass says of it does not count."""
    return str(type.__dict__["__name__"].__get__(kind))[:80]


def decode(data: bytes) -> Any:
    """The value that all of the bytes stand for.

    Raises:
        MalformedError: they stand for none.
    """
    value, end = decode_at(data, 0)
    if end != len(data):
        raise MalformedError("something follows the value")
    return value


def decode_at(data: bytes, start: int) -> tuple[Any, int]:
    """The value that begins at ``start``, and where it ends.

    Raises:
        MalformedError: none does.
    """
    return _take(data, start, 0, [MAX_NODES])


def _take(data: bytes, at: int, depth: int, left: list[int]) -> tuple[Any, int]:
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH or at >= len(data):
        raise MalformedError("cut off, too deep, or too many values")
    tag = data[at]
    at += 1
    if tag in b"NTF":
        return {78: None, 84: True, 70: False}[tag], at
    if tag == 105:  # i
        end = data.find(b";", at, at + MAX_HEX + 2)
        digits = data[at:end].removeprefix(b"-")
        if end < 0 or not digits or digits.translate(None, _HEX):
            raise MalformedError("not an int")
        return int(data[at:end], 16), end + 1
    if tag == 102:  # f
        return _float(data, at), at + 16
    if tag == 99:  # c
        return complex(_float(data, at), _float(data, at + 16)), at + 32
    end = data.find(b";", at, at + 10)
    digits = data[at:end]
    if end < 0 or not digits.isdigit() or digits != b"%d" % int(digits) or int(digits) >= len(data) - end:
        raise MalformedError("not a value, or cut off")
    count, at = int(digits), end + 1
    if tag == 115:  # s
        try:
            return data[at : at + count].decode("utf-8", "surrogatepass"), at + count
        except UnicodeDecodeError:
            raise MalformedError("not UTF-8") from None
    if tag == 98:  # b
        return bytes(data[at : at + count]), at + count
    if tag == 100:  # d
        keys, items = [], []
        for _ in range(count):
            key, at = _take(data, at, depth + 1, left)
            item, at = _take(data, at, depth + 1, left)
            keys.append(key)
            items.append(item)
        _check_hashes(keys)
        made = dict(zip(keys, items, strict=True))
        if len(made) != count:
            raise MalformedError("a key stands twice")
        return made, at
    maker = _MAKERS.get(tag)
    if maker is None:
        raise MalformedError("no such kind of value")
    members = []
    for _ in range(count):
        member, at = _take(data, at, depth + 1, left)
        members.append(member)
    if maker is set or maker is frozenset:
        _check_hashes(members)
        unique = maker(members)
        if len(unique) != count:
            raise MalformedError("a member stands twice")
        return unique, at
    return maker(members), at


def _float(data: bytes, at: int) -> float:
    digits = data[at : at + 16]
    if len(digits) != 16 or digits.translate(None, _HEX):
        raise MalformedError("not a float")
    return float(struct.unpack(">d", bytes.fromhex(digits.decode()))[0])


def _check_hashes(members: list[Any]) -> None:
    try:
        hashes = {hash(member) for member in members}
    except TypeError:
        raise MalformedError("a member or key that cannot be hashed") from None
    if len(members) - len(hashes) > MAX_COLLISIONS:
        raise MalformedError("too many members of the same hash")
