"""TRL's own trainers, rewarded by verdicts."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from trl_training import SETTINGS, save_tiny, trainer

from lydite.exports import trl_reward
from lydite.ledger import RunFolder, verify_run
from lydite.ledger.replay import Match, replay
from lydite.verdict import Outcome

pytest.importorskip("trl")
pytestmark = pytest.mark.train

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("policy") / "tiny")


def rows(*golds: str) -> list[dict[str, Any]]:
    return [
        {"prompt": [{"role": "user", "content": f"Is {10 + number} odd?"}], "answer": gold}
        for number, gold in enumerate(golds)
    ]


def history(made: Any, name: str) -> list[float]:
    return [entry[name] for entry in made.state.log_history if name in entry]


@pytest.mark.parametrize("kind", ["GRPO", "RLOO"])
def test_a_trainer_learns_from_verdicts_and_logs_their_rates(policy: Path, tmp_path: Path, kind: str) -> None:
    reward = trl_reward("math")
    made = trainer(policy, rows("0", "1", "0", "1"), reward, tmp_path, kind)
    made.train()
    assert sum(reward.totals.values()) == 8
    assert len(history(made, "rewards/lydite/mean")) == 2
    for step in range(2):
        assert sum(history(made, f"lydite/{outcome}")[step] for outcome in Outcome) == pytest.approx(1)
        passed = history(made, "lydite/pass_rate")[step]
        assert history(made, "reward")[step] == pytest.approx(-0.1 + 1.1 * passed, abs=1e-5)


def test_plain_prompts_work_too(policy: Path, tmp_path: Path) -> None:
    reward = trl_reward("math")
    plain = [{"prompt": row["prompt"][0]["content"], "answer": row["answer"]} for row in rows("0", "1")]
    trainer(policy, plain, reward, tmp_path).train()
    assert sum(reward.totals.values()) == 8


def test_the_table_of_completions_says_why(policy: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    made = trainer(policy, rows("0", "1"), trl_reward("math", name="sums"), tmp_path, log_completions=True)
    made.train()
    table = pandas.concat(pandas.read_parquet(file) for file in sorted((tmp_path / "completions").glob("*.parquet")))
    correct = table["sums/outcome"] == "correct"
    assert (table["sums"][correct] == 1.0).all()
    assert (table["sums"][~correct] < 0).all()
    assert set(table["sums/extracted"][correct]) <= {"0", "1"}
    assert table["sums/reason"].notna().all()


def test_a_checker_of_each_row_and_faults_leave_a_group_without_advantage(policy: Path, tmp_path: Path) -> None:
    documents = [{"type": "math", "config": {"answer": "0"}}, {"type": "math", "config": {"answer": ""}}]
    data = [
        {"prompt": row["prompt"], "checker": json.dumps(document)}
        for row, document in zip(rows("0", ""), documents, strict=True)
    ]
    reward = trl_reward()
    made = trainer(policy, data, reward, tmp_path)
    made.model.train()
    inputs = [made.train_dataset[0]] * 4 + [made.train_dataset[1]] * 4
    batch = made._generate_and_score_completions(inputs)
    assert batch["advantages"][4:].tolist() == [0.0] * 4
    assert batch["advantages"].isfinite().all()
    assert reward.totals[Outcome.INVALID] == 4
    assert made._metrics["train"]["lydite/invalid"] == [0.5]


def test_a_whole_batch_of_faults_changes_nothing_and_does_not_stop_training(policy: Path, tmp_path: Path) -> None:
    import torch

    made = trainer(policy, rows("", ""), trl_reward("math"), tmp_path)
    before = {name: value.clone() for name, value in made.model.named_parameters()}
    made.train()
    assert history(made, "lydite/invalid") == [1.0, 1.0]
    assert all(torch.equal(value, before[name]) for name, value in made.model.named_parameters())


def test_a_faulty_checker_stops_training_and_is_named(policy: Path, tmp_path: Path) -> None:
    data = [{"prompt": row["prompt"], "checker": '{"type": "maths"}'} for row in rows("0")]
    with pytest.raises(Exception, match=r"checker\[0\]\.type: no verifier is called 'maths'"):
        trainer(policy, data, trl_reward(), tmp_path).train()


def test_what_was_trained_on_is_in_the_ledger(policy: Path, tmp_path: Path) -> None:
    reward = trl_reward("math", ledger=tmp_path / "run")
    made = trainer(policy, rows("0", "1"), reward, tmp_path / "out")
    made.train()
    reward.close()
    run = RunFolder.open(tmp_path / "run")
    records = [row.record for row in run.rows()]
    assert len(records) == 8
    means = [sum(record.reward or 0 for record in records[start : start + 4]) / 4 for start in (0, 4)]
    assert history(made, "reward") == pytest.approx(means, abs=1e-5)
    assert verify_run(run.path).problem is None
    assert {item.match for item in replay(run)} == {Match.SAME}


def test_the_readme_s_five_lines_train(policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets
    import trl

    from lydite.training.trl.quiet import hush

    hush()
    section = (ROOT / "README.md").read_text().split("## Use the verdicts without our trainer")[1].split("\n## ")[0]
    code = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[0]
    assert len([line for line in code.splitlines() if line.strip()]) == 5
    lines = [{"question": f"Is {number} odd?", "answer": f"so\n#### {number % 2}"} for number in range(10, 14)]
    monkeypatch.setattr(datasets, "load_dataset", lambda *_args, **_fields: datasets.Dataset.from_list(lines))
    monkeypatch.setattr(trl, "GRPOConfig", functools.partial(trl.GRPOConfig, **SETTINGS))
    trained: list[Any] = []
    train = trl.GRPOTrainer.train
    monkeypatch.setattr(trl.GRPOTrainer, "train", lambda self: trained.append(self) or train(self))
    monkeypatch.chdir(tmp_path)
    changed, number = re.subn(r'GRPOTrainer\("[^"]+"', f"GRPOTrainer({str(policy)!r}", code)
    assert number == 1
    exec(compile(changed, "README.md", "exec"), {})
    assert len(history(trained[0], "lydite/pass_rate")) == 2


def test_the_example_trains_and_reports_rates(tmp_path: Path) -> None:
    example = ROOT / "examples" / "trl_reward.py"
    done = subprocess.run(
        [sys.executable, str(example), "--steps", "1", "-o", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"step 1: correct \d+ %, invalid 0 %", done.stdout)
    assert len(list(RunFolder.open(tmp_path / "run").rows())) == 32
