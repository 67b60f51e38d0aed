"""Levels 4 and 5: small programs, which are run on inputs that nobody has seen, and work with several tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from lydite.task import Checker
from lydite.tasksets.files.draft import WORDS, Demand, Draft, Maker, cells, lines, names, table, words

_Two = Callable[[int, int, int], int]
_ARITHMETIC: Final[tuple[tuple[str, str, _Two], ...]] = (
    ("the sum of its two arguments plus {n}", "a + b + {n}", lambda a, b, n: a + b + n),
    ("the product of its two arguments minus {n}", "a * b - {n}", lambda a, b, n: a * b - n),
    ("the larger of its two arguments times {n}", "max(a, b) * {n}", lambda a, b, n: max(a, b) * n),
    ("the first argument times {n} minus the second", "a * {n} - b", lambda a, b, n: a * n - b),
)


def two_numbers(rng: random.Random) -> Draft:
    """A program of two arguments."""
    (name,), n = names(rng, 1, ".py"), rng.randint(2, 30)
    said, code, value = rng.choice(_ARITHMETIC)
    pairs = [(rng.randint(1, 99), rng.randint(1, 99)) for _ in range(4)]
    program = f"import sys\n\na, b = map(int, sys.argv[1:])\nprint({code.format(n=n)})\n"
    return Draft(
        kind="script",
        prompt=f"Write {name}. It prints {said.format(n=n)}.",
        changes=[_prints(name, *(([str(a), str(b)], "", str(value(a, b, n))) for a, b in pairs))],
        files={name: program},
        commands=[f"python3 {name} 3 4"],
    )


def filter_program(rng: random.Random) -> Draft:
    """A program that lets some lines through."""
    (name,), (word, other, *_), mark = names(rng, 1, ".py"), words(rng, 2), rng.choice("+-*#")
    test = f"'{word}' in line.split() and '{other}' not in line.split()"
    loop = f"for line in sys.stdin:\n    if {test}:\n        print('{mark}', line.strip())\n"
    tries: list[tuple[list[str], str, str]] = []
    for _ in range(3):
        held = [" ".join(rng.choice([[word], [word, other], []]) + words(rng, 2)) for _ in range(6)]
        held += [f"{word} end", f"{other} {word}"]
        kept = [line for line in held if word in line.split() and other not in line.split()]
        tries.append(([], lines(*held), "\n".join(f"{mark} {line}" for line in kept)))
    return Draft(
        kind="script",
        prompt=f"Write {name}. It prints the lines of its input with the word {word} but not {other}, "
        f'"{mark} " in front of each.',
        changes=[_prints(name, *tries)],
        files={name: f"import sys\n\n{loop}"},
        commands=[f"echo {word} | python3 {name}"],
    )


def mend_program(rng: random.Random) -> Draft:
    """A program with a mistake."""
    (name,), n = names(rng, 1, ".py"), rng.randint(2, 9)
    wrong, right, said = rng.choice(
        [
            ("range({n})", "range(1, {n} + 1)", "the sum of 1 to {n} times its argument"),
            ("range(1, {n})", "range(1, {n} + 1)", "the sum of 1 to {n} times its argument"),
            ("range(1, {n}, 2)", "range(0, {n} + 1, 2)", "the sum of the even numbers up to {n} times its argument"),
        ]
    )
    text = "import sys\n\ntimes = int(sys.argv[1])\ntotal = 0\nfor i in {what}:\n    total += i * times\nprint(total)\n"
    program = text.format(what=right.format(n=n))
    step = 2 if "even" in said else 1
    tries = [([str(k)], "", str(k * sum(range(0, n + 1, step)))) for k in rng.sample(range(1, 50), 4)]
    return Draft(
        kind="script",
        prompt=f"Mend {name}. It should print {said.format(n=n)}.",
        setup={name: text.format(what=wrong.format(n=n))},
        changes=[_prints(name, *tries)],
        files={name: program},
        commands=[f"python3 {name} 1"],
    )


def group_table(rng: random.Random) -> Draft:
    """Sums of a column by another."""
    (name,), (out,) = names(rng, 1, ".csv"), names(rng, 1, ".json")
    colors = rng.sample(["red", "blue", "green", "gold", "pink"], 3)
    held: list[list[Any]] = [[item, rng.choice(colors), rng.randint(1, 50)] for item in words(rng, 8)]
    rows: list[list[Any]] = [["name", "color", "count"], *held]
    sums = {color: sum(row[2] for row in held if row[1] == color) for color in colors}
    sums = {color: total for color, total in sums.items() if total}
    program = (
        f"import csv, json\n\nsums = {{}}\nfor row in csv.DictReader(open('{name}')):\n"
        "    sums[row['color']] = sums.get(row['color'], 0) + int(row['count'])\n"
        f"json.dump(sums, open('{out}', 'w'))\n"
    )
    return Draft(
        kind="csv",
        prompt=f"Sum the count of {name} for each color. Write {out}: one object, from color to sum.",
        setup={name: table(rows)},
        changes=[["json", out, sums]],
        kept=[["csv", name, cells(rows)]],
        files={"sums.py": program},
        commands=["python3 sums.py", "rm sums.py"],
    )


def join_tables(rng: random.Random) -> Draft:
    """Two tables in one."""
    one, two, out = names(rng, 3, ".csv")
    items = words(rng, 6)
    counts = {item: rng.randint(1, 50) for item in items[:5]}
    prices = {item: rng.randint(1, 50) for item in rng.sample(items[1:], 5)}
    both = sorted(counts.keys() & prices.keys())
    first: list[list[Any]] = [["name", "count"], *map(list, counts.items())]
    second: list[list[Any]] = [["name", "price"], *map(list, prices.items())]
    wanted: list[list[Any]] = [["name", "count", "price"], *([item, counts[item], prices[item]] for item in both)]
    program = (
        f"import csv\n\none, two = (dict(list(csv.reader(open(name)))[1:]) for name in ('{one}', '{two}'))\n"
        f"with open('{out}', 'w') as file:\n    print('name,count,price', file=file)\n"
        "    for name in sorted(one.keys() & two.keys()):\n"
        "        print(name, one[name], two[name], sep=',', file=file)\n"
    )
    return Draft(
        kind="csv",
        prompt=f"Join {one} and {two} by name into {out}: name, count, price. Only names in both, sorted.",
        setup={one: table(first), two: table(second)},
        changes=[["csv", out, cells(wanted)]],
        kept=[["csv", one, cells(first)], ["csv", two, cells(second)]],
        files={"join.py": program},
        commands=["python3 join.py", "rm join.py"],
    )


def program_and_use(rng: random.Random) -> Draft:
    """A program, and what it says of a file."""
    (name,), (held, out), least = names(rng, 1, ".py"), names(rng, 2), rng.randint(2, 3)
    few, mark = words(rng, 5), rng.choice("+-*#")
    left_out = few[0]
    program = (
        "import sys\nfrom collections import Counter\n\n"
        "for word, count in sorted(Counter(open(sys.argv[1]).read().split()).items()):\n"
        f"    if count >= {least} and word != '{left_out}':\n        print(word, '{mark}', count)\n"
    )
    own, *hidden = (_text(rng, few) for _ in range(3))
    tries = [(["@"], text, _often(text, least, left_out, mark)) for text in hidden]  # @: a file of this text
    return Draft(
        kind="script",
        prompt=f"Write {name}. It prints each word of its file but {left_out}, seen {least} times or more, as "
        f'"cat {mark} 3", sorted. Run it on {held} into {out}.',
        setup={held: own},
        changes=[_prints(name, *tries), ["text", out, _often(own, least, left_out, mark)]],
        kept=[["text", held, own.rstrip()]],
        files={name: program},
        commands=[f"python3 {name} {held} > {out}", f"cat {out}"],
    )


def function(rng: random.Random) -> Draft:
    """A function, judged by hidden tests."""
    (stem,), word, n = names(rng, 1, ""), rng.choice(WORDS), rng.randint(2, 9)
    said, body, value = rng.choice(_FUNCTIONS)
    tries = [[rng.randint(1, 60) for _ in range(rng.randint(3, 7))] for _ in range(4)] + [[]]
    asserts = "".join(
        f"\n\ndef test_{at}():\n    assert {word}({items}) == {value(items, n)!r}\n" for at, items in enumerate(tries)
    )
    return Draft(
        kind="script",
        prompt=f"Write {stem}.py with a function {word}(items). It returns {said.format(n=n)}.",
        files={f"{stem}.py": f"def {word}(items):\n    return {body.format(n=n)}\n"},
        checker=Checker(
            type="pytest",
            config={
                "test_paths": ["test_hidden.py"],
                "files": {"test_hidden.py": f"from {stem} import {word}\n{asserts}"},
            },
        ),
    )


_FUNCTIONS: Final[tuple[tuple[str, str, Callable[[list[int], int], Any]], ...]] = (
    ("the items above {n}, sorted", "sorted(item for item in items if item > {n})",
     lambda items, n: sorted(item for item in items if item > n)),
    ("the sum of the items that {n} divides", "sum(item for item in items if item % {n} == 0)",
     lambda items, n: sum(item for item in items if item % n == 0)),
    ("each item times {n}, the last one first", "[item * {n} for item in reversed(items)]",
     lambda items, n: [item * n for item in reversed(items)]),
    ("how many items are not below {n}", "sum(item >= {n} for item in items)",
     lambda items, n: sum(item >= n for item in items)),
)  # fmt: skip


def _prints(name: str, *tries: tuple[list[str], str, str]) -> Demand:
    """One demand: arguments, standard input and what is printed, several times."""
    return ["prints", name, [list(given) for given in tries]]


def _text(rng: random.Random, few: list[str]) -> str:
    """Lines of these words, of which some come often: the first three times, and one of the others as well."""
    held = [*few, *[few[0]] * 2, *[few[rng.randint(1, 4)]] * 2, *(rng.choice(few) for _ in range(6))]
    rng.shuffle(held)
    return lines(*(" ".join(held[at : at + 4]) for at in range(0, len(held), 4)))


def _often(text: str, least: int, left_out: str, mark: str) -> str:
    held = text.split()
    often = sorted(word for word in {*held} - {left_out} if held.count(word) >= least)
    return "\n".join(f"{word} {mark} {held.count(word)}" for word in often)


LEVEL_4: Final[tuple[Maker, ...]] = (two_numbers,)
LEVEL_5: Final[tuple[Maker, ...]] = (
    filter_program,
    mend_program,
    group_table,
    join_tables,
    program_and_use,
    function,
)
