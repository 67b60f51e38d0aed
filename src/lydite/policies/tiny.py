"""``builtin:tiny``: the small byte-level model that the package carries, so that the whole loop runs anywhere."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from lydite.errors import UnavailableError

if TYPE_CHECKING:
    from lydite.policies.hf import HFPolicy


def tiny_folder() -> Path:
    """The folder of the built-in model.

    Raises:
        UnavailableError: this installation does not carry it, or not as plain files.
    """
    folder = Path(str(files("lydite.policies") / "assets" / "tiny"))
    if not (folder / "model.safetensors").is_file():
        raise UnavailableError(f"the built-in model is not at {folder}: install lydite from a wheel or a full checkout")
    return folder


def open_tiny(*, batch: int = 64, device: str | None = None) -> HFPolicy:
    """The built-in model as a policy; the options are those of :func:`lydite.policies.hf.open_hf`."""
    from lydite.policies.hf import open_hf

    return open_hf("builtin:tiny", batch=batch, device=device)
