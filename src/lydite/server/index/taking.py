"""What is new in a run folder since it was last looked at: read, checked, ready to be stored.

A slice is bounded, so that a large run is taken in piece by piece; the rest waits for the next one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.ledger import contents, info, reviews, taskfile, writer
from lydite.ledger.chain import RESCORE, RESCORING, kind_of, place
from lydite.ledger.reading import UNREADABLE, read_task
from lydite.ledger.reviews import Review
from lydite.server.index import reading, slices
from lydite.server.index.attempts import Attempts, record_part
from lydite.server.index.slices import ReplacedError, Slice

FILES = (info.FILE, contents.LEDGER, contents.ROLLOUTS, writer.METRICS, taskfile.FILE, reviews.FILE)
"""What is followed."""


def take(folder: Path, known: dict[str, Any]) -> Slice:
    """The next slice of a run.

    Args:
        folder: of the run.
        known: its row in the table ``runs``.

    Raises:
        ReplacedError: it has to be taken in from the beginning.
    """
    found = Slice()
    values = found.values
    values["updated"] = _updated(folder)
    for part in (_info, _reviews, _tasks, _attempts, _steps):
        try:
            part(folder, known, found)
            continue
        except InputError as error:
            reason = told(error)
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        if found.error is None:
            found.error = reading.without_nul(reason[:1000])
        if part is _info:
            break
    if found.error is not None:
        values.update(state="unreadable", error=found.error)
    return found


def told(error: InputError) -> str:
    """An error about a file of a run, without paths of this machine."""
    where = Path(error.path).name if error.path is not None else ""
    if error.line is not None:
        where += f" line {error.line}"
    return f"{where}: {error.message}" if where else error.message


def _updated(folder: Path) -> float:
    return max(reading.sign(str(folder / name))[2] for name in FILES) / 1e9


def _info(folder: Path, known: dict[str, Any], found: Slice) -> None:
    with reading.opened(folder / info.FILE):
        said = info.read_info(folder)
    if known["generation"] not in ("", said.genesis):
        raise ReplacedError
    policy = said.settings.get("policy")
    found.values.update(
        kind=reading.without_nul(said.kind[:40]),
        created=reading.without_nul(said.created[:40]),
        state=str(said.state),
        policy=reading.without_nul(policy) if isinstance(policy, str) else "",
        head=reading.without_nul(said.head[:64]),
        settings=said.settings,
        notes=said.notes,
        generation=said.genesis,
        error=None,
    )
    found.records = said.records


def _attempts(folder: Path, known: dict[str, Any], found: Slice) -> None:
    """Lines of the ledger, each with its sample, as ``Contents.lines`` reads them."""
    ledger, rollouts = folder / contents.LEDGER, folder / contents.ROLLOUTS
    # The ledger's size is taken first: samples are written before the ledger speaks of them.
    with reading.opened_if_there(ledger) as (judged, size), reading.opened_if_there(rollouts) as (said, said_size):
        if size < known["ledger_offset"] or said_size < known["rollouts_offset"]:
            raise ReplacedError
        taken = Attempts(known, found)
        samples = reading.lines(said, known["rollouts_offset"], said_size)
        start, seq = known["ledger_offset"], known["ledger_lines"]
        try:
            for at, line in reading.lines(judged, start, size):
                seq += 1
                if at == start and seq > 1 and not line.startswith(place(seq, known["tail"])):
                    raise ReplacedError
                kind = kind_of(line)
                if kind == RESCORE:
                    taken.rescore(line, at, seq, ledger)
                elif kind != RESCORING:
                    record = record_part(line, ledger, seq)
                    if record.kind == "verdict":
                        sample = next(samples, None)
                        if sample is None:
                            if found.values["state"] != "running":
                                raise InputError("ends before the ledger does", path=rollouts)
                            break
                        taken.attempt(record, line, at, seq, sample, rollouts)
                taken.values.update(ledger_offset=at + len(line) + 1, ledger_lines=seq)
                taken.last = line
                if taken.full:
                    found.more = True
                    break
        finally:
            taken.finish()
    if seq < found.records and not found.more and found.values["state"] != "running":
        raise InputError(f"ends after {seq} of {found.records} records: was it cut off?", path=ledger)


def _tasks(folder: Path, known: dict[str, Any], found: Slice) -> None:
    path = folder / taskfile.FILE
    with reading.opened_if_there(path) as (descriptor, size):
        start, number = known["tasks_offset"], known["tasks"]
        if size < start:
            raise ReplacedError
        for at, line in reading.lines(descriptor, start, size):
            number += 1
            task = read_task(line, path, number)
            if len(task.id) > 600:
                raise InputError("the task's id has more than 600 characters", path=path, line=number)
            prompt, checker = task.prompt_text[:300], task.checker.type[:100]
            labels = task.split[:20], task.difficulty[:100]
            texts = (task.id, task.digest, prompt, checker, *labels)
            row = (known["number"], number, *map(reading.without_nul, texts), at, len(line))
            found.tasks.append(row)
            found.values.update(tasks=number, tasks_offset=at + len(line) + 1)
            if len(found.tasks) >= slices.ROWS:
                found.more = True
                break


def _steps(folder: Path, known: dict[str, Any], found: Slice) -> None:
    with reading.opened_if_there(folder / writer.METRICS) as (descriptor, size):
        start, number = known["metrics_offset"], known["metrics_lines"]
        if size < start:
            raise ReplacedError
        keys = dict.fromkeys(known["keys"])
        for at, line in reading.lines(descriptor, start, size):
            number += 1
            found.values.update(metrics_lines=number, metrics_offset=at + len(line) + 1)
            try:
                said = reading.decode_values(line)
            except UNREADABLE:
                continue  # what a killed process left
            stage, step = (_whole(said.pop(name, 0)) for name in ("stage", "step"))
            kind = said.pop("kind", "")
            values = {name: value for name, value in said.items() if _measured(value)}
            keys.update(dict.fromkeys(values))
            text = msgspec.json.encode(values).decode()
            found.steps.append((known["number"], number, stage, step, reading.without_nul(str(kind)[:20]), text))
            if len(found.steps) >= slices.ROWS:
                found.more = True
                break
        if len(keys) != len(known["keys"]):
            found.values["keys"] = list(keys)


def _measured(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) < 1e300)


def _whole(value: Any) -> int:
    return int(value) if type(value) in (int, float) and abs(value) < 2**31 else 0


def _reviews(folder: Path, known: dict[str, Any], found: Slice) -> None:
    """All decisions: a flag that is taken in later may have been decided on before. The file is small."""
    path = folder / reviews.FILE
    with reading.opened_if_there(path) as (descriptor, size):
        start = known["reviews_offset"]
        if size < start:
            raise ReplacedError
        decode = msgspec.json.Decoder(Review).decode
        for at, line in reading.lines(descriptor, 0, size):
            if at >= start:
                found.values["reviews_offset"] = at + len(line) + 1
            try:
                review = decode(line)
            except UNREADABLE:
                continue
            if abs(review.version) >= 2**31:
                continue  # of no flag
            if reading.NUL in line:
                texts = {name: reading.without_nul(getattr(review, name)) for name in ("rollout", "detector", "note")}
                review = msgspec.structs.replace(review, **texts)
            found.decisions[review.key] = review
            if at >= start:
                found.decided[review.key] = review
