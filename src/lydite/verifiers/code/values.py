"""Plain values as bytes, between processes that do not trust each other.

Covered: any bytes. :func:`decode` takes time linear in them, builds nothing but exact types of the standard library,
and raises nothing but :class:`MalformedError`. Not covered: whether a value is true; whoever writes the channel may
claim any.

Grammar (a count or length is decimal and ends in ``;``)::

    N None   T True   F False   i-ff; int, hex   f<16 hex> float   c<32 hex> complex
    s<n>;<UTF-8> str   b<n>;<bytes> bytes   B<n>;<bytes> bytearray   D<n>;<digits> Decimal
    q2;i i Fraction   r3;i i i range   d<n>;k v … dict
    l<n>;… list   t<n>;… tuple   S<n>;… set   Z<n>;… frozenset   e<n>;… deque
    I<n>;… iterator of these   J<n>;… iterator that had more than these

Standard library only: a candidate's process and a test's process run this text too (see ``programs.py``).
"""

from __future__ import annotations

import collections
import decimal
import fractions
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

MAX_DEPTH = 100
MAX_NODES = 200_000
MAX_HEX = 40_000
"""Hexadecimal digits of one integer: some 48,000 decimal ones."""
MAX_EXACT = 4_000
"""Digits of a Decimal, also before its point or behind it, and hexadecimal ones of each part of a Fraction: their
arithmetic takes time that grows with the square."""
MAX_COLLISIONS = 64
"""Members of one set, or keys of one dict, that may share hashes: more are made to keep the reader busy."""

MAX_ITEMS = 1000
"""Items of an iterator that are taken."""

_HEX = b"0123456789abcdef"
DICTS = (dict, collections.Counter, collections.OrderedDict, collections.defaultdict)
_SEQUENCES: dict[Any, bytes] = {list: b"l", tuple: b"t", set: b"S", frozenset: b"Z", collections.deque: b"e"}


class NotPlainError(Exception):
    """The value is not made of plain built-in values, or it is too large or too deep."""


class MalformedError(Exception):
    """The bytes are not one plain value."""


class CutShortError(Exception):
    """An iterator had more items than were taken of it."""


def _cut_short(members: list[Any]) -> Iterator[Any]:
    yield from members
    raise CutShortError(f"more than {MAX_ITEMS} items of an iterator")


_MAKERS: dict[int, Callable[[list[Any]], Any]] = {
    ord("l"): list,
    ord("t"): tuple,
    ord("S"): set,
    ord("Z"): frozenset,
    ord("e"): collections.deque,
    ord("I"): iter,
    ord("J"): _cut_short,
}


