"""The reward function for TRL: list in, list out; nothing is lost, doubled, or scored by mistake."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError, LyditeError
from lydite.exports import trl_reward
from lydite.exports.chat import read_messages
from lydite.exports.checkers import AS_TEXT, read_checker
from lydite.ledger import RunFolder, verify_run
from lydite.ledger.replay import Match, replay
from lydite.reward import Flagged, RewardScheme
from lydite.task import Checker
from lydite.verdict import Outcome

FIVE = {"type": "math", "config": {"answer": "5"}}
EMPTY_GOLD = {"type": "math", "config": {"answer": ""}}  # the task's fault: a verdict on it is invalid


def box(value: Any) -> str:
    return f"2 and 3 is \\boxed{{{value}}}"


def state(step: int) -> Any:
    return SimpleNamespace(global_step=step)


# ------------------------------------------------------------------ what judges


def test_a_named_verifier_takes_the_golds_from_the_answer_column() -> None:
    assert trl_reward("math")([box(5), box(5)], answer=["5", "6"]) == [1.0, -0.1]


def test_the_gold_column_stands_in_for_a_missing_answer_column() -> None:
    assert trl_reward("exact")(["yes"], gold=["yes"]) == [1.0]


def test_a_column_of_golds_can_be_named() -> None:
    assert trl_reward("math", column="target")([box(5)], answer=["6"], target=[5]) == [1.0]


def test_the_work_of_gsm8k_is_a_gold() -> None:
    assert trl_reward("math")([box(5)], answer=["2 + 3 = <<2+3=5>>5\n#### 5"]) == [1.0]


def test_a_whole_checker_judges_every_row() -> None:
    assert trl_reward(FIVE)([box(5), box(6)]) == [1.0, -0.1]


def test_a_checker_with_a_column_is_completed_by_each_row() -> None:
    checker = {"type": "math", "config": {"tolerance": 0.1}}
    assert trl_reward(checker, column="gold")([box(5.1), box(6)], gold=["5", "5"]) == [1.0, -0.1]


def test_each_row_brings_a_checker_as_an_object_or_as_text() -> None:
    checkers = [FIVE, json.dumps(FIVE), Checker(type="exact", config={"answer": "yes"})]
    assert trl_reward()([box(5), box(6), "yes"], checker=checkers) == [1.0, -0.1, 1.0]


def test_rows_may_hold_different_verifiers() -> None:
    checkers = [json.dumps(FIVE), json.dumps({"type": "choice", "config": {"answer": "B"}})]
    assert trl_reward(column="judge")([box(5), "The answer is B."], judge=checkers) == [1.0, 1.0]


def test_nulls_that_a_data_set_added_are_left_out() -> None:
    unified = {"type": "math", "config": {"answer": "5", "tolerance": None, "choices": None}}
    assert trl_reward()([box(5)], checker=[unified]) == [1.0]


def test_a_real_data_set_of_objects_works_and_is_the_reason_for_it() -> None:
    datasets = pytest.importorskip("datasets")
    rows = [
        {"checker": {"type": "math", "config": {"answer": "5"}}},
        {"checker": {"type": "choice", "config": {"answer": "B", "choices": ["one", "two"]}}},
    ]
    column = list(datasets.Dataset.from_list(rows)["checker"])
    assert column[0]["config"]["choices"] is None
    assert trl_reward()([box(5), "The answer is B."], checker=column) == [1.0, 1.0]


def test_a_null_deep_inside_is_refused_with_the_remedy() -> None:
    tests = [{"call": "f", "args": [1], "expected": None}]
    with pytest.raises(InputError, match=r"checker\[0\]\.config\.tests: holds a null.*json\.dumps"):
        trl_reward()(["def f(x): pass"], checker=[{"type": "code", "config": {"tests": tests}}])


def test_arrays_of_data_frames_are_lists() -> None:
    numpy = pytest.importorskip("numpy")
    document = {"type": "choice", "config": {"answer": "B", "choices": numpy.array(["one", "two"])}}
    assert read_checker(document).config["choices"] == ["one", "two"]


# ------------------------------------------------------------------ faulty set-ups


@pytest.mark.parametrize(
    ("checker", "told"),
    [
        ({"type": "math", "config": {}}, r"checker\[1\]"),
        ({"type": "maths", "config": {}}, r"checker\[1\]\.type.*maths"),
        ({"type": "math", "config": {"answer": "5", "unit": "m"}}, r"checker\[1\]\.config\.unit"),
        ({"kind": "math"}, r"checker\[1\]: not a checker"),
        ('{"type": "math"', rf"checker\[1\]: not JSON.*{AS_TEXT[:20]}"),
        ("[" * 100_000, r"checker\[1\]: not JSON"),
        (None, r"checker\[1\]: there is no checker"),
        (7, r"checker\[1\]: a checker is an object or JSON text, not int"),
    ],
)
def test_a_faulty_checker_raises_and_names_its_row(checker: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        trl_reward()([box(5), box(5)], checker=[FIVE, checker])


def test_a_faulty_checker_for_all_rows_raises_at_once() -> None:
    with pytest.raises(InputError, match="maths"):
        trl_reward("maths")
    with pytest.raises(InputError):
        trl_reward({"type": "math", "config": {}})


def test_a_row_without_a_gold_raises_and_is_not_wrong() -> None:
    with pytest.raises(InputError, match=r"answer\[1\]: there is no gold"):
        trl_reward("math")([box(5), box(5)], answer=["5", None])


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    with pytest.raises(InputError, match=r"no column 'answer' or 'gold'.*solution"):
        trl_reward("math")([box(5)], completion_ids=[[1]], solution=["5"])


def test_a_column_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="1 values, but 2 completions"):
        trl_reward("math")([box(5), box(5)], answer=["5"])


def test_prompts_of_another_number_are_refused() -> None:
    with pytest.raises(InputError, match="1 prompts, but 2 completions"):
        trl_reward(FIVE)([box(5), box(5)], prompts=["2 + 3?"])


@pytest.mark.parametrize("options", [{"scheme": "best"}, {"workers": 0}, {"max_invalid": 1.5}])
def test_an_option_that_means_nothing_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        trl_reward("math", **options)


def test_a_scheme_that_acts_on_flags_is_refused() -> None:
    with pytest.raises(InputError, match="flags are not raised here"):
        trl_reward("math", scheme=RewardScheme(flagged=Flagged.MASK))


def test_a_data_set_can_be_checked_before_training() -> None:
    rows = [{"prompt": "2 + 3?", "checker": FIVE}, {"prompt": "?", "checker": {"type": "math", "config": {}}}]
    assert trl_reward().check(rows[:1]) == 1
    with pytest.raises(InputError, match=r"checker\[1\]"):
        trl_reward().check(rows)


# ------------------------------------------------------------------ completions


def test_an_empty_batch_gives_an_empty_list() -> None:
    logged: dict[str, Any] = {}
    assert trl_reward("math")([], prompts=[], log_metric=logged.__setitem__, answer=[]) == []
    assert logged == {}


def test_the_last_assistant_message_of_a_conversation_is_judged() -> None:
    said = [
        {"role": "assistant", "content": box(6)},
        {"role": "tool", "name": "add", "content": "5"},
        {"role": "assistant", "content": box(5)},
    ]
    assert trl_reward(FIVE)([said], prompts=[[{"role": "user", "content": "2 + 3?"}]]) == [1.0]


def test_content_in_parts_is_read() -> None:
    said = [{"role": "assistant", "content": [{"type": "text", "text": "\\boxed"}, {"type": "text", "text": "{5}"}]}]
    assert trl_reward(FIVE)([said]) == [1.0]


@pytest.mark.parametrize("nothing", [None, "", [], [{"role": "assistant", "content": None}]])
def test_a_completion_that_is_nothing_is_unparseable(nothing: Any) -> None:
    reward = trl_reward(FIVE)
    assert reward([nothing]) == [-0.1]
    assert reward.totals == {Outcome.UNPARSEABLE: 1}


def test_the_prompt_lets_a_verdict_tell_an_answer_from_the_question() -> None:
    reasons: dict[str, list[str]] = {}
    trl_reward(FIVE)(["2 + 3", "5"], prompts=["What is 2 + 3?"] * 2, log_extra=reasons.__setitem__)
    assert reasons["lydite/reason"] == ["restated_question", "correct"]


def test_what_is_no_completion_has_no_reward_and_does_not_raise() -> None:
    reward = trl_reward(FIVE)
    assert reward([box(5), 7, [["nested"]], [{"content": "no role"}]]) == [1.0, None, None, None]
    assert reward.totals[Outcome.INVALID] == 3


@given(st.lists(st.text(st.characters()), max_size=8))
def test_no_text_raises(texts: list[str]) -> None:
    rewards = trl_reward(FIVE)(texts, prompts=texts)
    assert len(rewards) == len(texts)
    assert all(reward in (1.0, -0.1) for reward in rewards)


def test_lone_surrogates_and_other_digits_are_read() -> None:
    logged: dict[str, Any] = {}
    rewards = trl_reward(FIVE)(["\ud800 \\boxed{5}", "\\boxed{\uff15}"], log_extra=logged.__setitem__)
    assert rewards == [1.0, 1.0]
    json.dumps(logged).encode()


def test_equal_completions_have_equal_rewards() -> None:
    rewards = trl_reward("math")([box(5)] * 6, answer=["5", "5", "6", "6", "5", "6"])
    assert rewards == [1.0, 1.0, -0.1, -0.1, 1.0, -0.1]


def test_ten_thousand_completions_keep_their_order_under_threads() -> None:
    size = 10_000
    texts = [f"\\boxed{{{number}}}" for number in range(size)]
    golds = [str(number + number % 3 // 2) for number in range(size)]
    rewards = trl_reward("math", workers=8)(texts, prompts=["?"] * size, answer=golds)
    assert rewards == [-0.1 if number % 3 == 2 else 1.0 for number in range(size)]


def test_programs_are_judged_by_several_threads_in_order() -> None:
    pytest.importorskip("lydite.sandbox")
    checker = {"type": "code", "config": {"tests": [{"call": "f", "args": [1], "expected": 2}], "entry_point": "f"}}
    texts = [f"```python\ndef f(x):\n    return x + {number % 2}\n```" for number in range(8)]
    assert trl_reward(checker, workers=4, scheme="binary")(texts) == [0.0, 1.0] * 4


# ------------------------------------------------------------------ our own faults


def test_an_invalid_verdict_is_none_and_counted() -> None:
    reward, metrics = trl_reward(), dict[str, float]()
    checkers = [FIVE, EMPTY_GOLD, FIVE]
    assert reward([box(5), box(5), box(6)], checker=checkers, log_metric=metrics.__setitem__) == [1.0, None, -0.1]
    assert reward.totals == {Outcome.CORRECT: 1, Outcome.INVALID: 1, Outcome.INCORRECT: 1}
    assert metrics["lydite/invalid"] == pytest.approx(1 / 3)
    assert metrics["lydite/pass_rate"] == 0.5


def test_rates_of_a_batch_without_any_verdict_say_nothing_of_passing() -> None:
    metrics: dict[str, float] = {}
    assert trl_reward(EMPTY_GOLD)([box(5)] * 2, log_metric=metrics.__setitem__) == [None, None]
    assert metrics["lydite/invalid"] == 1
    assert "lydite/pass_rate" not in metrics
    assert "lydite/score" not in metrics


def test_a_fault_is_told_once_for_each_reason(caplog: pytest.LogCaptureFixture) -> None:
    reward = trl_reward(EMPTY_GOLD)
    with caplog.at_level(logging.WARNING):
        reward([box(5)] * 3)
        reward([box(5)])
    assert [record.message.count("unparseable_gold") for record in caplog.records] == [1]


def test_too_many_faults_stop_training() -> None:
    reward = trl_reward(max_invalid=0.5)
    assert reward([box(5)] * 2, checker=[FIVE, EMPTY_GOLD]) == [1.0, None]
    with pytest.raises(LyditeError, match=r"2 of 2 verdicts are invalid.*unparseable_gold"):
        reward([box(5)] * 2, checker=[EMPTY_GOLD] * 2)


# ------------------------------------------------------------------ what TRL sees


def test_extras_have_a_value_for_every_completion() -> None:
    extras: dict[str, list[Any]] = {}
    checkers = [FIVE, EMPTY_GOLD, FIVE, FIVE]
    trl_reward(name="m")([box(5), box(5), "", box("9" * 999)], checker=checkers, log_extra=extras.__setitem__)
    assert extras["m/outcome"] == ["correct", "invalid", "unparseable", "incorrect"]
    assert [len(values) for values in extras.values()] == [4, 4, 4]
    assert extras["m/extracted"][:3] == ["5", None, None]
    assert len(extras["m/extracted"][3]) == 200


def test_shares_of_outcomes_add_up_to_one() -> None:
    metrics: dict[str, float] = {}
    trl_reward(FIVE)([box(5), box(6), "", box(5)], log_metric=metrics.__setitem__)
    assert metrics["lydite/correct"] == 0.5
    assert sum(metrics[f"lydite/{outcome}"] for outcome in Outcome) == 1
    assert metrics["lydite/score"] == 0.5


@pytest.mark.parametrize(("scheme", "wrong"), [("asymmetric", -0.1), ("binary", 0.0), ("fractional", 0.0)])
def test_schemes_by_name(scheme: str, wrong: float) -> None:
    assert trl_reward(FIVE, scheme=scheme)([box(5), box(6)]) == [1.0, wrong]


def test_a_format_term_pays_for_an_answer_that_can_be_read() -> None:
    scheme = RewardScheme(format_weight=0.2)
    assert trl_reward(FIVE, scheme=scheme)([box(5), box(6), ""]) == pytest.approx([1.2, 0.1, -0.1])


def test_it_has_the_name_that_was_given() -> None:
    assert trl_reward("math").__name__ == "lydite"
    assert trl_reward("math", name="sums").__name__ == "sums"


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda reward: pickle.loads(pickle.dumps(reward))])
def test_it_can_be_copied_and_sent_elsewhere(clone: Any, tmp_path: Path) -> None:
    reward = trl_reward("math", ledger=tmp_path / "run", name="sums")
    reward([box(5)], answer=["5"])
    reward.close()
    other = clone(reward)
    assert other.__name__ == "sums"
    assert other([box(5)], answer=["6"]) == [-0.1]
    assert other.totals == {Outcome.INCORRECT: 1}
    other.close()


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from lydite.exports import trl_reward;"
        "trl_reward('math')(['5'], answer=['5']);"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "trl", "transformers", "datasets", "verl", "ray"} & set(done.stdout.split())


# ------------------------------------------------------------------ messages


def test_tool_calls_of_chat_formats_are_read() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 2}}}
    text = {"function": {"name": "add", "arguments": '{"a": 2}'}}
    broken = {"function": {"name": "add", "arguments": '{"a": '}}
    huge = {"function": {"name": "add", "arguments": {"a": 10**5000}}}
    messages = read_messages(
        [{"role": "assistant", "content": None, "tool_calls": [call, text, broken, huge, 7, {}]}], "assistant"
    )
    assert messages is not None
    calls = messages[0].tool_calls
    assert [made.name for made in calls] == ["add"] * 4
    assert [made.arguments for made in calls[:2]] == [{"a": 2}] * 2
    assert calls[0].id == "c1"
    assert calls[2].arguments == {"unreadable": '{"a": '}
    assert calls[3].arguments == {"unreadable": "no JSON: dict"}


def test_arguments_of_any_depth_can_be_recorded(tmp_path: Path) -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"a": deep}
    said = [{"role": "assistant", "content": box(5), "tool_calls": [{"function": {"name": "f", "arguments": deep}}]}]
    reward = trl_reward(FIVE, ledger=tmp_path / "run")
    assert reward([said]) == [1.0]
    reward.close()
    assert next(RunFolder.open(tmp_path / "run").rows()).rollout.completion[0].tool_calls[0].name == "f"


# ------------------------------------------------------------------ the ledger


def test_calls_from_several_threads_are_recorded_whole(tmp_path: Path) -> None:
    reward = trl_reward(FIVE, ledger=tmp_path / "run")
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(reward, [box(5), box(number)], prompts=["2 + 3?"] * 2) for number in range(12)]
        assert [call.result() for call in calls] == [[1.0, 1.0 if number == 5 else -0.1] for number in range(12)]
    reward.close()
    rows = list(RunFolder.open(tmp_path / "run").rows())
    assert len({row.rollout.id for row in rows}) == len(rows) == 24
    assert verify_run(tmp_path / "run").problem is None
    assert sum(reward.totals.values()) == 24


def test_every_verdict_is_recorded_and_can_be_replayed(tmp_path: Path) -> None:
    reward = trl_reward(ledger=tmp_path / "run")
    prompts = [[{"role": "user", "content": "2 + 3?"}]] * 3
    said = [[{"role": "assistant", "content": text}] for text in (box(5), box(6), box(5))]
    rewards = reward(said, prompts=prompts, trainer_state=state(6), checker=[FIVE, FIVE, EMPTY_GOLD])
    reward.close()
    run = RunFolder.open(tmp_path / "run")
    rows = list(run.rows())
    assert [row.record.reward for row in rows] == rewards == [1.0, -0.1, None]
    assert [row.rollout.step for row in rows] == [7, 7, 7]
    assert len({row.rollout.id for row in rows}) == 3
    assert rows[0].rollout.task == rows[1].rollout.task != rows[2].rollout.task
    assert rows[0].record.scheme == "asymmetric+format=0+flagged=keep"
    assert verify_run(run.path).problem is None
    assert run.info.state == "complete"
    assert [item.match for item in replay(run)] == [Match.SAME, Match.SAME, Match.NOT_REPLAYABLE]


def test_a_bad_completion_is_recorded_as_a_fault(tmp_path: Path) -> None:
    reward = trl_reward(FIVE, ledger=tmp_path / "run")
    assert reward([7], prompts=["2 + 3?"]) == [None]
    reward.close()
    assert [item.match for item in replay(RunFolder.open(tmp_path / "run"))] == [Match.SAME]


def test_a_step_that_is_repeated_after_a_restart_loses_and_doubles_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        reward = trl_reward(FIVE, ledger=tmp_path / "run")
        reward([box(5), box(6)], prompts=["2 + 3?"] * 2, trainer_state=state(0))
        reward([box(5)], prompts=["2 + 3?"], trainer_state=state(0))
        reward.close()
    ids = [row.rollout.id.split("/")[::2] for row in RunFolder.open(tmp_path / "run").rows()]
    assert ids == [[phase, str(index)] for phase in ("train-1", "train-1.2") for index in range(3)]


def test_samples_without_a_record_are_judged_by_the_next_process(tmp_path: Path) -> None:
    reward = trl_reward(FIVE, ledger=tmp_path / "run")
    reward([box(5), box(6)], prompts=["2 + 3?"] * 2)
    reward.close()
    ledger = tmp_path / "run" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])  # killed before the second record
    info = tmp_path / "run" / "run.json"
    noted = json.loads(info.read_text())
    noted |= {"records": 1, "head": json.loads(ledger.read_bytes())["hash"], "state": "running"}
    info.write_text(json.dumps(noted))
    reward = trl_reward(FIVE, ledger=tmp_path / "run")
    reward([box(5)], prompts=["2 + 3?"])
    reward.close()
    assert [row.record.reward for row in RunFolder.open(tmp_path / "run").rows()] == [1.0, -0.1, 1.0]
    assert verify_run(tmp_path / "run").problem is None


def test_processes_that_train_together_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    reward = trl_reward(FIVE, ledger=tmp_path / "run")
    reward([box(5)])
    reward.close()
    assert len(list(RunFolder.open(tmp_path / "run" / "rank-1").rows())) == 1


def test_a_folder_of_another_scheme_is_not_mixed_with(tmp_path: Path) -> None:
    reward = trl_reward(FIVE, ledger=tmp_path / "run")
    reward([box(5)])
    reward.close()
    with pytest.raises(InputError, match="other settings"):
        trl_reward(FIVE, scheme="binary", ledger=tmp_path / "run")([box(5)])


@pytest.mark.parametrize(
    ("checker", "reason"),
    [("math", "unparseable_gold"), ({"type": "exit_code", "config": {"command": "true"}}, "no_workspace")],
)
def test_a_check_finds_rows_that_would_never_have_a_reward(checker: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        trl_reward(checker).check([{"prompt": "q", "answer": "\\frac{1"}])


def test_a_verifier_without_a_use_for_golds_asks_for_none() -> None:
    reward = trl_reward("steps")
    assert reward(prompts=["q", "q"], completions=["2 + 2 = 4", "2 + 2 = 5"]) == [1.0, -0.1]
    assert reward.check([{"prompt": "q"}]) == 1
