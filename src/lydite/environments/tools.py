"""Tools made of Python functions: their JSON schema for the policy, their arguments checked before they are called."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, create_model

from lydite.errors import InputError
from lydite.rollout import Tool

_SECTION = re.compile(r"^\s*(?:Args|Arguments):\s*$")
_OTHER = re.compile(r"^\s*(?:Returns|Raises|Yields|Note|Notes|Example|Examples):\s*$")
_ARGUMENT = re.compile(r"^\s*(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


class ArgumentError(Exception):
    """Arguments that do not fit the tool. The text is for the policy: it names each argument and what is wrong."""


class FunctionTool:
    """A function as a tool.

    Args:
        function: with type hints on all parameters, and a docstring in Google's style whose ``Args:`` describe them. A
            first parameter named ``self`` or ``workspace`` is not part of the tool.

    Raises:
        InputError: a parameter has no type hint, or one that JSON cannot carry; the docstring is missing.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.name = function, function.__name__
        signature = inspect.signature(function, eval_str=True)
        parameters = list(signature.parameters.values())
        if parameters and parameters[0].name in ("self", "workspace"):
            parameters = parameters[1:]
        about, described = _docstring(inspect.getdoc(function) or "")
        if not about:
            raise InputError("has no docstring", field=self.name, remedy="say in one line what the tool does")
        fields: dict[str, Any] = {}
        for parameter in parameters:
            if parameter.annotation is parameter.empty:
                raise InputError("has no type hint", field=f"{self.name}.{parameter.name}", remedy="give one")
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise InputError("takes any number of arguments", field=self.name, remedy="name each of them")
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (parameter.annotation, default)
        try:
            model = create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)
            self._adapter: TypeAdapter[Any] = TypeAdapter(model)
            schema = self._adapter.json_schema()
        except Exception as error:
            raise InputError(f"cannot be told as JSON: {error}", field=self.name, remedy="use plain types") from None
        self._names = tuple(fields)
        self.tool = Tool(name=self.name, description=about, parameters=_plain(schema, described))

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments, of the types that the function asks for.

        Raises:
            ArgumentError: one is missing, unknown or of another type.
        """
        try:
            model = self._adapter.validate_python(given)
        except ValidationError as error:
            wrong = [_told(item["loc"], item["type"], item["msg"]) for item in error.errors(include_url=False)[:5]]
            raise ArgumentError(f"{self.name}: {'; '.join(wrong)}. It takes: {', '.join(self._names)}") from None
        return {name: getattr(model, name) for name in self._names}


def _told(place: tuple[int | str, ...], kind: str, message: str) -> str:
    name = ".".join(map(str, place))
    if kind == "missing":
        return f"argument {name} is missing"
    if kind == "extra_forbidden":
        return f"there is no argument {name}"
    return f"argument {name}: {message[:1].lower()}{message[1:]}"


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """What a docstring says of the function, and of each of its arguments."""
    about: list[str] = []
    described: dict[str, str] = {}
    inside, name = about, ""
    section = "about"
    for line in text.splitlines():
        if _SECTION.match(line):
            section = "arguments"
        elif _OTHER.match(line):
            section = "other"
        elif section == "about":
            inside.append(line.strip())
        elif section == "arguments":
            match = _ARGUMENT.match(line)
            if match:
                name = match.group(1)
                described[name] = match.group(2)
            elif name and line.strip():
                described[name] += " " + line.strip()
    return " ".join(part for part in about if part), described


def _plain(schema: dict[str, Any], described: dict[str, str]) -> dict[str, Any]:
    """The schema without pydantic's titles, and with the descriptions."""
    properties = {
        name: {
            **{key: value for key, value in field.items() if key != "title"},
            **({"description": described[name]} if name in described else {}),
        }
        for name, field in schema.get("properties", {}).items()
    }
    plain: dict[str, Any] = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    if "$defs" in schema:
        plain["$defs"] = schema["$defs"]
    return plain
