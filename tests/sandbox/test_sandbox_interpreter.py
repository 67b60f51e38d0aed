"""What jobs are shown of this machine, and what is hidden from them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import lydite
from lydite.errors import InputError
from lydite.sandbox import distributions, interpreter
from lydite.sandbox.distributions import closure, distributions_of
from lydite.sandbox.interpreter import environment, reachable

if not sys.platform.startswith("linux"):
    pytest.skip("the sandbox is for Linux", allow_module_level=True)


def below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def test_the_interpreter_is_the_base_one_with_its_links_resolved() -> None:
    env = environment()
    assert env.python == os.path.realpath(env.python)
    assert not env.python.startswith(f"{os.path.realpath(sys.prefix)}/") or sys.prefix == sys.base_prefix


def test_its_path_is_what_the_interpreter_itself_says() -> None:
    env = environment()
    asked = subprocess.run(
        [env.python, "-S", "-s", "-P", "-c", "import json, sys; print(json.dumps(sys.path))"],
        env={}, capture_output=True, check=True,
    )  # fmt: skip
    assert list(env.path) == json.loads(asked.stdout)


def test_interpreter_and_standard_library_are_shown_and_not_masked() -> None:
    env = environment()
    for path in (env.python, json.__file__, *(path for path in env.path if os.path.exists(path))):
        assert below(path, env.read_only)
        assert not below(path, env.masked)


def test_every_file_that_the_running_interpreter_maps_is_shown() -> None:
    env = environment()
    code = "import ssl, sqlite3, ctypes; print(open('/proc/self/maps').read())"
    said = subprocess.run([env.python, "-S", "-c", code], env={}, capture_output=True, text=True, check=True).stdout
    mapped = {line[line.index("/") :] for line in said.splitlines() if "/" in line}
    assert mapped
    assert not {file for file in mapped if not below(file, env.read_only)}


def test_what_is_shown_exists_and_holds_no_home_no_etc_and_no_temporary_folder() -> None:
    env = environment()
    assert all(os.path.exists(path) for path in env.read_only)
    for hidden in ("/etc", "/etc/passwd", "/root/.ssh", "/home", "/tmp", "/var", "/proc", "/opt", "/usr/src", "/usr"):
        assert not below(hidden, env.read_only)


def test_every_folder_of_packages_below_what_is_shown_is_masked() -> None:
    env = environment()
    left = []
    for root in {os.path.realpath(path) for path in env.read_only if "lib" in Path(path).name}:
        for folder in [*Path(root).glob("python3*/*-packages"), *Path(root).glob("*/*-packages")]:
            left += [folder] if not below(str(folder), tuple(map(os.path.realpath, env.masked))) else []
    assert not left


def test_a_masked_folder_behind_a_link_is_named_both_ways(tmp_path: Path) -> None:
    (tmp_path / "real" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    masked = interpreter._masked([str(tmp_path)], str(tmp_path / "link"), ["/usr/bin/python3"])
    names = {path for path in masked if below(path, (str(tmp_path),))}
    assert names == {str(tmp_path / name / "lib" / "python3.11" / "site-packages") for name in ("link", "real")}


def test_lydite_is_not_shown() -> None:
    env = environment()
    package = str(Path(lydite.__file__).parent)
    assert not below(package, env.read_only) or below(package, env.masked)


def test_lydite_below_a_shown_folder_is_masked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "share" / "lydite"
    (package / "sandbox").mkdir(parents=True)
    monkeypatch.setattr(interpreter, "__file__", str(package / "sandbox" / "interpreter.py"))
    assert str(package) in interpreter._masked([str(tmp_path)], "/usr", ["/usr/bin/python3"])


def test_a_folder_that_holds_the_interpreter_is_never_masked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3.11" / "site-packages" / "bin").mkdir(parents=True)
    needed = str(tmp_path / "lib" / "python3.11" / "site-packages" / "bin" / "python3.11")
    assert not [
        path for path in interpreter._masked([str(tmp_path)], str(tmp_path), [needed]) if below(path, (str(tmp_path),))
    ]


def test_plain_imports_are_standard_modules() -> None:
    assert set(environment().imports) <= sys.stdlib_module_names
    assert environment().packages == ()


def test_numpy_is_shown_with_its_shared_libraries() -> None:
    numpy = pytest.importorskip("numpy")
    env = environment("numpy")
    shown = {name: path for path, name in env.packages}
    assert env.imports == ("numpy",)
    assert Path(shown["numpy"]) == Path(numpy.__file__).parent
    assert any(name.endswith(".dist-info") for name in shown)
    folder = Path(numpy.__file__).parents[1]
    assert ("numpy.libs" in shown) == (folder / "numpy.libs").exists()


def test_what_is_shown_for_numpy_is_enough_to_import_it(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    env = environment("numpy")
    for path, name in env.packages:
        (tmp_path / name).symlink_to(path)
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import numpy; print(numpy.arange(4).sum())"
    done = subprocess.run([env.python, "-S", "-s", "-P", "-c", code], env={}, capture_output=True, text=True)
    assert done.stdout == "6\n", done.stderr


def test_required_distributions_come_along() -> None:
    names = {name for _, name in closure(["rich"])}
    assert {"rich", "pygments", "markdown_it", "mdurl"} <= names


def test_extras_do_not_come_along() -> None:
    lines = ["a>=1", "b ; extra == 'dev'", 'c; extra=="x" and python_version > "3"', 'd ; sys_platform == "win32"']
    assert distributions._requirements(lines) == [("a", True), ("d", False)]


def test_an_import_name_finds_its_distribution() -> None:
    assert [name.lower() for name in distributions_of(["yaml.nodes", "json", "os.path"])] == ["pyyaml"]
    assert {"yaml", "_yaml"} <= {name for _, name in closure(["yaml"])}


def test_a_list_of_modules_may_name_plain() -> None:
    env = environment(["plain", "yaml"])
    assert env.imports == (*interpreter.PLAIN, "yaml")
    assert "yaml" in {name for _, name in env.packages}


@pytest.mark.parametrize("name", ["lydite", "Lydite"])
def test_lydite_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="graders"):
        environment(packages=[name])
    with pytest.raises(InputError, match="graders"):
        environment(name)


def test_what_requires_lydite_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "helper", {"helper.py": "", "METADATA": "Requires-Dist: lydite>=0.1\n"})
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="which helper requires"):
        environment(packages=["helper"])


def test_a_missing_package_is_named_with_the_remedy() -> None:
    with pytest.raises(InputError, match=r"preload: no_such_module .*pip install no_such_module"):
        environment("no_such_module")
    with pytest.raises(InputError, match=r"packages: no-such-package .*pip install no-such-package"):
        environment(packages=["no-such-package"])


def test_a_missing_requirement_is_named_with_what_requires_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "needy", {"needy.py": "", "METADATA": "Requires-Dist: no-such-package\n"})
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="no-such-package, which needy requires"):
        environment(packages=["needy"])


def test_a_module_of_no_distribution_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "loose_module.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="belongs to no installed distribution"):
        environment("loose_module")


@pytest.mark.parametrize(
    "files",
    [{"_editable_impl_edited.pth": "/src/edited\n"}, {"__editable___edited_finder.py": ""}],
    ids=["pth", "finder"],
)
def test_an_editable_install_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, str]) -> None:
    install(tmp_path, "edited", files)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=r"edited is an editable install.*without -e"):
        environment(packages=["edited"])


def test_a_pth_of_import_lines_does_no_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "spaced", {"spaced-nspkg.pth": "import sys, types\n", "spaced/__init__.py": ""})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {name for _, name in environment(packages=["spaced"]).packages} == {"spaced", "spaced-1.0.dist-info"}


def test_an_install_without_a_list_of_files_is_read_by_its_top_level(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(tmp_path, "olden", {"olden/__init__.py": "", "_olden.py": ""})
    info = tmp_path / "olden-1.0.dist-info"
    (info / "RECORD").unlink()
    (info / "top_level.txt").write_text("olden\n_olden\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {name for _, name in closure(["olden"])} == {"olden", "_olden.py", "olden-1.0.dist-info"}


def test_an_install_that_says_nothing_of_its_files_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "silent", {"silent/__init__.py": ""})
    (tmp_path / "silent-1.0.dist-info" / "RECORD").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="no list of its files"):
        closure(["silent"])


@pytest.mark.parametrize("name", ["", "a b", "../x", "numpy,scipy", "numpy;import os"])
def test_what_is_no_module_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no module name"):
        environment(name)


def test_packages_as_one_text_is_refused() -> None:
    with pytest.raises(InputError, match="list of names"):
        environment(packages="numpy")


def test_a_virtual_environment_leads_to_its_base(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    assert environment(python=str(tmp_path / "env" / "bin" / "python")).python == environment().python


def test_something_else_than_an_interpreter_is_refused() -> None:
    with pytest.raises(InputError, match="python: /no/such/python"):
        environment(python="/no/such/python")
    with pytest.raises(InputError, match="/bin/false does not run"):
        environment(python="/bin/false")


def test_an_old_interpreter_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\necho '[[3, 9, 18], \"/usr/bin/python3.9\"]'\n")
    old.chmod(0o755)
    with pytest.raises(InputError, match=r"is Python 3\.9\.18"):
        environment(python=str(old))


def test_packages_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    monkeypatch.setattr(interpreter, "_ask", lambda executable: ("cpython-399", [], "/usr", []))
    with pytest.raises(InputError, match="cannot be used by"):
        interpreter._environment.__wrapped__("numpy", (), None)


def test_root_reaches_everything() -> None:
    assert reachable(environment(), 0, 0) is None


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can reach; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / "a" / "b").mkdir(parents=True)
        (Path(folder) / "a" / "b" / "python").write_text("")
        (Path(folder) / "a" / "b" / "python").chmod(0o755)
        yield Path(folder)


def made(place: Path) -> interpreter.Environment:
    """An environment whose interpreter stands in a folder of ours."""
    folder = str(place / "a" / "b")
    return interpreter.Environment(
        python=f"{folder}/python", path=(folder,), read_only=(), masked=(), packages=(), imports=()
    )


OTHER = 4_000_000_001


def test_a_closed_folder_on_the_way_is_named(place: Path) -> None:
    os.chmod(place / "a", 0o700)
    assert f"{place}/a has mode 0700" in (reachable(made(place), OTHER, OTHER) or "")


def test_the_permissions_of_others_count_for_others(place: Path) -> None:
    assert reachable(made(place), OTHER, OTHER) is None
    os.chmod(place / "a" / "b" / "python", 0o754)
    assert "python has mode 0754" in (reachable(made(place), OTHER, OTHER) or "")


def test_the_permissions_of_the_group_count_for_its_members(place: Path) -> None:
    os.chmod(place / "a", 0o750)
    assert reachable(made(place), OTHER, (place / "a").stat().st_gid) is None


def install(folder: Path, name: str, files: dict[str, str]) -> None:
    """What pip leaves behind: files, METADATA, RECORD."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    extra = files.get("METADATA", "")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{extra}")
    for path, text in files.items():
        if path != "METADATA":
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
    listed = [*(path for path in files if path != "METADATA"), f"{info.name}/METADATA", f"{info.name}/RECORD"]
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in listed))
    assert metadata.Distribution.at(info).metadata["Name"] == name
