"""The small models that the package carries, so that the whole loop runs anywhere.

``builtin:tiny`` is byte-level and knows arithmetic; ``builtin:tiny-tools`` has a vocabulary for short commands and
JSON, and can call a tool as it is told, word for word: what a task wants of it, it has to learn.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from lydite.errors import UnavailableError

if TYPE_CHECKING:
    from lydite.policies.hf import HFPolicy

BUILT_IN = {"builtin:tiny": "tiny", "builtin:tiny-tools": "tiny_tools"}
"""Spec to folder below ``assets``."""


def tiny_folder(spec: str = "builtin:tiny") -> Path:
    """The folder of a built-in model.

    Raises:
        UnavailableError: this installation does not carry it, or not as plain files.
    """
    folder = Path(str(files("lydite.policies") / "assets" / BUILT_IN[spec]))
    if not (folder / "model.safetensors").is_file():
        raise UnavailableError(f"the built-in model is not at {folder}: install lydite from a wheel or a full checkout")
    return folder


def open_tiny(*, batch: int = 64, device: str | None = None) -> HFPolicy:
    """The built-in model as a policy; the options are those of :func:`lydite.policies.hf.open_hf`."""
    from lydite.policies.hf import open_hf

    return open_hf("builtin:tiny", batch=batch, device=device)


def open_tiny_tools(*, batch: int = 64, device: str | None = None) -> HFPolicy:
    """The built-in model for work with tools; the options are those of :func:`lydite.policies.hf.open_hf`."""
    from lydite.policies.hf import open_hf

    return open_hf("builtin:tiny-tools", batch=batch, device=device)
