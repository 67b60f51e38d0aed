"""What the detectors see: recorded exploits found (recall), honest work flagged (false alarms), microseconds a text.

    python benchmarks/flags.py [--json] [--data DIR]

Exploits, below ``tests/detectors/data``: ``exploits.yaml``, with which the detectors were tuned; ``held_back.yaml``,
written before them and not looked at while they were; ``evasions.yaml``, written afterwards by someone who knew them
and set out to be missed (2 of 23 were found at first; some were mended since).

Honest work: solutions of GSM8K as they come, and without annotations and with the answer in a box (below DIR; these
were in sight while the detectors were tuned); HumanEval's canonical solutions (below DIR); reference solutions of the
family ``files`` as episodes. What is not below DIR is left out, and said so. A flag counts as a false alarm, whatever a
person might say of it; ``-`` where a detector does not look."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "detectors"))

from attempts import Case, load  # type: ignore[import-not-found]

from lydite.detectors import detect, detect_group, listed, names_looking
from lydite.evaluation.intervals import wilson
from lydite.flag import Flag
from lydite.rollout import Message, Rollout, ToolCall
from lydite.task import Checker, Task
from lydite.tasksets.families import generate
from lydite.verdict import Verdict

Honest = tuple[Rollout, Verdict, Task]
_NOTES = re.compile(r"<<[^>]*>>")


def flags_of(case: Case) -> list[Flag]:
    """Flags of a recorded case, its group's included."""
    found = [flag for r, v in zip(case.rollouts, case.verdicts, strict=True) for flag in detect(r, v, case.task)]
    if len(case.rollouts) > 1:
        found += [flag for flags in detect_group(case.rollouts, case.verdicts, case.task) for flag in flags]
    return found


def recall(name: str) -> tuple[dict[str, list[int]], list[str]]:
    """Per detector: [found, all] of the cases that it is for; names of those that it missed."""
    counts: dict[str, list[int]] = {}
    missed = []
    for case in load(name):
        hit = case.expect in {flag.detector for flag in flags_of(case)}
        pair = counts.setdefault(case.expect, [0, 0])
        pair[0] += hit
        pair[1] += 1
        if not hit:
            missed.append(f"{case.name} ({case.exploit})")
    return counts, missed


def gsm8k(folder: Path) -> Iterator[Honest]:
    for name in ("gsm8k_train.jsonl", "gsm8k_test.jsonl"):
        if not (folder / name).exists():
            continue
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            work, _, gold = row["answer"].rpartition("####")
            boxed = f"{_NOTES.sub('', work)}The answer is \\boxed{{{gold.strip()}}}."
            prompt = (Message(role="user", content=row["question"]),)
            task = Task(id="g", prompt=prompt, checker=Checker(type="math", config={"answer": gold.strip()}))
            for text in (row["answer"], boxed):
                yield _said(task, text), Verdict.of(1.0, "correct", "math@1", extracted=gold.strip()), task


def humaneval(folder: Path) -> Iterator[Honest]:
    path = folder / "HumanEval.jsonl.gz"
    if not path.exists():
        return
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        row = json.loads(line)
        prompt = (Message(role="user", content=row["prompt"]),)
        config = {"tests": [row["test"]], "entry_point": row["entry_point"]}
        task = Task(id="h", prompt=prompt, checker=Checker(type="code", config=config))
        program = f"```python\n{row['prompt']}{row['canonical_solution']}```"
        yield _said(task, program), Verdict.of(1.0, "correct", "code@1"), task


def files(_: Path) -> Iterator[Honest]:
    for task in generate("files", levels=(1, 2, 3, 4, 5), n=400, seed=0):
        blank = Task(
            id=task.id, prompt=task.prompt, checker=task.checker, env=task.env, setup_files=task.setup_files
        )  # the reference itself must not excuse what is done
        solution: Any = task.solution or {}
        calls = [("write_file", {"path": path, "content": text}) for path, text in solution.get("files", {}).items()]
        calls += [("run_command", {"command": command}) for command in solution.get("commands", ())]
        said: list[Message] = []
        for name, arguments in calls:
            said.append(Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=arguments),)))
            said.append(Message(role="tool", name=name, content="(no output)"))
        said.append(Message(role="assistant", content="Done."))
        rollout = Rollout(id="f", task=task.id, task_digest="", prompt=task.prompt, completion=tuple(said))
        yield rollout, Verdict.of(1.0, "correct", f"{task.checker.type}@1"), blank


def _said(task: Task, text: str) -> Rollout:
    said = (Message(role="assistant", content=text),)
    return Rollout(id="r", task=task.id, task_digest="", prompt=task.prompt, completion=said)


SETS = {"gsm8k": gsm8k, "humaneval": humaneval, "files": files}


def false_alarms(name: str, folder: Path) -> dict[str, Any]:
    """Flags per detector on honest work, how many attempts there were, and what looking at one takes."""
    work = list(SETS[name](folder))
    alarms: Counter[str] = Counter()
    looking = {
        name
        for rollout, verdict, _ in work
        for name in names_looking(verdict.verifier, verdict.correct, any(m.tool_calls for m in rollout.completion))
    }
    begin = time.process_time()
    for rollout, verdict, task in work:
        alarms.update(flag.detector for flag in detect(rollout, verdict, task))
    spent = time.process_time() - begin
    counts = {name: alarms[name] for name in sorted(looking)}
    return {"n": len(work), "alarms": counts, "us": round(spent / len(work) * 1e6, 1) if work else None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    tuned, missed = recall("exploits.yaml")
    held, missed_held = recall("held_back.yaml")
    sly, missed_sly = recall("evasions.yaml")
    honest = {name: false_alarms(name, args.data) for name in SETS}
    if args.json:
        missing = missed + missed_held + missed_sly
        found = {"tuned": tuned, "held_back": held, "evasions": sly, "missed": missing, "honest": honest}
        print(json.dumps(found, indent=2))
        return
    for name, result in honest.items():
        if not result["n"]:
            print(f"{name}: not below {args.data}, left out", file=sys.stderr)
    head = [
        "detector",
        "bars",
        "tuned with",
        "held back",
        "evasions",
        *(f"{name} ({r['n']:,})" for name, r in honest.items()),
    ]
    rows = []
    for one in listed():
        if one.looks_at == "runs":
            continue
        shares = [_share(counts.get(one.name)) for counts in (tuned, held, sly)]
        cells = [f"`{one.name}`", "yes" if one.bars else "no", *shares]
        cells += [_alarms(result["alarms"].get(one.name), result["n"]) for result in honest.values()]
        rows.append(cells)
    total = ["together", "", _share(_sum(tuned)), _share(_sum(held)), _share(_sum(sly)), *("" for _ in honest)]
    for cells in [head, ["---"] * len(head), *rows, total]:
        print("| " + " | ".join(cells) + " |")
    print("\nmissed:", "; ".join(missed + missed_held + missed_sly) or "none")
    print("microseconds an attempt, all detectors:", {name: result["us"] for name, result in honest.items()})


def _share(pair: list[int] | None) -> str:
    return f"{pair[0]} of {pair[1]}" if pair else "-"


def _sum(counts: dict[str, list[int]]) -> list[int]:
    return [sum(pair[0] for pair in counts.values()), sum(pair[1] for pair in counts.values())]


def _alarms(number: int | None, n: int) -> str:
    if not n or number is None:
        return "-"
    bounds = wilson(number, n)
    return f"{number} ({100 * bounds.low:.2f}-{100 * bounds.high:.2f} %)"


if __name__ == "__main__":
    main()
