"""Which models are on disk: built-in ones, folders below ``models/``, and what runs trained.

Only settings are read, never weights. What a request names is looked up here and is never a path.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from lydite.errors import LyditeError
from lydite.policies.smollm2 import GGUF_SHA256, VARIABLE, cache_folder, smollm2_folder
from lydite.policies.tiny import BUILT_IN, tiny_folder
from lydite.server.errors import NotFoundError
from lydite.server.home import Home
from lydite.server.models.frames import Place

FINAL = "final"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@:,-]{0,199}")
_RUN = re.compile(r"run:(?P<slug>[^/]+?)(?:@\d{1,4}-[a-z]{1,20}/(?:\d{1,9}|final))?")
_STAGE = re.compile(r"\d{1,4}-[a-z]{1,20}")
_STEP = re.compile(r"checkpoint-(\d{1,9})")
_RESULTS = (("adapter", "adapter_config.json"), ("model", "config.json"))
_WEIGHTS = ("adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A model on disk. ``base``: id of what it was trained from."""

    id: str
    spec: str
    base: str = ""
    created: int = 0
    place: Place


class Catalogue:
    """Models of a home. Reads the disk each time it is asked."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def all(self) -> Iterator[Found]:
        """All of them: known ones, folders, runs and their checkpoints by name."""
        for name in (*BUILT_IN, "smollm2"):
            if (known := self._known(name)) is not None:
                yield known
        yield from self._folders()
        for slug, path in self.home.run_folders():
            yield from self._of_run(slug, path)

    def find(self, name: str) -> Found:
        """By id, or by the spec of one.

        Raises:
            NotFoundError: there is none.
        """
        if (known := self._known(name)) is not None:
            return known
        if name.startswith("models/"):
            for found in self._folders():
                if found.id == name:
                    return found
        elif match := _RUN.fullmatch(name):
            try:
                path = self.home.run_folder(match["slug"])
            except NotFoundError:
                raise NotFoundError("model", name) from None
            for found in self._of_run(match["slug"], path):
                if found.id == name:
                    return found
        elif name.startswith("hf:"):
            for found in self.all():
                if name in (found.spec, found.spec.replace(f"{self.home.path}/", "")):
                    return found
        raise NotFoundError("model", name)

    def _known(self, name: str) -> Found | None:
        folder = known_folder(name)
        if folder is None:
            return None
        return Found(id=name, spec=name, created=_time(folder / "config.json"), place=_place(name, folder))

    def _folders(self) -> Iterator[Found]:
        """Folders below ``models/``, and one level deeper."""
        root = self.home.path / "models"
        for entry in _below(root):
            for folder in (entry,) if _kind(entry) else _below(entry):
                if _kind(folder) is not None:
                    yield from self._folder(folder.relative_to(self.home.path).as_posix(), folder)

    def _folder(self, name: str, folder: Path) -> Iterator[Found]:
        if _kind(folder) == "model":
            created = _time(folder / "config.json")
            yield Found(id=name, spec=f"hf:{folder}", created=created, place=_place(name, folder))
            return
        base = _json(folder / "adapter_config.json").get("base_model_name_or_path")
        if isinstance(base, str) and (found := self._policy(base, folder)) is not None:
            yield self._adapted(name, folder, *found)

    def _of_run(self, slug: str, path: Path) -> Iterator[Found]:
        places = list(_results(slug, path))
        if not places:
            return
        settings = _json(path / "run.json").get("settings")
        policy = settings.get("policy") if isinstance(settings, dict) else None
        if not isinstance(policy, str):
            return
        body, _, options = policy.partition("?")
        origin = self._policy(body, path)
        for name, folder in places:
            if _kind(folder) == "adapter":
                if origin is not None:
                    yield self._adapted(name, folder, *origin, plain=options == "plain=1")
                continue
            place = _place(name, folder, plain=options == "plain=1")
            mark = "?plain=1" if place.plain else ""
            created, base = _time(folder / "config.json"), origin[2] if origin else ""
            yield Found(id=name, spec=f"hf:{folder}{mark}", base=base, created=created, place=place)

    def _adapted(self, name: str, folder: Path, base: Path, spec: str, origin: str, plain: bool = False) -> Found:
        mark = "?plain=1" if plain else ""
        return Found(
            id=name,
            spec=f"hf:{spec}+{folder}{mark}",
            base=origin,
            created=_time(folder / "adapter_config.json"),
            place=_place(name, base, folder, plain=plain),
        )

    def _policy(self, policy: str, beside: Path) -> tuple[Path, str, str] | None:
        """What a recipe's policy stands on: the folder of the base, the base's spec without ``hf:``, and the id of the
        whole, for people. ``None`` where it is not here any more."""
        body = policy.removeprefix("hf:")
        known = known_folder(body)
        if known is not None:
            return known, body, body
        base, plus, adapter = body.rpartition("+")
        if not plus or self._resolved(body, beside) is not None:
            base, adapter = body, ""
        folder = known_folder(base) or self._resolved(base, beside)
        if folder is None or _kind(folder) != "model":
            return None
        last = self._resolved(adapter, beside) if adapter else folder
        spec = base if known_folder(base) is not None else str(folder)
        return folder, spec, self._called(last) if last is not None else Path(adapter).name

    def _resolved(self, path: str, beside: Path) -> Path | None:
        for root in (beside, self.home.path, Path()):
            if (root / path).is_dir():
                return (root / path).resolve()
        return None

    def _called(self, folder: Path) -> str:
        """The id of a folder; its name alone where it lies elsewhere."""
        try:
            parts = folder.relative_to(self.home.path).parts
        except ValueError:
            return folder.name
        if parts[0] == "models":
            return "/".join(parts)
        if parts[0] == "runs" and parts[-1] in ("adapter", "model"):
            return "run:" + "~".join(parts[1:-1])
        if parts[0] == "runs" and len(parts) > 4 and parts[-3] == "checkpoints":
            return f"run:{'~'.join(parts[1:-3])}@{parts[-2]}/{parts[-1].removeprefix('checkpoint-')}"
        return folder.name


def known_folder(name: str) -> Path | None:
    """The folder of a model that is known by name, where it is on this machine. Fetches nothing."""
    try:
        if name in BUILT_IN:
            return tiny_folder(name)
        if name == "smollm2" and any(cache_folder().glob("smollm2-*")):
            folder = cache_folder() / f"smollm2-{GGUF_SHA256[:16]}"
            return smollm2_folder() if os.environ.get(VARIABLE) else folder if folder.is_dir() else None
    except LyditeError:
        pass
    return None


def _results(slug: str, path: Path) -> Iterator[tuple[str, Path]]:
    """What a run has trained so far: id and folder. The result first, then checkpoints, the newest first."""
    for name, mark in _RESULTS:
        if (path / name / mark).is_file():
            yield f"run:{slug}", path / name
            break
    stages = [one for one in _below(path / "checkpoints") if _STAGE.fullmatch(one.name)]
    for stage in sorted(stages, key=lambda one: int(one.name.partition("-")[0]), reverse=True):
        if (stage / FINAL).is_dir():
            yield f"run:{slug}@{stage.name}/{FINAL}", stage / FINAL
        whole = (_STEP.fullmatch(mark.parent.name) for mark in stage.glob("checkpoint-*/complete"))
        for step in sorted((int(name[1]) for name in whole if name), reverse=True):
            yield f"run:{slug}@{stage.name}/{step}", stage / f"checkpoint-{step}"


def _below(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if _NAME.fullmatch(one.name) and one.is_dir())
    except OSError:
        return []


def _kind(folder: Path) -> str | None:
    return next((name for name, mark in _RESULTS if (folder / mark).is_file()), None)


def _place(name: str, base: Path, adapter: Path | None = None, *, plain: bool = False) -> Place:
    folder = adapter or base
    stamp = " ".join(f"{s.st_mtime_ns}.{s.st_size}" for file in _WEIGHTS if (s := _status(folder / file)) is not None)
    return Place(name=name, base=str(base), adapter=str(adapter or ""), plain=plain, stamp=stamp)


def _status(path: Path) -> Any:
    try:
        return path.stat()
    except OSError:
        return None


def _time(path: Path) -> int:
    status = _status(path)
    return int(status.st_mtime) if status is not None else 0


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
