"""What episodes left behind: frozen workspaces, each kept once, under its digest.

A state is written and synced before the sample that names it, so a sample never names what is not there. Its name is
the digest of its content, which is checked whenever it is read: the chain over samples covers states too.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from lydite.errors import InputError
from lydite.ledger.files import storage, sync_folder

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

FOLDER = "workspaces"
LIMIT = 1 << 30
"""Bytes of one state, unpacked."""


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
    new = folder / f".{digest}.{os.getpid()}"
    with storage(path):
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            sync_folder(run)
        try:
            with open(new, "wb") as file:
                file.write(zlib.compress(state.to_pack(), 1))
                file.flush()
                os.fsync(file.fileno())
            new.rename(path)
        finally:
            new.unlink(missing_ok=True)
    sync_folder(folder)
    return digest


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
        data = unpack.decompress(path.read_bytes(), LIMIT)
        state = Snapshot.from_pack(data) if not unpack.unconsumed_tail else None
    except FileNotFoundError:
        raise InputError("is missing", path=path) from None
    except (OSError, ValueError, zlib.error) as error:
        raise InputError(f"is damaged: {error}", path=path) from None
    if state is None or state.digest != digest:
        raise InputError("is damaged: its content has another digest", path=path)
    return state
