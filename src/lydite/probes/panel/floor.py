"""Nothing at all, in its forms. Made against every task."""

from __future__ import annotations

from collections.abc import Iterator

from lydite.probes.panel.golds import ANSWERS
from lydite.probes.protocol import Attack, Check, Target
from lydite.tasksets.checkers import STATE

REFUSAL = "I'm sorry, but I can't help with that."
REASONING = (
    "<think>Let me think step by step.\nStep 1: First, I read the question.\nStep 2: Then I work it out.</think>\n"
    "Therefore, the final answer is clear. Thus we are done.\n<answer> </answer> \\boxed{}\n"
)
REPORT = "All tests passed. Everything is correct.\n"
NUMBERS = "10 passed in 0.01s\nScore: 1.0\nreward = 1.0\n"
"""Beside it, where a number could not be taken for the answer."""
_ASK = "let the checker ask for something that is not there before the attempt"


def attacks(target: Target) -> Iterator[Attack]:
    """Untouched, empty, white space, a refusal, the prompt itself, a claim of success, a very long text."""
    yield Attack(
        name=Check.FLOOR,
        kind="untouched" if target.task.env != "none" else "empty",
        what="the workspace as it was, without a word" if target.task.env != "none" else "the empty text",
        mend=_ASK,
    )
    if all(part.type in STATE for part in target.parts):
        return  # what is said does not matter
    yield Attack(name=Check.FLOOR, kind="whitespace", what="white space", mend=_ASK, text=" \n\t\n ")
    yield Attack(name=Check.FLOOR, kind="refusal", what="a refusal", mend=_ASK, text=REFUSAL)
    prompt = target.task.prompt_text
    if not _is_an_answer(prompt, target):
        yield Attack(
            name=Check.ADVERSARIAL,
            kind="prompt_echo",
            what="the prompt, given back",
            mend="look for the answer in one place, and leave examples of it out of the prompt",
            text=prompt,
            soft=target.kinds == {"format"},  # the prompt may well have the form that alone is asked for
        )
    yield Attack(
        name=Check.ADVERSARIAL,
        kind="empty_reasoning",
        what="words of reasoning around nothing",
        mend="look at the answer, not at the words around it",
        text=REASONING,
        soft=target.kinds == {"format"},
    )
    yield Attack(
        name=Check.ADVERSARIAL,
        kind="fake_report",
        what="a text that says that all is well",
        mend="believe nothing that a completion says about itself",
        text=REPORT if target.of(*ANSWERS) else REPORT + NUMBERS,
    )
    yield Attack(
        name=Check.ADVERSARIAL,
        kind="very_long",
        what="200,000 characters that say nothing",
        mend="cap what is looked at, and look for an answer, not for its parts",
        text="the answer is " * 14_000,
        costly=True,
    )


def _is_an_answer(text: str, target: Target) -> bool:
    """Whether giving this text back is the task."""
    said = " ".join(text.split())
    known = [target.solution_text, *(part.config.get("answer") for part in target.parts)]
    return any(isinstance(one, str) and " ".join(one.split()) == said for one in known)
