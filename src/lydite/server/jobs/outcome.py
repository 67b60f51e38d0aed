"""What a run leaves for whoever asked for it: a table of metrics, a count of tokens, last words."""

from __future__ import annotations

import csv
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lydite.errors import InputError
from lydite.evaluation.collect import read_metrics
from lydite.server.home import Home
from lydite.server.jobs.naming import named
from lydite.server.jobs.store import JobFolder

FIRST = ("stage", "kind", "step")
_WORDS = 8
"""Lines of a log that an error quotes."""


@contextmanager
def metrics_csv(run: Path) -> Iterator[IO[bytes]]:
    """The metrics of a run as CSV, one row a step; read twice, so that every column is known."""
    names: dict[str, None] = {}
    for line in _lines(run):
        names.update(dict.fromkeys(sorted(named(line).keys() - names.keys())))
    columns = [*FIRST, *(name for name in names if name not in FIRST)]
    with tempfile.TemporaryFile() as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.DictWriter(text, columns, restval="")
        writer.writeheader()
        for line in _lines(run):
            writer.writerow(named(line))
        text.flush()
        file.seek(0)
        yield file
        text.detach()


def trained_tokens(run: Path) -> int | None:
    """Tokens that went through training: the last count of each stage, together."""
    counts: dict[Any, float] = {}
    for line in _lines(run):
        if isinstance(value := line.get("num_tokens"), int | float):
            counts[line.get("stage")] = max(value, counts.get(line.get("stage"), 0.0))
    return int(sum(counts.values())) if counts else None


def _lines(run: Path) -> Iterator[dict[str, Any]]:
    try:
        yield from read_metrics(run / "metrics.jsonl")
    except (InputError, OSError):
        return


def last_words(folder: JobFolder, home: Home) -> str:
    """The end of a log, fit to be told."""
    lines = [line.rstrip()[:300] for line in folder.log(_WORDS).splitlines() if line.strip()]
    return scrubbed("\n".join(lines), home)


def scrubbed(text: str, home: Home) -> str:
    """A text without the places of this machine."""
    for place, name in (
        (str(home.path), "HOME"),
        (sys.prefix, "PYTHON"),
        (sys.base_prefix, "PYTHON"),
        (str(Path(__file__).parents[3]), "LYDITE"),
        (str(Path.home()), "~"),
        (tempfile.gettempdir(), "TMP"),
    ):
        if len(place) > 1:
            text = re.sub(re.escape(place) + r"(?=[/\s\"':,;)]|$)", name, text)
    return text
