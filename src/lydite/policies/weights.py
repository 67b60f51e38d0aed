"""Local model folders: what they are called, what they weigh, and how they are loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from lydite.errors import InputError, MissingExtraError

# What changes what a model says. Cards, optimiser states and training logs do not.
_SUFFIXES = (".safetensors", ".bin", ".gguf", ".model", ".jinja")
_NAMES = {
    "config.json",
    "generation_config.json",
    "adapter_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
}
_NOT_WEIGHTS = {"training_args.bin", "optimizer.bin", "scheduler.bin"}

_hashed: dict[tuple[str, int, int], str] = {}


class ModelFolders(msgspec.Struct, frozen=True, kw_only=True):
    """Where a local model lies.

    Attributes:
        name: the spec as it was given, without ``hf:``.
        base: folder of the model.
        adapter: folder of a LoRA adapter on top of it.
    """

    name: str
    base: Path
    adapter: Path | None = None

    @property
    def digest(self) -> str:
        """Hex SHA-256 over the files that decide what the model says: a changed weight changes it."""
        parts = [folder_digest(self.base)]
        if self.adapter is not None:
            parts.append(folder_digest(self.adapter))
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    @property
    def id(self) -> str:
        """The policy id: name and the first 16 digits of the digest."""
        return f"{self.name}@{self.digest[:16]}"


def resolve(spec: str) -> ModelFolders:
    """Find the folders of ``BASE`` or ``BASE+ADAPTER``; BASE is a built-in model, ``smollm2`` or a folder.

    ``smollm2`` is fetched when it is not in the cache yet.

    Raises:
        InputError: no such folder, or nothing in it that looks like a model or an adapter.
        UnavailableError, MissingExtraError: from ``smollm2``.
    """
    name = spec.removeprefix("hf:")
    base, adapter = name, ""
    if "+" in name and not Path(name).is_dir():  # a folder may have a plus in its name
        base, _, adapter = name.rpartition("+")
    folder = _base(base)
    if not adapter:
        return ModelFolders(name=name, base=folder)
    if not (Path(adapter) / "adapter_config.json").is_file():
        raise InputError("holds no adapter_config.json", path=adapter, remedy="give the folder of a PEFT adapter")
    return ModelFolders(name=name, base=folder, adapter=Path(adapter))


def _base(name: str) -> Path:
    if name.startswith("builtin:"):
        from lydite.policies.tiny import BUILT_IN, tiny_folder

        if name not in BUILT_IN:
            raise InputError(f"no model is called '{name}'", remedy=f"built in: {', '.join(BUILT_IN)}")
        return tiny_folder(name)
    if name == "smollm2":
        from lydite.policies.smollm2 import smollm2_folder

        return smollm2_folder()
    folder = Path(name)
    if not folder.is_dir():
        raise InputError(
            "no such model folder",
            path=name,
            remedy="give the path of a folder in Hugging Face layout; models are not fetched by name",
        )
    if not (folder / "config.json").is_file():
        remedy = "it looks like an adapter: hf:BASE+ADAPTER" if (folder / "adapter_config.json").is_file() else None
        raise InputError("holds no config.json", path=name, remedy=remedy or "give a folder in Hugging Face layout")
    return folder


def folder_digest(folder: Path) -> str:
    """Hex SHA-256 over names and contents of a model folder's files.

    A file's hash is remembered by path, size and time of change for as long as the process lives.
    """
    sha256 = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        counts = path.name in _NAMES or (path.suffix in _SUFFIXES and path.name not in _NOT_WEIGHTS)
        if counts and path.is_file():
            sha256.update(f"{path.name}\0{file_sha256(path)}\n".encode())
    return sha256.hexdigest()


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file, read in blocks."""
    status = path.stat()
    key = (str(path.resolve()), status.st_size, status.st_mtime_ns)
    if key not in _hashed:
        with path.open("rb") as file:
            _hashed[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _hashed[key]


def load_local(spec: str, *, device: str | None = None) -> tuple[Any, Any]:
    """Load ``BASE`` or ``BASE+ADAPTER`` (see :func:`resolve`) as a plain model and its tokenizer.

    Weights are float32 on a CPU and as stored on a GPU. An adapter is merged into the weights, so that what comes back
    is an ordinary ``PreTrainedModel`` either way. Code that a model folder brings along is never run.

    Args:
        spec: the model; a leading ``hf:`` is ignored.
        device: ``cpu``, ``cuda`` …; without it the GPU where there is one.

    Returns:
        ``(model, tokenizer)``: the model in evaluation mode; the tokenizer pads on the left and has a pad token.

    Raises:
        InputError: the folder cannot be loaded; names it.
        MissingExtraError: torch, transformers or peft are not installed.
    """
    return load_folders(resolve(spec), device=device)


def load_folders(folders: ModelFolders, *, device: str | None = None) -> tuple[Any, Any]:
    """:func:`load_local` for folders that were found already."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        raise MissingExtraError("A local model", "train") from None

    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.float32 if torch.device(place).type == "cpu" else "auto"
    with quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folders.base), local_files_only=True)
            model = AutoModelForCausalLM.from_pretrained(str(folders.base), dtype=dtype, local_files_only=True)
        except Exception as error:  # a broken folder fails in as many ways as there are file formats in it
            raise InputError(
                f"cannot be loaded as a causal language model: {first_line(error)}", path=folders.base
            ) from error
        if folders.adapter is not None:
            model = _merged(model, folders.adapter)
            take_templates(tokenizer, folders.adapter)
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token_id is None:
        raise InputError("the tokenizer has neither a pad token nor an end token", path=folders.base)
    return model.to(place).eval(), tokenizer


def take_templates(tokenizer: Any, adapter: Path) -> None:
    """Give a base's tokenizer the chat template that an adapter was trained with, where the adapter brings one, and how
    calls are read from its answers.

    Raises:
        InputError: the adapter's tokenizer cannot be loaded.
    """
    if not any((adapter / name).is_file() for name in ("tokenizer_config.json", "chat_template.jinja")):
        return
    from transformers import AutoTokenizer

    try:
        own = AutoTokenizer.from_pretrained(str(adapter), local_files_only=True)
    except Exception as error:
        raise InputError(f"its tokenizer cannot be loaded: {first_line(error)}", path=adapter) from error
    for name in ("chat_template", "response_template"):
        if getattr(own, name, None) is not None:
            setattr(tokenizer, name, getattr(own, name))


def _merged(model: Any, adapter: Path) -> Any:
    try:
        from peft import PeftModel
    except ImportError:
        raise MissingExtraError("An adapter", "train") from None
    try:
        return PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    except Exception as error:
        raise InputError(f"does not fit this model: {first_line(error)}", path=adapter) from error


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars of transformers while a model loads; as they were afterwards."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
