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

from lydite.verifiers.steps.beside import HEAD, JOINED, PARTED, TAIL, UNKNOWN_HEAD, UNKNOWN_TAIL
from lydite.verifiers.steps.reading import LABELS, SUPPOSED

MAX_SIGNS = 5000
"""Signs of equality in a text; more is no work that anybody reads."""
_LOOK = 700
"""Characters before a sign that are looked at, more than any pattern needs."""
_ROUNDED = 2
"""Decimals from which on a rounded number may stand behind ``=``, as in ``claims``."""
_LARGEST_POWER = 12

_ITEMS = re.compile(r"([-+*/^×÷·−–]|(?<![a-z])x(?![a-z])|\\[a-z]+|)[ ${\\]*([\d.,]+)")
_TWO = re.compile(r"(\d+) ?([-+*]) ?(\d+)")  # what most work is made of
_SIGNS = {"×": "*", "·": "*", "x": "*", "\\times": "*", "\\cdot": "*", "÷": "/", "\\div": "/", "−": "-", "–": "-"}
# The simplest of all: whole numbers, no division that could be read in two ways. Of these it can be said what is false.
_SIMPLE = re.compile(r"-?[\d,]++\$?(?: ?(?:[-+*^]|\\cdot|\\times) {0,2}(?:\\?\$)?[\d,]++\$?| / [\d,]++)*+")
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


class _Side(NamedTuple):
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


_ODD = _Side("")
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
    if last > MAX_SIGNS or _has_other_sign(text) or (not text.isascii() and _ODD_CHARACTER.search(text) is not None):
        return None
    if not last:
        return []
    settled: list[tuple[_Side, _Side, bool]] = []
    false = False
    signs = [_is_sign(before, behind) for before, behind in pairwise(parts)]
    signs.append(False)
    head: _Side | None
    chain = [_tail(_turned(parts[0]), first=len(parts[0]) <= _LOOK)] if signs[0] else []
    for index in range(1, last + 1):
        part, goes_on, head = parts[index], signs[index], _ODD
        if signs[index - 1]:
            # Behind unknown values alone, a side matters only where it is the left side of the next sign as well.
            head = _head(part, last=index == last) if any(chain) else _ODD
            if head is _ODD and goes_on and (joined := JOINED.fullmatch(part)) is not None:
                chain.append(_side(joined["side"], clean=not joined["unit"]))
                continue
            chain.append(head)
            left = None
            for right in chain:
                if right is None:
                    continue
                if left is not None:
                    if left is _ODD or right is _ODD or (true := _settle(left, right)) is None:
                        return None
                    settled.append((left, right, true))
                    false = false or not true
                left = right
        if goes_on:
            turned = _turned(part)
            tail = _tail(turned, first=False)
            if head is None and tail is None and PARTED.match(turned) is None:
                return None  # "5 + 3 = x = 9"
            chain = [tail]
    if not false:
        return []
    if not _is_flat(text) or not all(left.simple and right.simple for left, right, _ in settled):
        return None  # something may be missing
    return [said for one in settled if (said := _said(*one)) is not None]


def _is_sign(before: str, behind: str) -> bool:
    """Whether a sign of equality is one: ``<=``, ``!=`` and ``=>`` are not, and end what stands before them."""
    return behind[:1] != ">" and (before[-1:] not in ("<", ">", "!") or len(before) == 1)


def _has_other_sign(text: str) -> bool:
    lower = text.lower()
    return "equal" in lower or ("\\" in text and any(sign in lower for sign in ("approx", "simeq", "doteq")))


def _is_flat(text: str) -> bool:
    """Whether no sign of equality stands within braces or emphasis."""
    end = text.rfind("=")
    return text.find("{", 0, end) < 0 and text.find("[", 0, end) < 0 and "**" not in text


def _turned(part: str) -> str:
    """The end of what stands before a sign, turned round."""
    return part[: -_LOOK - 1 : -1]


def _tail(turned: str, *, first: bool) -> _Side | None:
    """The side that ends where a part of the text does. ``first``: nothing stands before what is given."""
    if (match := TAIL.match(turned)) is not None:
        if match.end() == len(turned) and not first:
            return _ODD
        unit, side, clean, word = match.groups()
        plain = clean is not None
        if word is not None:
            name = word[::-1].casefold()
            plain = name not in SUPPOSED and name.removesuffix("s") not in LABELS
        return _side(side[::-1], clean=plain and not unit)
    return None if UNKNOWN_TAIL.match(turned) is not None else _ODD


def _head(part: str, *, last: bool) -> _Side | None:
    """The side that a part of the text begins with. ``last``: no sign of equality stands behind it."""
    if (match := HEAD.match(part)) is not None:
        if match.end() == len(part) and not last:
            return _ODD
        if (boxed := match["boxed"]) is not None:
            return _side(boxed[boxed.index("{") + 1 : -1], clean=False)._replace(decimals=0)
        side = _side(match["side"], clean=match["clean"] is not None)
        return _ODD if side.signs and match["remark"] is not None else side  # "3 + 4 (5)" may be a product
    return None if UNKNOWN_HEAD.match(part) is not None else _ODD


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
    items = _ITEMS.findall(text)
    if len(items) == 1 and not items[0][0]:
        top, bottom, decimals = _number(items[0][1])
        return _Side(text, top, bottom, 0, decimals, clean and not decimals)
    total, total_bottom = 0, 1
    top, bottom = 0, 1  # of the product that is open
    before = last = (1, 1)  # what its last factor is multiplied with, and that factor
    for index, (written, number) in enumerate(items):
        sign = _SIGNS.get(written, written)
        one, under = (int(number), 1) if number.isdigit() else _number(number)[:2]
        if sign == "^":
            if under != 1 or one > _LARGEST_POWER or (index and items[index - 1][0] == "^"):
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
    """A number as a fraction, and its decimals."""
    if "," in text:
        text = text.replace(",", "")
    whole, point, decimals = text.partition(".")
    return (int(whole + decimals), 10 ** len(decimals), len(decimals)) if point else (int(whole), 1, 0)


def _settle(left: _Side, right: _Side) -> bool | None:
    """Whether what neighbours claim is right, if they claim anything; ``None`` where that cannot be told."""
    cross = left.top * right.bottom - right.top * left.bottom
    if not cross:
        return True
    if not left.signs and not right.signs:
        return None
    bottoms = left.bottom * right.bottom
    for lone in (left, right):
        if lone.decimals >= _ROUNDED and lone.top and abs(cross) * 2 * 10**lone.decimals <= bottoms:
            return True
    return False if left.simple and right.simple else None


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
