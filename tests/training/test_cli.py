"""``lydite train`` from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lydite.cli import main

pytest.importorskip("trl")
pytestmark = pytest.mark.train


def leave(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["train", *map(str, arguments)])
    out, err = capsys.readouterr()
    return int(caught.value.code or 0), out, err


def test_a_wrong_recipe_is_exit_2_with_line_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("policy: builtin:tiny\ntasks: {train: a.jsonl}\nstages:\n  - {kind: grpo, stepz: 1}\n")
    code, out, err = leave(capsys, path)
    assert (code, out) == (2, "")
    assert f"{path}:4: stages.0.stepz: unknown key (did you mean steps?)" in err


def test_a_run_says_where_it_is_and_what_came_of_it(
    document: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(document))
    run = tmp_path / "run"
    code, out, err = leave(capsys, path, "stages.0.steps=1", "-o", run)
    assert (code, out.strip()) == (0, str(run))
    assert "paired difference" in err
    assert json.loads((run / "run.json").read_text())["settings"]["stages"][0]["optimizer_steps"] == 1
    code, out, _ = leave(capsys, run, "--resume", "--json")  # a finished run gives its result again
    assert code == 0
    assert json.loads(out)["run"] == str(run)
