"""The configuration of ``pytest``: the grader's files, and which of them are tests."""

from __future__ import annotations

import ast
import sys
from fnmatch import fnmatch
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.sandbox import Snapshot
from lydite.sandbox.jail.packing import check_path
from lydite.verifiers.fields import no_python, read_config
from lydite.verifiers.workspace.exit_code import MemoryMB, Timeout

FIELDS = ("test_paths", "files", "timeout", "memory_mb")
MAX_FILES = 500
MAX_BYTES = 8 << 20
PATTERNS = ("test_*.py", "*_test.py")
"""Names of test files in a folder, as pytest has them."""
_FREE = frozenset(
    {"sys", "builtins", "warnings", "pdb", "bdb", "threading", "signal", "antigravity", "this", "idlelib"}
)
"""Modules in which pytest, or an honest program, puts functions of its own, and those that do something on import."""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    test_paths: list[str]
    files: dict[str, str] | None = None
    timeout: Timeout = 30.0
    memory_mb: MemoryMB = 512


class SuiteConfig(msgspec.Struct, frozen=True):
    """A configuration, checked.

    Attributes:
        paths: files and folders of tests; what the workspace holds there is replaced.
        chosen: single tests, as ``path::name``, where some were named; else all count.
        files: the grader's files, path to content.
        tests: those of them that are tests.
        named: all names that the grader's Python files use.
        library: modules of the standard library that they import.
        wanted: such a module, and a name that they import from it, for each.
        timeout: seconds of one file of tests; memory_mb: MiB.
    """

    paths: tuple[str, ...]
    chosen: tuple[str, ...]
    files: dict[str, bytes]
    tests: tuple[str, ...]
    named: frozenset[str]
    library: tuple[str, ...]
    wanted: tuple[tuple[str, str], ...]
    timeout: float
    memory_mb: int

    @property
    def python(self) -> tuple[str, ...]:
        """The grader's Python files."""
        return tuple(path for path in self.files if path.endswith(".py"))


def path_of(test_path: str) -> str:
    """The file or folder that a test path names, in its normal spelling.

    Raises:
        ValueError: it is no path below the workspace.
    """
    return check_path(test_path.partition("::")[0])


def below(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a path is one of these or lies below one."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def read(config: dict[str, Any]) -> SuiteConfig:
    """Read and check a configuration.

    Raises:
        InputError: names the field; what is wrong; and what to do.
    """
    given = read_config(config, _Config, "pytest")
    if not given.test_paths:
        raise InputError("is empty", field="test_paths", remedy="name files or folders of tests")
    paths: list[str] = []
    chosen: list[str] = []
    for index, name in enumerate(given.test_paths):
        try:
            path = path_of(name)
        except ValueError as error:
            remedy = "give a path relative to the workspace"
            raise InputError(str(error), field=f"test_paths.{index}", remedy=remedy) from None
        paths.append(path)
        chosen.append(path + "".join(name.partition("::")[1:]))
    files, named, wanted = _files(given.files)
    tests: list[str] = []
    for index, path in enumerate(paths):
        found = [file for file in files if below(file, (path,)) and _is_test(file, path)]
        if not found:
            where = "files" if given.files is None else f"test_paths.{index}"
            remedy = "give the test files in `files`, or in the task's setup_files"
            raise InputError(f"no test file of the grader's is at {path!r}", field=where, remedy=remedy)
        tests += [file for file in found if file not in tests]
    if all("::" not in name for name in chosen):
        chosen = []
    return SuiteConfig(
        paths=tuple(dict.fromkeys(paths)),
        chosen=tuple(chosen),
        files=files,
        tests=tuple(sorted(tests)),
        named=frozenset(named),
        library=tuple(sorted((named & sys.stdlib_module_names) - _FREE)),
        wanted=tuple(sorted(wanted)),
        timeout=given.timeout,
        memory_mb=given.memory_mb,
    )


def _is_test(file: str, path: str) -> bool:
    if file == path:
        return file.endswith(".py")
    return any(fnmatch(file.rpartition("/")[2], pattern) for pattern in PATTERNS)


def _files(given: dict[str, str] | None) -> tuple[dict[str, bytes], set[str], set[tuple[str, str]]]:
    """The files, the names that the Python files among them use, and what these import by name from modules that are
    called like those of the standard library."""
    named: set[str] = set()
    wanted: set[tuple[str, str]] = set()
    if given is None:
        return {}, named, wanted
    if len(given) > MAX_FILES or sum(map(len, given.values())) > MAX_BYTES:
        told = f"more than {MAX_FILES} files or {MAX_BYTES} characters"
        raise InputError(told, field="files", remedy="give the tests alone, the rest as setup of the task")
    files: dict[str, bytes] = {}
    for name, text in given.items():
        try:
            path = check_path(name)
            files[path] = text.encode()
        except ValueError as error:  # of the path, or a lone surrogate
            raise InputError(str(error)[:300], field="files", remedy="paths relative to the workspace, texts") from None
        if path.endswith(".py"):
            tree = _parsed(files[path], name)
            named |= _names(tree)
            wanted |= _wanted(tree)
            if any(char in path for char in ":[]\n"):
                remedy = "call it without : [ ] and line ends"
                raise InputError(f"{path[:80]!r} cannot be told from the names of tests", field="files", remedy=remedy)
    try:
        Snapshot.from_files(files)
    except InputError as error:
        remedy = error.remedy or "no path may lie within another file"
        raise InputError(error.message, field="files", remedy=remedy) from None
    return files, named, wanted


def _parsed(source: bytes, name: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{name!r} {no_python(error)}"[:300], field="files", remedy="mend it") from None


def _wanted(tree: ast.Module) -> set[tuple[str, str]]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in sys.stdlib_module_names - _FREE:
            found |= {(node.module, alias.name) for alias in node.names if alias.name != "*"}
    return found


def _names(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found |= {node.name, node.name.partition(".")[0]}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found
