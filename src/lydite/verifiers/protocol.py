"""What a verifier is: a factory that compiles a checker's configuration once into a check that judges many attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from lydite.rollout import Message
from lydite.verdict import Verdict

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged.

    Attributes:
        text: the policy's last words (the completion).
        prompt: the prompt as text, where known; lets a check tell an answer from a restated question.
        messages: the whole completion, for checks that look at tool calls.
        state: what an episode left behind, for checks that look at files; ``None`` where there was no episode.
    """

    text: str
    prompt: str | None = None
    messages: tuple[Message, ...] = ()
    state: Snapshot | None = None


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """How a verifier is used, and how it is attacked: what ``lydite verifiers show`` prints and ``check`` tries.

    Attributes:
        config: a configuration of a checker.
        right: a completion that is correct under it.
        wrong: a completion that is graded, and gets less than 1.
        prompt: the prompt that both answer, where the check looks at it.
        hacks: name to a completion that does not do the task and tries to be judged correct; the cheapest one first.
        files: for checks that judge a state: path to text of the workspace as an attempt finds it. Each completion is
            then what an attempt leaves beside these, in the form of ``lydite.verifiers.archive``.
    """

    config: dict[str, Any]
    right: str
    wrong: str
    prompt: str | None = None
    hacks: dict[str, str] = {}
    files: dict[str, str] | None = None


class Step(msgspec.Struct, frozen=True):
    """One step on the way to a verdict, for people: what was done, and what came of it.

    The words may change without a new version of the verifier, and say more on an idle machine than on a busy one (how
    far a proof came): they are no part of a verdict.
    """

    name: str
    said: str


class Check(Protocol):
    """A compiled checker. Pure, deterministic, thread-safe; never raises for anything in the submission.

    A method ``explain(submission) -> tuple[Step, ...]`` is optional: ``lydite verify --explain`` shows it. So is
    ``identity``, a pair of id and source hash, for a check that has other verifiers judge: it has to name them all.
    """

    def __call__(self, submission: Submission) -> Verdict: ...


class Verifier(Protocol):
    """A kind of checker, such as ``math``.

    ``version`` rises whenever any verdict could change: replay compares verdicts of equal versions only. An attribute
    ``examples``, a tuple of ``Example``, is optional; the contract suite needs it. ``waits = True`` says that judging
    waits for other processes, so that judging several attempts at once gains time.
    """

    name: str
    version: int

    def compile(self, config: dict[str, Any]) -> Check:
        """Validate the configuration and prepare everything that does not depend on the attempt.

        Raises:
            InputError: names the field of the configuration that is wrong, and the remedy.
            UnavailableError: something that the verifier needs is not on this machine.
        """
        ...
