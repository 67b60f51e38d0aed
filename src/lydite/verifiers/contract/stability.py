"""Checks that a verdict depends on nothing but the submission, the configuration and the version."""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.verdict import Verdict
from lydite.verifiers.build import build
from lydite.verifiers.contract.finding import SKIPPED
from lydite.verifiers.contract.session import Session, submission, told
from lydite.verifiers.run import verify_many

TIMES = 10
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]);"
    "from lydite.verifiers.contract.stability import judge_elsewhere; judge_elsewhere()"
)


def _texts(session: Session) -> dict[str, str]:
    return {label: session.texts[label] for label in session.again}


def _differences(here: Mapping[str, Verdict], there: Mapping[str, Verdict]) -> str:
    """The first of the differences, in words; empty where there is none."""
    for label, verdict in here.items():
        other = there.get(label)
        if other is None:
            return f"{label}: no verdict"
        if other != verdict:
            shown = told(verdict), told(other)
            if shown[0] == shown[1]:
                shown = repr(verdict)[:200], repr(other)[:200]
            return f"{label}: {shown[0]}; then {shown[1]}"
    return ""


def deterministic(session: Session) -> Iterator[tuple[str, str]]:
    """Ten verdicts on one completion are the same.

    Remedy: no random numbers, no clock, no order of sets, nothing remembered from the verdict before.
    """
    for label, verdict in session.again.items():
        others = (session.judge(session.texts[label], label) for _ in range(TIMES - 1))
        yield label, next((evidence for other in others if (evidence := _differences({"": verdict}, {"": other}))), "")


def order(session: Session) -> Iterator[tuple[str, str]]:
    """A verdict does not depend on what was judged before.

    Remedy: keep no state between verdicts: whatever a check remembers, another completion can set.
    """
    labels = list(session.again)
    interleaved = [label for pair in zip(labels, labels[len(labels) // 2 :], strict=False) for label in pair]
    for name, sequence in (("backwards", labels[::-1]), ("interleaved", interleaved)):
        again = {label: session.judge(session.texts[label], label) for label in sequence}
        yield name, _differences({label: session.again[label] for label in sequence}, again)
    first = {label: _fresh(session, label) for label in ("right", "wrong")}
    yield "compiled anew", _differences({label: session.again[label] for label in first}, first)


def _fresh(session: Session, label: str) -> Verdict:
    session.announce(label)
    check = session.verifier.compile(copy.deepcopy(session.example.config))
    return check(submission(session.texts[label], session.example.prompt, session.example.files))


def threads(session: Session) -> Iterator[tuple[str, str]]:
    """Eight threads get the verdicts that one gets.

    Remedy: compile is the place for what is shared, and it is read only; no globals, no caches without a lock.
    """
    labels = list(session.again) * 2
    expected = session.again
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda label: session.judge(session.texts[label], label), labels))
    finally:
        sys.setswitchinterval(interval)
    pairs = list(zip(labels, said, strict=True))
    half = len(pairs) // 2
    yield "8 threads", _differences(expected, dict(pairs[:half])) or _differences(expected, dict(pairs[half:]))


def event_loop(session: Session) -> Iterator[tuple[str, str]]:
    """Within a running event loop, and from its threads, the verdicts are the same.

    Remedy: no signals, no event loop of its own in the caller's thread: do costly work in verifiers.aside.
    """

    async def directly() -> dict[str, Verdict]:
        return {label: session.judge(text, label) for label, text in _texts(session).items()}

    async def in_threads() -> dict[str, Verdict]:
        said = (asyncio.to_thread(session.judge, text, label) for label, text in _texts(session).items())
        return dict(zip(_texts(session), await asyncio.gather(*said), strict=True))

    yield "in the loop", _differences(session.again, asyncio.run(directly()))
    yield "asyncio.to_thread", _differences(session.again, asyncio.run(in_threads()))


def _judge_all(
    checker: dict[str, Any], texts: dict[str, str], prompt: str | None, files: dict[str, str] | None
) -> dict[str, Verdict]:
    check = build(checker)
    return {label: check(submission(text, prompt, files)) for label, text in texts.items()}


def _send_all(connection: Any, *given: Any) -> None:
    connection.send_bytes(msgspec.msgpack.encode(_judge_all(*given)))
    connection.close()


def processes(session: Session) -> Iterator[tuple[str, str]]:
    """Forked and spawned daemonic processes, and Lydite's own workers, say the same.

    Remedy: make what must not be shared by processes when it is first used, and make it again after a fork.
    """
    checker, prompt = session.checker(session.example), session.example.prompt
    expected = session.again
    for method in ("fork", "spawn"):
        name = f"{method}, daemonic"
        if method not in multiprocessing.get_all_start_methods():
            yield name, f"{SKIPPED}not on this system"
            continue
        session.announce(name)
        context = multiprocessing.get_context(method)
        receiver, sender = context.Pipe(duplex=False)
        given = (sender, checker, _texts(session), prompt, session.example.files)
        child = context.Process(target=_send_all, args=given, daemon=True)  # type: ignore[attr-defined]
        child.start()
        sender.close()
        try:
            said = msgspec.msgpack.decode(receiver.recv_bytes(), type=dict[str, Verdict])
            yield name, _differences(expected, said)
        except EOFError:
            child.join()
            yield name, f"the process ended ({child.exitcode}) without a verdict"
        child.join()
    if session.example.files is not None:
        yield "verify_many, 2 jobs", f"{SKIPPED}its items have no state"
        return
    session.announce("verify_many")
    items = [(checker, text, prompt) for text in _texts(session).values()]
    said = dict(zip(_texts(session), verify_many(items, jobs=2), strict=True))
    yield "verify_many, 2 jobs", _differences(expected, said)


def judge_elsewhere() -> None:
    """In a fresh interpreter: verdicts, id and source hash of what standard input names."""
    checker, texts, prompt, files = msgspec.msgpack.decode(sys.stdin.buffer.read())
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    check = build(checker)
    output.write(msgspec.msgpack.encode([_judge_all(checker, texts, prompt, files), check.id, check.source]))
    output.close()


def other_process(session: Session) -> Iterator[tuple[str, str]]:
    """Fresh interpreters with other hash seeds say the same, in any order, under the same version and source hash.

    Remedy: no order of sets, no hash(), no object ids, no caches by less than the whole text; name, version and source
    must not change by themselves.
    """
    compiled = session.compiled(session.example)
    texts = {label: well_formed(text) for label, text in _texts(session).items()}  # as the compiled check sees them
    expected = session.again
    # Backwards in the second: what is remembered by something less than the whole text shows only where another text
    # came first.
    for seed, ordered in (("1", texts), ("2", dict(reversed(texts.items())))):
        session.announce(f"hash seed {seed}")
        example = session.example
        request = msgspec.msgpack.encode([session.checker(example), ordered, example.prompt, example.files])
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", _BOOT, json.dumps(sys.path)],
            input=request,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        if done.returncode:
            yield f"hash seed {seed}", f"it ended ({done.returncode}): {done.stderr[-300:].decode('utf-8', 'replace')}"
            continue
        said, name, source = msgspec.msgpack.decode(done.stdout, type=tuple[dict[str, Verdict], str, str])
        yield f"hash seed {seed}", _differences(expected, said)
        yield "identity", "" if name == compiled.id else f"{compiled.id}, then {name}"
        yield "source", "" if source == compiled.source else "the source hash is another one"
