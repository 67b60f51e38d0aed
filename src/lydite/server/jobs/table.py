"""The table of jobs: an index of their folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, delete, insert, select, update

from lydite.server.database.tables import events, jobs
from lydite.server.jobs.status import JobRow, Status
from lydite.server.jobs.store import JobFolder, Standing, State

ACTIVE = (Status.QUEUED, Status.VALIDATING, Status.RUNNING, Status.PAUSING)
"""Jobs that a service has to look after."""


def fields(folder: JobFolder, document: dict[str, Any], standing: Standing, state: State | None) -> dict[str, Any]:
    """A row of the table."""
    result = {
        "files": list(standing.result_files),
        "trained_tokens": standing.trained_tokens,
        "error_code": standing.error_code,
        "error_param": standing.error_param,
    }
    return {
        "id": folder.id,
        "created": document["created"],
        "finished": standing.finished,
        "status": standing.status.value,
        "kind": document["kind"],
        "model": document["model"],
        "name": document["name"],
        "run": folder.id,
        "pid": standing.pid,
        "started": standing.began,
        "heartbeat": state.time if state else None,
        "error": standing.error,
        "document": {**document, "result": result},
    }


def put(connection: Connection, row: dict[str, Any]) -> None:
    """Write a row, new or not."""
    values = {name: value for name, value in row.items() if name != "id"}
    if not connection.execute(update(jobs).where(jobs.c.id == row["id"]).values(values)).rowcount:
        connection.execute(insert(jobs).values(row))


def forget_others(connection: Connection, ids: Sequence[str]) -> None:
    """Take out what has no folder any more."""
    known = set(ids)
    for (found,) in connection.execute(select(jobs.c.id)).all():
        if found not in known:
            connection.execute(delete(jobs).where(jobs.c.id == found))


def heartbeat(connection: Connection, job: str, when: float) -> None:
    connection.execute(update(jobs).where(jobs.c.id == job).values(heartbeat=when))


def find(engine: Engine, job: str) -> JobRow | None:
    with engine.connect() as connection:
        row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    return _row(row) if row else None


def of_run(engine: Engine, run: str) -> JobRow | None:
    with engine.connect() as connection:
        query = select(jobs).where(jobs.c.run == run).order_by(jobs.c.created.desc())
        row = connection.execute(query).first()
    return _row(row) if row else None


def active(engine: Engine) -> list[JobRow]:
    """Jobs to look after, the oldest first."""
    with engine.connect() as connection:
        query = select(jobs).where(jobs.c.status.in_([status.value for status in ACTIVE])).order_by(jobs.c.created)
        return [_row(row) for row in connection.execute(query)]


def newest(engine: Engine, kinds: Sequence[str], before: tuple[float, str] | None) -> Iterator[JobRow]:
    """Jobs, the newest first, older than one that is named by when it was made and its id."""
    query = select(jobs).order_by(jobs.c.created.desc(), jobs.c.id.desc())
    if kinds:
        query = query.where(jobs.c.kind.in_(kinds))
    if before is not None:
        created, job = before
        query = query.where((jobs.c.created < created) | ((jobs.c.created == created) & (jobs.c.id < job)))
    with engine.connect() as connection:
        for row in connection.execute(query):
            yield _row(row)


def last_event(connection: Connection, topic: str) -> str | None:
    """The id of the newest event of a job that watchers were told of."""
    query = select(events.c.data).where(events.c.topic == topic, events.c.kind == "event")
    found = connection.execute(query.order_by(events.c.seq.desc()).limit(1)).scalar()
    return str(found["id"]) if found else None


def _row(row: Row[Any]) -> JobRow:
    return JobRow(
        id=row.id,
        created=row.created,
        finished=row.finished,
        status=Status(row.status),
        kind=row.kind,
        model=row.model,
        name=row.name,
        run=row.run,
        error=row.error,
        heartbeat=row.heartbeat,
        document=row.document,
    )
