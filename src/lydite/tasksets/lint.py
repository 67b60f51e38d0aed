"""What is wrong, or likely wrong, with a set of tasks. Each rule is one small function; none runs anything.

Rules that need to judge (``no_verifier``, ``setup_fails``, ``passes_untouched``, ``scores_untouched``,
``solution``) come from the caller: this room reads, it does not judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.task import Checker, Task
from lydite.tasksets._findings import Finding, Rule, finding_of
from lydite.tasksets._grams import Index, comparable, words
from lydite.tasksets.checkers import STATE, check_config, nested
from lydite.tasksets.lint_hidden import hidden_findings, outside_findings
from lydite.tasksets.read import Paths, Reading, duplicate_id, expand, read_tasks

__all__ = ["Finding", "finding_of", "lint_files", "lint_readings", "lint_tasks"]

#: A rule from elsewhere: findings about one task, which get their place from the reading.
TaskRule = Callable[[Task], Iterable[Finding]]


def lint_files(paths: Paths, *, n: int = 8, threshold: float = 0.8, rule: TaskRule | None = None) -> list[Finding]:
    """Everything found in files, malformed documents included, in file order.

    Args:
        paths: files, or folders of them.
        n: words per n-gram.
        threshold: Jaccard share of n-grams from which two prompts are near duplicates.
        rule: one more rule, for every task whose document is sound.

    Raises:
        InputError: a file as a whole is unusable.
    """
    return lint_readings(read_tasks(expand(paths)), n=n, threshold=threshold, rule=rule)


def lint_tasks(tasks: Iterable[Task], *, n: int = 8, threshold: float = 0.8) -> list[Finding]:
    """Everything found in tasks.

    Args:
        tasks: the set.
        n: words per n-gram.
        threshold: Jaccard share of n-grams from which two prompts are near duplicates.
    """
    return lint_readings((Reading(_NOWHERE, 0, task) for task in tasks), n=n, threshold=threshold)


_NOWHERE: Any = None


def lint_readings(
    readings: Iterable[Reading], *, n: int = 8, threshold: float = 0.8, rule: TaskRule | None = None
) -> list[Finding]:
    """Everything found in documents that were read elsewhere; the arguments are those of ``lint_files``."""
    found: list[tuple[int, Finding]] = []
    read: list[tuple[int, Reading, Task]] = []
    ids: dict[str, Reading] = {}
    for position, reading in enumerate(readings):
        if reading.task is None:
            if reading.error is not None:
                found.append((position, finding_of(reading.error, "malformed")))
            continue
        task = reading.task
        read.append((position, reading, task))
        own = list(_lint_task(task))
        if rule is not None and not any(finding.rule == "checker" for finding in own):
            told = {finding.field for finding in own}  # a verifier says the same of a path again
            own += (more for more in rule(task) if more.rule != "checker" or more.field not in told)
        found += ((position, _placed(finding, reading)) for finding in own)
        if (first := ids.setdefault(task.id, reading)) is not reading:
            found.append((position, _duplicate_id(task, reading, first)))
    for place, finding in _pairs([task for _, _, task in read], n, threshold):
        position, reading, _ = read[place]
        found.append((position, _placed(finding, reading)))
    return [finding for _, finding in sorted(found, key=lambda item: item[0])]


def _lint_task(task: Task) -> Iterator[Finding]:
    if not task.prompt_text.strip():
        yield Finding(rule="empty_prompt", message="the prompt is empty", task=task.id, field="prompt")
    try:
        check_config(task.checker)
    except InputError as error:
        yield finding_of(error, "checker", task)
        return
    parts = nested(task.checker)
    if task.env == "none" and (state := [part.type for part in parts if part.type in STATE]):
        message = f"{state[0]} judges a workspace, and the task has none"
        yield Finding(rule="env", message=message, task=task.id, field="env", remedy='say "env": "workspace"')
    choices = _choices(parts)
    told = False
    for what, text in _golds(task, parts):
        if not _offered(task.prompt_text, text, choices) and _tells(task.prompt_text, what, text):
            remedy = "take it out of the prompt"
            message = f"the {what} stands in the prompt: {text[:60]!r}"
            yield Finding(rule="gold_in_prompt", message=message, task=task.id, field="prompt", remedy=remedy)
            told = True
            break
    yield from (found for found in hidden_findings(task) if not (told and found.rule == "gold_in_prompt"))
    yield from outside_findings(task)


def _golds(task: Task, parts: list[Checker]) -> Iterator[tuple[str, str]]:
    """Texts that a prompt must not hold: answers, tests not meant to be seen, grading scripts, the solution."""
    for part in parts:
        config = part.config
        if part.type in ("math", "exact"):
            answer = config["answer"]
            what = "answer" if part.type == "math" else "text answer"
            yield from ((what, str(item)) for item in (answer if isinstance(answer, list) else [answer]))
        elif part.type == "code":
            shown = config.get("visible") or []
            yield from (("test", test) for test in config["tests"] if isinstance(test, str) and test not in shown)
        elif part.type == "pytest" and isinstance(hidden := config.get("files"), dict):
            yield from (("hidden test", text) for text in hidden.values() if isinstance(text, str))
        elif part.type in ("script", "sql"):
            yield "grader's text", config["script" if part.type == "script" else "reference"]
    if isinstance(task.solution, str):
        yield "solution", task.solution


def _choices(parts: list[Checker]) -> frozenset[str]:
    """What the checkers list as choices, letters and texts, case folded."""
    found: set[str] = set()
    for part in parts:
        choices = part.config.get("choices")
        items = [*choices, *choices.values()] if isinstance(choices, dict) else choices
        found.update(str(item).strip().casefold() for item in (items if isinstance(items, list) else ()))
    return frozenset(found)


_PAIRS = {"yes": "no", "no": "yes", "true": "false", "false": "true"}


def _offered(prompt: str, gold: str, choices: frozenset[str]) -> bool:
    """Whether a prompt names a gold as one choice among others: a letter, yes beside no, "red, green or blue"."""
    gold, prompt = gold.strip().casefold(), prompt.casefold()
    if gold in choices or (len(gold) == 1 and gold.isalpha()):
        return True
    if gold in _PAIRS:
        return re.search(rf"\b{_PAIRS[gold]}\b", prompt) is not None
    if not gold or len(gold) >= 20 or not any(map(str.isalpha, gold)):
        return False
    item, mark = re.escape(gold), r"[\"'”’)*`]*"
    before_or = rf"(?<!\w){item}{mark}(?:\s*,\s*[^\s,.;:!?]+(?:\s[^\s,.;:!?]+)?)*,?\s+or\s"
    return re.search(rf"{before_or}|\bor\s+[\"'“‘(*`]*{item}(?!\w)", prompt) is not None


def _tells(prompt: str, what: str, gold: str) -> bool:
    """Whether a prompt gives a text away.

    A word problem holds many numbers, and one of them may be the answer by chance. So a short gold counts only where
    the prompt says that it is the answer; a long text, and a word that is to be answered as it stands, count anywhere.
    """
    gold = gold.strip()
    if not gold or gold not in prompt:
        return False
    if len(gold) >= 20:
        return True
    whole = rf"(?<!\w){re.escape(gold)}(?!\w)"
    if what == "text answer" and sum(map(str.isalpha, gold)) >= 3:
        return re.search(whole, prompt) is not None
    announced = rf"(?:####|\\boxed\s*\{{|\banswer(?:\s+is|\s*[:=])|\bsolution\s*[:=])\s*\$?{whole}"
    return re.search(announced, prompt, re.IGNORECASE) is not None


def _pairs(tasks: list[Task], n: int, threshold: float) -> Iterator[tuple[int, Finding]]:
    """Prompts that an earlier task of the set has too, exactly or nearly: (place of the later one, finding)."""
    texts = [words(comparable(task)) for task in tasks]
    index = Index(texts, n)
    first: dict[tuple[str, ...], int] = {}
    for place, (task, text) in enumerate(zip(tasks, texts, strict=True)):
        earlier = first.setdefault(tuple(text), place)
        if earlier != place:
            message = f"the same prompt as task {tasks[earlier].id}"
            yield place, _pair("duplicate_prompt", message, task, tasks[earlier])
            continue
        near = [match for match in index.matches(text) if match.place < place and match.jaccard >= threshold]
        if near:
            best = max(near, key=lambda match: (match.jaccard, -match.place))
            other = tasks[best.place].id
            message = f"nearly the prompt of task {other} ({best.jaccard:.0%} of n-grams): {best.example!r}"
            yield place, _pair("near_duplicate", message, task, tasks[best.place])


def _pair(rule: Rule, message: str, task: Task, other: Task) -> Finding:
    remedy = "remove one of the two, or let them ask different things"
    return Finding(rule=rule, message=message, task=task.id, other=other.id, field="prompt", remedy=remedy)


def _duplicate_id(task: Task, reading: Reading, first: Reading) -> Finding:
    if reading.path is _NOWHERE:
        remedy = "give each task an id of its own"
        return Finding(rule="duplicate_id", message="two tasks have this id", task=task.id, field="id", remedy=remedy)
    error = duplicate_id(task, reading.path, reading.line, (first.path, first.line))
    return finding_of(error, "duplicate_id", task)


def _placed(finding: Finding, reading: Reading) -> Finding:
    if reading.path is _NOWHERE:
        return finding
    return msgspec.structs.replace(finding, path=str(reading.path), line=reading.line)
