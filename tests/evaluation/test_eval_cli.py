import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lydite.cli import main
from lydite.ledger import RunFolder

WORK = (
    "First we take the two numbers, 3 and 4, then we add them up with care, and after checking once more we have it. "
)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lydite(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command inside a folder of its own: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        output, errors = capsys.readouterr()
        return int(left.value.code or 0), output, errors

    return run


def write_lines(path: str, documents: list[dict]) -> None:
    Path(path).write_text("".join(json.dumps(document) + "\n" for document in documents))


def write_tasks(path: str = "tasks.jsonl", number: int = 12) -> None:
    write_lines(
        path,
        [
            {
                "id": f"t{index}",
                "prompt": f"What is {index} and {index}?",
                "checker": {"type": "math", "config": {"answer": str(2 * index)}},
                "metadata": {"difficulty": "hard" if index % 2 else "easy"},
            }
            for index in range(number)
        ],
    )


def write_replay(path: str, right: Callable[[int, int], bool], number: int = 12, n: int = 2) -> None:
    write_lines(
        path,
        [
            {
                "prompt": f"What is {index} and {index}?",
                "completion": f"{WORK}Attempt {attempt}. \\boxed{{{2 * index + (not right(index, attempt))}}}",
            }
            for index in range(number)
            for attempt in range(n)
        ],
    )


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs ``a`` and ``b`` over one task file; tests work on copies."""
    folder = tmp_path_factory.mktemp("evaluated")
    with contextlib.chdir(folder):
        write_tasks()
        write_replay("a.jsonl", lambda index, attempt: index < 4 and attempt == 0)
        write_replay("b.jsonl", lambda index, attempt: index < 9)
        for name in "ab":
            with pytest.raises(SystemExit) as left:
                main(["eval", "tasks.jsonl", "--policy", f"replay:{name}.jsonl", "-n", "2", "-k", "1,2", "-o", name])
            assert left.value.code == 0
    return folder


@pytest.fixture
def two_runs(evaluated: Path, tmp_path: Path) -> None:
    shutil.copytree(evaluated, tmp_path, dirs_exist_ok=True)


def test_eval_prints_rates_with_intervals(lydite: Run) -> None:
    write_tasks()
    write_replay("a.jsonl", lambda index, attempt: index < 6 and attempt == 0)
    command = ("eval", "tasks.jsonl", "--policy", "replay:a.jsonl", "-n", "2", "-k", "1,2", "-o", "run", "--json")
    code, output, errors = lydite(*command)
    result = json.loads(output)
    assert code == 0
    assert result["pass@1"]["value"] == 0.25
    assert result["pass@2"]["value"] == 0.5
    assert result["pass@2"]["low"] < 0.5 < result["pass@2"]["high"]
    assert (result["tasks"], result["attempts"], result["settings"]["n"]) == (12, 24, 2)
    assert result["groups"]["mixed"] == 6
    assert "pass@2" in errors
    info = RunFolder.open("run").info
    assert (info.kind, info.state, info.head) == ("eval", "complete", result["head"])


def test_the_same_eval_again_is_done_already_and_says_the_same(lydite: Run) -> None:
    write_tasks()
    write_replay("a.jsonl", lambda index, attempt: index < 6)
    command = ("eval", "tasks.jsonl", "--policy", "replay:a.jsonl", "-n", "2", "--json")
    first, second = lydite(*command), lydite(*command)
    assert first[:2] == second[:2]
    assert len(list(Path("runs").iterdir())) == 1


def test_other_settings_get_another_folder(lydite: Run) -> None:
    write_tasks()
    write_replay("a.jsonl", lambda index, attempt: True)
    for seed in ("0", "1"):
        lydite("eval", "tasks.jsonl", "--policy", "replay:a.jsonl", "-n", "2", "--seed", seed)
    assert len(list(Path("runs").iterdir())) == 2


@pytest.mark.parametrize(("k", "said"), [("1,4", "pass@4"), ("0", "at least 1"), ("one", "list of numbers")])
def test_an_impossible_k_is_refused_before_anything_is_sampled(lydite: Run, k: str, said: str) -> None:
    write_tasks()
    write_replay("a.jsonl", lambda index, attempt: True)
    code, _, errors = lydite("eval", "tasks.jsonl", "--policy", "replay:a.jsonl", "-n", "2", "-k", k)
    assert code == 2
    assert said in errors
    assert not Path("runs").exists()


def test_tasks_that_stand_in_the_training_files_are_warned_of(lydite: Run) -> None:
    write_tasks()
    write_tasks("train.jsonl", 3)
    write_replay("a.jsonl", lambda index, attempt: True)
    command = ("eval", "tasks.jsonl", "--policy", "replay:a.jsonl", "-n", "2", "--train", "train.jsonl", "--json")
    code, output, errors = lydite(*command)
    assert code == 0
    assert json.loads(output)["overlap_with_train"]["duplicate"] == 3
    assert "3 tasks stand in the training files" in errors


@pytest.mark.usefixtures("two_runs")
def test_compare_pairs_tasks(lydite: Run) -> None:
    code, output, errors = lydite("compare", "a", "b", "--json")
    result = json.loads(output)
    assert code == 0
    assert result["difference"] == pytest.approx((9 - 2) / 12)
    assert (result["fixed"], result["broken"], result["same"]) == (9, 0, 3)
    assert result["low"] > 0
    assert result["warnings"] == []
    assert "The interval excludes zero." in errors


@pytest.mark.usefixtures("two_runs")
def test_compare_warns_of_different_task_sets_and_budgets(lydite: Run) -> None:
    write_replay("a.jsonl", lambda index, attempt: True, n=1)
    command = ("--policy", "replay:a.jsonl", "-n", "1", "--limit", "5", "--max-tokens", "9", "-o", "c")
    assert lydite("eval", "tasks.jsonl", *command)[0] == 0
    _, output, _ = lydite("compare", "a", "c", "--json")
    warnings = " ".join(json.loads(output)["warnings"])
    assert "7 in A only, 0 in B only" in warnings
    assert "n differs: 2 / 1" in warnings
    assert "max_tokens differs: 512 / 9" in warnings


@pytest.mark.usefixtures("two_runs")
def test_compare_refuses_other_tasks_under_the_same_ids(lydite: Run) -> None:
    text = Path("tasks.jsonl").read_text()
    Path("other.jsonl").write_text(text.replace('"answer": "', '"answer": "1'))
    assert lydite("eval", "other.jsonl", "--policy", "replay:a.jsonl", "-n", "2", "-o", "other")[0] == 0
    code, _, errors = lydite("compare", "a", "other")
    assert code == 2
    assert "stand for different tasks" in errors


@pytest.mark.usefixtures("two_runs")
def test_compare_names_the_phases_there_are(lydite: Run) -> None:
    assert lydite("compare", "a:eval", "b:eval")[0] == 0
    code, _, errors = lydite("compare", "a:before", "b")
    assert code == 2
    assert "a:eval" in errors


@pytest.mark.usefixtures("two_runs")
def test_report_prints_where_it_is(lydite: Run) -> None:
    code, output, _ = lydite("report", "a")
    assert (code, output) == (0, "a/report.md\n")
    assert "eval pass@2" in Path("a/report.md").read_text()


@pytest.mark.parametrize("command", [("compare", "no", "no"), ("report", "no"), ("export", "sft", "no")])
def test_what_is_no_run_is_refused(lydite: Run, command: tuple[str, ...]) -> None:
    code, _, errors = lydite(*command)
    assert code == 2
    assert "not a run folder" in errors


@pytest.mark.usefixtures("two_runs")
def test_export_writes_pairs_into_the_run_by_default(lydite: Run) -> None:
    code, output, errors = lydite("export", "preferences", "a")
    rows = [json.loads(line) for line in Path("a/preferences.jsonl").read_text().splitlines()]
    assert (code, output) == (0, "")
    assert len(rows) == 4
    assert all(set(row) == {"prompt", "chosen", "rejected"} for row in rows)
    assert "4 rows in a/preferences.jsonl" in errors
    assert "no chosen 8" in errors


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize(
    ("kind", "format", "number", "keys"),
    [
        ("preferences", "openai", 4, {"input", "preferred_output", "non_preferred_output"}),
        ("sft", "trl", 4, {"prompt", "completion"}),
        ("sft", "openai", 4, {"messages"}),
        ("kto", "trl", 24, {"prompt", "completion", "label"}),
    ],
)
def test_export_formats(lydite: Run, kind: str, format: str, number: int, keys: set[str]) -> None:
    code, output, _ = lydite("export", kind, "a", "-o", "out.jsonl", "--format", format, "--json")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert code == 0
    assert len(rows) == json.loads(output)["rows"] == number
    assert all(set(row) == keys for row in rows)


@pytest.mark.usefixtures("two_runs")
def test_export_of_nothing_is_an_empty_file_and_not_an_error(lydite: Run) -> None:
    code, _, errors = lydite("export", "preferences", "a", "-o", "out.jsonl", "--phase", "train")
    assert code == 0
    assert Path("out.jsonl").read_bytes() == b""
    assert "no attempts in phase 'train'" in errors


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize("options", [("--format", "alpaca"), ("--cap", "0")])
def test_export_refuses_what_it_cannot_honour_and_touches_nothing(lydite: Run, options: tuple[str, str]) -> None:
    code, _, _ = lydite("export", "preferences", "a", "-o", "out.jsonl", *options)
    assert code == 2
    assert not Path("out.jsonl").exists()
