"""Reading recipes: YAML or TOML, overrides from the command line, and errors that say where and what to do."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ValidationError

from lydite.errors import InputError
from lydite.training.recipe import DpoStage, GrpoStage, Recipe, SampleStage, SftStage
from lydite.training.wording import below, keys_of, meant, place_in, said

STAGES: dict[str, type[BaseModel]] = {"sample": SampleStage, "sft": SftStage, "grpo": GrpoStage, "dpo": DpoStage}
"""The kinds of stages, by name."""
_Path = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):
    """The safe loader, with the floats of YAML 1.2: ``1e-3`` is a number, not a text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"),
    list("-+0123456789."),
)
# SafeLoader's own integer resolver was registered earlier and is tried first, so 10 stays an integer.


def load_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe file and apply overrides.

    Args:
        path: a ``.yaml``, ``.yml`` or ``.toml`` file, or a run folder that holds ``recipe.yaml``.
        overrides: ``a.b=c`` each; list items by number (``stages.0.steps=5``); the value is YAML.

    Raises:
        InputError: names file, line where known, dotted field and remedy.
    """
    file = Path(path)
    if file.is_dir():
        file = file / "recipe.yaml"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError("no such recipe", path=file, remedy="give a .yaml or .toml file, or a run folder") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=file) from None
    if file.suffix == ".toml":
        document, lines = _toml(text, file), dict[_Path, int]()
    elif file.suffix in (".yaml", ".yml"):
        document, lines = _yaml(text, file)
    else:
        raise InputError("not a recipe", path=file, remedy="recipes end in .yaml, .yml or .toml")
    for override in overrides:
        _override(document, override)
    recipe = parse_recipe(document, path=file, lines=lines)
    recipe._base = file.parent
    return recipe


def parse_recipe(document: Any, *, path: str | Path | None = None, lines: dict[_Path, int] | None = None) -> Recipe:
    """Validate a recipe given as plain values; ``lines`` maps paths into it to 1-based lines of its file."""
    if not isinstance(document, dict):
        raise InputError("a recipe is a mapping of keys to values", path=path, remedy="see `policy`, `tasks`, `stages`")
    try:
        return Recipe.model_validate(document)
    except ValidationError as error:
        raise _explain(error, document, path, lines or {}) from None


def dump_recipe(recipe: Recipe) -> str:
    """The recipe as YAML, complete, in the order of its definition."""
    return yaml.safe_dump(recipe.settings, sort_keys=False, allow_unicode=True, width=120)


def _toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputError(f"not TOML: {error}", path=path, line=int(line[1]) if line else None) from None


def _yaml(text: str, path: Path) -> tuple[dict[str, Any], dict[_Path, int]]:
    try:
        node = yaml.compose(text, Loader=_Loader)
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise InputError(f"not YAML: {problem}", path=path, line=mark.line + 1 if mark else None) from None
    lines: dict[_Path, int] = {}
    if node is not None:
        for where, line in _walk(node, ()):
            if where in lines:
                raise InputError("given twice", path=path, line=line, field=_dotted(where), remedy="keep one of them")
            lines[where] = line
    return cast("dict[str, Any]", document if document is not None else {}), lines


def _walk(node: yaml.Node, where: _Path) -> Iterator[tuple[_Path, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*where, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _walk(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*where, index), value.start_mark.line + 1
            yield from _walk(value, (*where, index))


def _override(document: Any, override: str) -> None:
    dotted, equals, text = override.partition("=")
    if not equals or not dotted:
        raise InputError("not an override", field=override, remedy="write key=value, for example stages.0.steps=20")
    try:
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError:
        raise InputError(f"the value {text!r} is not YAML", field=dotted, remedy="quote it") from None
    *path, last = dotted.split(".")
    for depth, part in enumerate(path):
        if isinstance(document, dict):
            if document.get(part) is None:
                document[part] = {}
            document = document[part]
        else:
            document = document[_index(document, part, ".".join(path[: depth + 1]))]
    if isinstance(document, dict):
        document[last] = value
    else:
        document[_index(document, last, dotted)] = value


def _index(container: Any, part: str, field: str) -> int:
    if not isinstance(container, list):
        raise InputError("there is nothing below this value to set", field=field)
    if not part.isdigit() or int(part) >= len(container):
        raise InputError(f"no such item: {len(container)} there, counted from 0", field=field)
    return int(part)


def _dotted(where: _Path) -> str:
    return ".".join(str(part) for part in where)


def _explain(error: ValidationError, document: Any, path: str | Path | None, lines: dict[_Path, int]) -> InputError:
    found = error.errors(include_url=False)
    # A misspelt key is also a missing one: the first says more.
    details = next((item for item in found if item["type"] == "extra_forbidden"), found[0])
    where, model = _locate(details["loc"], document)
    message, remedy = said([details, *(item for item in found if item is not details)], document)[1], None
    if details["type"] == "extra_forbidden":
        message, remedy = "unknown key", meant(str(where[-1]), keys_of(model))
    elif details["type"] == "missing":
        message, remedy = "is missing", "add it"
    elif details["type"] == "union_tag_invalid":
        where, message = (*where, "kind"), f"unknown kind of stage {details['ctx']['tag']}"
        remedy = f"known: {', '.join(STAGES)}"
    elif details["type"] == "union_tag_not_found":
        where, message, remedy = (*where, "kind"), "is missing", f"one of {', '.join(STAGES)}"
    line = next((lines[where[:end]] for end in range(len(where), 0, -1) if where[:end] in lines), None)
    return InputError(message, path=path, line=line, field=_dotted(where) or None, remedy=remedy)


def _locate(loc: _Path, document: Any) -> tuple[_Path, type[BaseModel] | None]:
    """A pydantic location as a path into the document, and the model that its last key belongs to."""
    where = place_in(document, loc)
    if len(loc) >= 3 and loc[0] == "stages":
        return where, below(STAGES.get(str(loc[2])), where[2:-1])
    return where, below(Recipe, where[:-1])
