"""An attempt judged once more, for somebody who asks: by today's verifier, or by another checker. Nothing is written.

Covered: a few at a time, each in a process that is ended after ``SECONDS``; verifiers that are files of somebody's own
are never asked, whatever a request or a run names.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.ledger import Graded, Row, states
from lydite.ledger.info import read_info
from lydite.rollout import Message, Rollout
from lydite.sampling.judge import Judge
from lydite.sampling.rescoring import scheme_of
from lydite.server.apart import TooLongError, apart
from lydite.server.errors import ApiError, RefusedError
from lydite.server.page.why import own_types
from lydite.server.service import Service
from lydite.task import Checker, Task
from lydite.verifiers import Submission, build, checker_of
from lydite.verifiers.chunks import Clock
from lydite.verifiers.protocol import Step
from lydite.verifiers.registry import NOT_JUDGED, RECORDED

SECONDS = 60.0
MOST = 64_000
"""Characters of a checker's document."""
_NO_PACKAGES = frozenset(["math", "exact", "choice", "steps", "format", "json_schema", "regex", "sql", "proof"])


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """What came of judging once more.

    Attributes:
        graded: verdict, flags of detectors of attempts, reward, as a rescoring would record them.
        own: whether the task's own checker judged.
        same: whether verdict and evidence are those that are recorded.
        command: what keeps such a verdict in the ledger.
    """

    graded: Graded
    own: bool
    same: bool
    command: str


def judge_again(service: Service, run: str, row: Row, task: Task, document: str = "") -> Again:
    """Judge an attempt now.

    Args:
        service: of the run.
        run: its slug.
        row: the attempt.
        task: as attempted.
        document: a checker as JSON; empty for the task's own.

    Raises:
        InputError: the document is no checker, its verifier refuses it, or what the episode left behind is gone.
        ApiError: 503, too much is being judged, or it takes too long.
    """
    checker = read_checker(document) if document.strip() else task.checker
    if checker.type == RECORDED:
        raise InputError(NOT_JUDGED, field="checker.type", remedy="judge it with another checker")
    if own := own_types(checker):
        raise InputError(
            f"{own[0][:100]!r} is no verifier of this installation",
            field="checker.type",
            remedy="files of your own are asked by `lydite ledger rescore` alone",
        )
    folder = service.home.run_folder(run)
    if read_info(folder).notes.get("packages") and checker.type not in _NO_PACKAGES:
        raise InputError("its sandbox had packages of its own", remedy="`lydite ledger replay` judges with them")
    now = task if checker == task.checker else msgspec.structs.replace(task, checker=checker)

    asked = canonical(_Asked(now, folder=str(folder), rollout=row.rollout, scheme=row.record.scheme))
    graded = msgspec.json.decode(bounded("judge_it", asked), type=Graded)
    return Again(
        graded=graded,
        own=now is task,
        same=canonical(graded.verdict) == canonical(row.record.verdict),
        command=command(run, row.rollout.id, task.checker, checker),
    )


def explained(task: Task, row: Row) -> tuple[Step, ...]:
    """The steps of a verdict, where its verifier tells them.

    Raises: as ``judge_again``.
    """
    checker = checker_of(task)
    if checker.type == RECORDED or own_types(checker):
        return ()
    said = Submission(text=row.rollout.text, prompt=row.rollout.prompt_text, messages=row.rollout.completion)
    asked = canonical(_Explaining(checker, said.text, said.prompt, said.messages))
    return msgspec.json.decode(bounded("explain_it", asked), type=tuple[Step, ...])


class _Asked(msgspec.Struct):
    task: Task
    folder: str
    rollout: Rollout
    scheme: str


class _Explaining(msgspec.Struct):
    checker: Checker
    text: str
    prompt: str | None
    messages: tuple[Message, ...]


def judge_it(data: bytes, clock: Clock) -> bytes:
    """``judge_again``, apart."""
    asked = msgspec.json.decode(data, type=_Asked)
    kept = asked.rollout.workspace
    state = None if kept is None else states.read(Path(asked.folder), kept)
    judge = Judge(scheme_of(asked.scheme))
    judge.prepare(asked.task)
    return canonical(judge.judge(asked.rollout, asked.task, state))


def explain_it(data: bytes, clock: Clock) -> bytes:
    """``explained``, apart."""
    asked = msgspec.json.decode(data, type=_Explaining)
    said = Submission(text=asked.text, prompt=asked.prompt, messages=asked.messages)
    return canonical(build(asked.checker).explain(said))


def read_checker(document: str) -> Checker:
    """A checker from what somebody wrote.

    Raises:
        RefusedError: it is none; says where.
    """
    remedy = 'write {"type": "math", "config": {"answer": "72"}}'
    if len(document) > MOST:
        raise RefusedError(f"the checker has more than {MOST} characters", param="checker")
    try:
        found: Any = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        told = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RefusedError(f"the checker is no JSON: {told} ({remedy})", param="checker") from None
    if not isinstance(found, dict) or not isinstance(found.get("type"), str) or set(found) - {"type", "config"}:
        raise RefusedError(f"the checker is an object with type and config alone ({remedy})", param="checker")
    config = found.get("config", {})
    if not isinstance(config, dict):
        raise RefusedError("the checker's config is an object: its fields by name", param="checker.config")
    return Checker(type=found["type"], config=config)


def bounded(name: str, asked: bytes) -> bytes:
    """The reply of a function of this module, in a process of its own.

    Raises:
        ApiError: 503, too much is being judged, or it takes too long.
    """
    try:
        return apart(f"{__name__}:{name}", asked, SECONDS)
    except TooLongError as error:
        raise ApiError(503, f"to judge it {error.message}; the command line waits longer", code="timeout") from None


def command(run: str, rollout: str, old: Checker, new: Checker) -> str:
    """The command that keeps such a verdict in the ledger, beside the first."""
    words = ["lydite", "ledger", "rescore", f"runs/{run.replace('~', '/')}", "--id", rollout]
    if new != old:
        if new.type != old.type:
            words += ["--verifier", f"{old.type}={new.type}"]
        changed = {name: value for name, value in new.config.items() if old.config.get(name) != value}
        gone = {name: None for name in old.config if name not in new.config}
        if changed or gone or new.type != old.type:
            words += ["--checker", canonical({"type": new.type, "config": {**gone, **changed}}).decode()]
    return shlex.join(words)
