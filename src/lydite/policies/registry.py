"""From a spec such as ``hf:runs/a/model`` to a policy."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, cast, get_type_hints
from urllib.parse import parse_qsl

import msgspec

from lydite.errors import InputError
from lydite.policies.protocol import Policy
from lydite.task import Task
from lydite.userfile import attribute_of

#: Entry point group for policies of other packages: name → factory.
GROUP = "lydite.policies"

# Imported on first use, so that asking a server does not import torch.
_BUILT_IN = {
    "hf": "lydite.policies.hf:open_hf",
    "openai": "lydite.policies.openai:OpenAIPolicy",
    "replay": "lydite.policies.replay:ReplayPolicy",
    "vllm": "lydite.policies.vllm:open_vllm",
}
_WHOLE = {
    "builtin:tiny": "lydite.policies.tiny:open_tiny",
    "builtin:tiny-tools": "lydite.policies.tiny:open_tiny_tools",
    "smollm2": "lydite.policies.smollm2:open_smollm2",
}
_OPTIONS = re.compile(r"(?P<body>.*)\?(?P<query>\w+=.*)", re.DOTALL)
_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")


def open_policy(spec: str, *, tasks: Iterable[Task] | None = None, **options: Any) -> Policy:
    """Open the policy that a spec names.

    ========================  =============================================================================
    ``builtin:tiny``          the model that the package carries; it knows arithmetic
    ``builtin:tiny-tools``    another one; it calls tools as it is told, and has to learn what tasks want
    ``smollm2``               SmolLM2-135M-Instruct, fetched once
    ``hf:PATH``               a transformers model folder
    ``hf:BASE+ADAPTER``       the same with a LoRA adapter; BASE is a folder, a built-in model or ``smollm2``
    ``vllm:PATH``             a model folder in vLLM
    ``openai:MODEL``          an OpenAI-compatible server (``OPENAI_BASE_URL``, ``OPENAI_API_KEY``)
    ``replay:FILE``           recorded answers
    ``NAME`` or ``NAME:REST``  a policy of another package: entry point group ``lydite.policies``
    ``FILE.py:NAME``          a policy, or a function that makes one, in a Python file of your own
    ========================  =============================================================================

    Options follow a question mark, ``openai:gpt-4o?n_max=1&timeout=60``, or come as keywords (which win).

    Args:
        spec: see the table.
        tasks: the tasks that will be asked; only ``replay:`` looks at them.
        options: for the policy; each policy's class or opening function lists its own.

    Raises:
        InputError: no such policy (names the nearest one), an unknown option, or what the policy itself refuses.
        UnavailableError, MissingExtraError: what the policy needs is not there.
    """
    body, given = _split_options(spec)
    factory, arguments = _find(body)
    if not callable(factory):
        if given or options:
            raise InputError(f"'{body}' is a policy already and takes no options", field="policy")
        return cast(Policy, factory)
    asked = {**given, **options}
    checked = {name: _option(factory, name, value, body) for name, value in asked.items()}
    if body.startswith("replay:"):
        checked["tasks"] = tasks
    return cast(Policy, factory(*arguments, **checked))


def _split_options(spec: str) -> tuple[str, dict[str, str]]:
    found = _OPTIONS.fullmatch(spec)
    if found is None or Path(spec.partition(":")[2]).exists():
        return spec, {}
    return found["body"], dict(parse_qsl(found["query"], keep_blank_values=True))


def _find(body: str) -> tuple[Any, tuple[str, ...]]:
    """What makes the policy, and what it is called with."""
    if body in _WHOLE:
        return _load(_WHOLE[body]), ()
    kind, colon, rest = body.partition(":")
    if kind in _BUILT_IN:
        if not rest:
            raise InputError(f"'{body}' names no model or file", field="policy", remedy=f"{kind}:…")
        return _load(_BUILT_IN[kind]), (rest,)
    if file := _FILE.fullmatch(body):
        return attribute_of(file["file"], file["name"], "policy"), ()
    others = {point.name: point for point in entry_points(group=GROUP)}
    if kind in others:
        try:
            return others[kind].load(), (rest,) if colon else ()
        except Exception as error:
            raise InputError(f"'{kind}' of the package {_package(others[kind])} cannot be loaded: {error}") from error
    names = [*_WHOLE, *(f"{name}:" for name in _BUILT_IN), *others]
    near = get_close_matches(body, names, 1, 0.5) or get_close_matches(kind + colon, names, 1, 0.5)
    known = ", ".join(names)
    remedy = f"did you mean '{near[0]}'?" if near else f"known: {known}; or FILE.py:NAME"
    raise InputError(f"no policy is called '{body}'", field="policy", remedy=remedy)


def _load(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    return cast(Callable[..., Any], getattr(importlib.import_module(module), name))


def _option(factory: Callable[..., Any], name: str, value: Any, body: str) -> Any:
    """One option as the factory wants it, from text or as it is."""
    parameters = inspect.signature(factory).parameters
    takes_any = any(item.kind is item.VAR_KEYWORD for item in parameters.values())
    keywords = [key for key, item in parameters.items() if item.kind is item.KEYWORD_ONLY and key != "tasks"]
    if name not in keywords and not takes_any:
        near = get_close_matches(name, keywords, 1)
        remedy = f"did you mean '{near[0]}'?" if near else f"it takes: {', '.join(keywords) or 'none'}"
        raise InputError(f"'{body}' takes no such option", field=name, remedy=remedy)
    if not isinstance(value, str):
        return value
    try:
        hints = get_type_hints(vars(factory)["__init__"] if isinstance(factory, type) else factory)
    except Exception:  # a user's annotations may name what only a type checker sees
        hints = {}
    if name not in hints:
        try:
            return json.loads(value)
        except ValueError:
            return value
    try:
        return msgspec.convert(value, hints[name], strict=False)
    except msgspec.ValidationError:
        raise InputError(f"'{value}' is not a value for it", field=name, remedy=f"a {hints[name]}") from None


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "?"
