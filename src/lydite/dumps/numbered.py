"""Files of a dump that bear numbers, and which of them a step is read from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lydite.dumps.attempts import Attempt
from lydite.errors import InputError


def numbered(
    paths: Sequence[Path], inner: Callable[[Path], Path], number: Callable[[str], int | None], wanted: str, remedy: str
) -> list[Path]:
    """The files, in the order of their numbers within a folder.

    Args:
        paths: files and folders.
        inner: where in a folder they are.
        number: of a file's name; ``None`` where it is another file.
        wanted, remedy: what a folder without any does not hold, and what to do.

    Raises:
        InputError: there are none.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            named = [(at, one) for one in inner(path).iterdir() if (at := number(one.name)) is not None]
            if not named:
                raise InputError(f"holds no {wanted}", path=path, remedy=remedy)
            found += [one for _, one in sorted(named)]
        elif path.is_file():
            found.append(path)
        else:
            raise InputError("is not there", path=path)
    return found


def by_step(
    files: Sequence[Path], steps: Callable[[Path], Iterable[int]], read: Callable[[Path], Iterable[Attempt]]
) -> Iterator[tuple[int, list[Attempt]]]:
    """The attempts of each step, in the order of steps, from the last file that has the step. Every file is read twice:
    first for its steps (``steps``); one at a time is held in memory."""
    holds = {step: at for at, path in enumerate(files) for step in steps(path)}
    held, attempts = -1, dict[int, list[Attempt]]()
    for step, at in sorted(holds.items()):
        if held != at:
            held, attempts = at, {}
            for attempt in read(files[at]):
                attempts.setdefault(attempt.step, []).append(attempt)
        yield step, attempts[step]
