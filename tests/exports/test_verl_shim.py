"""The files that connect verl and OpenRLHF: the same keys for every sample, and no fault passes for a wrong answer."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import math
import os
import pickle
import subprocess
import sys
import venv
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lydite
from lydite.cli import main
from lydite.errors import InputError, LyditeError
from lydite.exports.openrlhf import response_of
from lydite.exports.shims import shim

ROOT = Path(__file__).resolve().parents[2]
KEYS = ["score", "acc", "fault", "outcome", "reason", "pred"]
FIVE = json.dumps({"type": "math", "config": {"answer": "5"}})


def load(folder: Path, text: str) -> ModuleType:
    """As trainers load it: from a path, without a place among the modules."""
    path = folder / "lydite_reward.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("custom_module", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verl(folder: Path, **settings: Any) -> ModuleType:
    return load(folder, shim("verl", **settings))


def exits_with(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["export", "shim", *arguments])
    return int(left.value.code or 0)


# ------------------------------------------------------------------ the file


def test_the_command_writes_a_file_that_scores(tmp_path: Path) -> None:
    out = tmp_path / "reward.py"
    assert exits_with("verl", "-o", str(out), "--checker", "math", "--scheme", "binary") == 0
    module = load(tmp_path, out.read_text())
    assert module.compute_score("sums", "\\boxed{5}", "5")["score"] == 1.0
    assert module.compute_score("sums", "\\boxed{6}", "5")["score"] == 0.0


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    out = tmp_path / "reward.py"
    out.write_text("mine")
    assert exits_with("verl", "-o", str(out)) == 2
    assert out.read_text() == "mine"
    assert exits_with("verl", "-o", str(out), "--force") == 0
    assert "compute_score" in out.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["slime"],
        ["verl", "--checker", "maths"],
        ["verl", "--checker", "{"],
        ["verl", "--checker", '{"config": {}}'],
        ["verl", "--scheme", "best"],
        ["verl", "--on-fault", "ignore"],
        ["verl", "-o", "reward.txt"],
        ["verl", "-o", "nowhere/reward.py"],
    ],
)
def test_what_means_nothing_is_refused_and_writes_nothing(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exits_with(*arguments) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("trainer", ["verl", "openrlhf"])
@pytest.mark.parametrize("checker", [None, "math", {"type": "math", "config": {"tolerance": 0.1, "units": "ignore"}}])
def test_the_file_is_tidy_python(trainer: str, checker: Any, tmp_path: Path) -> None:
    path = tmp_path / "reward.py"
    path.write_text(shim(trainer, checker=checker, on_fault="nan", path='a "b"\\c.py'))
    compile(path.read_text(), str(path), "exec")
    assert max(map(len, path.read_text().splitlines())) <= 120


# ------------------------------------------------------------------ one sample


def test_results_have_the_same_keys_and_kinds_whatever_happens(tmp_path: Path) -> None:
    score = verl(tmp_path, checker="math").compute_score
    results = [score("sums", text, gold) for text, gold in (("\\boxed{5}", "5"), ("6", "5"), ("", "5"), ("5", ""))]
    assert [result["outcome"] for result in results] == ["correct", "incorrect", "unparseable", "invalid"]
    assert all(list(result) == KEYS for result in results)
    kinds = [[type(result[key]) for key in KEYS] for result in results]
    assert kinds == [[float, float, float, str, str, str]] * 4


def test_a_fault_is_said_under_its_own_key(tmp_path: Path) -> None:
    result = verl(tmp_path, checker="math").compute_score("sums", "5", "")
    assert result == {
        "score": 0.0,
        "acc": 0.0,
        "fault": 1.0,
        "outcome": "invalid",
        "reason": "unparseable_gold",
        "pred": "",
    }


def test_a_wrong_answer_is_no_fault(tmp_path: Path) -> None:
    result = verl(tmp_path, checker="math", scheme="binary").compute_score("sums", "6", "5")
    assert (result["score"], result["fault"]) == (0.0, 0.0)


def test_a_fault_can_be_nan_or_stop_the_run(tmp_path: Path) -> None:
    result = verl(tmp_path, checker="math", on_fault="nan").compute_score("sums", "5", "")
    assert math.isnan(result["score"])
    assert math.isnan(result["acc"])
    assert result["fault"] == 1.0
    with pytest.raises(LyditeError, match="unparseable_gold"):
        verl(tmp_path, checker="math", on_fault="raise").compute_score("sums", "5", "")


@pytest.mark.parametrize("given", [FIVE, json.loads(FIVE)])
def test_a_sample_s_own_checker_comes_before_the_default(given: Any, tmp_path: Path) -> None:
    score = verl(tmp_path, checker="exact").compute_score
    assert score("sums", "\\boxed{5}", "no gold", extra_info={"checker": given})["score"] == 1.0


def test_a_null_checker_is_none(tmp_path: Path) -> None:
    score = verl(tmp_path, checker="math").compute_score
    assert score("sums", "\\boxed{5}", "5", {"checker": None, "split": "train"})["score"] == 1.0


def test_a_default_checker_keeps_its_settings(tmp_path: Path) -> None:
    score = verl(tmp_path, checker={"type": "math", "config": {"tolerance": 0.1}}).compute_score
    assert score("sums", "\\boxed{5.1}", "5")["score"] == 1.0


def test_a_sample_without_a_checker_and_without_a_default_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'sums', index 7\.extra_info\.checker: .*no checker.*checker=\"math\""):
        verl(tmp_path).compute_score("sums", "5", "5", {"index": 7})


def test_a_faulty_checker_is_an_error_that_names_its_sample(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'sums'\.extra_info\.checker\.type: no verifier is called 'maths'"):
        verl(tmp_path).compute_score("sums", "5", "5", {"checker": '{"type": "maths"}'})


def test_the_prompt_is_passed_on(tmp_path: Path) -> None:
    score = verl(tmp_path, checker="math").compute_score
    assert score("sums", "2 + 3", "5", {"question": "What is 2 + 3?"})["reason"] == "restated_question"
    chat = [{"role": "user", "content": "What is 2 + 3?"}]
    assert score("sums", "2 + 3", "5", {"prompt": chat})["reason"] == "restated_question"


def test_what_verl_passes_besides_is_ignored_but_no_option_is(tmp_path: Path) -> None:
    score = verl(tmp_path, checker="math").compute_score
    assert score("sums", "5", "5", {}, reward_router_address="x", reward_model_tokenizer=None)["score"] == 1.0
    with pytest.raises(InputError, match=r"reward_kwargs\.scheme"):
        score("sums", "5", "5", {}, scheme="binary")


# ------------------------------------------------------------------ how verl calls


def test_the_batch_function_keeps_order_and_length(tmp_path: Path) -> None:
    batch = verl(tmp_path, checker="math").compute_score_batch
    results = batch(
        data_sources=["sums"] * 3,
        solution_strs=["5", "6", "5"],
        ground_truths=["5", "5", ""],
        extra_infos=[{}, {"rollout_reward_scores": {}}, {}],
    )
    assert [result["outcome"] for result in results] == ["correct", "incorrect", "invalid"]
    assert batch([], [], []) == []
    with pytest.raises(InputError, match="different lengths"):
        batch(["sums"], ["5", "6"], ["5"])


def test_the_async_function_is_a_coroutine_function(tmp_path: Path) -> None:
    module = verl(tmp_path, checker="math")
    assert inspect.iscoroutinefunction(module.compute_score_async)
    assert not inspect.iscoroutinefunction(module.compute_score)
    said = asyncio.run(module.compute_score_async(data_source="sums", solution_str="5", ground_truth="5"))
    assert said == module.compute_score("sums", "5", "5")


def test_the_number_alone_is_nan_for_every_fault_and_never_raises(tmp_path: Path) -> None:
    only = verl(tmp_path, checker="math").compute_score_only
    assert only("sums", "5", "5") == 1.0
    assert only("sums", "6", "5", None) == -0.1
    assert math.isnan(only("sums", "5", ""))
    assert math.isnan(only("sums", "5", "5", {"checker": "broken"}))
    assert math.isnan(verl(tmp_path, checker="math", on_fault="raise").compute_score_only("sums", "5", ""))


@pytest.mark.parametrize("name", ["compute_score", "compute_score_async", "compute_score_batch", "compute_score_only"])
def test_the_functions_can_be_sent_to_another_process(name: str, tmp_path: Path) -> None:
    function = getattr(verl(tmp_path, checker="math"), name)
    assert pickle.loads(pickle.dumps(function)).__name__ == name


# ------------------------------------------------------------------ OpenRLHF


@pytest.mark.train
def test_openrlhf_gets_tensors_and_a_log_of_faults(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    module = load(tmp_path, shim("openrlhf", checker="math"))
    prompt = "<|im_start|>user\nWhat is 2 + 3?<|im_end|>\n<|im_start|>assistant\n"
    queries = [f"{prompt}{text}<|im_end|>" for text in ("\\boxed{5}", "\\boxed{6}", "\\boxed{5}")] + ["another text"]
    said = module.reward_func(queries, [prompt] * 4, ["5", "5", "", "5"])
    assert said["rewards"].tolist() == pytest.approx([1.0, -0.1, 0.0, 0.0])
    assert said["scores"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert said["extra_logs"]["fault"].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert said["extra_logs"]["acc"].tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.train
def test_openrlhf_s_labels_are_checkers_where_none_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    module = load(tmp_path, shim("openrlhf"))
    assert module.reward_func(["2 + 3? 5"], ["2 + 3?"], [FIVE])["rewards"].tolist() == [1.0]
    with pytest.raises(InputError, match=r"labels\[0\]: not JSON"):
        module.reward_func(["2 + 3? 5"], ["2 + 3?"], ["five"])


@pytest.mark.parametrize(
    ("query", "response"),
    [
        ("ask: say", "say"),
        ("<s> ask: say</s>", "say"),
        ("ask: say<|im_end|>\n<|endoftext|><|endoftext|>", "say"),
        ("ask:", ""),
        ("ask:</s>", ""),
        ("tell: say", None),
    ],
)
def test_the_response_is_what_follows_the_prompt(query: str, response: str | None) -> None:
    found = response_of(query, "ask:")
    assert (found if found is None else found.strip()) == response


def test_a_million_end_tokens_are_taken_off_in_one_pass() -> None:
    assert response_of("ask:" + "</s> " * 200_000, "ask:") == ""


# ------------------------------------------------------------------ verl itself


@pytest.fixture(scope="session")
def verl_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has verl: that of LYDITE_VERL_PYTHON, or a virtual environment made for this session.

    The latter holds verl and what this environment lacks of its needs; torch and the like are shared with it.
    """
    torch = pytest.importorskip("torch")
    if named := os.environ.get("LYDITE_VERL_PYTHON"):
        return Path(named)
    folder = tmp_path_factory.mktemp("verl") / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    shared = Path(torch.__file__).parents[1]
    Path(packages.stdout.strip(), "shared.pth").write_text(f"{shared}\n")
    needs = (ROOT / "tests" / "exports" / "verl_requirements.txt").resolve()
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(needs)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"verl cannot be installed here: {done.stderr[-500:]}")
    return python


