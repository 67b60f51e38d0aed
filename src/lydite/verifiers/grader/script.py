"""``python``: the author's own ``grade(sample, item) -> float``, in the sandbox.

No network; by default 10 s and 2048 MiB for one sample (``timeout`` up to 120 s and ``memory_mb`` in the grader's
document change that; OpenAI gives two minutes). What it prints is not read.

A grader that raises, runs out of time or memory, or returns no number does so on what a candidate said. If that were
our fault, nonsense would be a way out of a wrong answer: it is a wrong answer (``grader_error``, ``timeout``,
``memory``, ``output``), as long as the grader works on some other sample. Tried are ``probe``, a completion that the
author may give, and texts that no candidate has a hand in: the item as JSON, each of its values, a number, a word, an
empty object and list. One that fails on all of them, or cannot be loaded, is broken: ``invalid``.
"""

from __future__ import annotations

import ast
import json
import threading
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lydite.errors import InputError
from lydite.sandbox import ExecResult, Limits
from lydite.verifiers.code import box
from lydite.verifiers.code.compare import told
from lydite.verifiers.code.outcome import ended
from lydite.verifiers.fields import no_python
from lydite.verifiers.grader.grade import Grade, Kind, scored
from lydite.verifiers.grader.sample import Sample
from lydite.verifiers.protocol import Submission

MAX_SOURCE = 256_000
"""Bytes of source."""
MAX_SAMPLE = 1_000_000
"""Characters of a completion; a longer one is not graded."""
_NEUTRAL = ("0", "yes", "{}", "[]")
_PROBES = 12


class _Ran(NamedTuple):
    """``score``, or why there is none: ``fault`` a reason and ``words``; ``loaded`` whether the source was."""

    score: float | None
    fault: str = ""
    words: str = ""
    loaded: bool = True


class PythonGrader:
    """The author's function, ready for samples.

    Args:
        source: Python.
        item: what the function gets beside the sample.
        limits: of one call.
        probe: a completion that the function works on; empty for none.
        threshold: score from which a grade counts as passed.

    Raises:
        InputError: no Python, too long, or no function ``grade`` that takes two arguments.
        UnavailableError: no sandbox works here.
    """

    def __init__(self, source: str, item: Any, limits: Limits, probe: str, threshold: float | None) -> None:
        _check_source(source)
        box.sandbox()
        self._source, self._item, self._limits, self._probe, self._threshold = source, item, limits, probe, threshold
        self._lock = threading.Lock()
        self._broken: str | None = None

    def __call__(self, sample: Sample) -> Grade:
        text = sample.text or ""
        if len(text) > MAX_SAMPLE:
            return Grade(0.0, "too_long", kind=Kind.FAILED, detail=f"more than {MAX_SAMPLE} characters")
        try:
            (ran,) = self._run([sample.document])
            broken = "" if ran.score is not None else ran.words if not ran.loaded else self._fails_anyway()
        except box.LostError as error:
            return Grade(0.0, "sandbox_lost", kind=Kind.BROKEN, detail=str(error)[:300])
        if broken:
            return Grade(0.0, "grader_error", kind=Kind.BROKEN, detail=broken)
        shown = text if len(text) <= 500 else text[:500] + "…"
        if ran.score is None:
            return Grade(0.0, ran.fault, shown, kind=Kind.FAILED, detail=f"the grader could not grade it: {ran.words}")
        return scored(ran.score, self._threshold, shown, f"the grader says {ran.score:.6g}")

    def _run(self, samples: list[dict[str, Any]]) -> list[_Ran]:
        inputs = [json.dumps([self._source, sample, self._item]).encode() for sample in samples]
        return [_read(result) for result in box.run_each(_program(), inputs, self._limits)]

    def _fails_anyway(self) -> str:
        """Why the grader fails on every neutral sample; empty where it works on one. Looked for once."""
        with self._lock:
            if self._broken is None:
                self._broken = self._probed()
            return self._broken

    def _probed(self) -> str:
        words = ""
        for text in neutral(self._item, self._probe):
            (ran,) = self._run([Sample(Submission(text=text)).document])
            if ran.score is not None:
                return ""
            words = words or f"on {text[:40]!a}: {ran.words}"
        return f"the grader fails on every sample, {words}"


def neutral(item: Any, probe: str) -> list[str]:
    """Completions that no candidate has a hand in."""
    values = list(item.values()) if isinstance(item, dict) else []
    plain = [value if isinstance(value, str) else json.dumps(value) for value in values]
    texts = [probe, json.dumps(item), *plain[: _PROBES - len(_NEUTRAL)], *_NEUTRAL]
    return list(dict.fromkeys(text for text in texts if text.strip()))


@lru_cache(maxsize=1)
def _program() -> str:
    return (Path(__file__).parent / "inside.py").read_text(encoding="utf-8")


def _read(result: ExecResult) -> _Ran:
    loaded = result.stdout.startswith(b"L")
    try:
        said = json.loads(result.stdout.removeprefix(b"L"))
        if "score" in said:
            return _Ran(float(said["score"]))
        fault = "memory" if said["error"][0] == "MemoryError" else "grader_error"
        return _Ran(None, fault, told(*said["error"]), loaded)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    failure = ended(result)
    if failure is None:
        return _Ran(None, "grader_error", "it ended before it had said anything", loaded)
    fault = failure.kind if failure.kind in ("timeout", "memory", "output") else "grader_error"
    return _Ran(None, fault, failure.evidence or "", loaded)


@lru_cache(maxsize=32)  # every task of a set has the same grader
def _check_source(source: str) -> None:
    if len(source.encode("utf-8", "replace")) > MAX_SOURCE:
        raise InputError(f"has more than {MAX_SOURCE} bytes", field="source", remedy="shorten it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(no_python(error), field="source", remedy="mend it") from None
    remedy = "define it at the top: def grade(sample, item) -> float"
    names = [node for node in tree.body if getattr(node, "name", None) == "grade"]
    functions = [node for node in names if isinstance(node, ast.FunctionDef)]
    if not functions:
        if "grade" in source and not names:  # imported, or assigned
            return
        raise InputError("defines no function grade", field="source", remedy=remedy)
    arguments = functions[-1].args
    taken = len(arguments.posonlyargs) + len(arguments.args)
    needed = taken - len(arguments.defaults)
    if needed > 2 or (taken < 2 and arguments.vararg is None):
        raise InputError("grade does not take (sample, item)", field="source", remedy=remedy)
