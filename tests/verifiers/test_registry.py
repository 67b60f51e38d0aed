from __future__ import annotations

import concurrent.futures
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.task import Checker, Task
from lydite.verdict import Outcome
from lydite.verifiers import Submission, build, find, names, registry, verify, verify_many


def test_unknown_name_tells_the_nearest_and_the_list() -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "mth"})
    assert caught.value.field == "checker.type"
    assert "'math'" in str(caught.value)
    assert all(name in str(caught.value) for name in names())


def test_a_function_in_a_file_is_a_verifier(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def longer(submission, config):\n    return len(submission.text) > config['than']\n")
    checker = {"type": f"{file}:longer", "config": {"than": 3}}
    assert verify(checker, "four").correct
    assert verify(checker, "thr").outcome is Outcome.INCORRECT
    assert build(checker).id == "longer@1"


def test_a_class_in_a_file_is_a_verifier(tmp_path: Path) -> None:
    file = tmp_path / "mine_too.py"
    file.write_text(
        "from lydite.errors import InputError\n"
        "from lydite.verdict import Verdict\n"
        "class Half:\n"
        "    name, version = 'half', 3\n"
        "    def compile(self, config):\n"
        "        if 'x' not in config:\n"
        "            raise InputError('missing', field='x', remedy='give it')\n"
        "        return lambda submission: Verdict.of(0.5, 'half', 'half@3')\n"
    )
    assert verify({"type": f"{file}:Half", "config": {"x": 1}}, "").outcome is Outcome.PARTIAL
    with pytest.raises(InputError) as caught:
        build({"type": f"{file}:Half", "config": {}})
    assert caught.value.field == "checker.config.x"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(submission, config):\n    raise RuntimeError('ours')\n", "RuntimeError"),
        ("def f(submission, config):\n    return 7\n", "ValueError"),
        ("class f:\n    name, version = 'f', 1\n    def compile(self, config):\n        return lambda s: 1\n", "int"),
        (
            "class f:\n    name, version = 'f', 1\n    def compile(self, config):\n        return 1 / 0\n",
            "ZeroDivision",
        ),
        ("def f(submission, config):\n    return f(submission, config)\n", "RecursionError"),
    ],
)
def test_a_fault_of_the_verifier_is_invalid_and_never_raises(tmp_path: Path, source: str, said: str) -> None:
    file = tmp_path / "faulty.py"
    file.write_text(source)
    verdict = verify({"type": f"{file}:f"}, "text")
    assert (verdict.outcome, verdict.reason) == (Outcome.INVALID, "verifier_error")
    assert said in (verdict.detail or "")


@pytest.mark.parametrize("name", ["nowhere.py:f", "empty.py:f", "broken.py:f", "number.py:f"])
def test_files_that_hold_no_verifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("1 +\n")
    (tmp_path / "number.py").write_text("f = 7\n")
    with pytest.raises(InputError):
        find(name)


@pytest.mark.parametrize(
    "checker", [{}, {"type": 7}, {"type": "math", "config": []}, {"type": "math", "extra": 1}, "math", {"config": {}}]
)
def test_what_is_no_checker(checker: object) -> None:
    with pytest.raises(InputError):
        build(checker)  # type: ignore[arg-type]


def test_equal_checkers_share_one_compiled_check() -> None:
    one = build({"type": "math", "config": {"answer": "7", "extraction": "strict"}})
    other = build(Checker(type="math", config={"extraction": "strict", "answer": "7"}))
    assert one is other


def test_later_changes_to_a_config_do_not_reach_the_check() -> None:
    config = {"answer": "7"}
    checker = {"type": "math", "config": config}
    check = build(checker)
    config["answer"] = "8"
    assert check(Submission(text="\\boxed{7}")).correct
    assert verify(checker, "\\boxed{8}").correct


def test_a_task_brings_its_checker_and_its_prompt() -> None:
    from lydite.rollout import Message

    task = Task(
        id="t",
        prompt=(Message(role="user", content="Expand $(x+1)^2$."),),
        checker=Checker(type="math", config={"answer": "x^2+2x+1"}),
    )
    assert verify(task, "\\boxed{x^2+2x+1}").correct
    assert verify(task, "\\boxed{(x+1)^2}").reason == "restated_question"


