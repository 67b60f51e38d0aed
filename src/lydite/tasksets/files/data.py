"""Levels 3 and 4: lines, JSON and tables, in one file and in several."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any, Final

from lydite.tasksets.files.draft import FOLDERS, WORDS, Draft, Maker, cells, lines, moved, names, table, words


def append(rng: random.Random) -> Draft:
    """A line at the end."""
    name, held = names(rng, 1)[0], words(rng, rng.randint(4, 8))
    *old, new = held
    return Draft(
        kind="edit",
        prompt=f"Add the line {new} at the end of {name}.",
        setup={name: lines(*old)},
        changes=[["text", name, "\n".join(held)]],
        commands=[f"echo {new} >> {name}"],
    )


def remove_lines(rng: random.Random) -> Draft:
    """All lines with a word go."""
    name, held = names(rng, 1)[0], _crowd(rng)
    word = held[0].split()[0]
    left = [line for line in held if word not in line.split()]
    return Draft(
        kind="edit",
        prompt=f"Remove every line with {word} from {name}.",
        setup={name: lines(*held)},
        changes=[["text", name, "\n".join(left)]],
        commands=[f"sed -i /{word}/d {name}", f"cat {name}"],
    )


def count_lines(rng: random.Random) -> Draft:
    """How many lines have a word."""
    (name, out), held = names(rng, 2), _crowd(rng)
    word = held[0].split()[0]
    total = sum(word in line.split() for line in held)
    return Draft(
        kind="count",
        prompt=f"How many lines of {name} hold {word}? Write the number to {out}.",
        setup={name: lines(*held)},
        changes=[["text", out, str(total)]],
        kept=[["text", name, "\n".join(held)]],
        commands=[f"grep -c {word} {name} > {out}", f"cat {out}"],
    )


def sort_lines(rng: random.Random) -> Draft:
    """Lines in order."""
    name, held = names(rng, 1)[0], words(rng, rng.randint(5, 8))
    if held == sorted(held):
        held.reverse()
    folder = rng.choice(FOLDERS)
    return Draft(
        kind="edit",
        prompt=f"Sort the lines of {folder}/{name}.",
        setup={f"{folder}/{name}": lines(*held)},
        changes=[["text", f"{folder}/{name}", "\n".join(sorted(held))]],
        commands=[f"sort -o {folder}/{name} {folder}/{name}", f"cat {folder}/{name}"],
    )


def set_json(rng: random.Random) -> Draft:
    """One value of an object."""
    name, keys = names(rng, 1, ".json")[0], words(rng, 4)
    value = {key: rng.randint(1, 99) for key in keys}
    key, new = rng.choice(keys), rng.randint(100, 199)
    return Draft(
        kind="json",
        prompt=f"In {name} set {key} to {new}.",
        setup={name: json.dumps(value, indent=1) + "\n"},
        changes=[["json", name, {**value, key: new}]],
        commands=[_with_json(name, f"d['{key}'] = {new}"), f"cat {name}"],
    )


def drop_json(rng: random.Random) -> Draft:
    """One key of an object goes."""
    name, keys = names(rng, 1, ".json")[0], words(rng, 4)
    value = {key: rng.randint(1, 99) for key in keys}
    key = rng.choice(keys)
    return Draft(
        kind="json",
        prompt=f"Remove {key} from {name}.",
        setup={name: json.dumps(value) + "\n"},
        changes=[["json", name, {other: value[other] for other in keys if other != key}]],
        commands=[_with_json(name, f"del d['{key}']"), f"cat {name}"],
    )


def add_row(rng: random.Random) -> Draft:
    """A row at the end of a table."""
    name, rows = names(rng, 1, ".csv")[0], _stock(rng)
    *old, new = rows
    return Draft(
        kind="csv",
        prompt=f"Add the row {new[0]},{new[1]} to {name}.",
        setup={name: table(old)},
        changes=[["csv", name, cells(rows)]],
        commands=[f"echo {new[0]},{new[1]} >> {name}", f"cat {name}"],
    )


def change_cell(rng: random.Random) -> Draft:
    """One number of a table."""
    name, rows = names(rng, 1, ".csv")[0], _stock(rng)
    at, new = rng.randrange(1, len(rows)), rng.randint(100, 199)
    changed = [[row[0], new] if place == at else row for place, row in enumerate(rows)]
    word = rows[at][0]
    return Draft(
        kind="csv",
        prompt=f"In {name} set the count of {word} to {new}.",
        setup={name: table(rows)},
        changes=[["csv", name, cells(changed)]],
        commands=[f"sed -i s/^{word},.*/{word},{new}/ {name}", f"cat {name}"],
    )


def rename_all(rng: random.Random) -> Draft:
    """Another ending for every file of a folder."""
    stems, folder = names(rng, rng.randint(2, 4), ""), rng.choice(FOLDERS)
    new = rng.choice(["md", "log", "old", "bak"])
    held = dict(zip(stems, words(rng, len(stems)), strict=True))
    return Draft(
        kind="rename",
        prompt=f"In {folder} change the ending of {' and '.join(f'{stem}.txt' for stem in stems)} to .{new}.",
        setup={f"{folder}/{stem}.txt": lines(word) for stem, word in held.items()},
        changes=[moved(f"{folder}/{stem}.txt", f"{folder}/{stem}.{new}", word) for stem, word in held.items()],
        commands=[f"cd {folder}; for f in *.txt; do mv $f ${{f%.txt}}.{new}; done", f"ls {folder}"],
    )


def sum_column(rng: random.Random) -> Draft:
    """The sum of a column."""
    (name,), (out,), rows = names(rng, 1, ".csv"), names(rng, 1), _stock(rng)
    total = sum(row[1] for row in rows[1:])
    return Draft(
        kind="csv",
        prompt=f"Add up the counts in {name}. Write the sum to {out}.",
        setup={name: table(rows)},
        changes=[["text", out, str(total)]],
        kept=[["csv", name, cells(rows)]],
        commands=[f"awk -F, 'NR > 1 {{ s += $2 }} END {{ print s }}' {name} > {out}", f"cat {out}"],
    )


def filter_rows(rng: random.Random) -> Draft:
    """Rows above a limit, in another file."""
    (name, out), rows = names(rng, 2, ".csv"), _stock(rng)
    limit = sorted(row[1] for row in rows[1:])[len(rows) // 2 - 1]
    wanted = [row for place, row in enumerate(rows) if place == 0 or row[1] > limit]
    return Draft(
        kind="csv",
        prompt=f"Write the header and the rows of {name} with a count above {limit} to {out}.",
        setup={name: table(rows)},
        changes=[["csv", out, cells(wanted)]],
        kept=[["csv", name, cells(rows)]],
        commands=[f"awk -F, 'NR == 1 || $2 > {limit}' {name} > {out}", f"cat {out}"],
    )


def table_to_json(rng: random.Random) -> Draft:
    """A table as an object."""
    (name,), (out,), rows = names(rng, 1, ".csv"), names(rng, 1, ".json"), _stock(rng)
    read = f"import csv, json; rows = list(csv.reader(open('{name}')))[1:]"
    code = f"{read}; json.dump({{name: int(count) for name, count in rows}}, open('{out}', 'w'))"
    return Draft(
        kind="json",
        prompt=f"Turn {name} into {out}: one object, from name to count as a number.",
        setup={name: table(rows)},
        changes=[["json", out, {row[0]: row[1] for row in rows[1:]}]],
        kept=[["csv", name, cells(rows)]],
        commands=[f'python3 -c "{code}"', f"cat {out}"],
    )


def raise_counts(rng: random.Random) -> Draft:
    """Numbers inside of a list of objects."""
    name, items = names(rng, 1, ".json")[0], words(rng, 5)
    colors = rng.sample(["red", "blue", "green"], 2)
    value: list[dict[str, Any]] = [
        {"name": item, "color": rng.choice(colors), "count": rng.randint(1, 50)} for item in items
    ]
    value[0]["color"], value[1]["color"] = colors
    step = rng.randint(2, 9)
    raised = [{**item, "count": item["count"] + step * (item["color"] == colors[0])} for item in value]
    change = f"[x.update(count=x['count'] + {step}) for x in d if x['color'] == '{colors[0]}']"
    return Draft(
        kind="json",
        prompt=f"In {name} raise the count of every {colors[0]} item by {step}.",
        setup={name: json.dumps(value, indent=1) + "\n"},
        changes=[["json", name, raised]],
        commands=[_with_json(name, change), f"cat {name}"],
    )


def find_files(rng: random.Random) -> Draft:
    """Which files of a tree hold a word."""
    folder, deeper = rng.sample(FOLDERS, 2)
    (out, *held), (word, *others) = names(rng, 6), words(rng, 6)
    paths = [f"{folder}/{held[0]}", f"{folder}/{held[1]}", *(f"{folder}/{deeper}/{name}" for name in held[2:])]
    has = sorted(rng.sample(paths, rng.randint(2, 3)))
    setup = {
        path: lines(*([other, word] if path in has else [other, "none"]))
        for path, other in zip(paths, others, strict=True)
    }
    return Draft(
        kind="search",
        prompt=f"Which files below {folder} hold {word}? Write their paths, sorted, one a line, to {out}.",
        setup=setup,
        changes=[["text", out, "\n".join(has)]],
        kept=[["text", path, text.rstrip()] for path, text in setup.items()],
        commands=[f"grep -rl {word} {folder} | LC_ALL=C sort > {out}", f"cat {out}"],
    )


def change_all(rng: random.Random) -> Draft:
    """One word for another in every file of a folder, and in no other file."""
    folder, (old, new, *others) = rng.choice(FOLDERS), words(rng, 6)
    *held, outside = names(rng, 4)
    setup = {
        f"{folder}/{name}": lines(*rng.sample([old, other, f"{other} {old}"], 3))
        for name, other in zip(held, others, strict=False)
    }
    return Draft(
        kind="edit",
        prompt=f"In all files in {folder} change {old} to {new}. Leave {outside} as it is.",
        setup={**setup, outside: lines(old)},
        changes=[["text", path, text.replace(old, new).rstrip()] for path, text in setup.items()],
        kept=[["text", outside, old]],
        commands=[f"sed -i s/{old}/{new}/g {folder}/*", f"cat {folder}/*"],
    )


def merge_json(rng: random.Random) -> Draft:
    """Two objects in one."""
    (one, two, out), keys = names(rng, 3, ".json"), words(rng, 5)
    first = {key: rng.randint(1, 49) for key in keys[:3]}
    second = {key: rng.randint(50, 99) for key in keys[2:]}
    read = f"import json; d = json.load(open('{one}')); d.update(json.load(open('{two}')))"
    code = f"{read}; json.dump(d, open('{out}', 'w'))"
    return Draft(
        kind="json",
        prompt=f"Merge {one} and {two} into {out}. Where both have a key, {two} counts.",
        setup={one: json.dumps(first) + "\n", two: json.dumps(second) + "\n"},
        changes=[["json", out, {**first, **second}]],
        kept=[["json", one, first], ["json", two, second]],
        commands=[f'python3 -c "{code}"', f"cat {out}"],
    )


def _with_json(name: str, change: str) -> str:
    """A command that changes the value ``d`` of a file."""
    return f"python3 -c \"import json; d = json.load(open('{name}')); {change}; json.dump(d, open('{name}', 'w'))\""


def _crowd(rng: random.Random) -> list[str]:
    """Lines of two words, the first of which stands in several of them."""
    word, *others = words(rng, 7)
    held = [f"{word} {others[0]}"] + [f"{other} {word}" for other in others[1 : rng.randint(2, 3)]]
    held += others[3 : rng.randint(5, 6)]
    return [held[0], *rng.sample(held[1:], len(held) - 1)]


def _stock(rng: random.Random) -> list[list[Any]]:
    """A table of names and counts, all different."""
    items: Sequence[str] = rng.sample(WORDS, rng.randint(4, 6))
    counts = rng.sample(range(1, 90), len(items))
    return [["name", "count"], *([item, number] for item, number in zip(items, counts, strict=True))]


LEVEL_3: Final[tuple[Maker, ...]] = (
    append,
    remove_lines,
    count_lines,
    sort_lines,
    set_json,
    drop_json,
    add_row,
    change_cell,
    rename_all,
)
LEVEL_4: Final[tuple[Maker, ...]] = (
    sum_column,
    filter_rows,
    table_to_json,
    raise_counts,
    find_files,
    change_all,
    merge_json,
)
