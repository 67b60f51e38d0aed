"""What every detector has to hold to, whatever it looks for."""

from __future__ import annotations

import hashlib
import json
import time

import msgspec
import pytest
from attempts import Case, load

from lydite.codec import canonical
from lydite.detectors import DETECTORS, GROUP_DETECTORS, check_settings, detect, detect_group, listed
from lydite.detectors.registry import ENTRIES
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.rollout import Message, Rollout, ToolCall
from lydite.task import Checker, Task
from lydite.tasksets.documents import parse_task
from lydite.verdict import Verdict

RECORDED = [*load("exploits.yaml"), *load("held_back.yaml")]
HONEST = load("honest.yaml")
EVASIONS = load("evasions.yaml")
PIECES = [
    "score verdict: correc ",
    "=1+1", "\\boxed{1}", "\\boxed{", "<answer>1</answer>", "#### 1\n", "the answer is 7. ", "def __eq__(self, o):\n",
    "# os._exit\n", "if x == 1: return 1\n", "{1: 2, ", "(", "-", "a.", "not ", "$((", " <<EOF\n", "print('",
    "git log ", "curl ", "/a/grader ", "= 1 passed ", "<|im_start|>", "'test_", "\\", "\ud800", "\0", "é", "\n",
]  # fmt: skip
SIZE = 100_000


def flags_of(case: Case) -> list[Flag]:
    found = [flag for r, v in zip(case.rollouts, case.verdicts, strict=True) for flag in detect(r, v, case.task)]
    if len(case.rollouts) > 1:
        found += [flag for flags in detect_group(case.rollouts, case.verdicts, case.task) for flag in flags]
    return found


def hostile(piece: str) -> list[tuple[Rollout, Task, str]]:
    """One text in the places where a policy can put it."""
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]
    prompt = (Message(role="user", content="How many of 1, 2 and 7?"),)
    add = {"tests": [{"call": "add", "args": [20, 22], "expected": 42}], "entry_point": "add"}
    said = {
        "math": (Message(role="assistant", content=text),),
        "code": (Message(role="assistant", content=f"def add(a, b):\n x = open('')\n{text}"),),
        "pytest": (
            Message(
                role="assistant",
                tool_calls=(
                    ToolCall(name="run_command", arguments={"command": f"python {text}"}),
                    ToolCall(name="write_file", arguments={"path": "a.py", "content": text}),
                    ToolCall(name="write_file", arguments={"path": text, "content": 7}),
                    ToolCall(name=text, arguments={text: [text, None]}),
                ),
            ),
            Message(role="tool", content=text),
            Message(role="assistant", content=text),
        ),
    }
    configs = {"math": {"answer": "7"}, "code": add, "pytest": {"test_paths": ["tests"]}}
    return [
        (
            Rollout(id="r", task="t", task_digest="", prompt=prompt, completion=completion),
            Task(id="t", prompt=prompt, checker=Checker(type=kind, config=configs[kind])),
            kind,
        )
        for kind, completion in said.items()
    ]


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_hostile_text_neither_raises_nor_takes_more_than_linear_time(piece: str) -> None:
    """Something quadratic would take minutes here; the bound is a hundred times what it takes."""
    begin = time.process_time()
    for rollout, task, kind in hostile(piece):
        verdict = Verdict.of(1.0, "correct", f"{kind}@1", extracted="7")
        for entry in ENTRIES:
            if entry.detector.name == "false_step":
                continue  # has a suite of its own
            look = entry.detector.look
            flag = look(rollout, verdict, {}, task) if entry.task else look(rollout, verdict, {})  # type: ignore[call-arg]
            assert flag is None or json.loads(canonical(flag.evidence)) is not None
        for group in GROUP_DETECTORS:
            group.look([rollout] * 4, [verdict] * 4, {}, task)
    assert time.process_time() - begin < 40


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_recorded_exploits_are_flagged_with_evidence(case: Case) -> None:
    found = {flag.detector: flag for flag in flags_of(case)}
    assert case.expect in found
    assert found[case.expect].evidence


@pytest.mark.parametrize("case", EVASIONS, ids=lambda case: case.name)
def test_what_is_known_to_be_missed_is_missed(case: Case) -> None:
    """The documentation counts these. Whoever mends one takes its mark away."""
    assert (case.expect in {flag.detector for flag in flags_of(case)}) is not case.missed


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
def test_honest_work_is_not_barred(case: Case) -> None:
    found = {flag.detector for flag in flags_of(case)}
    assert found == ({case.expect} if case.expect else set())