def test_importing_the_room_is_light() -> None:
    code = "import sys, lydite.verifiers; print(sorted({'torch', 'typer', 'sympy', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("x = 1\n1 +\n", "mine.py:2: "),
        ("x = 1\n\nnope\n", "mine.py:3: "),
        ("def g():\n    raise KeyError('x')\n\ng()\n", "mine.py:2: "),
        ("import json\njson.loads('{')\n", "mine.py:2: "),
        ("import no_such_module_here\n", "mine.py:1: "),
        ("import sys\nsys.exit()\n", "mine.py:2: "),
        ("x = '\\N{no such letter}'\n", "mine.py:1: "),
    ],
)
def test_a_file_that_cannot_be_imported_is_told_with_its_line(tmp_path: Path, source: str, place: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(source)
    with pytest.raises(InputError) as caught:
        find(f"{file}:f")
    assert str(caught.value).startswith(f"{tmp_path}/{place}")
    assert "cannot be imported: " in str(caught.value)


def test_a_file_without_a_name_is_told_how_to_name_it() -> None:
    with pytest.raises(InputError, match=r"mine\.py:NAME"):
        find("mine.py")


def test_a_wrong_name_is_told_what_the_file_has(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import json\ndef longer(submission, config): return True\nclass Half: pass\n")
    with pytest.raises(InputError, match="has longer, Half"):
        find(f"{file}:shorter")


def test_names_that_start_with_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "with: colon"
    folder.mkdir()
    (folder / "mine.py").write_text("def f(submission, config): return True\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("mine.py:f", "./mine.py:f", "~/mine.py:f", "../with: colon/mine.py:f", f"{folder}/mine.py:f"):
        assert verify({"type": name}, "x").correct


def test_one_relative_name_means_another_file_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for folder, right in (("a", True), ("b", False)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(f"def f(submission, config): return {right}\n")
        monkeypatch.chdir(tmp_path / folder)
        said.append(verify({"type": "mine.py:f"}, "x").correct)
    assert said == [True, False]


def test_a_file_is_imported_once_by_many_threads(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import time\n"
        f"open({str(tmp_path / 'log')!r}, 'a').write('imported ')\n"
        "time.sleep(0.2)\n"
        "def f(submission, config): return True\n"
    )
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert all(threads.map(lambda n: verify({"type": f"{file}:f"}, str(n)).correct, range(8)))
    assert (tmp_path / "log").read_text() == "imported "


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("class f:\n    version = 1\n    def compile(self, config): ...\n", "no name"),
        ("class f:\n    name = 'f'\n    def compile(self, config): ...\n", "no version"),
        ("class f:\n    name, version = 'f', '1'\n    def compile(self, config): ...\n", "no version"),
        ("class f:\n    def __init__(self, x): ...\n", "cannot be made"),
        ("async def f(submission, config): return True\n", "coroutine"),
        ("def f(submission, config): return True\nf.version = 'new'\n", "no version"),
    ],
)
def test_what_is_nearly_a_verifier_is_told_what_it_lacks(tmp_path: Path, source: str, told: str) -> None:
    file = tmp_path / "nearly.py"
    file.write_text(source)
    with pytest.raises(InputError, match=told):
        find(f"{file}:f")


def test_a_function_that_names_its_fields_refuses_others(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def f(submission, config): return True\nf.fields = ('than',)\n")
    with pytest.raises(InputError) as caught:
        build({"type": f"{file}:f", "config": {"then": 3}})
    assert caught.value.field == "checker.config.then"
    assert "than" in str(caught.value)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages: ``parity`` works, ``broken`` does not, and one claims a built-in name."""
    info = tmp_path / "site" / "parity_check-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parity-check\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[lydite.verifiers]\n"
        "parity = parity_check:even\n"
        "broken = parity_check_broken:even\n"
        "absent = parity_check:odd\n"
        "math = parity_check:even\n"
    )
    site = info.parent
    (site / "parity_check.py").write_text("def even(submission, config):\n    return int(submission.text) % 2 == 0\n")
    (site / "parity_check_broken.py").write_text("\nimport no_such_module_here\n")
    monkeypatch.syspath_prepend(site)
    yield site
    registry._find.cache_clear()
    sys.modules.pop("parity_check", None)


def test_a_verifier_of_an_installed_package_is_known_by_its_name(installed: Path) -> None:
    assert {"parity", "broken"} <= set(names())
    assert verify({"type": "parity"}, "4").correct
    assert not verify({"type": "parity"}, "3").correct
    assert build({"type": "parity"}).id == "even@1"
    assert [v.correct for v in verify_many([({"type": "parity"}, "4"), ({"type": "parity"}, "3")], jobs=2)] == [
        True,
        False,
    ]


def test_an_installed_package_cannot_take_a_built_in_name(installed: Path) -> None:
    assert type(find("math")).__name__ == "MathVerifier"
    assert names().count("math") == 1


@pytest.mark.parametrize(("name", "told"), [("broken", "parity_check_broken.py:2"), ("absent", "odd")])
def test_a_broken_package_is_named_with_the_line(installed: Path, name: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        find(name)
    assert "parity-check" in str(caught.value)
    assert told in str(caught.value)


def test_one_name_of_two_packages_is_refused(installed: Path) -> None:
    other = installed / "other_check-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other-check\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[lydite.verifiers]\nparity = other_check:f\n")
    with pytest.raises(InputError) as caught:
        find("parity")
    assert "other-check" in str(caught.value)
    assert "parity-check" in str(caught.value)


def test_the_command_lists_installed_packages_and_what_is_wrong_with_them(installed: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lydite", "verifiers", "list", "--json"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(installed)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["parity"]["available"]
    assert not rows["broken"]["available"]
    assert "no_such_module_here" in rows["broken"]["why_not"]
