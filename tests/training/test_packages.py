"""What a run asks for with ``pip_packages``: refused, or installed once and shown read-only to its sandboxes."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lydite.environments.workspace import WorkspaceEnvironment
from lydite.errors import InputError, UnavailableError
from lydite.ledger import RunFolder
from lydite.sandbox import Sandbox, Snapshot, Status, overlay
from lydite.task import Checker, Task
from lydite.training import parse_recipe, train
from lydite.training.packages import check_packages, install
from lydite.verifiers import Submission, build

Wheel = Callable[..., Path]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """Makes wheels, in the only place where pip looks."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "wheels").mkdir()
    for folder in (tmp_path, *tmp_path.parents):  # the users that jobs become must get to the cache
        if folder.stat().st_uid == os.getuid() and folder != Path("/") and "pytest-of" in str(folder):
            folder.chmod(0o755)

    def make(name: str = "greeting", version: str = "0.1", requires: str = "") -> Path:
        info = f"{name}-{version}.dist-info"
        need = f"Requires-Dist: {requires}\n" if requires else ""
        files = {
            f"{name}.py": f"VERSION = {version!r}\ndef main():\n    print('hello from', VERSION)\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{need}",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": f"[console_scripts]\n{name}-says = {name}:main\n",
        }
        path = tmp_path / "wheels" / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            record = ""
            for file, text in files.items():
                archive.writestr(file, text)
                digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
                record += f"{file},sha256={digest},{len(text)}\n"
            archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
        return path

    return make


