"""The demo: its recipe, its document, and its claim."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lydite.errors import InputError

pytestmark = pytest.mark.train


def _lydite(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "lydite", *words], capture_output=True, text=True, check=False)


def test_the_packaged_recipe_takes_seed_and_control() -> None:
    pytest.importorskip("torch")
    from lydite.training.demo import demo_recipe

    recipe = demo_recipe(seed=7, control="random")
    assert (recipe.seed, recipe.control) == (7, "random")
    assert recipe.settings != demo_recipe().settings


def test_an_unknown_control_is_named() -> None:
    pytest.importorskip("torch")
    from lydite.training.demo import demo_recipe

    with pytest.raises(InputError, match="sometimes"):
        demo_recipe(control="sometimes")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The real demo, once: minutes."""
    pytest.importorskip("torch")
    out = tmp_path_factory.mktemp("demo") / "run"
    done = _lydite("demo", "-o", str(out), "--json")
    assert done.returncode == 0, done.stderr
    return out, json.loads(done.stdout)


@pytest.mark.slow
def test_the_improvement_is_real(finished: tuple[Path, dict[str, object]]) -> None:
    _, said = finished
    before, after, paired = said["before"], said["after"], said["paired"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert isinstance(paired, dict)
    assert 0.2 <= before["pass@1"] <= 0.6
    assert after["pass@1"] - before["pass@1"] >= 0.25
    assert paired["low"] > 0
    assert paired["difference"] == pytest.approx(after["pass@1"] - before["pass@1"])


@pytest.mark.slow
def test_its_ledger_is_intact_and_every_verdict_can_be_derived_again(
    finished: tuple[Path, dict[str, object]],
) -> None:
    out, said = finished
    assert _lydite("ledger", "verify", str(out), "--head", str(said["head"])).returncode == 0
    replay = _lydite("ledger", "replay", str(out))
    assert replay.returncode == 0, replay.stderr


@pytest.mark.slow
def test_a_second_call_finds_it_done(finished: tuple[Path, dict[str, object]]) -> None:
    out, said = finished
    again = _lydite("demo", "-o", str(out), "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout) == said


@pytest.mark.slow
def test_its_adapter_loads_as_a_policy(finished: tuple[Path, dict[str, object]], tmp_path: Path) -> None:
    out, said = finished
    tasks = tmp_path / "tasks.jsonl"
    _lydite("tasks", "generate", "arithmetic", "--levels", "1,2", "-n", "20", "--seed", "5", "-o", str(tasks))
    spec = f"hf:builtin:tiny+{out / 'adapter'}"
    done = _lydite("eval", str(tasks), "--policy", spec, "-n", "4", "-o", str(tmp_path / "eval"), "--json")
    assert done.returncode == 0, done.stderr
    before = said["before"]
    assert isinstance(before, dict)
    assert json.loads(done.stdout)["pass@1"]["value"] > before["pass@1"]


@pytest.mark.slow
def test_other_settings_do_not_touch_a_run(finished: tuple[Path, dict[str, object]]) -> None:
    out, _ = finished
    before = (out / "run.json").read_bytes()
    assert _lydite("demo", "-o", str(out), "--seed", "1").returncode == 2
    assert (out / "run.json").read_bytes() == before
