"""Jobs that are not started yet: the tasks that each is made of, as they were when it was made.

finetuning/ID/manifest.json     what it is, the digest of its tasks
              tasks.jsonl       one task a line
              started.json      the service's job, once it is started
              cancelled         where nobody wants it any more
"""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from lydite.codec import canonical, sha256
from lydite.errors import InputError
from lydite.ledger.files import replace, storage, sync_folder
from lydite.server.bodies import refusal
from lydite.server.documents import Document, Documents, task_of
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.home import Home, check_id
from lydite.task import Task
from lydite.tasksets.documents import task_document

starting = threading.Lock()
"""Held while a job is started: it is started once."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A job over tasks.

    Attributes:
        id: given by the service; ``created`` in seconds since the epoch.
        workspace, topics: whose documents, and which of them.
        model: as the request called it; ``name``: a title.
        documents: ids of the documents, one for each line of ``tasks.jsonl``.
        digest: hex SHA-256 of ``tasks.jsonl``.
    """

    id: str
    created: float
    workspace: str
    topics: tuple[str, ...] = ()
    model: str
    name: str = ""
    documents: tuple[str, ...]
    digest: str


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it: the service's job, and what was asked."""

    job: str
    training: str
    config: dict[str, Any]
    clamps: tuple[dict[str, Any], ...] = ()


class Manifests:
    """Blocking; safe from threads."""

    def __init__(self, home: Home) -> None:
        self._folder = home.folder("finetuning")

    def create(
        self, documents: Sequence[Document], *, workspace: str, topics: tuple[str, ...], model: str, name: str
    ) -> Manifest:
        """Keep the tasks of documents as a job that can be started.

        Raises:
            RefusedError: two of them have tasks of the same id, or one cannot be read any more.
        """
        lines, seen = [], dict[str, str]()
        for document in documents:
            try:
                task = task_of(document)
            except InputError as error:
                raise RefusedError(f"document {document.id} cannot be used: {error}", param="workspaceid") from None
            if task.id in seen:
                raise RefusedError(
                    f"documents {seen[task.id]} and {document.id} both call their task {task.id[:80]!r}: give each an"
                    " id of its own, or archive one",
                    param="workspaceid",
                )
            seen[task.id] = document.id
            lines.append(canonical(task_document(task)) + b"\n")
        data = b"".join(lines)
        manifest = Manifest(
            id=f"ft-{secrets.token_hex(12)}",
            created=time.time(),
            workspace=workspace,
            topics=topics,
            model=model,
            name=name,
            documents=tuple(seen.values()),
            digest=sha256(data),
        )
        draft = self._folder / f".{manifest.id}"
        with storage(draft):
            draft.mkdir(mode=0o700)
            try:
                replace(draft / "tasks.jsonl", data)
                replace(draft / "manifest.json", canonical(manifest))
                draft.rename(self._folder / manifest.id)
            except BaseException:
                shutil.rmtree(draft, ignore_errors=True)
                raise
        sync_folder(self._folder)
        return manifest

    def get(self, name: str) -> Manifest:
        """A job.

        Raises:
            NotFoundError: there is none of this id.
        """
        try:
            return msgspec.json.decode((self._place(name) / "manifest.json").read_bytes(), type=Manifest)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError("job", name) from None

    def tasks(self, manifest: Manifest) -> bytes:
        """``tasks.jsonl``.

        Raises:
            RefusedError: it is not what it was when the job was made.
        """
        data = (self._place(manifest.id) / "tasks.jsonl").read_bytes()
        if sha256(data) != manifest.digest:
            raise RefusedError("the tasks of this job were changed on disk: make another", code="digest_mismatch")
        return data

    def all(self) -> list[Manifest]:
        """The newest first."""
        names = [path.parent.name for path in self._folder.glob("ft-*/manifest.json")]
        return sorted((self.get(name) for name in names), key=lambda one: (one.created, one.id), reverse=True)

    def started(self, name: str) -> Started | None:
        """The service's job that it became, as far as that was noted."""
        try:
            return msgspec.json.decode((self._place(name) / "started.json").read_bytes(), type=Started)
        except FileNotFoundError:
            return None

    def note_started(self, name: str, started: Started) -> None:
        replace(self._place(name) / "started.json", canonical(started))

    def cancelled(self, name: str) -> bool:
        return (self._place(name) / "cancelled").exists()

    def cancel(self, name: str) -> None:
        """Note that nobody wants it any more."""
        replace(self._place(name) / "cancelled", b"")

    def _place(self, name: str) -> Path:
        try:
            return self._folder / check_id(name)
        except InputError:
            raise NotFoundError("job", name) from None


def published(
    documents: Documents, workspace: str, topics: tuple[str, ...], status: Literal["published"] = "published"
) -> list[Document]:
    """The published documents of a workspace that have any of the topics (or all, where none are named), the oldest
    first.

    Raises:
        RefusedError: there is none; says what there is.
    """
    found: list[Document] = []
    after = None
    while True:
        page = documents.page(workspace=workspace, topics=topics, status=status, limit=500, after=after)
        found += page.items
        after = page.next
        if after is None:
            break
    if not found:
        some = documents.page(workspace=workspace, limit=1).items
        why = "none of its documents is published and has one of the topics" if some else "it has no documents"
        raise refusal("workspaceid", f"no published rlTask document in {workspace[:80]!r}: {why}")
    return found[::-1]


def read_lines(data: bytes) -> list[Task]:
    """The tasks of a manifest."""
    from lydite.tasksets.documents import parse_task

    return [parse_task(msgspec.json.decode(line)) for line in data.splitlines()]
