"""How strong a task's tests are: the share of faults, put into the reference solution, that they notice.

A mutant (``mutation.py``) that the tests judge correct survives. Some survivors are no faults at all: they do what the
reference does, and no test could kill them. Whether that is so cannot be decided in general, so it is not guessed: each
survivor meets the reference on inputs near those of the tests. Where the two differ, the survivor is proven, and the
input shown is the test that is missing (or lies outside of what the task asks for: its author has to say). Where they
do not, it stays undecided, and the strength is told as a range: with all of the undecided counted as faults, and with
none.
"""

from __future__ import annotations

import marshal
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from lydite.codec import digest
from lydite.errors import InputError
from lydite.probes.mutation import Mutant, mutants
from lydite.probes.neighbours import near_arguments, near_text
from lydite.sandbox import Limits
from lydite.task import Checker, Task
from lydite.tasksets.checkers import nested
from lydite.verifiers import CompiledChecker, Submission, build, checker_of
from lydite.verifiers.code.box import run_each
from lydite.verifiers.code.compare import shown
from lydite.verifiers.code.config import AssertTest, CallTest, CodeConfig, InputTest, read_config
from lydite.verifiers.code.outcome import read_records
from lydite.verifiers.code.programs import calls_input, candidate_program, portable
from lydite.verifiers.code.rewrite import compiled_prompt
from lydite.verifiers.code.source import find_source, prompt_code
from lydite.verifiers.code.values import NotPlainError, decode, encode

LIMIT = 40
"""Mutants of one task that are tried where nothing else is said."""
INPUTS = 120
"""Inputs on which a survivor meets the reference, at most."""
LEAST_SECONDS = 0.5
SLOWER = 20
"""A mutant may take so many times as long as the reference, or ``LEAST_SECONDS``: many never end."""
AT_ONCE = 2


