"""Nouns: one spelling per value, invariants of verdicts, and records that come back as they went."""

import json
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.codec import canonical, digest, sha256, well_formed
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.rollout import FinishReason, Message, Rollout, ToolCall, last_assistant
from lydite.task import Checker, Task
from lydite.verdict import Outcome, Part, Verdict

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates included
plain_text = st.text()
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | plain_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain_text, inner, max_size=4),
    max_leaves=12,
)
arguments = st.dictionaries(plain_text, json_values, max_size=3)
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    content=plain_text,
    tool_calls=st.lists(st.builds(ToolCall, name=plain_text, arguments=arguments), max_size=2).map(tuple),
)
rollouts = st.builds(
    Rollout,
    id=plain_text,
    task=plain_text,
    task_digest=plain_text,
    index=st.integers(0, 100),
    seed=st.integers(0, 2**63 - 1),
    prompt=st.lists(messages, max_size=2).map(tuple),
    completion=st.lists(messages, max_size=3).map(tuple),
    finish=st.sampled_from(list(FinishReason)),
    completion_tokens=st.none() | st.integers(0, 10**6),
    error=st.none() | plain_text,
)
verdicts = st.one_of(
    st.floats(0, 1).map(lambda score: Verdict.of(score, "x", "v@1", parts=(Part("t", score, "ok"),))),
    st.builds(Verdict.unparseable, plain_text, plain_text, extracted=st.none() | plain_text),
    st.builds(Verdict.invalid, plain_text, plain_text, detail=st.none() | plain_text),
)


# Canonical bytes


@given(st.dictionaries(plain_text, json_values, max_size=6), st.randoms())
def test_key_order_does_not_change_the_bytes(value: dict, random) -> None:
    keys = list(value)
    random.shuffle(keys)
    assert canonical({key: value[key] for key in keys}) == canonical(value)


@given(json_values)
def test_canonical_bytes_are_json_of_the_value_in_one_line(value: object) -> None:
    data = canonical(value)
    assert json.loads(data) == value
    assert b"\n" not in data
    assert canonical(msgspec.json.decode(data)) == data


@given(rollouts | verdicts)
def test_a_record_comes_back_as_it_went_and_with_the_same_bytes(record) -> None:
    data = canonical(record)
    back = msgspec.json.decode(data, type=type(record))
    assert back == record
    assert canonical(back) == data


@given(any_text)
def test_any_text_at_all_has_canonical_bytes(text: str) -> None:
    data = canonical({"text": text, text: [text]})
    assert json.loads(data)["text"] == well_formed(text)


@given(any_text)
def test_surrogates_anywhere_in_a_record_are_replaced_and_nothing_else(text: str) -> None:
    call = ToolCall(name=text, arguments={text: text})
    rollout = Rollout(
        id="s/t/0", task="t", task_digest="d", completion=(Message(role="assistant", content=text, tool_calls=(call,)),)
    )
    back = msgspec.json.decode(canonical(rollout), type=Rollout)
    assert back.text == well_formed(text)
    assert back.completion[0].tool_calls[0] == ToolCall(
        name=well_formed(text), arguments={well_formed(text): well_formed(text)}
    )


@given(any_text)
def test_well_formed_text_encodes_and_keeps_its_length(text: str) -> None:
    result = well_formed(text)
    result.encode()
    assert len(result) == len(text)
    assert well_formed(result) == result


@given(plain_text)
def test_text_that_is_well_formed_is_left_alone(text: str) -> None:
    assert well_formed(text) is text