def drive(python: Path, part: str, path: Path) -> dict[str, Any]:
    """What the driver prints in an environment that has verl."""
    source = str(Path(lydite.__file__).parents[1])
    done = subprocess.run(
        [str(python), str(ROOT / "tests" / "exports" / "verl_driver.py"), part, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": source,
            "RAY_AUTH_MODE": "disabled",
            "RAY_USAGE_STATS_ENABLED": "0",
            "VERL_USE_EXTERNAL_MODULES": "lydite.exports.verl_grpo",
        },
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("RESULT "))
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "lydite_reward.py"
    file.write_text(shim("verl", checker="math"))
    return file


EXPECTED = [1.0, -0.1, 0.0, -0.1, 1.0]  # right, wrong, our fault, nothing, a right program


@pytest.mark.slow
@pytest.mark.train
@pytest.mark.parametrize("part", ["loop", "remote"])
def test_verl_s_reward_loop_takes_the_shim(part: str, verl_python: Path, path: Path) -> None:
    for name, said in drive(verl_python, part, path).items():
        assert said["scores"] == pytest.approx(EXPECTED), name
        assert said["keys"] == [sorted(KEYS)] * 5, name
        assert said["kinds"] == dict(zip(KEYS, "fffUUU", strict=True)), name
        assert said["extra"]["fault"] == [0.0, 0.0, 1.0, 0.0, 0.0], name
        assert said["extra"]["outcome"] == ["correct", "incorrect", "invalid", "unparseable", "correct"], name