class Survivor(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant that the tests judge correct. ``input``, ``reference``, ``mutant``: where the two were seen to differ,
    and in what, as texts; empty where they were not."""

    line: int
    operator: str
    told: str
    input: str = ""
    reference: str = ""
    mutant: str = ""

    @property
    def proven(self) -> bool:
        return bool(self.input)


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """What mutants say of the tests of one task.

    Attributes:
        task: its id.
        killed: mutants that were judged other than correct.
        survivors: the others.
        equivalent: left out, because the compiler cannot tell them from the reference or from another one.
        untried: beyond the limit; those tried are drawn by the digest of the task, the same ones each time.
        inputs: on which survivors met the reference.
        reason: why none were tried; empty where some were.
    """

    task: str
    killed: int = 0
    survivors: tuple[Survivor, ...] = ()
    equivalent: int = 0
    untried: int = 0
    inputs: int = 0
    reason: str = ""

    @property
    def range(self) -> tuple[float, float] | None:
        """The strength in [0, 1]: with the undecided counted as faults, and without them. ``None``: nothing tried."""
        return overall([self])


def strength(task: Task, limit: int = LIMIT) -> Strength:
    """Mutate the reference solution of a task with a ``code`` checker, and have its tests judge each mutant.

    Raises:
        InputError: the checker is unusable.
        UnavailableError: no sandbox works here.
        LostError: the sandbox failed.
    """
    checker = next((part for part in nested(checker_of(task)) if part.type == "code"), None)
    if checker is None:
        return Strength(task=task.id, reason="no code checker")
    if not isinstance(task.solution, str):
        return Strength(task=task.id, reason="no solution" if task.solution is None else "the solution is no text")
    settings, check = read_config(checker.config), build(checker)
    preamble = prompt_code(task.prompt_text, settings.entry_point)
    source = find_source(task.solution, settings.entry_point, preamble)
    if source is None:
        return Strength(task=task.id, reason="the solution holds no program")
    began = time.perf_counter()
    if not check(Submission(text=task.solution, prompt=task.prompt_text)).correct:
        return Strength(task=task.id, reason="the reference solution is not judged correct")
    seconds = max(LEAST_SECONDS, SLOWER * (time.perf_counter() - began))
    try:
        found, equivalent = mutants(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        return Strength(task=task.id, reason=f"the solution cannot be read: {error}")
    tried = _drawn(found, limit, task.digest)
    hasty = build(Checker(type="code", config=checker.config | {"timeout": min(settings.timeout, seconds)}))
    alive = _survivors(task, hasty, tried)
    meeting = _Meeting(settings, preamble, source, Limits(timeout=settings.timeout, memory_mb=settings.memory_mb))
    return Strength(
        task=task.id,
        killed=len(tried) - len(alive),
        survivors=tuple(meeting.survivor(mutant) for mutant in alive),
        equivalent=equivalent,
        untried=len(found) - len(tried),
        inputs=len(meeting.inputs),
        reason="" if tried else "there is nothing to change in the solution",
    )


def _drawn(found: Sequence[Mutant], limit: int, seed: str) -> list[Mutant]:
    """So many of them, drawn by hash, in the order of their lines."""
    if limit < 1:
        raise InputError("expected a number from 1", field="limit", remedy="say how many mutants of a task are tried")
    ranked = sorted(range(len(found)), key=lambda at: digest([seed, at]))
    return [found[at] for at in sorted(ranked[:limit])]


def _survivors(task: Task, check: CompiledChecker, tried: Sequence[Mutant]) -> list[Mutant]:
    def alive(mutant: Mutant) -> bool:
        text = f"```python\n{mutant.source}```\n"
        return check(Submission(text=text, prompt=task.prompt_text)).correct

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [mutant for mutant, lives in zip(tried, pool.map(alive, tried), strict=True) if lives]


class _Meeting:
    """The reference and a mutant, side by side, on inputs near those of the tests."""

    def __init__(self, settings: CodeConfig, preamble: str, source: str, limits: Limits) -> None:
        self.settings, self.preamble, self.limits = settings, compiled_prompt(preamble), limits
        self.source = source
        self.programs = all(isinstance(test, InputTest) for test in settings.tests)
        self.inputs = list(islice(self._inputs(), INPUTS))
        self._reference: list[_Result | None] | None = None

    def survivor(self, mutant: Mutant) -> Survivor:
        made = Survivor(line=mutant.line, operator=mutant.operator, told=mutant.told)
        if not self.inputs:
            return made
        if self._reference is None:
            one, two = self._results(self.source), self._results(self.source)
            # What differs from one time to the next, or fails, says nothing.
            self._reference = [a if a == b else None for a, b in zip(one, two, strict=True)]
        for given, wanted, got in zip(self.inputs, self._reference, self._results(mutant.source), strict=True):
            if wanted is not None and got != wanted:
                said = "nothing" if got is None else got.shown
                return msgspec.structs.replace(made, input=_told(given), reference=wanted.shown, mutant=said)
        return made

    def _inputs(self) -> Iterator[Any]:
        """Standard inputs, or ``(name, arguments, keywords)``, without repetition: first neighbours of every test."""
        seen: set[bytes | str] = set()
        sources = [self._near_test(test) for test in self.settings.tests]
        while sources:
            for source in list(sources):
                item = next(source, None)
                if item is None:
                    sources.remove(source)
                    continue
                try:
                    key = item if isinstance(item, str) else encode(list(item))
                except NotPlainError:
                    continue
                if key not in seen:
                    seen.add(key)
                    yield item

    def _near_test(self, test: Any) -> Iterator[Any]:
        if self.programs and isinstance(test, InputTest):
            yield from near_text(test.input)
        elif isinstance(test, CallTest):
            arguments, keywords = decode(test.arguments)
            for near in near_arguments(list(arguments), dict(keywords)):
                yield (test.call, *near)
        elif isinstance(test, AssertTest) and test.plain is not None:
            for arguments, keywords in map(_arguments, test.plain.calls):
                for near in near_arguments(arguments, keywords):
                    yield (self.settings.entry_point or "", *near)

    def _results(self, source: str) -> list[_Result | None]:
        """What comes out of each input; ``None``: nothing."""
        if self.programs:
            done = run_each(source, [text.encode() for text in self.inputs], self.limits)
            return [_Result(one.stdout, shown(one.stdout)) if one.exit_code == 0 else None for one in done]
        program = candidate_program(source, self.preamble, self.settings.entry_point)
        calls = [(name, portable(encode((arguments, keywords)))) for name, arguments, keywords in self.inputs]
        records, _ = read_records(run_each(program, [calls_input(calls, watched=False)], self.limits)[0].stdout)
        said = [_Result(record.raw, shown(record.content)) if record.kind in "VW" else None for record in records]
        return [*said, *[None] * len(self.inputs)][: len(self.inputs)]


class _Result(NamedTuple):
    raw: bytes
    shown: str


def _told(given: Any) -> str:
    """An input for people: a call, or what is read."""
    if isinstance(given, str):
        return shown(given)
    name, arguments, keywords = given
    said = [*map(shown, arguments), *(f"{key}={shown(value)}" for key, value in keywords.items())]
    return f"{name}({', '.join(said)})"


def _arguments(call: tuple[bool, bytes]) -> tuple[list[Any], dict[str, Any]]:
    plain, data = call
    arguments, keywords = marshal.loads(data) if plain else decode(data)  # noqa: S302  (read off the tests)
    return list(arguments), dict(keywords)


def overall(found: Iterable[Strength]) -> tuple[float, float] | None:
    """The strength of several tasks' tests together: of all mutants that were tried; see ``Strength.range``."""
    some = list(found)
    killed = sum(one.killed for one in some)
    survivors = sum(len(one.survivors) for one in some)
    proven = sum(survivor.proven for one in some for survivor in one.survivors)
    return (killed / (killed + survivors), killed / (killed + proven)) if killed + proven else None
