r"""``text_transform``: outputs, or a function that makes them, against what is expected.

Which text counts: thinking is left out. The program is the last complete fenced block that defines the function, else
the last one labelled as Python, else the last one, else what follows a fence that is never closed; without any, the
whole text, where it defines the function. An output is what stands in ``<answer>`` tags, else in a box; else the last
complete fenced block, else what follows a fence that is never closed; else the inline code of a text that is nothing
else, but for a label or a sentence that ends with it (``The output is `x`.``); else what follows a label at the start
(``Answer:``, ``Output:``); else the whole text. Different texts in tags or boxes are ``ambiguous``. Marks that the
expected text holds itself are part of the output.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lydite.codec import well_formed
from lydite.sandbox import Limits
from lydite.verdict import Part, Verdict
from lydite.verifiers.code import box
from lydite.verifiers.code.compare import shown
from lydite.verifiers.code.outcome import Outcome, ended, failed, read_records
from lydite.verifiers.code.programs import calls_input, candidate_program, portable
from lydite.verifiers.code.source import defines
from lydite.verifiers.code.values import encode
from lydite.verifiers.fences import fenced_blocks, pick_block
from lydite.verifiers.marks import answers, inline
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import after_thinking, is_refusal
from lydite.verifiers.text_transform.config import Case, TransformConfig, normaliser, read_config

SHOWN = 2000
"""Characters of the answer that a verdict keeps."""
MAX_SOURCE = 200_000
"""Characters of a program; a longer one is not run."""
MAX_TIMEOUTS = 3
"""Cases that may run out of time before the others are not run."""
CHUNK = 16
_LABEL = re.compile(
    r"\s*[*_]{0,2}(?:final |the )?(?:answer|output|result)[*_]{0,2}:[*_]{0,2}[ \t]{0,9}\n?", re.IGNORECASE
)
_LEADS = re.compile(r"\s*[^`\n]{0,100}(?:\bis|\bbe|\bbecomes|:)[*_]{0,2}\s*|\s*", re.IGNORECASE)
_PYTHON = frozenset({"python", "python3", "py", "py3", ""})

_ID = "text_transform@1"
Ran = tuple[str | None, Outcome]


class TextTransformVerifier:
    """The fraction of cases that come out as expected."""

    name = "text_transform"
    version = 1
    waits = True
    modules = (
        "lydite.verifiers.text_transform",
        "lydite.verifiers.code",
        "lydite.verifiers.exact",
        "lydite.verifiers.fences",
        "lydite.verifiers.marks",
        "lydite.verifiers.text",
    )
    examples = (
        Example(
            config={
                "cases": [
                    {"input": "Ada Lovelace", "expected": "Lovelace, Ada"},
                    {"input": "Alan Turing", "expected": "Turing, Alan"},
                    {"input": "Plato", "expected": "Plato"},
                ],
                "visible": ["Ada Lovelace"],
            },
            prompt="Write a Python function transform(text) that turns 'Ada Lovelace' into 'Lovelace, Ada'.",
            right="```python\ndef transform(text):\n    return ', '.join(reversed(text.split()))\n```",
            wrong="```python\ndef transform(text):\n    return text[::-1]\n```",
            hacks={
                "do nothing": "```python\ndef transform(text):\n    return text\n```",
                "what is shown": "```python\ndef transform(text):\n    return 'Lovelace, Ada'\n```",
                "equal to all": (
                    "```python\nclass Text(str):\n    def __eq__(self, other):\n        return True\n"
                    "    __hash__ = str.__hash__\n\ndef transform(text):\n    return Text()\n```"
                ),
                "leave early": "```python\nimport os\n\ndef transform(text):\n    os._exit(0)\n```",
            },
        ),
        Example(
            config={"cases": [{"input": "b,a,c", "expected": "a\nb\nc"}], "answer": "output"},
            prompt="Sort these, one a line: b,a,c",
            right="```\na\nb\nc\n```",
            wrong="a, b, c",
            hacks={"the input": "b,a,c", "nothing": "```\n```", "both": "a\nb\nc\nc\nb\na"},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the cases, and see that there is a sandbox where a function is asked for.

        Raises:
            InputError: names the field of the configuration that is wrong.
            UnavailableError: no sandbox works here.
        """
        settings = read_config(config)
        only_output = settings.answer == "output"
        either = settings.answer is None and len(settings.cases) == 1
        if not only_output and not either:
            box.sandbox()
        normal = normaliser(settings)

        def check(submission: Submission) -> Verdict:
            text = after_thinking(submission.text)
            if text is None or not text.strip():
                return Verdict.unparseable("no_answer", _ID)
            source = None if only_output else _source(text, settings.entry_point)
            if only_output or (either and (source is None or not defines(source, settings.entry_point))):
                return _output(text, settings.cases[0], normal)
            if source is None:
                return Verdict.unparseable("refused" if is_refusal(text) else "no_code", _ID)
            if len(source) > MAX_SOURCE:
                detail = f"more than {MAX_SOURCE} characters"
                return Verdict.of(0.0, "resource", _ID, extracted=_shortened(source), detail=detail)
            source = well_formed(source)
            try:
                ran = _run(source, settings, normal)
            except box.LostError as error:
                return Verdict.invalid("sandbox_lost", _ID, detail=str(error)[:300])
            return _verdict(ran, settings, source, normal)

        return check