def encode(value: Any) -> bytes:
    """A plain value as bytes. Exact types only (a subclass may compare as it likes), but ``Counter``, ``OrderedDict``
    and ``defaultdict`` become the dict that they equal, a named tuple the tuple; scalars and arrays of NumPy become
    numbers and lists. An iterator is read, :data:`MAX_ITEMS` items of it. Members of sets are sorted by their bytes.

    Raises:
        NotPlainError: anything else is in it, or a limit is exceeded. What an iterator of someone else's raises comes
            through.
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
    elif kind is bytes or kind is bytearray:
        out.append((b"b%d;" if kind is bytes else b"B%d;") % len(value) + value)
    elif kind is list or kind is tuple or kind is collections.deque:
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
    elif any(kind is known for known in DICTS):
        out.append(b"d%d;" % len(value))
        for key, item in dict.items(value):
            _put(key, out, depth + 1, left)
            _put(item, out, depth + 1, left)
    else:
        _put_rarer(value, kind, out, depth, left)


def _put_rarer(value: Any, kind: type, out: list[bytes], depth: int, left: list[int]) -> None:
    if kind is fractions.Fraction:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > 4 * MAX_EXACT:
            raise NotPlainError("a Fraction of too many digits")
        out.append(b"q2;")
        _put(value.numerator, out, depth + 1, left)
        _put(value.denominator, out, depth + 1, left)
    elif kind is decimal.Decimal:
        digits = str(value).encode()
        if len(digits) > MAX_EXACT or value.is_snan() or abs(value.adjusted()) > MAX_EXACT:
            raise NotPlainError("a Decimal of too many digits, or signalling")
        out.append(b"D%d;" % len(digits) + digits)
    elif kind is range:
        if not _is_short(value):
            raise NotPlainError(f"a range of more than {MAX_NODES}")
        out.append(b"r3;")
        for part in (value.start, value.stop, value.step):
            _put(part, out, depth + 1, left)
    elif kind.__base__ is tuple and "_fields" in kind.__dict__:
        _put(tuple.__getitem__(value, slice(None)), out, depth, left)
    elif (numpy := sys.modules.get("numpy")) is not None and isinstance(value, (numpy.generic, numpy.ndarray)):
        _put(value.tolist(), out, depth + 1, left)
    elif hasattr(kind, "__next__"):
        members: list[bytes] = []
        more = False
        for item in value:
            if len(members) == MAX_ITEMS:
                more = True
                break
            member: list[bytes] = []
            _put(item, member, depth + 1, left)
            members.append(b"".join(member))
        out.append((b"J%d;" if more else b"I%d;") % len(members))
        out.extend(members)
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
    if tag in b"bB":
        return (bytes if tag == 98 else bytearray)(data[at : at + count]), at + count
    if tag == 100:  # d
        keys, items = [], []
        for _ in range(count):
            key, at = _take(data, at, depth + 1, left)
            item, at = _take(data, at, depth + 1, left)
            keys.append(key)
            items.append(item)
        check_hashes(keys)
        made = dict(zip(keys, items, strict=True))
        if len(made) != count:
            raise MalformedError("a key stands twice")
        return made, at
    if tag in b"qrD":
        return _take_rarer(data, tag, at, count, depth, left)
    maker = _MAKERS.get(tag)
    if maker is None or (tag in b"IJ" and count > MAX_ITEMS):
        raise MalformedError("no such kind of value, or an iterator of too many items")
    members = []
    for _ in range(count):
        member, at = _take(data, at, depth + 1, left)
        members.append(member)
    if maker is set or maker is frozenset:
        check_hashes(members)
        unique = maker(members)
        if len(unique) != count:
            raise MalformedError("a member stands twice")
        return unique, at
    return maker(members), at


def _take_rarer(data: bytes, tag: int, at: int, count: int, depth: int, left: list[int]) -> tuple[Any, int]:
    """A Decimal, whose digits are ``count`` bytes, or a Fraction or range of so many ints."""
    try:
        if tag == 68:  # D
            digits = data[at : at + count]
            if count > MAX_EXACT or digits.translate(None, b"0123456789+-.EINafinty"):
                raise MalformedError("not a Decimal")
            number = decimal.Decimal(digits.decode())
            if abs(number.adjusted()) > MAX_EXACT:  # turned into an int, it would fill the memory
                raise MalformedError("a Decimal of too many digits")
            return number, at + count
        if count != (2 if tag == 113 else 3):
            raise MalformedError("not a Fraction or range")
        parts = []
        for _ in range(count):
            part, at = _take(data, at, depth + 1, left)
            if type(part) is not int:
                raise MalformedError("not an int")
            if tag == 113 and part.bit_length() > 4 * MAX_EXACT:
                raise MalformedError("a Fraction of too many digits")
            parts.append(part)
        made = (fractions.Fraction if tag == 113 else range)(*parts)
        if type(made) is range and not _is_short(made):
            raise MalformedError("a range of too many")
        return made, at
    except (ArithmeticError, ValueError):  # no number, division by zero, a step of zero
        raise MalformedError("not a Decimal, Fraction or range") from None


def _is_short(value: range) -> bool:
    try:
        return len(value) <= MAX_NODES
    except OverflowError:
        return False


def _float(data: bytes, at: int) -> float:
    digits = data[at : at + 16]
    if len(digits) != 16 or digits.translate(None, _HEX):
        raise MalformedError("not a float")
    return float(struct.unpack(">d", bytes.fromhex(digits.decode()))[0])


def check_hashes(members: list[Any]) -> None:
    """Refuse members of one set, or keys of one dict, that cannot be hashed, or of which too many share hashes.

    Raises:
        MalformedError: so it is.
    """
    try:
        hashes = {hash(member) for member in members}
    except TypeError:
        raise MalformedError("a member or key that cannot be hashed") from None
    if len(members) - len(hashes) > MAX_COLLISIONS:
        raise MalformedError("too many members of the same hash")
