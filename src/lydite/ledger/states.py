"""What episodes left behind: frozen workspaces, each kept once, under its digest.

A state is written and synced before the sample that names it, so a sample never names what is not there. Its name is
the digest of its content, which is checked whenever it is read: the chain over samples covers states too.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError
from lydite.ledger.files import open_regular, replace, storage, sync_folder

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

FOLDER = "workspaces"
LIMIT = 1 << 30
"""Bytes of one state, unpacked."""


_OURS = re.compile(r"\.?[0-9a-f]{64}(\..*)?")
"""Names that ``keep`` gives: of states and of their drafts."""


class _Named(msgspec.Struct):
    workspace: str | None = None


def keep(run: Path, state: Snapshot) -> str:
    """Write a state, where it is not there yet; its digest.

    Raises:
        StorageError: it cannot be written.
    """
    digest = state.digest
    folder = run / FOLDER
    path = folder / digest
    if path.exists():
        return digest
    with storage(path):
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            sync_folder(run)
    replace(path, zlib.compress(state.to_pack(), 1))
    return digest


def sweep(run: Path, digests: Collection[str]) -> None:
    """Remove what no sample names: a run that was killed may have written a state and not the sample that follows it.

    Args:
        run: the run folder, which this process holds.
        digests: of the states that samples name, recorded ones and others.
    """
    folder = run / FOLDER
    if not folder.is_dir():
        return
    with storage(folder):
        for path in folder.iterdir():
            if path.name not in digests and _OURS.fullmatch(path.name):
                path.unlink()


def read(run: Path, digest: str) -> Snapshot:
    """A state by its digest.

    Raises:
        InputError: it is missing, damaged, or another than its name says.
    """
    from lydite.sandbox import Snapshot

    path = run / FOLDER / digest
    if len(digest) != 64 or not digest.isalnum():
        raise InputError(f"{digest!r:.80} is no digest", path=run / FOLDER)
    try:
        unpack = zlib.decompressobj()
        with open_regular(path) as file:
            data = unpack.decompress(file.readall(), LIMIT)
        whole = unpack.eof and not unpack.unconsumed_tail and not unpack.unused_data
        state = Snapshot.from_pack(data) if whole else None
    except FileNotFoundError:
        raise InputError("is missing", path=path) from None
    except (OSError, ValueError, zlib.error) as error:
        raise InputError(f"is damaged: {error}", path=path) from None
    if state is None or state.digest != digest:
        raise InputError("is damaged: its content has another digest", path=path)
    return state


def unpacked(data: bytes) -> Snapshot:
    """A state from its packed bytes.

    Raises:
        ValueError: they are none.
    """
    from lydite.sandbox import Snapshot

    return Snapshot.from_pack(data)


def named(sample: bytes) -> str | None:
    """The digest that a line of ``rollouts.jsonl`` names, where it names one. Cheap for lines that name none."""
    if b'"workspace":"' not in sample:
        return None
    return msgspec.json.decode(sample, type=_Named).workspace


def faults(run: Path, digests: Collection[str], *, alone: bool) -> Iterator[tuple[str, str]]:
    """Files of states that are not as they must be, and what is wrong with each.

    Args:
        digests: of the states that samples name.
        alone: whether nothing else may be there; a run that was killed may have a state whose sample was not written.
    """
    for digest in sorted(digests):
        try:
            read(run, digest)
        except InputError as error:
            yield f"{FOLDER}/{digest}"[:120], error.message
    if alone and (run / FOLDER).is_dir():
        for path in sorted((run / FOLDER).iterdir()):
            if path.name not in digests:
                yield f"{FOLDER}/{path.name}", "no sample names it"
