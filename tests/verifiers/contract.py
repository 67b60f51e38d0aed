"""What every verifier must hold to. ``test_contract.py`` runs this for each registered one."""

from __future__ import annotations

import concurrent.futures
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import msgspec

from lydite.verdict import Outcome, Verdict
from lydite.verifiers import CompiledChecker, Submission, build, verify, verify_many

PROMPT = "Which of these is right? A) 41 B) 42 C) 43. Say 42 or not 42, and put the answer into \\boxed{}."

HOSTILE = {
    "empty": "",
    "white space": " \n\t\r ",
    "NUL": "\0" * 10 + "\\boxed{\0}" + "\0",
    "lone surrogates": "\\boxed{\ud800} \udfff answer is \udc00",
    "refusal": "I'm sorry, I cannot answer this question.",
    "echo of the prompt": PROMPT,
    "unclosed boxes": "\\boxed{" * 5000,
    "braces": "}{" * 20000,
    "deep nesting": "\\boxed{" + "(" * 3000 + "1" + ")" * 3000 + "}",
    "tower": "\\boxed{9^{9^{9^9}}}",
    "factorials": "\\boxed{((9!)!)!}",
    "digits": "\\boxed{" + "9" * 100_000 + "}",
    "megabyte of dollars": "$" * 1_000_000 + "\\boxed{5}",
    "megabyte of anchors": "the answer is " * 70_000,
    "code": "\\boxed{__import__('os').system('touch /tmp/lydite_was_here')}",
    "right to left": "\u202e\\boxed{24}\u202c",
    "not JSON": '{"answer": NaN}',
    "unfinished thinking": "<think>The answer is 42. \\boxed{42}",
}
"""Completions that have hurt verifiers."""


@dataclass(frozen=True)
class Subject:
    """A verifier under test: a checker, a completion that it accepts, one that it does not."""

    type: str
    config: dict[str, Any]
    right: str
    wrong: str

    @property
    def checker(self) -> dict[str, Any]:
        return {"type": self.type, "config": self.config}

    @property
    def compiled(self) -> CompiledChecker:
        return build(self.checker)


def check_judges(subject: Subject) -> None:
    """Right is correct with score 1, wrong is not, and the verdict names the verifier."""
    right, wrong = verify(subject.checker, subject.right), verify(subject.checker, subject.wrong)
    assert (right.outcome, right.score) == (Outcome.CORRECT, 1.0)
    assert wrong.outcome is Outcome.INCORRECT
    assert right.verifier == wrong.verifier == subject.compiled.id
    assert subject.compiled.id.partition("@")[0] == subject.type


def check_hostile(subject: Subject, text: str) -> None:
    """Nothing in a completion raises, earns a reward, or makes the verdict invalid; the verdict survives its JSON.

    An echo of the prompt can only be told from an answer where the prompt is known.
    """
    for prompt in (PROMPT,) if text == PROMPT else (None, PROMPT):
        verdict = subject.compiled(Submission(text=text, prompt=prompt))
        assert verdict.outcome in (Outcome.INCORRECT, Outcome.UNPARSEABLE)
        assert msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) == verdict


def check_messages(subject: Subject) -> None:
    """The last assistant message is what counts, in all the shapes that people have."""
    said = {"role": "assistant", "content": subject.right}
    assert verify(subject.checker, [said]).correct
    assert verify(
        subject.checker, [{"role": "assistant", "content": [{"type": "text", "text": subject.right}]}]
    ).correct
    assert not verify(subject.checker, [said, {"role": "assistant", "content": subject.wrong}]).correct
    assert not verify(subject.checker, [{"role": "user", "content": subject.right}]).correct
    assert verify(subject.checker, [{"role": "assistant", "content": None}]).outcome is not Outcome.INVALID
    assert verify(subject.checker, None).outcome is not Outcome.INVALID


def check_deterministic(subject: Subject) -> None:
    """The same verdict again, from threads, and from another process."""
    texts = [subject.right, subject.wrong, *(text for text in HOSTILE.values() if len(text) < 200_000)]
    here = [subject.compiled(Submission(text=text)) for text in texts]
    assert here == [subject.compiled(Submission(text=text)) for text in texts]
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda text: verify(subject.checker, text), texts)) == here
    assert list(verify_many([(subject.checker, text) for text in texts], jobs=2)) == here


def check_identity(subject: Subject) -> None:
    """Name, version and source hash are the same in a fresh process."""
    code = (
        "import sys, json; from lydite.verifiers import build;"
        "check = build(json.loads(sys.argv[1])); print(check.id, check.source)"
    )
    argument = msgspec.json.encode(subject.checker).decode()
    told = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True, check=True).stdout
    assert told.split() == [subject.compiled.id, subject.compiled.source]
    assert len(subject.compiled.source) == 64
