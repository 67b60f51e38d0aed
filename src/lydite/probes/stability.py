"""The same submission, again: ten times, several at once, and in another process with another hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from lydite.probes.protocol import Check, Finding, Level
from lydite.sandbox import Snapshot
from lydite.task import Checker, Task
from lydite.verdict import Verdict
from lydite.verifiers import CompiledChecker, Submission, build

TIMES = 10
FEWER = 2
"""Where judging waits for other processes, and the same shape of checker was asked ten times before."""
AT_ONCE = 5
JUDGING = 2
"""Threads of the other process: half of its work is waiting for the sandbox."""
SECONDS = 300.0
"""For all verdicts of the other process together."""
_MEND = "let nothing but the submission decide: no clock, no unseeded chance, no order of sets, no state between calls"


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A submission and its verdict. ``pack``: of the state that was judged."""

    kind: str
    checker: Checker
    text: str
    prompt: str | None
    pack: bytes | None
    verdict: Verdict

    @classmethod
    def of(cls, kind: str, check: CompiledChecker, given: Submission, verdict: Verdict) -> Sample:
        pack = None if given.state is None else given.state.to_pack()
        return cls(kind=kind, checker=check.checker, text=given.text, prompt=given.prompt, pack=pack, verdict=verdict)

    @property
    def submission(self) -> Submission:
        state = None if self.pack is None else Snapshot.from_pack(self.pack)
        return Submission(text=self.text, prompt=self.prompt, state=state)


def repeated(
    task: Task, check: CompiledChecker, samples: Iterable[Sample], whole: bool, stopped: Callable[[], bool]
) -> Iterator[Finding]:
    """Ten verdicts on each sample (two, unless ``whole``), half of them at once."""
    for sample in samples:
        if stopped():
            return
        given = sample.submission
        if whole:
            said = [check(given) for _ in range(TIMES - AT_ONCE)]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                said += pool.map(check, [given] * AT_ONCE)
        else:
            said = [check(given) for _ in range(FEWER - 1)]
        yield _compared(task.id, Check.DETERMINISM, sample, said)


def elsewhere(samples: Sequence[tuple[str, Sample]]) -> list[Finding]:
    """The verdicts of a process of its own, with another hash seed, time zone and locale, on ``(task id, sample)``."""
    if not samples:
        return []
    env = {**os.environ, "PYTHONHASHSEED": "20071", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"}
    data = msgspec.msgpack.encode([sample for _, sample in samples])
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from lydite.probes.stability import serve; serve()"],
            input=data,
            capture_output=True,
            env=env,
            timeout=SECONDS,
        )
        said = msgspec.msgpack.decode(done.stdout, type=list[Verdict])
    except (subprocess.TimeoutExpired, msgspec.DecodeError) as error:
        said_last = "" if isinstance(error, subprocess.TimeoutExpired) else _last_line(done.stderr)
        told = f"the other process gave no verdicts: {said_last or type(error).__name__}"
        return [
            Finding(task=task, check=Check.PORTABILITY, kind=sample.kind, level=Level.NOT_MADE, told=told)
            for task, sample in samples
        ]
    return [
        _compared(task, Check.PORTABILITY, sample, [verdict])
        for (task, sample), verdict in zip(samples, said, strict=True)
    ]


def serve() -> None:
    """Judge the samples on standard input. The main function of the other process."""
    given = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[Sample])
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a verifier prints is not in the way
    with ThreadPoolExecutor(JUDGING) as pool:
        said = list(pool.map(lambda sample: build(sample.checker)(sample.submission), given))
    out.write(msgspec.msgpack.encode(said))
    out.flush()


def _compared(task: str, check: str, sample: Sample, said: Sequence[Verdict]) -> Finding:
    """All verdicts have to be the same. Where they are not: failed if an attack was once judged correct, or the
    reference was once not; else a warning."""
    different = next((verdict for verdict in said if verdict != sample.verdict), None)
    level, told = Level.PASSED, ""
    if different is not None:
        correct = {verdict.correct for verdict in (sample.verdict, *said)}
        level = Level.FAILED if len(correct) > 1 else Level.WARNING
        told = _difference(sample.verdict, different)
    return Finding(
        task=task,
        check=check,
        kind=sample.kind,
        level=level,
        outcome=str(sample.verdict.outcome),
        share=sample.verdict.score,
        reason=sample.verdict.reason,
        told=told,
        what="the same submission, again",
        mend=_MEND,
        shown="" if different is None else sample.text[:2000],
    )


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


def _difference(one: Verdict, two: Verdict) -> str:
    """In which fields two verdicts differ."""
    names = [name for name in Verdict.__struct_fields__ if getattr(one, name) != getattr(two, name)]
    shown = [f"{name} {str(getattr(one, name))[:200]!r}, and then {str(getattr(two, name))[:200]!r}" for name in names]
    return "; ".join(shown)[:600]
