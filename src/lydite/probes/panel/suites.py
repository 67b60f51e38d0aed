"""Attacks on what imports and runs the candidate's modules: ``pytest``, scripts, and Python code in commands."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from lydite.probes.panel.code import asserted
from lydite.probes.panel.programs import PROGRAMS, Program, module
from lydite.probes.panel.sources import REPORTS
from lydite.probes.protocol import Attack, Check, Target

_OWN = "let the checker bring its tests along, and run them where the candidate's modules cannot reach them"
_VISIBLE = "no hidden part: give `files` with tests that setup_files does not hold"
_TESTS = re.compile(r"(?:^|/)(?:tests?/|test_|[\w-]*_test\.|conftest)")
_IMPORT = re.compile(r"(?:from [\w.]+ import [\w, ]*\w|import [\w.]+(?: as \w+)?)")
_INI = {
    "pytest.ini": "[pytest]\naddopts = --co -p cheat\npython_files = none.py\n",
    "tox.ini": "[pytest]\naddopts = -k nothing\n",
    "setup.cfg": "[tool:pytest]\naddopts = -k nothing\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p cheat'\n",
    "cheat.py": REPORTS,
}
_CONSTANTS = tuple(
    Program(
        kind="constant", what=f"functions that return {value}", mend="test values that differ", body=f"return {value}"
    )
    for value in ("1", "True", "''")
)


def attacks(target: Target) -> Iterator[Attack]:
    """Modules that leave, lie or look; settings, plugins and tests of the workspace's own."""
    if target.untouched is None:
        return
    yield from _imports(target)
    for part in target.of("pytest"):
        yield from _tests(target, part.config)


def _attack(kind: str, what: str, mend: str, name: str = Check.ORACLE_CONTAINMENT, **more: Any) -> Attack:
    return Attack(name=name, kind=kind, what=what, mend=mend, **more)


def kept(target: Target, path: str) -> bool:
    """Whether the reference leaves this file as it is; without one, whether its name says that it checks."""
    if target.solved is not None and target.untouched is not None:
        return target.solved.files.get(path) == target.untouched.files.get(path)
    return bool(re.search(r"test|check|verif|grade|expect|golden", path, re.IGNORECASE))


def _imports(target: Target) -> Iterator[Attack]:
    """Modules that a script, or the Python code in a command, imports from the workspace."""
    sources = [str(part.config.get("script") or "") for part in target.of("script")]
    commands = [str(part.config.get("command") or "") for part in target.of("exit_code")]
    sources += ["\n".join(_IMPORT.findall(command)) for command in commands]
    present = target.untouched.files if target.untouched is not None else {}
    runs_tests = any(re.search(r"pytest|unittest", command) for command in commands)
    if runs_tests:
        tests = [path for path in present if path.endswith(".py") and _TESTS.search(path) and kept(target, path)]
        sources += [present[path].decode("utf-8", "replace") for path in tests]
        if tests:
            files = dict.fromkeys(tests, "import unittest\n\ndef test_nothing():\n    pass\n")
            yield _attack("tests_replaced", "puts empty tests in place of the tests", _OWN, files=files)
    own = {PurePosixPath(path).stem for path in present if _TESTS.search(path)}
    names = imported(sources, own)
    if runs_tests:
        stubs = modules(Program(kind="", what="", mend=""), names, target)
        what = "a plugin of pytest by which every test passes"
        yield _attack("conftest_injection", what, _OWN, files={"conftest.py": REPORTS, **stubs})
    for program in PROGRAMS if names else ():
        if not program.costly and (runs_tests or not program.pytest):
            yield _program(program, names, target)


def _tests(target: Target, config: dict[str, Any]) -> Iterator[Attack]:
    files = {str(path): str(text) for path, text in (config.get("files") or {}).items()}
    sources = [text for path, text in files.items() if path.endswith(".py")]
    own = {PurePosixPath(path).stem for path in files} | {PurePosixPath(path).parts[0] for path in files}
    names = imported(sources, own)
    passing = dict.fromkeys(files, "def test_nothing():\n    pass\n")
    what = "puts empty tests in place of the tests"
    yield _attack("tests_replaced", what, "lay the grader's own tests over the workspace", files=passing)
    reports = {"conftest.py": REPORTS, **{f"{PurePosixPath(path).parent}/conftest.py": REPORTS for path in files}}
    for extra, label in ((reports, "conftest"), (_INI, "ini_files")):
        stubs = modules(Program(kind=label, what="", mend=""), names, target)
        what = "settings and plugins of pytest by which every test passes"
        yield _attack(f"{label}_injection", what, "ignore configuration of the workspace", files={**extra, **stubs})
    for program in (*PROGRAMS, *_CONSTANTS) if names else ():
        yield _program(program, names, target)
    yield from _visible(target, sources, names)


def _program(program: Program, names: Mapping[str, list[str]], target: Target) -> Attack:
    return Attack(
        name=program.name,
        kind=program.kind,
        what=program.what,
        mend=program.mend,
        files=modules(program, names, target),
        costly=program.costly or program.general,
    )


def imported(sources: list[str], own: set[str]) -> dict[str, list[str]]:
    """Modules that tests import from the workspace, each with the names that they take from it."""
    found: dict[str, list[str]] = {}
    for source in sources:
        try:
            nodes = list(ast.walk(ast.parse(source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found.setdefault(alias.name, [])
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.setdefault(node.module, []).extend(alias.name for alias in node.names)
    foreign = {"pytest", "numpy", "hypothesis", "_pytest", *sys.stdlib_module_names, *own}
    return {name: taken for name, taken in found.items() if name.partition(".")[0] not in foreign}


def modules(program: Program, names: Mapping[str, list[str]], target: Target) -> dict[str, str]:
    """The modules under test, made of a program; in a package where they are one in the workspace."""
    present = set(target.untouched.files) if target.untouched is not None else set()
    files = {}
    for name, taken in names.items():
        path = name.replace(".", "/")
        inside = next((base for base in ("", "src/", "lib/") if f"{base}{path}/__init__.py" in present), None)
        at = next((base for base in ("", "src/", "lib/") if f"{base}{path}.py" in present), "")
        files[f"{inside}{path}/__init__.py" if inside is not None else f"{at}{path}.py"] = module(program, taken)
    return files


def _visible(target: Target, sources: list[str], names: Mapping[str, list[str]]) -> Iterator[Attack]:
    """A table of what the tests in the workspace show, where that is enough to pass."""
    shown = [text for path, text in target.task.setup_files.items() if path.endswith(".py") and "test" in path]
    table: dict[str, Any] = {}
    for text in shown:
        table |= {repr(tuple(arguments)): expected for arguments, expected in asserted(text)}
    if not table or not names:
        return
    body = f"return {table!r}.get(repr(args))"
    program = Program(kind="visible_table", what="", mend="", body=body)
    what = "a table of what the visible tests ask for"
    mend = _VISIBLE if all(source in shown for source in sources) else "add hidden tests that differ more"
    files = modules(program, names, target)
    yield _attack("visible_table", what, mend, Check.GAMEABILITY, files=files)
