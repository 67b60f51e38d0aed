"""``lydite probe`` from outside, and the card."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lydite.cli import _run
from lydite.probes import Attack, Check, Target, probe
from lydite.probes.card import Tally
from lydite.probes.card_markdown import to_markdown
from lydite.tasksets import parse_task

SOUND = {"id": "sound", "prompt": "3 + 4?", "checker": {"type": "math", "config": {"answer": "7"}}, "solution": "7"}
LAX = {"id": "lax", "prompt": "2 + 2?", "checker": {"type": "choice", "config": {"answer": "A", "choices": ["4"]}}}


def written(folder: Path, *documents: dict[str, Any]) -> str:
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return str(path)


def test_a_sound_set_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["probe", written(tmp_path, SOUND), "--json", "--jobs", "1"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["holds"]
    assert card["complete"]
    assert (card["tasks"], card["probed"], card["got_through"]) == (1, 1, 0)
    assert {row["check"] for row in card["checks"]} >= {"semantic.oracle_max", "semantic.verifier_portability"}


def test_what_got_through_is_told_with_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "card"
    assert _run(["probe", written(tmp_path, SOUND, LAX), "-o", str(out), "--only", "adversarial_floor"]) == 1
    said = capsys.readouterr()
    assert not said.out
    assert "random_choice" in said.err
    assert "to mend it" in said.err
    card = json.loads((out / "card.json").read_text())
    (row,) = (row for row in card["rows"] if row["kind"] == "random_choice")
    assert (row["got_through"], row["best_share"], row["tasks"]) == (1, 1.0, ["lax"])
    assert "What got through" in (out / "card.md").read_text()


def test_checks_that_need_a_solution_are_named_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {name: value for name, value in SOUND.items() if name != "solution"}
    assert _run(["probe", written(tmp_path, document), "--json", "--only", "oracle_max"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["without_solution"] == 1
    assert card["not_made"] == [
        {"check": "semantic.oracle_max", "why": "the task has no solution", "count": 1, "tasks": ["sound"]}
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"prompt": "x", "checker": {"type": "math"}}', "checker.config.answer"),
        ('{"prompt": "x", "checker": {"type": "json_schema", "config": {"schema": {}}}}', "checker.config.schema"),
        ("{", "not JSON"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(SOUND) + "\n" + line + "\n")
    assert _run(["probe", str(path)]) == 2
    told = capsys.readouterr().err
    assert f"{path}:2" in told
    assert said in told


def test_an_unknown_check_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["probe", written(tmp_path, SOUND), "--only", "oracle"]) == 2
    assert "oracle_max" in capsys.readouterr().err


def test_a_set_up_that_fails_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checker = {"type": "file_exists", "config": {"paths": ["a.txt"]}}
    broken = {"prompt": "x", "env": "workspace", "setup_commands": ["exit 3"], "checker": checker}
    assert _run(["probe", written(tmp_path, SOUND, broken), "--only", "floor_gap"]) == 2
    assert "setup_commands.0" in capsys.readouterr().err


def test_ctrl_c_keeps_what_was_done(tmp_path: Path) -> None:
    source = "import time\n\ndef check(submission, config):\n    time.sleep(0.2)\n    return 0.0\n"
    begun = f"    open({str(tmp_path / 'begun')!r}, 'w').close()\n"
    (tmp_path / "slow.py").write_text(source.replace("    time", f"{begun}    time"))
    slow = {"id": "slow", "prompt": "x", "checker": {"type": f"{tmp_path}/slow.py:check", "config": {"answer": "a"}}}
    command = [sys.executable, "-m", "lydite", "probe", written(tmp_path, SOUND, slow), "--json", "--jobs", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    card = json.loads(out)
    assert not card["complete"]
    assert card["attacks"] > 0


def test_a_family_of_ones_own_is_tried_in_place_of_the_panel() -> None:
    def mine(target: Target) -> list[Attack]:
        return [Attack(name=Check.ADVERSARIAL, kind="mine", what="the gold", mend="nothing", text="7")]

    task = parse_task(SOUND)
    tally = Tally([task])
    for done in probe([task], families=[mine], only=("mine",), jobs=1):
        tally.add(done)
    assert tally.card().got_through == 1


def test_markdown_of_a_card_is_not_broken_by_what_a_task_says() -> None:
    task = parse_task({**LAX, "id": "a|b`c"})
    tally = Tally([task], ["x|y.jsonl"])
    for done in probe([task], only=("random_choice",), jobs=1):
        tally.add(done)
    text = to_markdown(tally.card())
    assert "a\\|b\\`c" in text
    assert "x\\|y.jsonl" in text
