"""What goes wrong, typed by who has to act and by the exit code it leaves."""

from __future__ import annotations

from pathlib import Path


class LyditeError(Exception):
    """Base of every error that Lydite raises on purpose. ``exit_code`` is what the command line leaves with."""

    exit_code = 2


class InputError(LyditeError):
    """Unusable input: names the file, the line, the field and what to do about it.

    Args:
        message: what is wrong.
        path: the file, when there is one.
        line: 1-based line in that file.
        field: dotted name of the field, for example ``checker.config.answer``.
        remedy: what the reader should do.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.message, self.path, self.line, self.field, self.remedy = message, path, line, field, remedy
        where = ":".join(str(part) for part in (path, line) if part is not None)
        text = f"{where}: " if where else ""
        text += f"{field}: {message}" if field else message
        if remedy:
            text += f" ({remedy})"
        super().__init__(text)

    def at(self, path: str | Path | None = None, line: int | None = None, prefix: str | None = None) -> InputError:
        """The same error, told from a place that knows more: the file, the line, the field above this one."""
        field = ".".join(part for part in (prefix, self.field) if part) or None
        return InputError(
            self.message,
            path=self.path if self.path is not None else path,
            line=self.line if self.line is not None else line,
            field=field,
            remedy=self.remedy,
        )


class MissingExtraError(LyditeError):
    """A part of Lydite was used whose libraries are not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs libraries that are not installed: pip install 'lydite[{extra}]'")


class UnavailableError(LyditeError):
    """Something outside of Lydite (hardware, a server, a tool) that this request needs is not there."""


class StorageError(LyditeError):
    """The run folder cannot be written (disk full, no permission). What was acknowledged is safe; a rerun resumes."""

    exit_code = 3


class InterruptedRunError(LyditeError):
    """Stopped on request. What was done stays done and the same command goes on from there."""

    exit_code = 3