def test_the_same_attempt_has_the_same_flags() -> None:
    again = [*load("exploits.yaml"), *load("held_back.yaml")]
    assert list(map(flags_of, RECORDED)) == list(map(flags_of, again))


def test_evidence_is_small_and_plain_json() -> None:
    for case in RECORDED:
        for flag in flags_of(case):
            text = canonical(flag)
            assert msgspec.json.decode(text, type=Flag) == flag
            assert len(text) < 4000


def test_a_detector_that_flags_otherwise_has_another_version() -> None:
    """If this fails, raise the version of the detector whose flags changed, then write the digests anew."""
    seen: dict[str, list[bytes]] = {}
    for case in [*RECORDED, *HONEST]:
        for flag in flags_of(case):
            if flag.detector != "false_step":
                seen.setdefault(f"{flag.detector}@{flag.version}", []).append(canonical(flag))
    assert {name: hashlib.sha256(b"\n".join(flags)).hexdigest()[:16] for name, flags in sorted(seen.items())} == {
        "answer_first@1": "a3004b788a36bd86",
        "answer_lookup@1": "911f3b06ae163925",
        "forged_output@1": "e6fb3c0302df5a53",
        "grader_paths@1": "b53ba75ed79345fb",
        "introspection@1": "479182693c2a4e1f",
        "no_visible_work@3": "35fb77a4827e15d8",
        "prompt_numbers@1": "95d71b09831a9cc7",
        "protected_edits@1": "ce1e284c997538e2",
        "rigged_run@1": "c94975257f8e6618",
        "same_answer_no_work@1": "22e7e806d28db11b",
        "several_answers@1": "82f5d065220b3b56",
        "test_literals@2": "7ef6588250267a48",
    }


def test_names_are_different_and_every_detector_is_listed_once() -> None:
    names = [one.name for one in listed()]
    assert len(names) == len(set(names))
    assert {detector.name for detector in (*DETECTORS, *GROUP_DETECTORS)} < set(names)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.detector.name)
def test_thresholds_that_are_unknown_are_refused_beforehand(entry: object) -> None:
    name = entry.detector.name  # type: ignore[attr-defined]
    task = Task(id="t", prompt=(), checker=Checker(type="math"), metadata={"flags": {name: {"no_such": 1}}})
    with pytest.raises(InputError) as error:
        check_settings(task)
    assert error.value.field == f"metadata.flags.{name}.no_such"


def test_a_document_can_switch_a_detector_off() -> None:
    checker = {"type": "math", "config": {"answer": "7"}}
    task = parse_task({"prompt": "?", "checker": checker, "metadata": {"flags": {"no_visible_work": False}}})
    check_settings(task)
    rollout = Rollout(id="r", task="t", task_digest="", completion=(Message(role="assistant", content="\\boxed{7}"),))
    assert detect(rollout, Verdict.of(1.0, "correct", "math@1", extracted="7"), task) == ()


def test_thresholds_of_an_unknown_detector_are_refused() -> None:
    task = Task(id="t", prompt=(), checker=Checker(type="math"), metadata={"flags": {"no_visible_wrk": {}}})
    with pytest.raises(InputError, match="no such detector"):
        check_settings(task)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_a_detector_that_is_switched_off_says_nothing(case: Case) -> None:
    off = msgspec.structs.replace(case.task, metadata={"flags": {case.expect: False, "no_visible_work": False}})
    assert case.expect not in {flag.detector for flag in flags_of(case._replace(task=off))}


def test_verdicts_that_are_wrong_are_looked_at_for_tampering_and_not_for_work() -> None:
    by_name = {case.name: case for case in RECORDED}
    wrong = Verdict.of(0.0, "wrong", "code@1")
    walk, bare = by_name["frame walk"], by_name["bare box"]
    assert [flag.detector for flag in detect(walk.rollouts[0], wrong, walk.task)] == ["introspection"]
    assert detect(bare.rollouts[0], Verdict.of(0.0, "wrong", "math@1"), bare.task) == ()


def test_what_the_reference_does_is_no_sign() -> None:
    case = next(case for case in RECORDED if case.name == "heap scan")
    task = msgspec.structs.replace(case.task, solution=case.rollouts[0].text)
    assert detect(case.rollouts[0], case.verdicts[0], task) == ()