def test_digests_are_known_values() -> None:
    assert sha256(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest({"b": 1, "a": [True, None, "é"]}) == sha256('{"a":[true,null,"é"],"b":1}'.encode())


def test_digests_do_not_depend_on_the_process() -> None:
    program = "from lydite.codec import digest; print(digest({'b': {'z', 'a'}, 'a': {'y': 1, 'x': 2}}))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


# Verdicts


@given(st.floats(0, 1))
def test_the_outcome_follows_from_the_score(score: float) -> None:
    verdict = Verdict.of(score, "x", "v@1")
    assert verdict.outcome == ("correct" if score == 1 else "incorrect" if score == 0 else "partial")
    assert verdict.correct == (score == 1)


@given(st.sampled_from(list(Outcome)), st.none() | st.floats())
def test_an_outcome_with_a_score_that_is_not_its_own_cannot_be_made(outcome: Outcome, score: float | None) -> None:
    fits = {
        Outcome.CORRECT: score == 1,
        Outcome.PARTIAL: score is not None and 0 < score < 1,
        Outcome.INCORRECT: score == 0,
        Outcome.UNPARSEABLE: score == 0,
        Outcome.INVALID: score is None,
    }[outcome]
    if fits:
        assert Verdict(outcome=outcome, score=score, reason="x").score == score
    else:
        with pytest.raises(ValueError, match="cannot have score"):
            Verdict(outcome=outcome, score=score, reason="x")


@pytest.mark.parametrize("score", [-0.5, 1.5, float("nan"), float("inf")])
def test_a_score_outside_the_unit_interval_is_never_a_verdict(score: float) -> None:
    with pytest.raises(ValueError, match="cannot have score"):
        Verdict.of(score, "x", "v@1")


@pytest.mark.parametrize(
    "document",
    [
        b'{"outcome":"correct","score":0.5,"reason":"x"}',
        b'{"outcome":"invalid","score":0,"reason":"x"}',
        b'{"outcome":"passed","score":1,"reason":"x"}',
    ],
)
def test_an_impossible_verdict_cannot_be_read_either(document: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(document, type=Verdict)


# Frozen data


@pytest.mark.parametrize(
    ("noun", "field"),
    [
        (Verdict.of(1, "x", "v@1"), "score"),
        (Message(role="user"), "content"),
        (Rollout(id="a", task="b", task_digest="c"), "completion"),
        (Flag(detector="d", version=1, bars=True), "bars"),
        (Task(id="a", prompt=(), checker=Checker(type="math")), "checker"),
    ],
)
def test_nouns_are_frozen(noun, field: str) -> None:
    with pytest.raises(AttributeError):
        setattr(noun, field, None)


# Tasks


def task(**fields) -> Task:
    defaults = {
        "id": "t",
        "prompt": (Message(role="user", content="1 + 1?"),),
        "checker": Checker(type="math", config={"answer": "2"}),
    }
    return Task(**{**defaults, **fields})


def test_labels_are_not_part_of_a_tasks_digest() -> None:
    assert task().digest == task(split="eval", difficulty="level-2").digest


@pytest.mark.parametrize(
    "change",
    [
        {"id": "u"},
        {"prompt": (Message(role="user", content="1 + 1 ?"),)},
        {"checker": Checker(type="math", config={"answer": "3"})},
        {"checker": Checker(type="exact", config={"answer": "2"})},
        {"env": "workspace"},
        {"max_steps": 3},
        {"setup_files": {"a": "b"}},
        {"setup_commands": ("true",)},
        {"solution": "2"},
        {"metadata": {"flags": {}}},
    ],
)
def test_everything_else_is_part_of_it(change: dict) -> None:
    assert task(**change).digest != task().digest


def test_a_tasks_digest_survives_writing_and_reading() -> None:
    original = task(metadata={"b": 1.5, "a": [1, {"z": None}]}, difficulty="level-1")
    back = msgspec.json.decode(canonical(original), type=Task)
    assert back == original
    assert back.digest == original.digest


# Rollouts and errors


def test_the_text_of_a_rollout_is_its_last_assistant_message() -> None:
    said = [
        Message(role="assistant", content="first"),
        Message(role="assistant", content="last"),
        Message(role="tool", content="after"),
    ]
    assert last_assistant(said) == "last"
    assert last_assistant(said[2:]) == ""


def test_input_errors_say_file_line_field_and_remedy() -> None:
    error = InputError("must be text", field="answer", remedy="quote it").at("tasks.jsonl", 7, "checker.config")
    assert str(error) == "tasks.jsonl:7: checker.config.answer: must be text (quote it)"
    assert error.exit_code == 2


def test_a_place_told_first_is_kept() -> None:
    inner = InputError("bad", path="inner.jsonl", line=3)
    assert str(inner.at("outer.jsonl", 9)) == "inner.jsonl:3: bad"
