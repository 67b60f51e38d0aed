"""Read task files: JSON, JSON lines and YAML, with the place of everything that is wrong.

Formats by the end of the name: ``.jsonl`` (streamed: memory does not grow with the file, ids apart), ``.json`` (one
document or a list), ``.yaml`` and ``.yml`` (one document, a list, or several documents), ``.jsonl.gz``, ``.json.gz``.
Text is UTF-8, with or without a byte-order mark, with Unix or Windows line ends. A folder with a ``task.toml`` is a
Harbor task; any other folder stands for the task files and Harbor tasks directly in it, in the order of their names.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from lydite.errors import InputError
from lydite.task import Task
from lydite.tasksets.documents import content_id, parse_task

#: Ends of names that are understood.
SUFFIXES: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz", ".yaml", ".yml")
#: The file by which a folder is a Harbor task.
HARBOR: Final = "task.toml"

Paths = str | Path | Iterable[str | Path]


class Document(NamedTuple):
    """A value and where it was read; ``error`` instead where this document, but not the rest, is unusable."""

    path: Path
    line: int
    value: Any = None
    error: InputError | None = None


class Reading(NamedTuple):
    """A task and where it was read, or why there is none at that place."""

    path: Path
    line: int
    task: Task | None = None
    error: InputError | None = None


def load_tasks(paths: Paths, *, limit: int | None = None) -> list[Task]:
    """All tasks of one or more files, or the first ``limit``. As ``iter_tasks``, and it raises the same."""
    return list(iter_tasks(paths, limit=limit))


def iter_tasks(paths: Paths, *, limit: int | None = None) -> Iterator[Task]:
    """Tasks of one or more files, in file order, as a stream.

    Args:
        paths: a path or several; a folder stands for the task files in it.
        limit: stop after so many tasks; what comes later is not read.

    Raises:
        InputError: names file, line, field and remedy: no such file, unknown format, malformed document, no tasks, an
            id that stands twice (both places are named).
    """
    if limit is not None and limit < 1:
        raise InputError(f"must be at least 1, not {limit}", field="limit", remedy="leave it out to take all tasks")
    return _checked(expand(paths), limit)


def _checked(files: list[Path], limit: int | None) -> Iterator[Task]:
    places: dict[str, tuple[Path, int]] = {}
    for path, line, task, error in read_tasks(files):
        if error is not None or task is None:
            raise error or InputError("no task", path=path, line=line)
        if task.id in places:
            raise duplicate_id(task, path, line, places[task.id])
        places[task.id] = path, line
        yield task
        if limit is not None and len(places) >= limit:
            return


def duplicate_id(task: Task, path: Path, line: int, first: tuple[Path, int]) -> InputError:
    """The error for a second task of the same id; says which of the two cases it is."""
    where = f"{first[0]}:{first[1]}"
    if task.id == content_id(task):
        return InputError(f"the same task stands at {where}", path=path, line=line, remedy="remove one of the two")
    message = f"{task.id!r:.80} is the id of another task at {where}"
    return InputError(message, path=path, line=line, field="id", remedy="give each task an id of its own")


def read_tasks(files: Iterable[Path]) -> Iterator[Reading]:
    """Every task or error of files, going on after a malformed document. Ids are not compared.

    Raises:
        InputError: the file as a whole is unusable.
    """
    for file in files:
        for path, line, value, error in read_documents(file):
            if error is not None:
                yield Reading(path, line, error=error)
                continue
            try:
                task = parse_task(value, path=path, line=line)
            except InputError as found:
                yield Reading(path, line, error=found)
            else:
                yield Reading(path, line, task)


def expand(paths: Paths) -> list[Path]:
    """Files of paths; folders replaced by the task files in them.

    Raises:
        InputError: no path, no such file, an unknown format, or a folder without tasks.
    """
    given = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if not given:
        raise InputError("no task file was named", remedy="give one or more files of tasks")
    files: list[Path] = []
    for path in given:
        if path.is_dir() and is_harbor(path):
            files.append(path)
        elif path.is_dir():
            inside = [entry for entry in sorted(path.iterdir()) if _is_task_file(entry)]
            if not inside:
                remedy = f"files end in {', '.join(SUFFIXES)}; a Harbor task is a folder with {HARBOR}"
                raise InputError("a folder without task files", path=path, remedy=remedy)
            files += inside
        elif not path.exists():
            raise InputError("no such file", path=path, remedy="check the path")
        elif not path.name.lower().endswith(SUFFIXES):
            raise InputError("unknown kind of file", path=path, remedy="task files end in " + ", ".join(SUFFIXES))
        else:
            files.append(path)
    return files


def read_documents(path: Path) -> Iterator[Document]:
    """The raw values of one file, with their lines; the document of a Harbor task, with its ``task.toml``.

    Raises:
        InputError: the file cannot be opened, decoded or parsed as a whole, or holds nothing.
    """
    if path.is_dir():
        from lydite.tasksets.harbor import read_harbor

        try:
            yield Document(path / HARBOR, 1, read_harbor(path))
        except InputError as error:
            yield Document(Path(error.path or path / HARBOR), error.line or 1, error=error.at(path / HARBOR, 1))
        return
    name, count = path.name.lower(), 0
    read = _read_lines if name.endswith((".jsonl", ".jsonl.gz")) else _read_yaml if name.endswith("ml") else _read_json
    try:
        with _open(path) as file:
            for line, value in read(file, path):
                count += 1
                if isinstance(value, InputError):
                    yield Document(path, line, error=value)
                else:
                    yield Document(path, line, value)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        message = f"the compressed file is damaged: {error}"
        raise InputError(message, path=path, remedy="compress or download it again") from None
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, path=path, remedy="check its permissions") from None
    if not count:
        raise InputError("holds no tasks", path=path, remedy="write one task document, or one a line in .jsonl")


def is_harbor(folder: Path) -> bool:
    """Whether a folder is a Harbor task."""
    return (folder / HARBOR).is_file()


def _is_task_file(path: Path) -> bool:
    if path.is_dir():
        return is_harbor(path)
    return path.is_file() and not path.name.startswith(".") and path.name.lower().endswith(SUFFIXES)


def _open(path: Path) -> IO[bytes]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[bytes] = opener(path, "rb")
    return file


def _read_lines(file: IO[bytes], path: Path) -> Iterator[tuple[int, Any]]:
    for number, raw in enumerate(file, 1):
        try:
            text = _decode(raw, path, number)
            if not text.strip():
                continue
            yield number, _loads(text.rstrip())  # without the line's end, past which a cut-off would be reported
        except InputError as error:
            yield number, error
        except json.JSONDecodeError as error:
            message = f"not JSON: {error.msg} (column {error.colno})"
            remedy = "each line of .jsonl holds one whole JSON object; a document over several lines belongs in .json"
            yield number, InputError(message, path=path, line=number, remedy=remedy)
        except (ValueError, RecursionError) as error:
            yield number, InputError(f"not usable JSON: {_why(error)}", path=path, line=number, remedy="mend this line")


def _read_json(file: IO[bytes], path: Path) -> Iterator[tuple[int, Any]]:
    text = _decode(file.read(), path)
    start = _skip(text, 0)
    if start == len(text):
        return
    many = text[start] == "["
    position, line, counted = _skip(text, start + 1) if many else start, 1, 0
    try:
        while position < len(text) and not (many and text[position] == "]"):
            line, counted = line + text.count("\n", counted, position), position
            value, end = _DECODER.raw_decode(text, position)
            yield line, value
            position = _skip(text, end)
            if not many:
                break
            if text[position : position + 1] == ",":
                position = _skip(text, position + 1)
                if text[position : position + 1] == "]":
                    raise json.JSONDecodeError("a comma before the end of the list", text, position)
            elif text[position : position + 1] != "]":
                raise json.JSONDecodeError("Expecting ',' or ']'", text, position)
        if many:
            if position >= len(text):
                raise json.JSONDecodeError("the list never ends", text, position)
            position = _skip(text, position + 1)
        if position < len(text):
            raise json.JSONDecodeError("more text after the document", text, position)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} (column {error.colno})"
        remedy = "a .json file holds one document or one list; documents one a line belong in .jsonl"
        raise InputError(message, path=path, line=error.lineno, remedy=remedy) from None
    except (ValueError, RecursionError) as error:
        message = f"not usable JSON: {_why(error)}"
        raise InputError(message, path=path, line=line, remedy="mend the document that begins here") from None


def _read_yaml(file: IO[bytes], path: Path) -> Iterator[tuple[int, Any]]:
    import yaml

    from lydite.tasksets._yaml import iter_yaml

    text = _decode(file.read(), path)
    try:
        yield from iter_yaml(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"not YAML: {error.problem or error.context}" + (f" (column {mark.column + 1})" if mark else "")
        line = mark.line + 1 if mark else None
        raise InputError(message, path=path, line=line, remedy="mend it, or quote the text") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"not YAML: character U+{ord(text[error.position]):04X} is not allowed"
        raise InputError(message, path=path, line=line, remedy="remove it, or write it as an escape") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"not YAML: {_why(error)}", path=path, remedy="mend it, or write JSON") from None


def _decode(raw: bytes, path: Path, line: int | None = None) -> str:
    if line in (None, 1):
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError("is UTF-16", path=path, line=1, remedy="save it as UTF-8")
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        where = line or raw.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise InputError(message, path=path, line=where, remedy="save the file as UTF-8") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r:.60} stands twice in one object")
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
_loads = _DECODER.decode


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _why(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
