"""Generated family ``arithmetic``: integer problems in six levels, each with a worked reference solution.

| level | problem | example |
|---|---|---|
| 1 | a number and one digit, + or - | 47 + 8 |
| 2 | two digits each, + or - | 73 - 48 |
| 3 | three digits + or -, two digits times one | 47 * 6 |
| 4 | two operators, precedence | 12 + 3 * 4 |
| 5 | brackets | (12 + 7) * 3 |
| 6 | a word problem in two steps | Mia has 14 pens and buys 3 packs of 6 ... |

Everything follows from (levels, n, seed): the same call gives the same tasks on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from lydite.codec import digest
from lydite.errors import InputError
from lydite.rollout import Message
from lydite.task import Checker, Task

LEVELS = (1, 2, 3, 4, 5, 6)

INSTRUCTION = "Show your work; end with \\boxed{answer}."

# Short work is all that these problems need, so the thresholds of the flag for missing work are below the general ones.
_FLAGS = {"no_visible_work": {"min_words": 3, "min_numbers": 3}}

_NAMES = ("Mia", "Omar", "Lena", "Ravi", "Ana", "Tom", "Zoe", "Ken")
_THINGS = ("pens", "eggs", "cards", "books", "coins", "shells", "stamps", "apples")

Problem = tuple[str, int, list[str]]
"""Question, answer, and the steps of the work as claims such as ``40 + 30 = 70``."""


def generate(levels: Sequence[int], n: int, seed: int) -> list[Task]:
    """``n`` different tasks, dealt over the levels in turn.

    Raises:
        InputError: for a level outside 1 to 6, or where a level does not have that many different problems.
    """
    for level in levels:
        if level not in LEVELS:
            raise InputError(f"arithmetic has levels 1 to 6, not {level}", field="levels")
    if not levels or n < 1:
        raise InputError("at least one level and n >= 1 are needed", field="levels" if not levels else "n")
    streams = [_distinct(level, seed) for level in levels]
    return [next(streams[index % len(streams)]) for index in range(n)]


def problem(level: int, rng: random.Random) -> Task:
    """One problem of a level, drawn with the given generator; problems may repeat."""
    return _task(level, *_MAKERS[level](rng))


def _distinct(level: int, seed: int) -> Iterator[Task]:
    rng = random.Random(f"lydite-arithmetic-{level}-{seed}")
    seen: set[str] = set()
    misses = 0
    while misses < 2_000:
        question, answer, steps = _MAKERS[level](rng)
        if question in seen:
            misses += 1
            continue
        misses = 0
        seen.add(question)
        yield _task(level, question, answer, steps)
    raise InputError(
        f"level {level} has only {len(seen)} different problems within reach", field="n", remedy="ask for fewer"
    )


def _task(level: int, question: str, answer: int, steps: list[str]) -> Task:
    content = f"{question} {INSTRUCTION}"
    return Task(
        id=f"arithmetic-{level}-{digest(content)[:10]}",
        prompt=(Message(role="user", content=content),),
        checker=Checker(type="math", config={"answer": str(answer), "extraction": "strict"}),
        solution=f"{', '.join(steps)}. \\boxed{{{answer}}}",
        difficulty=f"level-{level}",
        metadata={"family": "arithmetic", "level": level, "flags": _FLAGS},
    )


def _work(left: int, operator: str, right: int) -> tuple[int, list[str]]:
    """The result of one operation, and the claims that lead to it: operands above nine are taken apart by place."""
    if operator == "*":
        return _times(left, right)
    sign = 1 if operator == "+" else -1
    total, claims = left, []
    places = [digit * 10**power for power, digit in enumerate(map(int, reversed(str(abs(right)))))]
    for part in reversed(places):
        if part or right == 0:
            claims.append(f"{total} {operator} {part} = {total + sign * part}")
            total += sign * part
    return total, claims


def _times(left: int, right: int) -> tuple[int, list[str]]:
    if left < 10 or right == 0:
        return left * right, [f"{left} * {right} = {left * right}"]
    tens, ones = left // 10 * 10, left % 10
    claims = [f"{tens} * {right} = {tens * right}"]
    if ones:
        claims.append(f"{ones} * {right} = {ones * right}")
        claims.append(f"{tens * right} + {ones * right} = {left * right}")
    return left * right, claims


def _plain(left: int, operator: str, right: int) -> Problem:
    answer, steps = _work(left, operator, right)
    return f"Compute {left} {operator} {right}.", answer, steps


def _level_1(rng: random.Random) -> Problem:
    return _plain(rng.randint(10, 99), rng.choice("+-"), rng.randint(2, 9))


def _level_2(rng: random.Random) -> Problem:
    left, right = rng.randint(11, 99), rng.randint(11, 99)
    operator = rng.choice("+-")
    if operator == "-" and right > left:
        left, right = right, left
    return _plain(left, operator, right)


def _level_3(rng: random.Random) -> Problem:
    if rng.random() < 0.5:
        return _plain(rng.randint(11, 99), "*", rng.randint(2, 9))
    left, right = sorted((rng.randint(101, 999), rng.randint(101, 999)), reverse=True)
    return _plain(left, rng.choice("+-"), right)


def _level_4(rng: random.Random) -> Problem:
    first, second, third = rng.randint(11, 99), rng.randint(2, 9), rng.randint(2, 9)
    product, steps = _work(second, "*", third)
    operator = rng.choice("+-")
    answer, more = _work(first, operator, product)
    return f"Compute {first} {operator} {second} * {third}.", answer, steps + more


def _level_5(rng: random.Random) -> Problem:
    first, second, factor = rng.randint(5, 49), rng.randint(2, 9), rng.randint(2, 9)
    operator = rng.choice("+-")
    if operator == "-" and first <= second:
        operator = "+"
    inner, steps = _work(first, operator, second)
    answer, more = _work(inner, "*", factor)
    return f"Compute ({first} {operator} {second}) * {factor}.", answer, steps + more


def _level_6(rng: random.Random) -> Problem:
    name, thing = rng.choice(_NAMES), rng.choice(_THINGS)
    start, packs, size = rng.randint(11, 60), rng.randint(2, 9), rng.randint(2, 9)
    product, steps = _work(packs, "*", size)
    kind = rng.randrange(3)
    if kind == 0:
        answer, more = _work(start, "+", product)
        text = f"{name} has {start} {thing} and buys {packs} packs of {size}. How many {thing} now?"
    elif kind == 1:
        start += product
        answer, more = _work(start, "-", product)
        text = f"{name} has {start} {thing} and gives {size} to each of {packs} friends. How many {thing} are left?"
    else:
        answer, more = _work(product, "+", start)
        text = f"A box holds {size} {thing}. {name} has {packs} boxes and {start} more. How many {thing} in all?"
    return text, answer, steps + more


_MAKERS: dict[int, Callable[[random.Random], Problem]] = {
    1: _level_1,
    2: _level_2,
    3: _level_3,
    4: _level_4,
    5: _level_5,
    6: _level_6,
}
