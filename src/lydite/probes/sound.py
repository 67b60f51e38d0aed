"""What lint learns of a task by judging: checkers that cannot be used, set-up that fails, passes for nothing, and
reference solutions that their own checkers do not accept."""

from __future__ import annotations

from collections.abc import Iterator

from lydite.errors import InputError, UnavailableError
from lydite.probes.attempt import told_of
from lydite.probes.bench import Bench
from lydite.sampling import Judge
from lydite.sandbox import Snapshot
from lydite.task import Checker, Task
from lydite.tasksets.checkers import CHECKERS, STATE, walk
from lydite.tasksets.lint import Finding, finding_of
from lydite.verdict import Outcome
from lydite.verifiers import Submission, build, checker_of, names, verify


def judged(task: Task, judge: Judge, bench: Bench) -> Iterator[Finding]:
    """Findings on one task, whose document is sound."""
    known = names()
    absent: dict[str, str] = {}
    unusable: dict[str | None, Finding] = {}  # by field: a composite names the field of its part, as the part does
    for field, part in walk(checker_of(task)):
        if part.type in CHECKERS and part.type not in known:
            absent.setdefault(part.type, field)
        elif (found := _unusable(task, field, part)) is not None:
            unusable.setdefault(found.field, found)
    yield from (found for field, found in unusable.items() if field not in {f"{at}.type" for at in absent.values()})
    for kind, field in absent.items():
        message = f"no verifier for {kind} here: it can be read, not judged"
        remedy = "install one, or name your own as path.py:name"
        yield Finding(rule="no_verifier", message=message, task=task.id, field=f"{field}.type", remedy=remedy)
    if absent or unusable:
        return
    try:
        judge.prepare(task)
    except InputError as error:
        field = (error.field or "").removeprefix(f"task {task.id}").removeprefix(".") or "metadata.flags"
        told = InputError(error.message, field=field, remedy=error.remedy)
        yield finding_of(told, "checker" if field.startswith("checker") else "flags", task)
        return
    yield from _tried(task, bench)


def _tried(task: Task, bench: Bench) -> Iterator[Finding]:
    """What comes of doing nothing, and of the reference solution."""
    state: Snapshot | None = None
    try:
        if task.env != "none":
            state = bench.untouched(task)
    except UnavailableError as error:
        yield Finding(rule="not_tried", message=str(error), task=task.id, remedy="lydite sandbox doctor")
        return
    except InputError as error:
        yield finding_of(error, "not_tried" if error.field == "env" else "setup_fails", task)
        return
    if task.env == "none" and any(part.type in STATE for _, part in walk(task.checker)):
        return  # another rule says so
    nothing = verify(task, "", state=state)
    if state is not None and nothing.outcome is Outcome.PARTIAL:
        held = [part.name for part in nothing.parts if part.score]
        message = f"the untouched workspace already scores {nothing.score:.2g}"
        yield Finding(
            rule="scores_untouched",
            message=message + (f": {', '.join(held)[:200]} hold before anything is done" if held else ""),
            task=task.id,
            field="checker",
            remedy="doing nothing is rewarded: ask for what is not there before, or put what must stay into a gate",
        )
    if nothing.outcome is Outcome.CORRECT:
        what = "an empty answer" if state is None else "the untouched workspace"
        remedy = "let the checker ask for what is not there before"
        message = f"{what} is judged correct"
        yield Finding(rule="passes_untouched", message=message, task=task.id, field="checker", remedy=remedy)
    try:
        verdict = bench.judged(task, state)
    except InputError as error:
        yield finding_of(error, "solution", task)
        return
    if verdict is not None and verdict.outcome is not Outcome.CORRECT:
        remedy = "mend the solution, or the checker's answer"
        message = f"the reference is judged {told_of(verdict)}"
        yield Finding(rule="solution", message=message, task=task.id, field="solution", remedy=remedy)


def _unusable(task: Task, field: str, checker: Checker) -> Finding | None:
    """Why this checker cannot judge; it is compiled, and asked about an empty answer, which it must stand."""
    nothing = Submission(text="", prompt=task.prompt_text, state=Snapshot.from_files({}))
    try:
        verdict = build(checker)(nothing)
    except UnavailableError as error:
        return Finding(rule="not_tried", message=str(error), task=task.id, field=f"{field}.type")
    except InputError as error:
        named = (error.field or "checker").removeprefix("checker")
        # The finding's own path is the task's.
        message = error.message if error.path is None else f"{error.path}: {error.message}"
        return finding_of(InputError(message, field=field + named, remedy=error.remedy), "checker", task)
    except Exception as error:  # code of a user's own, or of an installed package, that cannot even be loaded
        message = f"cannot be loaded: {type(error).__name__}: {error}"[:300]
        return Finding(rule="checker", message=message, task=task.id, field=f"{field}.type", remedy="mend the verifier")
    if verdict.outcome is not Outcome.INVALID:
        return None
    gold = verdict.reason == "unparseable_gold"
    return Finding(
        rule="checker",
        message=f"can judge nothing: {verdict.reason}" + (f": {verdict.detail}" if verdict.detail else ""),
        task=task.id,
        field=f"{field}.config.answer" if gold else f"{field}.type",
        remedy="give an answer that can be read" if gold else "mend the verifier",
    )
