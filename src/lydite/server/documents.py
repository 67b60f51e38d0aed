"""Task documents of workspaces, each a file below ``documents/``: what people author, publish and make jobs of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Engine

from lydite.server.home import Home
from lydite.server.paging import Page
from lydite.task import Task


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


class Documents:
    """Blocking; safe from threads."""

    def __init__(self, home: Home, engine: Engine) -> None:
        self.home, self.engine = home, engine

    def create(self, documents: Sequence[dict[str, Any]], workspace: str) -> list[Document]:
        """Add documents, all of them or none.

        Args:
            documents: of the fields of ``Document`` without ``id``, ``workspace`` and ``created``.
            workspace: whose.

        Raises:
            RefusedError: names the document and the field.
        """
        raise NotImplementedError

    def replace(self, document: str, changes: dict[str, Any]) -> Document:
        raise NotImplementedError

    def delete(self, document: str) -> None:
        raise NotImplementedError

    def get(self, document: str) -> Document:
        raise NotImplementedError

    def task(self, document: str) -> Task:
        """The document's task."""
        raise NotImplementedError

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
        """The newest first. ``topics``: those that have any of them."""
        raise NotImplementedError

    def workspaces(self) -> list[tuple[str, int]]:
        """Workspaces and how many documents each has."""
        raise NotImplementedError

    def reload(self) -> int:
        """Fill the table from the files; how many there are."""
        raise NotImplementedError
