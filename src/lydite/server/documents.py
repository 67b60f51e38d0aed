"""Task documents of workspaces, each a file below ``documents/``: what people author, publish and make jobs of.

Every change, of one document or of a thousand, is first written down whole in one file (``.change-…``), then carried
out, then forgotten. A process that is killed in between finishes the change when it starts again; killed before that,
it has changed nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, delete, func, insert, select, tuple_

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.ledger.files import replace, storage, sync_folder
from lydite.server.database.tables import documents as table
from lydite.server.document_fields import check_fields, check_spec, check_workspace
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.home import Home, check_id
from lydite.server.paging import Page
from lydite.task import Task
from lydite.tasksets.documents import parse_task

MOST = 1000
"""Documents of one request."""
CHECKING = 60.0
"""Seconds in which those of one request are looked at."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A document.

    Attributes:
        id: given by the service.
        workspace: whose; the page's own are in ``default``.
        type: ``rlTask``.
        status: ``draft``, ``published`` or ``archived``; jobs are made over published ones.
        topics: labels; ``title``, ``user``, ``scope`` as the author gave them.
        spec: the task document as it came (the content of ``task_spec``).
        created: seconds since the epoch.
    """

    id: str
    workspace: str
    type: str = "rlTask"
    status: str = "published"
    title: str = ""
    topics: tuple[str, ...] = ()
    user: str = ""
    scope: str = "training"
    spec: dict[str, Any]
    created: float


class _Change(msgspec.Struct, frozen=True):
    put: list[Document] = []
    delete: list[str] = []


class Documents:
    """Blocking; safe from threads."""

    def __init__(self, home: Home, engine: Engine) -> None:
        self.home, self.engine = home, engine
        self._folder = home.folder("documents")
        self._lock = threading.Lock()
        with self._held():
            for journal in sorted(self._folder.glob(".change-*.json")):
                self._finish(journal)
            for draft in self._folder.glob(".*.tmp"):
                draft.unlink(missing_ok=True)
        if self._ids() != self._known():
            self.reload()

    def create(
        self, documents: Sequence[dict[str, Any]], workspace: str, *, item: str = "documents[{}]", spec: str = "spec"
    ) -> list[Document]:
        """Add documents, all of them or none.

        Args:
            documents: of the fields of ``Document`` without ``id``, ``workspace`` and ``created``.
            workspace: whose.
            item, spec: what errors call a document, by its place, and the field of its task.

        Raises:
            RefusedError: names the document and the field.
        """
        check_workspace(workspace)
        if len(documents) > MOST:
            raise RefusedError(f"{len(documents)} documents: at most {MOST} at once", param=item.partition("[")[0])
        made: list[Document] = []
        now = time.time()
        for index, given in enumerate(documents):
            where = item.format(index)
            if time.time() - now > CHECKING:
                raise RefusedError(f"the {index} before it took too long to be looked at: give fewer", param=where)
            fields = check_fields(given, where)
            check_spec(fields.get("spec"), f"{where}.{spec}".lstrip("."))
            made.append(
                Document(id=f"doc-{secrets.token_hex(12)}", workspace=workspace, created=now + index * 1e-6, **fields)
            )
        if made:
            with self._held():
                self._change(_Change(put=made))
        return made

    def replace(self, document: str, changes: dict[str, Any], *, spec: str = "spec") -> Document:
        """Change fields of a document; ``spec``: what errors call the field of its task.

        Raises:
            NotFoundError: there is no such document.
            RefusedError: names the field.
        """
        fields = check_fields(changes, "")
        if "spec" in fields:
            check_spec(fields["spec"], spec)
        with self._held():
            changed = msgspec.structs.replace(self.get(document), **fields)
            self._change(_Change(put=[changed]))
        return changed

    def delete(self, document: str) -> None:
        """Forget a document. Jobs that were made of it keep their own copy."""
        with self._held():
            self._change(_Change(delete=[self.get(document).id]))

    def get(self, document: str) -> Document:
        """A document.

        Raises:
            NotFoundError: there is no such document.
        """
        try:
            return _read(self._path(check_id(document)))
        except (InputError, FileNotFoundError):
            raise NotFoundError("document", document) from None

    def task(self, document: str) -> Task:
        """The document's task. Its id is the author's, where the author gave one, else that of the document."""
        return task_of(self.get(document))

    def digest(self, document: Document) -> str:
        """The digest of a document's task, which names its checker card; empty where it cannot be read any more."""
        return _digest(document)

    def page(
        self,
        *,
        workspace: str | None = None,
        topics: Sequence[str] = (),
        status: str | None = None,
        q: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Document]:
        """The newest first. ``topics``: those that have any of them; ``q``: looked for, whatever its case, in the id,
        the id that its author gave the task, the title, the topics and the prompt."""
        query = select(table.c.id, table.c.topics).order_by(table.c.created.desc(), table.c.id.desc())
        if workspace is not None:
            query = query.where(table.c.workspace == workspace)
        if status is not None:
            query = query.where(table.c.status == status)
        with self.engine.connect() as connection:
            if after is not None:
                created = connection.scalar(select(table.c.created).where(table.c.id == after))
                if created is None:
                    raise RefusedError("no such document to go on behind", param="after")
                query = query.where(tuple_(table.c.created, table.c.id) < (created, after))
            if not topics and q is None:
                query = query.limit(limit + 1)
            rows = connection.execute(query).all()
        found: list[Document] = []
        for row in rows:
            if topics and not set(topics) & set(row.topics):
                continue
            with contextlib.suppress(NotFoundError):  # deleted meanwhile
                document = self.get(row.id)
                if q is None or _holds(document, q.casefold()):
                    found.append(document)
            if len(found) > limit:
                return Page(items=tuple(found[:limit]), next=found[limit - 1].id)
        return Page(items=tuple(found))

    def workspaces(self) -> list[tuple[str, int]]:
        """Workspaces and how many documents each has."""
        query = select(table.c.workspace, func.count()).group_by(table.c.workspace).order_by(table.c.workspace)
        with self.engine.connect() as connection:
            return [(name, int(count)) for name, count in connection.execute(query)]

    def reload(self) -> int:
        """Fill the table from the files; how many there are. What cannot be read is left out."""
        with self._held(), self.engine.begin() as connection:
            found: list[Document] = []
            for name in self._ids():
                with contextlib.suppress(OSError, msgspec.DecodeError):
                    found.append(_read(self._path(name)))
            connection.execute(delete(table))
            _insert(connection, found)
        return len(found)

    def _path(self, document: str) -> Path:
        return self._folder / f"{document}.json"

    def _ids(self) -> set[str]:
        return {path.stem for path in self._folder.glob("*.json") if not path.name.startswith(".")}

    def _known(self) -> set[str]:
        with self.engine.connect() as connection:
            return set(connection.scalars(select(table.c.id)))

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """One change at a time, whichever process makes it."""
        with self._lock, storage(self._folder):
            descriptor = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                os.close(descriptor)

    def _change(self, change: _Change) -> None:
        journal = self._folder / f".change-{time.time_ns():020d}-{secrets.token_hex(4)}.json"
        before = {name: path.read_bytes() for name in _names(change) if (path := self._path(name)).exists()}
        replace(journal, canonical(change))
        try:
            self._carry_out(change)
        except BaseException:
            with contextlib.suppress(Exception):  # nothing of it is to be seen, as the caller is told
                self._restore(change, before)
            journal.unlink(missing_ok=True)
            raise
        journal.unlink(missing_ok=True)

    def _finish(self, journal: Path) -> None:
        """Carry out what a process that is gone had written down."""
        with contextlib.suppress(msgspec.DecodeError):
            self._carry_out(msgspec.json.decode(journal.read_bytes(), type=_Change))
        journal.unlink(missing_ok=True)

    def _carry_out(self, change: _Change) -> None:
        self._write(change.put)
        for name in change.delete:
            self._path(name).unlink(missing_ok=True)
        sync_folder(self._folder)
        with self.engine.begin() as connection:
            connection.execute(delete(table).where(table.c.id.in_(_names(change))))
            _insert(connection, change.put)

    def _write(self, documents: Sequence[Document]) -> None:
        """Files in the places of others, all of them synced before the first can be seen."""
        drafts = [self._folder / f".{document.id}.json.tmp" for document in documents]
        for draft, document in zip(drafts, documents, strict=True):
            draft.write_bytes(canonical(document))
        for draft in drafts:  # once all are written: the first sync takes most of the others along
            descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        for draft, document in zip(drafts, documents, strict=True):
            os.replace(draft, self._path(document.id))

    def _restore(self, change: _Change, before: dict[str, bytes]) -> None:
        for name in _names(change):
            (self._folder / f".{name}.json.tmp").unlink(missing_ok=True)
            if name in before:
                replace(self._path(name), before[name])
            else:
                self._path(name).unlink(missing_ok=True)


def task_of(document: Document) -> Task:
    """The task of a document; see ``Documents.task``."""
    task = parse_task(document.spec)
    return task if document.spec.get("id") is not None else msgspec.structs.replace(task, id=document.id)


def _names(change: _Change) -> list[str]:
    return [*(document.id for document in change.put), *change.delete]


def _read(path: Path) -> Document:
    return msgspec.json.decode(path.read_bytes(), type=Document)


def _insert(connection: Connection, documents: Sequence[Document]) -> None:
    rows = [
        {
            "id": document.id,
            "created": document.created,
            "workspace": document.workspace,
            "type": document.type,
            "title": document.title,
            "topics": list(document.topics),
            "status": document.status,
            "digest": _digest(document),
        }
        for document in documents
    ]
    if rows:
        connection.execute(insert(table), rows)


def _digest(document: Document) -> str:
    try:
        return task_of(document).digest
    except InputError:  # written by hand, or by another version
        return ""


def _holds(document: Document, wanted: str) -> bool:
    spec = document.spec
    texts = [document.id, str(spec.get("id") or ""), document.title, *document.topics]
    texts += [str(spec[name]) for name in ("prompt", "question", "problem", "text") if name in spec]
    return any(wanted in text.casefold() for text in texts)
