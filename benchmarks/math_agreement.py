"""Where the math verifier and math-verify differ on answers in plain circulation, and who is right.

    pip install -e .[bench]
    python benchmarks/math_agreement.py [--json] [--count N] [--seed N]

Whole numbers, fractions, decimals, roots, intervals, polynomials, points and lists: each gold in one notation against
each answer in another one, right or wrong by construction, in a box. What differs is grouped by notations and printed
with one example; docs/math-verify.md explains each group.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import lydite


class Pair(NamedTuple):
    """A gold and an answer in named notations, and whether they are the same."""

    kind: str
    gold_form: str
    answer_form: str
    gold: str
    answer: str
    same: bool


def _whole(n: int) -> dict[str, str]:
    return {
        "digits": f"{n}", "1,234": f"{n:,}", "1{,}234": f"{n:,}".replace(",", "{,}"),
        "1\\,234": f"{n:,}".replace(",", "\\,"), "1 234": f"{n:,}".replace(",", " "), "7.0": f"{n}.0",
        "\\frac{7}{1}": f"\\frac{{{n}}}{{1}}", "x = 7": f"x = {n}", "\\$7": f"\\${n}", "7 cm": f"{n}\\text{{ cm}}",
        "\\text{7}": f"\\text{{{n}}}", "+7": f"+{n}" if n >= 0 else f"{n}", "7.": f"{n}.",
    }  # fmt: skip


def _fraction(a: int, b: int) -> dict[str, str]:
    top, bottom = abs(a), abs(b)
    sign = "-" if a * b < 0 else ""
    forms = {
        "\\frac{a}{b}": f"{sign}\\frac{{{top}}}{{{bottom}}}", "\\dfrac{a}{b}": f"{sign}\\dfrac{{{top}}}{{{bottom}}}",
        "a/b": f"{sign}{top}/{bottom}", "\\frac{-a}{b}": f"\\frac{{{sign}{top}}}{{{bottom}}}",
        "not reduced": f"{sign}\\frac{{{3 * top}}}{{{3 * bottom}}}",
    }  # fmt: skip
    if top < 10 and bottom < 10:
        forms["\\frac ab"] = f"{sign}\\frac{top}{bottom}"
    if top > bottom and top % bottom:
        forms["1\\frac{a}{b}"] = f"{sign}{top // bottom}\\frac{{{top % bottom}}}{{{bottom}}}"
        forms["1 a/b"] = f"{sign}{top // bottom} {top % bottom}/{bottom}"
    if 10**6 % bottom == 0:
        forms["decimal"] = f"{a / b:.6f}".rstrip("0").rstrip(".")
        forms["decimal, zeros"] = f"{a / b:.8f}"
    return forms


def _root(a: int, b: int) -> dict[str, str]:
    return {
        "a\\sqrt{b}": f"{a}\\sqrt{{{b}}}", "\\sqrt{a^2b}": f"\\sqrt{{{a * a * b}}}", "\\sqrt{b}\\cdot a":
        f"\\sqrt{{{b}}} \\cdot {a}", "a*sqrt(b)": f"{a}*sqrt({b})", "ab^{1/2}": f"{a}\\cdot {b}^{{1/2}}",
        "\\frac{ab}{\\sqrt b}": f"\\frac{{{a * b}}}{{\\sqrt{{{b}}}}}", "a√b": f"{a}√{b}",
    }  # fmt: skip


def _interval(a: int, b: int, left: str, right: str) -> dict[str, str]:
    less, more = ("\\le" if left == "[" else "<"), ("\\le" if right == "]" else "<")
    return {
        "[a,b)": f"{left}{a},{b}{right}", "\\left[a, b\\right)": f"\\left{left}{a}, {b}\\right{right}",
        "a \\le x < b": f"{a} {less} x {more} {b}", "x \\in [a,b)": f"x \\in {left}{a}, {b}{right}",
    }  # fmt: skip


def _polynomial(a: int, b: int) -> dict[str, str]:
    def signed(n: int) -> str:
        return f"{n:+d}"

    total, product = a + b, a * b
    middle = {1: "+x", -1: "-x", 0: ""}.get(total, f"{signed(total)}x")
    ending = signed(product) if product else ""
    return {
        "x^2+bx+c": f"x^2{middle}{ending}", "(x+a)(x+b)": f"(x{signed(a)})(x{signed(b)})",
        "c+bx+x^2": f"{product}{middle}+x^2", "x(x+b)+c": f"x(x{signed(total)}){ending}",
        "y = x^2+bx+c": f"y = x^2{middle}{ending}", "x**2+b*x+c": f"x**2{signed(total)}*x{signed(product)}",
    }  # fmt: skip


def _point(a: int, b: int) -> dict[str, str]:
    return {
        "(a,b)": f"({a},{b})", "\\left(a, b\\right)": f"\\left({a}, {b}\\right)", "x = a, y = b": f"x = {a}, y = {b}",
        "(a.0, b)": f"({a}.0, {b})", "(x,y) = (a,b)": f"(x,y) = ({a},{b})",
    }  # fmt: skip


def _list(a: int, b: int) -> dict[str, str]:
    return {
        "a,b": f"{a},{b}", "b, a": f"{b}, {a}", "\\{a,b\\}": f"\\{{{a}, {b}\\}}", "a and b": f"{a} \\text{{ and }} {b}",
        "x = a, x = b": f"x = {a}, x = {b}", "x = a \\text{ or } x = b": f"x = {a} \\text{{ or }} x = {b}",
    }  # fmt: skip


def _families(rng: random.Random) -> Iterator[tuple[str, dict[str, str], list[dict[str, str]]]]:
    """A kind, the notations of one value, and those of values near it."""
    n = rng.choice((rng.randint(-99, 999), rng.randint(1000, 9_999_999)))
    yield "whole number", _whole(n), [_whole(other) for other in (n + 1, -n, 10 * n) if other != n]
    a, b = rng.randint(-40, 40) or 7, rng.choice((2, 3, 4, 5, 7, 8, 9, 16, 25, 12, 11))
    if math.gcd(a, b) == 1:
        yield "fraction", _fraction(a, b), [_fraction(a + b, b), _fraction(-a, b), _fraction(a, b + 1)]
    a, b = rng.randint(2, 12), rng.choice((2, 3, 5, 6, 7, 10))
    yield "root", _root(a, b), [_root(a + 1, b), _root(a, b + 1)]
    a = rng.randint(-20, 20)
    b = a + rng.randint(1, 20)
    left, right = rng.choice("[("), rng.choice(")]")
    others = [_interval(a, b + 1, left, right), _interval(a, b, "(" if left == "[" else "[", right)]
    yield "interval", _interval(a, b, left, right), others
    a, b = rng.randint(-9, 9), rng.randint(-9, 9)
    if a and b and a + b:
        yield "polynomial", _polynomial(a, b), [_polynomial(a, b + 1 or 2), _polynomial(a, -b)]
    a, b = rng.randint(-20, 20), rng.randint(-20, 20)
    if a != b:
        yield "point", _point(a, b), [_point(b, a), _point(a, b + 1 if b + 1 != a else b + 2)]
        yield "list", _list(a, b), [_list(a, b + 1 if b + 1 != a else b + 2)]


def pairs(count: int, seed: int) -> list[Pair]:
    """Pairs of all kinds, half of them the same."""
    rng = random.Random(seed)
    found: list[Pair] = []
    while len(found) < count:
        for kind, forms, others in _families(rng):
            gold_form, answer_form = rng.choice(list(forms)), rng.choice(list(forms))
            if {gold_form, answer_form} == {"\\$7", "7 cm"}:
                continue  # dollars are no centimetres
            found.append(Pair(kind, gold_form, answer_form, forms[gold_form], forms[answer_form], True))
            other = rng.choice(others)
            if answer_form in other:
                found.append(Pair(kind, gold_form, answer_form, forms[gold_form], other[answer_form], False))
    return found[:count]


def _peer() -> Callable[[str, str], bool] | None:
    try:
        from math_verify import parse, verify
    except ImportError:
        return None
    return lambda gold, answer: bool(verify(parse(f"${gold}$"), parse(answer)))


def _grouped(differing: list[tuple[Pair, bool]]) -> list[dict[str, Any]]:
    """Differences by the notation that most of them share: the fewest notations that explain them all, greedily."""
    rows: list[dict[str, Any]] = []
    left = differing
    while left:
        counts = Counter(key for pair, ours in left for key in _keys(pair, ours))
        key, count = counts.most_common(1)[0]
        members = [pair for pair, ours in left if key in _keys(pair, ours)]
        left = [(pair, ours) for pair, ours in left if key not in _keys(pair, ours)]
        kind, form, same, ours = key
        rows.append(
            {
                "kind": kind, "notation": form, "same": same, "lydite": ours, "count": count,
                "right": "lydite" if ours is same else "math-verify", "gold": members[0].gold,
                "answer": members[0].answer,
            }
        )  # fmt: skip
    return rows


def _keys(pair: Pair, ours: bool) -> set[tuple[str, str, bool, bool]]:
    return {(pair.kind, form, pair.same, ours) for form in (pair.gold_form, pair.answer_form)}


def main() -> None:
    """Judge the pairs with both and print the groups of differences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    peer = _peer()
    if peer is None:
        print("math-verify is not installed: pip install -e .[bench]")
        return
    totals: Counter[str] = Counter()
    differing: list[tuple[Pair, bool]] = []
    both_wrong: list[Pair] = []
    for pair in pairs(options.count, options.seed):
        text = f"Therefore the answer is $\\boxed{{{pair.answer}}}$."
        ours = lydite.verify({"type": "math", "config": {"answer": pair.gold}}, text).correct
        theirs = peer(pair.gold, text)
        totals.update(pairs=1, lydite_wrong=ours is not pair.same, math_verify_wrong=theirs is not pair.same)
        if ours is not theirs:
            differing.append((pair, ours))
        elif ours is not pair.same:
            both_wrong.append(pair)
    rows = _grouped(differing)
    if options.json:
        print(json.dumps({"totals": totals | {"differ": len(differing)}, "groups": rows, "both_wrong": both_wrong}))
        return
    print(", ".join(f"{name} {count}" for name, count in totals.items()), f"differ {len(differing)}", sep=", ")
    for row in rows:
        print(
            f"{row['count']:4}  {row['kind']}, {row['notation']}: {'the same' if row['same'] else 'another'}, says"
            f" {row['right']}, rightly; gold {row['gold']!r}, answer {row['answer']!r}"
        )
    for pair in both_wrong[:20]:
        print(f"      both wrong: gold {pair.gold!r}, answer {pair.answer!r}")


if __name__ == "__main__":
    main()
