"""What a run trained as one zip, made while it is sent: the same bytes each time, so that they have a digest.

Covered: adapter or model, its tokenizer and its card; no optimizer states, no pickles, no place of this machine.
Not covered: a checkpoint that is taken away while it is sent; the answer then breaks off.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import NamedTuple

BLOCK = 1 << 20
_WANTED = re.compile(r".+\.(safetensors|json|jinja|model|txt)|README\.md")
_LEFT_OUT = re.compile(r"trainer_state\.json|curriculum.*\.json|\..*")
_CONFIG = "adapter_config.json"
_DATE = (1980, 1, 1, 0, 0, 0)
_REMEMBERED = 64


class Sum(NamedTuple):
    """Of a whole zip."""

    size: int
    sha256: bytes


class Bundle:
    """The zip of a folder.

    Args:
        folder: with weights.
        base: what an adapter's configuration shall name as its base.
        card: whether ``README.md`` is ours.
    """

    def __init__(self, folder: Path, base: str, *, card: bool) -> None:
        self.folder, self.base = folder, base
        self.files = sorted(
            path
            for path in folder.iterdir()
            if path.is_file()
            and not path.is_symlink()
            and _WANTED.fullmatch(path.name)
            and not _LEFT_OUT.fullmatch(path.name)
            and (card or path.name != "README.md")
        )

    def sum(self) -> Sum:
        """Size and digest; remembered for files that did not change."""
        key = tuple((str(path), (s := path.stat()).st_mtime_ns, s.st_size, self.base) for path in self.files)
        with _lock:
            if key in _sums:
                _sums.move_to_end(key)
                return _sums[key]
        size, digest = 0, hashlib.sha256()
        for block in self.blocks():
            size += len(block)
            digest.update(block)
        found = Sum(size, digest.digest())
        with _lock:
            _sums[key] = found
            while len(_sums) > _REMEMBERED:
                _sums.popitem(last=False)
        return found

    def blocks(self) -> Iterator[bytes]:
        """The zip, piece by piece. Weights do not get smaller by compression: they are stored."""
        pipe = _Pipe()
        with zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED) as out:
            for path in self.files:
                info = zipfile.ZipInfo(path.name, _DATE)
                info.external_attr = 0o644 << 16
                with out.open(info, "w", force_zip64=True) as entry:
                    for block in self._content(path):
                        entry.write(block)
                        yield from pipe.taken()
        yield from pipe.taken()

    def _content(self, path: Path) -> Iterator[bytes]:
        if path.name == _CONFIG:
            values = json.loads(path.read_bytes())
            values["base_model_name_or_path"] = self.base
            yield json.dumps(values, indent=2, sort_keys=True).encode() + b"\n"
            return
        with open(path, "rb") as file:
            while block := file.read(BLOCK):
                yield block


_lock = Lock()
_sums: OrderedDict[object, Sum] = OrderedDict()


class _Pipe(io.RawIOBase):
    """A file that cannot be rewound: what was written is taken away."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        held = bytes(data)  # type: ignore[call-overload]
        self._held.append(held)
        return len(held)

    def taken(self) -> list[bytes]:
        held, self._held = self._held, []
        return held