@pytest.mark.parametrize(
    "entry",
    [
        "https://example.org/a.whl",
        "a @ https://example.org/a.whl",
        "git+https://example.org/a.git",
        "./a",
        "/tmp/a",
        "a/b",
        "-r requirements.txt",
        "--index-url=http://example.org",
        "a; python_version > '3'",
        "a[extra]",
        "a==1 --hash=sha256:00",
        "a b",
        "",
        "Lydite>=0",
    ],
)
def test_what_is_no_name_with_a_version_is_refused_by_name(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is no package name|only a name and versions|holds the graders") as caught:
        check_packages(["numpy>=1,<3", entry])
    assert repr(entry) in str(caught.value)


@pytest.mark.parametrize("backend", ["auto", pytest.param("landlock", marks=pytest.mark.slow)])
def test_packages_are_there_for_jobs_and_commands_and_cannot_be_changed(
    wheel: Wheel, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel("greeting", requires="waving")
    wheel("waving", version="2")
    found = install(["greeting"])
    assert found.versions == {"greeting": "0.1", "waving": "2"}
    try:
        sandbox = Sandbox(backend, overlays=[found.folder])
    except UnavailableError:
        monkeypatch.setenv("LYDITE_SANDBOX_PYTHON", "/usr/bin/python3")
        try:
            found = install(["greeting"])
            sandbox = Sandbox(backend, overlays=[found.folder])
        except (InputError, UnavailableError) as error:
            pytest.skip(str(error))
    with sandbox:
        done = sandbox.run("import greeting, waving; print(waving.VERSION, greeting.__file__)")
        assert done.stdout.split()[0] == b"2"
        place = os.path.dirname(done.stdout.split()[1].decode())
        with sandbox.session() as workspace:
            assert workspace.exec("greeting-says").stdout == b"hello from 0.1\n"
            assert workspace.exec("python3 -c 'import greeting; greeting.main()'").stdout == b"hello from 0.1\n"
            for attempt in (
                "echo x > PLACE/greeting.py",
                "rm PLACE/greeting.py",
                "touch PLACE/new",
                "mv PLACE/bin /tmp",
            ):
                assert workspace.exec(attempt.replace("PLACE", place)).status is Status.ERROR
    assert {"greeting.py", "bin"} < set(os.listdir(found.folder))
    assert "new" not in os.listdir(found.folder)


def test_an_installation_happens_once_also_for_several_at_a_time(wheel: Wheel) -> None:
    file = wheel()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(install, [["greeting"], ["greeting"]])
    assert first.folder == second.folder
    file.unlink()
    assert install(["greeting"]) == first  # nothing is looked for again
    left = [name for name in os.listdir(Path(first.folder).parent) if not name.endswith(".lock")]
    assert left == [Path(first.folder).name]


def test_what_cannot_be_installed_is_told_and_leaves_nothing(wheel: Wheel, tmp_path: Path) -> None:
    wheel("needy", requires="nowhere>=3")
    for names, said in ((["nothere==1"], "nothere==1"), (["needy"], "nowhere>=3")):
        with pytest.raises(InputError, match=said):
            install(names)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_dir() and "pip-" in path.name]


def test_what_requires_the_graders_is_refused(wheel: Wheel) -> None:
    wheel("lydite", version="9")
    wheel("helper", requires="lydite")
    with pytest.raises(InputError, match="requires lydite"):
        install(["helper"])


@pytest.mark.slow
def test_a_run_that_goes_on_gets_the_versions_that_it_had(wheel: Wheel, tmp_path: Path) -> None:
    wheel(version="0.1")
    before = install(["greeting"])
    for path in (tmp_path / "cache" / "lydite" / "overlays").iterdir():
        path.rename(tmp_path / path.name)  # another machine, later
    wheel(version="0.2")
    assert install(["greeting"], versions=before.versions).versions == {"greeting": "0.1"}
    assert install(["greeting"]).versions == {"greeting": "0.2"}
    assert install(["greeting"], versions=before.versions).versions == {"greeting": "0.1"}


def test_episodes_and_checks_see_what_is_shared(wheel: Wheel) -> None:
    wheel()
    check = {"type": "exit_code", "config": {"command": "greeting-says"}}
    task = Task(id="t", prompt=(), checker=Checker(**check), env="workspace", setup_commands=("greeting-says > said",))
    state = Snapshot.from_files({})
    assert build({"type": "exit_code", "config": {"command": "pytest --version"}})(
        Submission(text="", state=state)
    ).correct
    with overlay.share(install(["greeting"]).folder):
        assert build(check)(Submission(text="", state=state)).correct
        environment = WorkspaceEnvironment()
        episode = environment.start(task)
        try:
            assert episode.call("read_file", {"path": "said"}).text == "hello from 0.1\n"
        finally:
            episode.close()
            environment.close()
    assert not build(check)(Submission(text="", state=state)).correct
    with pytest.raises(InputError, match="setup_commands"):
        WorkspaceEnvironment().start(task)


@pytest.mark.train
def test_a_run_notes_its_packages_and_stops_before_anything_where_they_fail(
    wheel: Wheel, document: dict[str, Any], tmp_path: Path
) -> None:
    pytest.importorskip("trl")
    wheel()
    document |= {"evaluation": None}
    document["stages"][0] |= {"steps": 1, "pip_packages": ["nothere==1"]}
    with pytest.raises(InputError, match=r"stages\.0\.pip_packages.*nothere"):
        train(parse_recipe({**document, "policy": "hf:/no/such/model"}), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    document["stages"][0]["pip_packages"] = ["greeting"]
    train(parse_recipe(document), tmp_path / "run")
    noted = RunFolder.open(tmp_path / "run").info.notes["packages"]
    assert noted["versions"] == {"greeting": "0.1"}
    assert json.loads((tmp_path / "run" / "run.json").read_text())["notes"]["packages"] == noted
    assert overlay.shared() == ()


@pytest.mark.slow
def test_a_real_package_from_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = install(["iniconfig>=2"])
    with Sandbox(overlays=[found.folder]) as sandbox:
        done = sandbox.run("import iniconfig; print(iniconfig.IniConfig('x', '[a]\\nb=1')['a']['b'])")
    assert done.stdout == b"1\n"
