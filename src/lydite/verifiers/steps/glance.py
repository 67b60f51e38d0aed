"""A glance at the work: most of it claims nothing that is false, and says so plainly.

The text is cut at its signs of equality, and what stands right beside each is read: a plain side (``12 * 3.50``) with a
clean end towards the rest of the text, or a side with an unknown value (``f(x)``, ``x + 6``), which claims nothing.
Arithmetic is done on whole numbers. Nothing here is a judgement of its own: where a look at the neighbours of a sign
does not settle what ``claims`` would say, nothing is settled.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import msgspec

from lydite.verifiers.steps.beside import (
    HEAD,
    JOINED,
    JOINING,
    NO_UNITS,
    PARTED,
    PLAINEST,
    SPOKEN,
    TAIL,
    UNKNOWN_HEAD,
    UNKNOWN_TAIL,
)
from lydite.verifiers.steps.denied import may_deny
from lydite.verifiers.steps.reading import LABELS, SUPPOSED
from lydite.verifiers.steps.tokens import may_say_equal

MAX_SIGNS = 5000
"""Signs of equality in a text; more is no work that anybody reads."""
_LOOK = 700
"""Characters before a sign that are looked at, more than any pattern needs."""
_ROUNDED = 2
"""Decimals from which on a rounded number may stand behind ``=``, as in ``claims``."""
_SPARSE = 200
"""Characters for each sign of equality, in texts in which a search through all of the text is not worth its time."""
_LARGEST_POWER = 12

_ITEMS = re.compile(r"([-+*/^×÷·−–]|(?<![a-z])(?:x|of)(?![a-z])|\\[a-z]+|)[ ${\\]*([\d.,]+(?:\\?%)?|\([^()]*\))")
_FRACTION = re.compile(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}")
_NAMES = re.compile(r"(?<![a-z\\])[a-z]{3,}")
_TWO = re.compile(r"(\d+) ?([-+*]) ?(\d+)")  # what most work is made of
_SIGNS = {
    "×": "*",
    "·": "*",
    "x": "*",
    "of": "*",
    "\\times": "*",
    "\\cdot": "*",
    "÷": "/",
    "\\div": "/",
    "−": "-",
    "–": "-",
}
# The simplest of all: numbers alone, no division that could be read in two ways. Of these it can be said what is false.
_PLAIN = r"[\d,]++(?:\.\d++)?"
_SIMPLE = re.compile(rf"-?{_PLAIN}\$?(?: ?(?:[-+*^]|\\cdot|\\times) {{0,2}}(?:\\?\$)?{_PLAIN}\$?| / {_PLAIN})*+")
_ODD_CHARACTER = re.compile("[^\x00-\x7f\u00c0-\u024f–—−×÷·‘’“”…°£€½√π≤≥•]")


class Said(NamedTuple):
    """A claim that is settled: its sides as they were written, and as the parser reads them; whether it is right; the
    value of the left one."""

    left: str
    right: str
    left_read: str
    right_read: str
    true: bool
    value: Fraction


class _Side(msgspec.Struct, frozen=True, gc=False):
    """A plain side.

    Attributes:
        text: as it was written.
        top, bottom: its value, not reduced.
        signs: signs of operation.
        decimals: where it is a single number without a sign: how many decimals that has.
        simple: what is false about it can be told as well.
    """

    text: str
    top: int = 0
    bottom: int = 1
    signs: int = 0
    decimals: int = 0
    simple: bool = False


_ODD = _Side("", 0, 0)
"""A side that may be anything. ``None`` stands for one that claims nothing."""


def glance(text: str) -> list[Said] | None:
    """What a text claims, where that can be told at a glance; ``None`` where it has to be read.

    The list is empty where no claim is false. Else it holds all claims; what was said twice is there twice. Takes
    linear time.

    Args:
        text: work, without the thinking, fenced code and annotations ``<<...>>``.
    """
    parts = text.split("=")
    last = len(parts) - 1
    if last > MAX_SIGNS or may_say_equal(text) or (not text.isascii() and _ODD_CHARACTER.search(text) is not None):
        return None
    if not last or (len(text) < _SPARSE * last and _is_plainest(text, last)):
        return []
    settled: list[tuple[_Side, _Side, bool]] = []
    right = True
    begun = True  # no chain begins with an unknown value, before which "if" may stand
    if "<" in text or ">" in text or "!" in text:
        signs = [_is_sign(before, behind) for before, behind in pairwise(parts)]
    else:
        signs = [True] * last
    signs.append(False)
    head: _Side | None
    chain = [_tail(_turned(parts[0]), first=len(parts[0]) <= _LOOK)] if signs[0] else []
    for index in range(1, last + 1):
        part, goes_on, head = parts[index], signs[index], _ODD
        if signs[index - 1]:
            # Behind unknown values alone, a side matters only where it is the left side of the next sign as well.
            head = _head(part, last=index == last) if any(chain) else _ODD
            if head is _ODD and goes_on and (joined := JOINED.fullmatch(part)) is not None:
                side, unit = joined.groups()
                chain.append(_side(side + unit, clean=not unit))
                continue
            chain.append(head)
            claims = _claims(chain)
            if claims is None:
                return None
            if claims:
                settled += claims
                begun = begun and chain[0] is not None
                for _, _, true in claims:
                    right = right and true
        if goes_on:
            turned = _turned(part)
            tail = _tail(turned, first=False)
            if head is None and tail is None and PARTED.match(turned) is None:
                return None  # "5 + 3 = x = 9"
            chain = [tail]
    if right:
        return []
    if (
        may_deny(text)
        or not begun
        or not _is_flat(text)
        or not all(left.simple and right.simple for left, right, _ in settled)
    ):
        return None  # something may be missing
    return [said for one in settled if (said := _said(*one)) is not None]


def _is_plainest(text: str, signs: int) -> bool:
    """Whether all that a text says is such as ``48 + 24 = 72``, and right: a look that is cheaper still."""
    if 0 <= text.find("\\") < text.rfind("=") or ".." in text or not text.isascii():
        return False
    found = PLAINEST.findall(text)
    if len(found) < signs:
        return False
    for one, sign, other, said in found:
        left, right, value = int(one), int(other), int(said)
        if sign == "+":
            true = left + right == value
        elif sign == "-":
            true = left - right == value
        elif sign == "*":
            true = left * right == value
        else:
            true = right != 0 and left == right * value
        if not true:
            return False
    return True


def _is_sign(before: str, behind: str) -> bool:
    """Whether a sign of equality is one: ``<=``, ``!=`` and ``=>`` are not, and end what stands before them."""
    return behind[:1] != ">" and (before[-1:] not in ("<", ">", "!") or len(before) == 1)


def _is_flat(text: str) -> bool:
    """Whether no sign of equality stands within braces or emphasis."""
    end = text.rfind("=")
    return text.find("{", 0, end) < 0 and text.find("[", 0, end) < 0 and "**" not in text


def _turned(part: str) -> str:
    """The end of what stands before a sign, turned round."""
    return part[: -_LOOK - 1 : -1]


def _tail(turned: str, *, first: bool) -> _Side | None:
    """The side that ends where a part of the text does. ``first``: nothing stands before what is given."""
    match = TAIL.match(turned)
    if match is None:
        return _unknown(UNKNOWN_TAIL.match(turned), -1, 4)
    if match.end() == len(turned) and not first:
        return _ODD
    side, unit, clean, word = match.groups()
    side = side[::-1]
    plain = clean is not None
    if word is not None:
        words = word[::-1].casefold().split()
        name = words[-1]
        if not SPOKEN.isdisjoint(words) or (name in JOINING and (name != "of" or len(words) == 1)):
            return _ODD
        plain = name not in SUPPOSED and name.removesuffix("s") not in LABELS
    if unit:
        plain = False
    return _side(side, clean=plain)


def _head(part: str, *, last: bool) -> _Side | None:
    """The side that a part of the text begins with. ``last``: no sign of equality stands behind it."""
    match = HEAD.match(part)
    if match is None:
        return _unknown(UNKNOWN_HEAD.match(part), 1, 0)
    if match.end() == len(part) and not last:
        return _ODD
    boxed, text, clean, remark, words, many = match.groups()
    if words is not None and (not SPOKEN.isdisjoint(words.casefold().split()) or (many and words.count(" ") < 5)):
        return _ODD
    if boxed is not None:
        return msgspec.structs.replace(_side(boxed[boxed.index("{") + 1 : -1], clean=False), decimals=0)
    side = _side(text, clean=clean is not None)
    return _ODD if side.signs and remark is not None else side  # "3 + 4 (5)" may be a product


def _unknown(match: re.Match[str] | None, step: int, spaces: int) -> _Side | None:
    """``None`` where a side claims nothing. ``step``: -1 for text that is turned round."""
    if match is None:
        return _ODD
    found = match.groupdict()
    words = found["words"] or found.get("word")
    if words is not None:
        named = [word for word in words[::step].casefold().split() if len(word) > 1]  # "x" is an unknown value here
        if not SPOKEN.isdisjoint(named) or (found.get("many") and words.count(" ") < spaces):
            return _ODD
    return _ODD if found["side"] and _has_no_unit(found["side"][::step]) else None


def _has_no_unit(side: str) -> bool:
    """Whether a side has a word that no unit has."""
    return not NO_UNITS.isdisjoint(_NAMES.findall(side.casefold()))


def _side(text: str, *, clean: bool) -> _Side:
    """A plain side with its value. ``clean``: its ends leave no doubt."""
    if text.isdigit():
        return _Side(text, int(text), 1, 0, 0, clean)
    if (two := _TWO.fullmatch(text)) is not None:
        one, sign, other = two.groups()
        if sign == "+":
            return _Side(text, int(one) + int(other), 1, 1, 0, clean)
        if sign == "-":
            return _Side(text, int(one) - int(other), 1, 1, 0, clean)
        if sign == "*":
            return _Side(text, int(one) * int(other), 1, 1, 0, clean)
    if _has_no_unit(text):
        return _ODD
    read = text
    if "frac" in text:
        read = _FRACTION.sub(r"\1/\2", text)
        if read.count("/") > text.count("frac") or "div" in text or "÷" in text or "^" in text:
            return _ODD  # what is divided or raised is the whole fraction
    items = _ITEMS.findall(read)
    if len(items) == 1 and not items[0][0]:
        if text[0] == "(":
            inner = _side(text[1:-1], clean=False)
            return inner if inner is _ODD else msgspec.structs.replace(inner, text=text, decimals=0)
        top, bottom, decimals = _number(items[0][1])
        return _Side(text, top, bottom, 0, decimals, clean and text[-1] != "%")
    total, total_bottom = 0, 1
    top, bottom = 0, 1  # of the product that is open
    before = last = (1, 1)  # what its last factor is multiplied with, and that factor
    for index, (written, number) in enumerate(items):
        sign = _SIGNS.get(written, written)
        one, under = (int(number), 1) if number.isdigit() else _number(number)[:2]
        if sign == "^":
            if under != 1 or not 0 <= one <= _LARGEST_POWER or items[index - 1][0] == "^" or "%" in items[index - 1][1]:
                return _ODD
            last = last[0] ** one, last[1] ** one
        elif sign == "*" or sign == "/":
            before, last = (top, bottom), (one, under) if sign == "*" else (under, one)
        else:
            total, total_bottom = total * bottom + top * total_bottom, total_bottom * bottom
            before, last = (-1 if sign == "-" else 1, 1), (one, under)
        top, bottom = before[0] * last[0], before[1] * last[1]
        if not bottom:
            return _ODD
    signs = len(items) - 1
    simple = clean and _SIMPLE.fullmatch(text) is not None
    return _Side(text, total * bottom + top * total_bottom, total_bottom * bottom, signs, 0, simple)


def _number(text: str) -> tuple[int, int, int]:
    """A number as a fraction, and its decimals, where it may be rounded to them."""
    if text[0] == "(":
        side = _side(text[1:-1], clean=False)
        return side.top, side.bottom, 0
    if text[-1] == "%":
        top, bottom, _ = _number(text[:-1].rstrip("\\"))
        return top, bottom * 100, 0
    whole, point, decimals = text.replace(",", "").partition(".")
    return (int(whole + decimals), 10 ** len(decimals), len(decimals)) if point else (int(whole), 1, 0)


def _claims(chain: list[_Side | None]) -> list[tuple[_Side, _Side, bool]] | None:
    """Neighbours that are known, with whether they are equal; ``None`` where a claim cannot be settled."""
    known = [side for side in chain if side is not None]
    if len(known) < 2:
        return []
    worked = 0
    for side in known:
        if side is _ODD:
            return None
        worked += side.signs
    if not worked:
        return []
    claims = []
    for left, right in pairwise(known):
        true = _settle(left, right)
        if true is None:
            return None
        claims.append((left, right, true))
    return claims


def _settle(left: _Side, right: _Side) -> bool | None:
    """Whether what neighbours claim is right, if they claim anything; ``None`` where that cannot be told."""
    cross = left.top * right.bottom - right.top * left.bottom
    if not cross:
        return True
    if not left.signs and not right.signs:
        return None
    bottoms = left.bottom * right.bottom
    for lone in (left, right):
        if lone.decimals and lone.top and abs(cross) * 2 * 10**lone.decimals <= bottoms:
            if lone.decimals >= _ROUNDED:
                return True
            other = right if lone is left else left
            return True if has_no_end(Fraction(other.top, other.bottom)) else None
    return False if left.simple and right.simple else None


def has_no_end(value: Fraction) -> bool:
    """Whether the decimals of a number go on for ever."""
    rest = value.denominator
    rest //= rest & -rest  # what is left without its factors of two
    return pow(5, rest.bit_length() // 2, rest) != 0


def _said(left: _Side, right: _Side, true: bool) -> Said | None:
    """A claim; ``None`` where nothing is claimed."""
    one, other = _read(left.text), _read(right.text)
    if one == other or not (left.signs or right.signs):
        return None
    return Said(_shown(left.text), _shown(right.text), one, other, true, Fraction(left.top, left.bottom))


def _read(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) + number.replace(",", "") for sign, number in _ITEMS.findall(text))


def _shown(text: str) -> str:
    return " ".join(text.replace("\\$", "").replace("$", "").split())
