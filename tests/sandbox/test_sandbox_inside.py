"""What a job can import and read of what is installed on this machine: nothing but what was asked for."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lydite
from lydite.errors import UnavailableError
from lydite.sandbox import Sandbox
from lydite.sandbox.choose import NATIVE

if not sys.platform.startswith("linux"):
    pytest.skip("the sandbox is for Linux", allow_module_level=True)


def opened(backend: str, **options: object) -> Sandbox:
    """With another interpreter where a spare user cannot reach ours."""
    for python in (None, shutil.which("python3", path="/usr/bin:/usr/local/bin")):
        try:
            return Sandbox(backend, workers=1, timeout=30.0, python=python, **options)
        except UnavailableError as error:
            reason = str(error)
    pytest.skip(reason)


@pytest.fixture(params=NATIVE)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with opened(request.param) as sandbox:
        yield sandbox


def test_nothing_that_is_installed_can_be_imported(sandbox: Sandbox) -> None:
    code = """
import importlib, json
found = []
for name in ("lydite", "pip", "pytest", "_pytest", "numpy", "yaml", "msgspec", "setuptools", "pydantic", "torch"):
    try: importlib.import_module(name); found.append(name)
    except ImportError: pass
print(json.dumps(found))
"""
    done = sandbox.run(code=code)
    assert json.loads(done.stdout) == [], done


def test_folders_of_packages_hold_nothing_that_can_be_read(sandbox: Sandbox) -> None:
    roots = sorted({"/usr/lib", "/usr/local/lib", f"{sys.base_prefix}/lib", "/usr/lib/python3"})
    code = f"""
import glob, json, os
found = []
for root in {roots!r}:
    for folder in glob.glob(root + "/*/*-packages") + glob.glob(root + "/*-packages"):
        try: found += os.listdir(folder)
        except OSError: pass
print(json.dumps(found))
"""
    done = sandbox.run(code=code)
    assert json.loads(done.stdout) == [], done


def test_files_of_lydite_cannot_be_read(sandbox: Sandbox) -> None:
    package = Path(lydite.__file__).parent
    tried = [str(package / "verdict.py"), str(package / "sandbox" / "result.py"), __file__]
    code = f"""
import json
found = []
for path in {tried!r}:
    try: open(path).read(); found.append(path)
    except OSError: pass
print(json.dumps(found))
"""
    done = sandbox.run(code=code)
    assert json.loads(done.stdout) == [], done


def test_a_package_is_there_when_asked_for_and_its_neighbours_are_not() -> None:
    pytest.importorskip("yaml")
    code = """
import yaml
print(yaml.safe_load("[1, 2]"))
try: import numpy
except ImportError: print("no numpy")
"""
    for backend in NATIVE[:2]:
        with opened(backend, packages=["PyYAML"]) as sandbox:
            assert sandbox.run(code=code).stdout == b"[1, 2]\nno numpy\n"


def test_what_is_preloaded_can_be_imported_by_a_command_too() -> None:
    pytest.importorskip("numpy")
    with opened("auto", preload="numpy") as sandbox:
        done = sandbox.run(
            argv=[Path(sandbox_python(sandbox)).name, "-c", "import numpy; print(numpy.arange(4).sum())"]
        )
        assert done.stdout == b"6\n", done


def sandbox_python(sandbox: Sandbox) -> str:
    done = sandbox.run(code="import sys; print(sys.executable)")
    return done.stdout.decode().strip()
