"""``lydite verifiers``, and what the contract suite catches: one bad verifier of each kind, in ``bad_verifiers``."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lydite.errors import InputError, UnavailableError
from lydite.verifiers import Example, names
from lydite.verifiers.contract import CHECKS, run_contract

BAD = sorted((Path(__file__).parent / "bad_verifiers").glob("*.py"))
GOOD = """
def check(submission, config):
    return submission.text.split()[-1:] == [config["answer"]]

check.fields = ("answer",)
"""
EXAMPLE = Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6", hacks={"all": "5 or 6"})


def lydite(*words: str) -> subprocess.CompletedProcess[str]:
    code = "from lydite.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "verifiers", *words], capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def good(tmp_path: Path) -> str:
    file = tmp_path / "good.py"
    file.write_text(GOOD)
    return f"{file}:check"


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_verifier_is_caught(path: Path) -> None:
    expected, said = (ast.get_docstring(ast.parse(path.read_text())) or "").removeprefix("Caught by ").split(":", 1)
    findings = list(run_contract(f"{path}:check", checks=[expected], timeout=4))
    failed = [finding for finding in findings if not finding.passed]
    assert any(said.strip() in f"{finding.subject}: {finding.evidence}" for finding in failed), findings


def test_a_good_one_keeps_every_promise(good: str) -> None:
    findings = list(run_contract(good, [EXAMPLE]))
    assert [finding for finding in findings if not finding.passed] == []
    assert {finding.check for finding in findings} == set(CHECKS)


def test_the_suite_goes_on_after_a_hang_and_names_where_it_was(tmp_path: Path) -> None:
    path = next(path for path in BAD if path.stem == "hangs")
    findings = list(run_contract(f"{path}:check", checks=["judges", "nothing", "prints"], timeout=2))
    assert [finding.passed for finding in findings if finding.check == "judges"] == [True, True]
    assert [(one.check, one.subject) for one in findings if "hangs" in one.evidence] == [
        ("nothing", "empty"),
        ("prints", "empty"),
    ]


def test_after_three_losses_the_rest_is_not_tried() -> None:
    path = next(path for path in BAD if path.stem == "dies")
    findings = [finding for finding in run_contract(f"{path}:check") if not finding.passed]
    assert sum("exit code 7" in finding.evidence for finding in findings) == 3
    assert any("not tried" in finding.evidence for finding in findings)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def f(:\n", "broken.py:1: "),
        ("import sys\nsys.exit(3)\n", "broken.py:2: "),
        ("f = 7\n", "not a verifier"),
        ("def f(submission, config): return True\n", "no examples"),
        ("def f(submission, config): return True\nf.examples = 7\n", "examples"),
        ("import time\ntime.sleep(60)\n", "importing"),
    ],
)
def test_what_cannot_be_tried_is_unusable(tmp_path: Path, source: str, told: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(source)
    with pytest.raises(InputError) as caught:
        list(run_contract(f"{file}:f", timeout=5))
    assert told in str(caught.value)


def test_a_missing_tool_is_told_as_that(tmp_path: Path) -> None:
    file = tmp_path / "needy.py"
    file.write_text(
        "from lydite.errors import UnavailableError\n"
        "class f:\n"
        "    name, version = 'f', 1\n"
        "    def compile(self, config):\n"
        "        raise UnavailableError('no prover on PATH')\n"
    )
    with pytest.raises(UnavailableError, match="no prover"):
        list(run_contract(f"{file}:f", [EXAMPLE]))
    done = lydite("show", f"{file}:f", "--json")
    assert done.returncode == 0


def test_nothing_stays_behind(tmp_path: Path) -> None:
    file = tmp_path / "spawns.py"
    file.write_text(
        "import subprocess\n"
        "def check(submission, config):\n"
        "    pid = subprocess.Popen(['sleep', '300']).pid\n"
        f"    open({str(tmp_path / 'pids')!r}, 'a').write(f'{{pid}}\\n')\n"
        "    return submission.text == 'so it is 5'\n"
    )
    list(run_contract(f"{file}:check", [EXAMPLE], checks=["judges"]))
    pids = (tmp_path / "pids").read_text().split()
    assert pids
    for _ in range(500):  # a process that is killed ends soon, not at once
        if not any(map(_runs, pids)):
            break
        time.sleep(0.01)
    assert not any(map(_runs, pids))


def test_what_a_verifier_puts_away_at_its_end_is_put_away(tmp_path: Path) -> None:
    file = tmp_path / "tidy.py"
    file.write_text(
        "import atexit, pathlib, time\n"
        f"mess = pathlib.Path({str(tmp_path / 'mess')!r})\n"
        "mess.mkdir()\n"
        "atexit.register(lambda: (time.sleep(0.3), mess.rmdir()))\n"
        "def check(submission, config):\n"
        "    return submission.text == 'so it is 5'\n"
    )
    list(run_contract(f"{file}:check", [EXAMPLE], checks=["judges"]))
    assert not (tmp_path / "mess").exists()


def _runs(pid: str) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_list_has_every_name() -> None:
    done = lydite("list", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == names()
    assert all(row["judges"] and row["version"] for row in rows)


@pytest.mark.parametrize("name", names())
def test_each_one_is_shown_with_its_fields_and_its_cheapest_hack(name: str) -> None:
    done = lydite("show", name, "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert set(shown["examples"][0]["config"]) <= set(shown["fields"])
    assert shown["examples"][0]["hacks"]
    assert len(shown["source"]) == 64
    assert lydite("show", name).returncode == 0


def test_check_by_options_exits_0_where_all_is_kept(good: str) -> None:
    done = lydite("check", good, "--config", '{"answer": "5"}', "--right", "it is 5", "--wrong", "it is 6")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b(\d+) of \1 promises kept", done.stdout)
    assert "FAIL" not in done.stdout


def test_check_exits_1_with_evidence_and_remedy() -> None:
    path = next(path for path in BAD if path.stem == "cheated")
    done = lydite("check", f"{path}:check", "--only", "hacks", "--only", "judges")
    assert done.returncode == 1
    assert "every answer: correct" in done.stdout
    assert "remedy: " in done.stdout
    found = json.loads(lydite("check", f"{path}:check", "--only", "hacks", "--json").stdout)
    assert not found["passed"]
    assert [failure["subject"] for failure in found["failures"]] == ["every answer"]
    assert found["failures"][0]["remedy"]


@pytest.mark.parametrize(
    "words",
    [
        ("check", "mth"),
        ("check", "nowhere.py:f"),
        ("check", "math", "--right", "5"),
        ("check", "math", "--right", "5", "--wrong", "6", "--config", "{"),
        ("check", "math", "--right", "5", "--wrong", "6", "--config", "[]"),
        ("check", "math", "--right", "5", "--wrong", "6", "--config", '{"answr": "5"}'),
        ("check", "math", "--only", "jugdes"),
        ("check", "math", "--timeout", "0"),
        ("show", "mth"),
        (),
    ],
)
def test_unusable_arguments_exit_2(words: tuple[str, ...]) -> None:
    done = lydite(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_verifier_that_contributors_are_shown_keeps_every_promise(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    source = text.partition("```python\n")[2].partition("```")[0]
    file = tmp_path / "parity.py"
    file.write_text(source)
    done = lydite("check", f"{file}:Parity")
    assert done.returncode == 0, done.stdout


def test_a_verifier_named_by_relative_path_may_go_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "goes.py").write_text("import os\n" + GOOD.replace("    return", "    os.chdir('/')\n    return"))
    command = [sys.executable, "-c", "from lydite.cli import main; main()", "verifiers", "check", "goes.py:check"]
    options = ["--config", '{"answer": "5"}', "--right", "so it is 5", "--wrong", "so it is 6", "--json"]
    done = subprocess.run(
        [*command, *options],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert {one["subject"] for one in told["failures"]} == {"working directory"}, told["failures"]
    assert told["verifier"] == "goes.py:check"