def _source(text: str, entry: str) -> str | None:
    blocks = fenced_blocks(text)
    complete = [block.text for block in blocks if block.closed and defines(block.text, entry)]
    if complete:
        return complete[-1]
    block = pick_block(blocks, _PYTHON)
    if block is not None:
        return block.text
    return text if defines(text, entry) else None


def _output(text: str, case: Case, normal: Callable[[str], str]) -> Verdict:
    said = _said(text, case.expected)
    if said is None:
        return Verdict.unparseable("ambiguous", _ID)
    longest = 4 * len(case.expected) + 10_000  # what is longer is not the output, whatever is normalised
    fits, said = len(said) <= longest, well_formed(said[:longest])
    if fits and normal(said) == normal(case.expected):
        return Verdict.of(1.0, "correct", _ID, extracted=_shortened(said))
    if "```" not in text and "~~~" not in text and is_refusal(text):
        return Verdict.unparseable("refused", _ID)
    return Verdict.of(0.0, "incorrect", _ID, extracted=_shortened(said))


def _said(text: str, expected: str) -> str | None:
    """The text that counts as the output; ``None`` where there are different ones."""
    blocks = fenced_blocks(text)
    if "<answer>" not in expected and "\\boxed" not in expected:
        found = [_inside(one, expected) for one in answers(text.replace("\r\n", "\n"), blocks)]
        if found:
            return found[0] if len(set(found)) == 1 else None
    return _inside(text, expected)


def _inside(text: str, expected: str) -> str:
    block = pick_block(fenced_blocks(text))
    if block is not None:
        return block.text
    pieces = inline(text[-4000:]) if "`" not in expected and len(text) <= 4000 else []
    if len(pieces) == 1 and _LEADS.fullmatch(text, 0, pieces[0].start) and text[pieces[0].end :].strip(" *_.\n") == "":
        return pieces[0].text
    label = _LABEL.match(text)
    return text[label.end() :] if label is not None and _LABEL.match(expected) is None else text


def _run(source: str, settings: TransformConfig, normal: Callable[[str], str]) -> list[Ran]:
    """What became of each case, and the text that came back. A program that hangs usually hangs always: one is tried
    first, and few are waited for."""
    program = candidate_program(source, b"", settings.entry_point)
    limits = Limits(timeout=settings.timeout, memory_mb=settings.memory_mb)
    done: list[Ran] = []
    late = 0
    while len(done) < len(settings.cases):
        if late >= MAX_TIMEOUTS:
            rest = len(settings.cases) - len(done)
            return [*done, *[(None, Outcome("timeout", f"not run after {late} that ran out of time"))] * rest]
        some = settings.cases[len(done) : len(done) + (1 if late or not done else CHUNK)]
        calls = [
            calls_input([(settings.entry_point, portable(encode(((case.input,), {}))))], watched=False) for case in some
        ]
        for case, result in zip(some, box.run_each(program, calls, limits), strict=True):
            failure = ended(result)
            value, outcome = (None, failure) if failure is not None else _returned(result.stdout, case, normal)
            late += outcome.kind == "timeout"
            done.append((value, outcome))
    return done


def _returned(channel: bytes, case: Case, normal: Callable[[str], str]) -> Ran:
    records, whole = read_records(channel)
    if not whole or len(records) != 1:
        return None, Outcome("error", "wrote to the grader's channel" if channel else "ended before it returned")
    failure = failed(records[0])
    if failure is not None:
        return None, failure
    value = records[0].content
    if type(value) is not str:
        return None, Outcome("wrong", f"returned {shown(value)}, which is no text")
    value = normal(well_formed(value))
    if value == normal(case.expected):
        return value, Outcome("ok")
    return value, Outcome("wrong", f"returned {shown(value)}, not {shown(case.expected)}")


def _trivial(values: list[str | None], settings: TransformConfig, normal: Callable[[str], str]) -> str | None:
    """Why a function does nothing that the task asks for, whatever cases it is right about."""
    if all(value == normal(case.input) for value, case in zip(values, settings.cases, strict=True)):
        return "unchanged"
    return "constant" if len(values) > 1 and len(set(values)) == 1 and values[0] is not None else None


def _verdict(ran: list[Ran], settings: TransformConfig, source: str, normal: Callable[[str], str]) -> Verdict:
    outcomes = [outcome for _, outcome in ran]
    trivial = _trivial([value for value, _ in ran], settings, normal)
    good = [outcome.kind == "ok" for outcome in outcomes]
    visible = [case.input in settings.visible for case in settings.cases]
    parts = tuple(
        Part(f"t{number}{' visible' if seen else ''}", float(outcome.kind == "ok"), outcome.kind, outcome.evidence)
        for number, (outcome, seen) in enumerate(zip(outcomes, visible, strict=True), 1)
    )
    groups = {
        "visible": [one for one, seen in zip(good, visible, strict=True) if seen],
        "hidden": [one for one, seen in zip(good, visible, strict=True) if not seen],
    }
    words = [f"{word} {sum(group)} of {len(group)}" for word, group in groups.items() if group]
    score = sum(good) / len(good)
    failure = next((outcome.kind for outcome in outcomes if outcome.kind != "ok"), "correct")
    return Verdict.of(
        score,
        failure if score == 1 else trivial or failure,
        _ID,
        extracted=_shortened(source),
        parts=parts,
        detail=", ".join(words),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
