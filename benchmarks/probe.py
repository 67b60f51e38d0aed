"""How long the panel takes on a set of mixed kinds, and which attacks take it.

    python benchmarks/probe.py [-n 100] [--jobs 2] [--tasks FILE]

Makes a set of tasks of 13 kinds, all sound, probes it, and prints wall and processor seconds, the slowest kinds of
checkers, and whether anything got through. `--tasks` also writes the set, for `lydite probe FILE`. Processor time is
that of this process and of what it has waited for: the sandbox's workers count only once they have ended.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from lydite.probes import probe
from lydite.probes.card import Tally
from lydite.probes.card_markdown import headline
from lydite.tasksets import generate, parse_task, task_document

Document = dict[str, Any]


def math(n: int) -> Document:
    task = generate("arithmetic", levels=[1 + n % 4], n=1, seed=n)[0]
    return {key: value for key, value in task_document(task).items() if key != "id"}


def choice(n: int) -> Document:
    options = [str(n + 2), str(n + 3), str(n + 4), str(n * 2 + 9)]
    letter = "ABC"[n % 3]
    options = {"A": options[1::-1] + options[2:], "B": options, "C": options[2:] + options[:2]}[letter]
    answer = "ABCD"[options.index(str(n + 3))]
    shown = " ".join(f"{name}) {text}" for name, text in zip("ABCD", options, strict=True))
    checker = {"type": "choice", "config": {"answer": answer, "choices": options}}
    return {"prompt": f"What is {n} + 3? {shown}", "checker": checker, "solution": f"The answer is {answer}."}


def exact(n: int) -> Document:
    word = ["Paris", "Rome", "Oslo", "Lima", "Cairo", "Tokyo", "Delhi", "Quito"][n % 8] + str(n)
    return {
        "prompt": f"Write the word that is {word[::-1]} backwards, and nothing else.",
        "checker": {"type": "exact", "config": {"answer": word}},
        "solution": word,
    }


def code(n: int) -> Document:
    tests = [{"call": "f", "args": [k], "expected": k * k + n} for k in (0, 1, 5, -3)]
    return {
        "prompt": f"Write a Python function f(x) that returns the square of x plus {n}.",
        "checker": {"type": "code", "config": {"tests": tests, "visible": tests[:1], "entry_point": "f"}},
        "solution": f"```python\ndef f(x):\n    return x * x + {n}\n```",
    }


def sql(n: int) -> Document:
    table = "CREATE TABLE sales (shop TEXT, amount INTEGER);"
    first = f"{table} INSERT INTO sales VALUES ('a', {n}), ('b', 7), ('a', 3);"
    second = f"{table} INSERT INTO sales VALUES ('c', 1), ('b', {n + 2}), ('c', 9), ('d', 4);"
    query = f"SELECT shop, SUM(amount) FROM sales WHERE amount <> {n + 100} GROUP BY shop"
    return {
        "prompt": f"Each shop with the sum of its amounts other than {n + 100}.",
        "checker": {"type": "sql", "config": {"setup": [first, second], "reference": query}},
        "solution": query,
    }


def json_schema(n: int) -> Document:
    fields = {"name": {"type": "string"}, "age": {"type": "integer"}}
    schema = {"type": "object", "properties": fields, "required": ["name", "age"], "additionalProperties": False}
    person = {"name": f"Ada {n}", "age": 30 + n}
    return {
        "prompt": f"Ada {n} is {30 + n}. Give name and age as JSON.",
        "checker": {"type": "json_schema", "config": {"schema": schema, "expected": person}},
        "solution": json.dumps(person),
    }


def regex(n: int) -> Document:
    good = [f"{n}-{k}{k}" for k in range(1, 5)]
    bad = [f"{n}-{k}" for k in range(3)] + [f"{n}_11", f"{n + 1}-11", f"{n}-111"]
    return {
        "prompt": f"A regular expression for {n}, a dash and two digits, such as {good[0]}.",
        "checker": {"type": "regex", "config": {"must_match": good, "must_not_match": bad, "visible": good[:1]}},
        "solution": f"{n}-\\d\\d",
    }


def text_transform(n: int) -> Document:
    cases = [{"input": text, "expected": text.upper() + str(n)} for text in ("abc", "x y", "Lydite")]
    return {
        "prompt": f"Write a Python function transform(text): the text in capitals, then {n}.",
        "checker": {"type": "text_transform", "config": {"cases": cases, "visible": ["abc"]}},
        "solution": f"```python\ndef transform(text):\n    return text.upper() + '{n}'\n```",
    }


def gated(n: int) -> Document:
    parts = {
        "answer": {"type": "math", "config": {"answer": str(n * 12 + 5)}},
        "work": {"type": "steps", "config": {"min_claims": 2}},
        "form": {"type": "format", "config": {"required": ["work", "answer"]}},
    }
    work = f"{n} * 12 = {n * 12}\n{n * 12} + 5 = {n * 12 + 5}"
    return {
        "prompt": f"What is {n} times 12, plus 5? Work in <work>, the number in <answer>.",
        "checker": {"type": "gate", "config": {"checkers": parts, "gate": "answer"}},
        "solution": f"<work>{work}</work><answer>{n * 12 + 5}</answer>",
    }


def script(n: int) -> Document:
    checks = f"text = open('sum.txt').read().strip()\nassert text == '{n * 3 + 1}', text\n"
    return {
        "prompt": "Write the sum of the numbers in data.txt to sum.txt.",
        "setup_files": {"data.txt": f"{n}\n{n + 1}\n{n}\n"},
        "checker": {"type": "script", "config": {"script": checks}},
        "solution": {"commands": ["awk '{s += $1} END {print s}' data.txt > sum.txt"]},
    }


def pytest(n: int) -> Document:
    tests = (
        "import pytest\nfrom shift import shift\n\n"
        f"@pytest.mark.parametrize('x', [0, 3, -{n + 1}])\n"
        f"def test_shift(x):\n    assert shift(x) == x + {n}\n\n"
        "def test_refuses():\n    with pytest.raises(TypeError):\n        shift(None)\n"
    )
    wrong = "def shift(x):\n    return x\n"
    return {
        "prompt": f"shift(x) in shift.py has to add {n}. Mend it.",
        "setup_files": {"shift.py": wrong},
        "checker": {"type": "pytest", "config": {"test_paths": ["tests"], "files": {"tests/test_shift.py": tests}}},
        "solution": {"files": {"shift.py": f"def shift(x):\n    return x + {n}\n"}},
    }


def exit_code(n: int) -> Document:
    return {
        "prompt": f"Write the squares of 1 to {n + 2}, one a line, to squares.txt.",
        "setup_files": {"notes.txt": "one a line\n"},
        "checker": {
            "type": "exit_code",
            "config": {
                "command": f'test "$(cat squares.txt)" = "$(seq {n + 2} | awk \'{{print $1 * $1}}\')"',
            },
        },
        "solution": {"commands": [f"seq {n + 2} | awk '{{print $1 * $1}}' > squares.txt"]},
    }


def file_exists(n: int) -> Document:
    files = {"type": "file_exists", "config": {"paths": ["out/double.txt", "out/half.txt"]}}
    command = f'test "$(cat out/double.txt)" = {4 * n + 2} && test "$(cat out/half.txt)" = {n}.5'
    parts = {"files": files, "contents": {"type": "exit_code", "config": {"command": command}}}
    return {
        "prompt": f"Write the double of {2 * n + 1} to out/double.txt and the half of it to out/half.txt.",
        "checker": {"type": "all_of", "config": {"checkers": parts}},
        "solution": {"files": {"out/double.txt": f"{4 * n + 2}\n", "out/half.txt": f"{n}.5\n"}},
    }


KINDS = (
    math,
    choice,
    exact,
    code,
    sql,
    json_schema,
    regex,
    text_transform,
    gated,
    script,
    pytest,
    exit_code,
    file_exists,
)


def mixed(n: int) -> list[Document]:
    """n documents, kinds in turn."""
    return [
        {"id": f"{kind.__name__}-{index}", **kind(2 + index // len(KINDS))}
        for index, kind in ((index, KINDS[index % len(KINDS)]) for index in range(n))
    ]


def processor() -> float:
    """Seconds of this process and of those that it has waited for."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def main() -> None:
    """Probe and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-n", type=int, default=100, help="tasks")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", type=Path, help="also write the tasks here (.jsonl)")
    options = parser.parse_args()
    documents = mixed(options.n)
    if options.tasks:
        options.tasks.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")
    tasks = [parse_task(document) for document in documents]
    tally, seconds = Tally(tasks), defaultdict[str, float](float)
    began, worked = time.perf_counter(), processor()
    for done in probe(tasks, jobs=options.jobs):
        tally.add(done)
        seconds[done.task.id.rpartition("-")[0]] += done.seconds
    wall, worked = time.perf_counter() - began, processor() - worked
    card = tally.card()
    print(headline(card))
    print(f"wall {wall:.1f} s, processor {worked:.1f} s, {card.attacks / wall:.0f} attacks a second")
    for kind, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        print(f"  {kind:<16}{spent:7.1f} s of its tasks")
    for row in card.rows:
        if row.got_through or row.warned:
            print(f"  {row.kind}: {row.told}; {', '.join([*row.tasks, *row.warned_tasks])}")
    for gap in card.not_made:
        print(f"  not made: {gap.check}: {gap.why} ({gap.count})")
    sys.exit(0 if card.holds and card.complete else 1)


if __name__ == "__main__":
    main()
