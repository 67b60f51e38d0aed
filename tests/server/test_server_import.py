"""Dumps of TRL and verl become run folders that say where their verdicts come from."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from lydite.cli import main
from lydite.dumps import Judging, TrlDump, VerlDump, import_dump
from lydite.errors import InputError
from lydite.exports.checkers import Checkers
from lydite.ledger import Row, RunFolder, verify_run
from lydite.verdict import Outcome

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def trl_row(step: int, number: int, said: int, reward: float, **more: Any) -> dict[str, Any]:
    return {
        "step": step,
        "prompt": [{"role": "user", "content": f"What is {number} + 2?"}],
        "completion": [{"role": "assistant", "content": f"{number} + 2 = {said}, \\boxed{{{said}}}"}],
        "accuracy": reward,
        **more,
        "advantage": reward - 0.5,
    }


def table(folder: Path, step: int, rows: list[dict[str, Any]], name: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name or f"completions_{step:05d}.parquet")
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def group(step: int, **more: Any) -> list[dict[str, Any]]:
    return [trl_row(step, step, step + 2, 1.0, **more), trl_row(step, step, step + 3, 0.0, **more)]


def verl_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def verl_row(step: int, said: str, score: Any, **more: Any) -> dict[str, Any]:
    asked = "user\nWhat is 1 + 2?\nassistant\n"
    return {"input": asked, "output": said, "gts": "3", "score": score, "step": step, **more}


def rows_of(path: Path) -> list[Row]:
    assert verify_run(path).problem is None
    return list(RunFolder.open(path).rows())


def test_groups_are_those_of_step_and_prompt_and_verdicts_say_who_gave_them(tmp_path: Path) -> None:
    for step in (1, 2):
        table(tmp_path / "out" / "completions", step, [group(step)[0], *group(step + 5), group(step)[1]])
        rows = pq.read_table(tmp_path / "out" / "completions" / f"completions_{step:05d}.parquet").to_pylist()
        table(tmp_path / "out" / "completions", step, [{**row, "step": step} for row in rows])
    found = import_dump(TrlDump([tmp_path / "out"]), tmp_path / "run")
    assert (found.steps, found.attempts, found.tasks) == (2, 8, 4)
    rows = rows_of(tmp_path / "run")
    assert [row.rollout.task for row in rows[:4]] == [rows[0].rollout.task] * 2 + [rows[2].rollout.task] * 2
    assert {row.rollout.phase for row in rows} == {"train-0-1", "train-0-2"}
    assert {row.record.verdict.verifier for row in rows} == {"imported@1"}
    assert all("not judged by Lydite" in (row.record.verdict.detail or "") for row in rows)
    assert [row.record.reward for row in rows[:2]] == [1.0, 0.0]
    assert RunFolder.open(tmp_path / "run").info.kind == "import"


def test_the_later_file_of_a_step_counts(tmp_path: Path) -> None:
    first = table(tmp_path, 1, group(1), "first.parquet")
    later = table(tmp_path, 1, [trl_row(1, 1, 9, 0.0)], "later.parquet")
    import_dump(TrlDump([first, later]), tmp_path / "run")
    assert ["9" in row.rollout.text for row in rows_of(tmp_path / "run")] == [True]


def test_a_table_that_was_written_twice_is_taken_once(tmp_path: Path) -> None:
    table(tmp_path / "d", 1, group(1))
    table(tmp_path / "d", 2, [{**row, "step": 2} for row in group(1)])
    found = import_dump(TrlDump([tmp_path / "d"]), tmp_path / "run")
    assert (found.steps, found.again) == (1, 1)


@pytest.mark.parametrize(
    ("reward", "outcome", "score"),
    [
        (1.0, Outcome.CORRECT, 1.0),
        (0.99999994, Outcome.CORRECT, 1.0),
        (2.5, Outcome.CORRECT, 1.0),
        (-0.1, Outcome.INCORRECT, 0.0),
        (0.25, Outcome.PARTIAL, 0.25),
        (math.nan, Outcome.INVALID, None),
    ],
)
def test_a_recorded_reward_becomes_a_score(tmp_path: Path, reward: float, outcome: Outcome, score: float) -> None:
    table(tmp_path / "d", 1, [trl_row(1, 1, 3, reward), trl_row(1, 1, 4, 0.5)])
    import_dump(TrlDump([tmp_path / "d"]), tmp_path / "run")
    record = rows_of(tmp_path / "run")[0].record
    assert (record.verdict.outcome, record.verdict.score) == (outcome, score)
    assert record.reward == (None if math.isnan(reward) else reward)


def test_several_rewards_have_to_be_named_and_are_summed_with_their_weights(tmp_path: Path) -> None:
    table(tmp_path / "d", 1, group(1, tidy=1.0, note="x"))
    dump = TrlDump([tmp_path / "d"])
    with pytest.raises(InputError, match="which number") as raised:
        import_dump(dump, tmp_path / "run")
    assert "accuracy, tidy" in str(raised.value)
    assert not (tmp_path / "run").exists()
    import_dump(dump, tmp_path / "run", rewards=["accuracy", "tidy=0.5"])
    rows = rows_of(tmp_path / "run")
    assert [row.record.reward for row in rows] == [1.5, 0.5]
    assert [row.record.verdict.correct for row in rows] == [True, False]
    assert rows[0].record.verdict.parts[1].name == "tidy"


def test_the_trainers_own_log_becomes_metrics(tmp_path: Path) -> None:
    table(tmp_path / "out" / "completions", 1, group(1))
    state = tmp_path / "out" / "checkpoint-1" / "trainer_state.json"
    state.parent.mkdir()
    state.write_text('{"log_history": [{"step": 1, "loss": 0.5, "entropy": 1.25, "x": NaN}]}')
    import_dump(TrlDump([tmp_path / "out"]), tmp_path / "run")
    line = json.loads((tmp_path / "run" / "metrics.jsonl").read_text())
    assert (line["step"], line["stage"], line["loss"], line["reward"]) == (1, 0, 0.5, 0.5)


def test_judged_again_the_recorded_reward_stands_beside_and_disagreements_are_listed(tmp_path: Path) -> None:
    said = ["the answer is \\boxed{3}", "\\boxed{4}", "\\boxed{3}"]
    verl_lines(
        tmp_path / "d" / "7.jsonl", [verl_row(7, words, score) for words, score in zip(said, (1, 0, 0), strict=True)]
    )
    judging = Judging(checkers=Checkers("math"))
    found = import_dump(VerlDump([tmp_path / "d"]), tmp_path / "run", judging=judging)
    assert (found.compared, found.agree) == (3, 2)
    assert [(one.id.rpartition("/")[2], one.outcome) for one in found.disagreements] == [("2", "correct")]
    rows = rows_of(tmp_path / "run")
    assert [row.record.verdict.correct for row in rows] == [True, False, True]
    assert [row.record.reward for row in rows] == [1.0, 0.0, 0.0]
    assert rows[0].record.verdict.verifier.startswith("math@")


def test_tasks_are_found_by_their_prompt_within_a_chat_template(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(
        '{"id": "short", "prompt": "What is", "checker": {"type": "math", "config": {"answer": "9"}}}\n'
        '{"id": "sum", "prompt": "What is 1 + 2?", "checker": {"type": "math", "config": {"answer": "3"}}}\n'
    )
    verl_lines(tmp_path / "1.jsonl", [verl_row(1, "\\boxed{3}", 0.0)])
    with pytest.raises(SystemExit) as left:
        main(["import", "verl", str(tmp_path / "1.jsonl"), "-o", str(tmp_path / "run"), "--tasks", str(tasks)])
    assert left.value.code == 0
    (row,) = rows_of(tmp_path / "run")
    assert (row.rollout.task, row.record.verdict.correct) == ("sum", True)


def test_a_stopped_import_goes_on_where_it_was(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        table(tmp_path / "d", step, group(step))

    class StopError(Exception):
        pass

    def stop(step: int, _: int) -> None:
        if step == 2:
            raise StopError

    with pytest.raises(StopError):
        import_dump(TrlDump([tmp_path / "d"]), tmp_path / "run", progress=stop)
    lines = (tmp_path / "run" / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "run" / "ledger.jsonl").write_bytes(b"".join(lines[:3]))  # killed between samples and records
    info = json.loads((tmp_path / "run" / "run.json").read_text())
    info |= {"records": 3, "head": json.loads(lines[2])["hash"]}
    (tmp_path / "run" / "run.json").write_text(json.dumps(info))
    found = import_dump(TrlDump([tmp_path / "d"]), tmp_path / "run")
    assert found.resumed
    assert found.attempts == 3
    assert len(rows_of(tmp_path / "run")) == 6
    assert import_dump(TrlDump([tmp_path / "d"]), tmp_path / "run").attempts == 0


BROKEN = [
    ("not json\n", "1.jsonl:1", "JSON"),
    ('{"input": "a", "output": "b", "score": 1, "step": 1}\n{"input": "a", "step": 1}\n', "1.jsonl:2", "output"),
    ('{"input": "a", "output": "b", "score": Infinity, "step": 1}\n', "1.jsonl:1", "score"),
    ('{"input": "a", "output": "b", "score": 1, "step": "x"}\n', "1.jsonl:1", "step"),
    ("[1]\n", "1.jsonl:1", "object"),
]


@pytest.mark.parametrize(("text", "where", "field"), BROKEN)
def test_an_unusable_row_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, where: str, field: str
) -> None:
    (tmp_path / "1.jsonl").write_text(text)
    with pytest.raises(SystemExit) as left:
        main(["import", "verl", str(tmp_path / "1.jsonl"), "-o", str(tmp_path / "run")])
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert where in said
    assert field in said
    assert not (tmp_path / "run").exists()


def test_what_is_no_table_of_completions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(InputError, match="no parquet file"):
        import_dump(TrlDump([tmp_path / "a.parquet"]), tmp_path / "run")
    other = table(tmp_path, 1, [{"a": 1}], "b.parquet")
    with pytest.raises(InputError, match="no such column"):
        import_dump(TrlDump([other]), tmp_path / "run")
    with pytest.raises(InputError, match="holds no completions"):
        import_dump(TrlDump([tmp_path]), tmp_path / "run")


def test_messages_with_tools_and_words_of_any_kind_survive(tmp_path: Path) -> None:
    call = {"type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    said = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "3\x00\u202e", "tool_calls": None},
        {"role": "assistant", "content": "\\boxed{3}" + "x" * 100_000, "tool_calls": None},
    ]
    table(tmp_path / "d", 1, [{**trl_row(1, 1, 3, 1.0), "completion": said}])
    import_dump(TrlDump([tmp_path / "d"]), tmp_path / "run")
    (row,) = rows_of(tmp_path / "run")
    assert row.rollout.completion[0].tool_calls[0].arguments == {"a": 1}
    assert row.rollout.completion[1].content == "3\x00\u202e"


def test_steps_of_verl_that_say_the_same_are_two(tmp_path: Path) -> None:
    for step in (1, 2):
        verl_lines(tmp_path / "d" / f"{step}.jsonl", [verl_row(step, "3", 1.0), verl_row(step, "4", 0.0)])
    found = import_dump(VerlDump([tmp_path / "d"]), tmp_path / "run")
    assert (found.steps, found.attempts, found.again) == (2, 4, 0)


def test_a_step_may_be_a_text_that_is_a_whole_number(tmp_path: Path) -> None:
    table(tmp_path / "d", 1, [{**row, "step": "7"} for row in group(1)])
    assert import_dump(TrlDump([tmp_path / "d"]), tmp_path / "run").steps == 1
    assert {row.rollout.step for row in rows_of(tmp_path / "run")} == {7}
    verl_lines(tmp_path / "v" / "1.jsonl", [{**verl_row(1, "3", 1.0), "step": "1"}])
    assert import_dump(VerlDump([tmp_path / "v"]), tmp_path / "other").steps == 1
    table(tmp_path / "e", 1, [{**row, "step": "one"} for row in group(1)])
    with pytest.raises(InputError, match="is no number of a step"):
        import_dump(TrlDump([tmp_path / "e"]), tmp_path / "none")


def left_with(words: list[str]) -> object:
    with pytest.raises(SystemExit) as left:
        main(words)
    return left.value.code


def test_what_a_trainer_recorded_is_not_replayed_but_judged_by_a_rescoring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table(tmp_path / "d", 1, group(1))
    run = tmp_path / "run"
    import_dump(TrlDump([tmp_path / "d"]), run)
    assert left_with(["ledger", "replay", str(run)]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "not given by Lydite" in said
    assert "lydite ledger rescore" in said
    assert "did you mean" not in said
    checker = '{"type": "math", "config": {"answer": "3", "reward": null}}'
    assert left_with(["ledger", "rescore", str(run), "--verifier", "imported=math", "--checker", checker]) == 0
    assert left_with(["compare", str(run), str(run)]) == 0  # its only part need not be named


def test_an_attempt_that_was_recorded_is_judged_with_a_checker_alone(tmp_path: Path) -> None:
    from fastapi.testclient import TestClient

    from lydite.server.app import create_app
    from lydite.server.service import Service
    from lydite.server.settings import Settings

    table(tmp_path / "d", 1, group(1))
    import_dump(TrlDump([tmp_path / "d"]), tmp_path / "home" / "runs" / "theirs")
    service = Service(Settings(home=tmp_path / "home"))
    service.index.refresh()
    client = TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    page = client.get("/runs/theirs/rollouts/1").text
    service.close()
    assert "not given by Lydite" in page
    assert "only the command line asks it" not in page
    assert 'data-help="judge again"' not in page
    assert "Judge with this checker" in page
