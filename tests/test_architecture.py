"""The arrows between the rooms point down, and the core stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "lydite"

NOUNS = {"task", "rollout", "verdict", "flag", "reward", "errors", "codec", "userfile", "_version"}
MAY_IMPORT = {
    "tasksets": set(),
    "sandbox": set(),
    "environments": {"sandbox"},
    "verifiers": {"sandbox"},
    "detectors": {"verifiers"},
    "policies": set(),
    "ledger": {"verifiers", "sandbox"},
    "sampling": {"policies", "environments", "sandbox", "verifiers", "detectors", "ledger"},
    "exports": {"ledger", "verifiers"},
    "dumps": {"exports", "ledger", "verifiers", "detectors"},
    "evaluation": {"ledger", "detectors"},
    "probes": {"verifiers", "sandbox", "environments", "sampling", "detectors", "ledger", "tasksets"},
}
EVERYTHING_BELOW = {*MAY_IMPORT}
MAY_IMPORT["training"] = EVERYTHING_BELOW
MAY_IMPORT["server"] = {*EVERYTHING_BELOW, "training"}
MAY_IMPORT["cli"] = {*EVERYTHING_BELOW, "training", "server"}

HEAVY = {"torch", "transformers", "trl", "peft", "datasets", "accelerate", "fastapi", "ray", "openai", "vllm", "gguf"}


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_what_lies_below_it(path: Path) -> None:
    room = _room(path)
    if room in {"__init__", "__main__"}:
        return
    allowed = NOUNS | {room} | (MAY_IMPORT.get(room, set()))
    used = {name.split(".")[1] for name in _imports(path) if name.startswith("lydite.")}
    wrong = {name for name in used if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()} - allowed
    assert not wrong, f"{path.relative_to(SOURCE)} imports {sorted(wrong)}"


def test_every_room_is_drawn() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert rooms <= set(MAY_IMPORT)


def test_only_one_package_touches_trl() -> None:
    touching = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(name.split(".")[0] == "trl" for name in _imports(path))
    }
    assert all(name.startswith("training/trl/") for name in touching), touching


@pytest.mark.parametrize("module", ["lydite", "lydite.cli", "lydite.cli.verify", "lydite.sampling", "lydite.ledger"])
def test_core_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


def test_test_files_have_different_names() -> None:
    """Pytest imports test files of folders without __init__.py by their bare names."""
    names = [
        path.name for path in Path(__file__).parent.rglob("test_*.py") if not (path.parent / "__init__.py").exists()
    ]
    assert len(names) == len(set(names))
