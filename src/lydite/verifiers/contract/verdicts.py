"""Checks of what a verifier says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from lydite.verdict import Outcome, Verdict
from lydite.verifiers.contract.finding import SKIPPED
from lydite.verifiers.contract.session import Session, distinct, told
from lydite.verifiers.contract.texts import NOTHING, PROMPT
from lydite.verifiers.run import verify


def judges(session: Session) -> Iterator[tuple[str, str]]:
    """What is right is correct with score 1, what is wrong is graded and is not.

    Remedy: correct the example, or the verifier; what the policy gets wrong must cost it score.
    """
    for number, example in enumerate(session.examples, 1):
        name = f" (example {number})" if number > 1 else ""
        right = session.judge(example.right, "right", example)
        yield f"right{name}", "" if right.correct else told(right)
        wrong = session.judge(example.wrong, "wrong", example)
        yield f"wrong{name}", told(wrong) if wrong.correct or wrong.outcome is Outcome.INVALID else ""


def hacks(session: Session) -> Iterator[tuple[str, str]]:
    """No hack that the verifier names is correct.

    Remedy: refuse this trick; what earns a reward once is all that a policy will do.
    """
    named = [(number, *hack) for number, example in enumerate(session.examples) for hack in example.hacks.items()]
    if not named:
        yield "", f"{SKIPPED}the examples name none; name the cheapest one"
    for number, name, text in named:
        verdict = session.judge(text, name, session.examples[number])
        yield name, told(verdict) if verdict.correct else ""


def nothing(session: Session) -> Iterator[tuple[str, str]]:
    """An empty, refusing, echoing or senseless completion is not correct.

    Remedy: a completion without an answer is unparseable or incorrect; look for an answer before comparing.
    """
    for number, example in enumerate(session.examples, 1):
        name = f" (example {number})" if number > 1 else ""
        prompt = example.prompt or PROMPT
        for label, text in distinct({"echo of the prompt": prompt, **NOTHING}, example).items():
            if text in (example.right, example.right.strip()):
                continue
            bare = session.judge(text, label, example)
            asked = session.judge(text, label, example, prompt)
            # An echo can be told from an answer only where the prompt is known.
            bad = next((one for one in ((asked,) if text == prompt else (bare, asked)) if one.correct), None)
            yield f"{label}{name}", told(bad) if bad else ""


def invalid(session: Session) -> Iterator[tuple[str, str]]:
    """No completion raises or brings about an invalid verdict.

    Remedy: invalid is for the verifier's own faults; whatever a completion holds, or makes the verifier run
    into, is incorrect or unparseable.
    """
    for label, verdict in session.verdicts.items():
        yield label, told(verdict) if verdict.outcome is Outcome.INVALID else ""


def round_trip(session: Session) -> Iterator[tuple[str, str]]:
    """A verdict survives its JSON, and names its verifier.

    Remedy: keep texts well-formed and scores finite, so that the verdict can be stored and replayed.
    """
    for label, verdict in session.verdicts.items():
        evidence = ""
        try:
            if msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) != verdict:
                evidence = "the verdict read back is another one"
        except (ValueError, TypeError, UnicodeError) as error:
            evidence = f"{type(error).__name__}: {error}"[:300]
        if verdict.verifier != session.compiled(session.example).id:
            evidence = f"it names {verdict.verifier!r}, not {session.compiled(session.example).id!r}"
        yield label, evidence


def messages(session: Session) -> Iterator[tuple[str, str]]:
    """A completion given as messages is judged as its last assistant message is.

    Remedy: judge the text of the submission; look at messages only for what a text cannot say.
    """
    example, checker = session.example, session.checker(session.example)
    if example.files is not None:
        yield "", f"{SKIPPED}it judges what was left behind, not what was said"
        return
    for label in session.again:
        text = session.texts[label]
        session.announce(label)
        plain = verify(checker, text, example.prompt)
        chat = verify(checker, [{"role": "assistant", "content": text}], example.prompt)
        yield label, "" if plain == chat else f"as text {told(plain)}; as a message {told(chat)}"
    said, asked = {"role": "assistant", "content": example.right}, {"role": "user", "content": example.right}
    parts = {"role": "assistant", "content": [{"type": "text", "text": example.right}]}
    shapes: dict[str, tuple[list[dict[str, Any]], bool]] = {
        "parts": ([parts], True),
        "question before": ([{"role": "user", "content": "Well?"}, said], True),
        "wrong, then right": ([{"role": "assistant", "content": example.wrong}, said], True),
        "right, then wrong": ([said, {"role": "assistant", "content": example.wrong}], False),
        "said by the user": ([asked], False),
        "null content": ([{"role": "assistant", "content": None}], False),
        "no messages": ([], False),
    }
    for label, (completion, right) in shapes.items():
        session.announce(label)
        verdict = verify(checker, completion, example.prompt)
        bad = verdict.correct is not right or verdict.outcome is Outcome.INVALID
        yield label, told(verdict) if bad else ""