@pytest.mark.slow
@pytest.mark.train
def test_verl_s_older_managers_take_the_shim(verl_python: Path, path: Path) -> None:
    found = drive(verl_python, "workers", path)
    for manager in ("naive", "dapo", "batch"):
        assert found[manager]["scores"] == pytest.approx(EXPECTED)
        assert found[manager]["extra"]["fault"] == [0.0, 0.0, 1.0, 0.0, 0.0]
    right, wrong, fault, nothing, program = found["prime"]["scores"]
    assert math.isnan(fault)
    assert [right, wrong, nothing, program] == pytest.approx([1.0, -0.1, -0.1, 1.0])


@pytest.mark.slow
@pytest.mark.train
def test_verl_s_validation_counts_the_faults(verl_python: Path, path: Path) -> None:
    metrics = drive(verl_python, "validation", path)
    assert metrics["fault"]["mean@5"] == pytest.approx(0.2)
    assert metrics["acc"]["mean@5"] == pytest.approx(0.4)
    assert "maj@5/mean" in metrics["acc"]


@pytest.mark.slow
@pytest.mark.train
def test_faults_leave_the_baseline_with_our_estimator_and_nothing_else_changes(verl_python: Path, path: Path) -> None:
    found = drive(verl_python, "advantages", path)
    for scaled in (True, False):
        assert found[f"known:lydite_grpo:{scaled}"] == found[f"known:grpo:{scaled}"]
        ours = found[f"faults:lydite_grpo:{scaled}"]
        assert ours[0][0] == pytest.approx(-ours[1][0])
        assert ours[0][0] > 0
        assert ours[2:] == [[0.0] * 4] * 4  # a fault, and one that is alone in its group with two of them
        assert found[f"all:lydite_grpo:{scaled}"] == [[0.0] * 4] * 6
    assert all(math.isnan(value) for value in found["faults:grpo:True"][0])  # why it is needed


def test_the_interpreter_of_these_tests_needs_no_verl() -> None:
    code = "import sys, lydite.exports, lydite.exports.shims; print('verl' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
