"""Which checker judges a row of somebody else's data set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from lydite.errors import InputError, LyditeError
from lydite.task import Checker
from lydite.verifiers import CompiledChecker, build

CheckerLike = str | Checker | Mapping[str, Any]
"""A verifier's name (the gold comes from the row), a checker, or its document ``{"type": ..., "config": {...}}``."""

AS_TEXT = "store the checker as JSON text: json.dumps(checker)"


class Checkers:
    """The checker of each row: one for all, one per row, or one whose gold (``config.answer``) each row fills in.

    Plain data, so that it can be sent to another process.
    """

    def __init__(self, checker: CheckerLike | None, *, fills: bool | None = None) -> None:
        """Take what is known before any row is.

        Args:
            checker: ``None`` where each row brings its own.
            fills: whether a row's gold goes into ``checker``; default: when only its name is given. A verifier that
                has no use for a gold (``steps``) gets none.

        Raises:
            InputError: no such verifier, or a checker for all rows that cannot be used.
        """
        self.fills = isinstance(checker, str) if fills is None else fills
        self._fixed: Checker | None = None
        if isinstance(checker, str):
            self._fixed = Checker(type=checker)
            self.fills = self.fills and _takes_gold(self._fixed)
        elif checker is not None:
            self._fixed = _from_document(checker) if isinstance(checker, Mapping) else checker
        if self._fixed is None:
            return
        if self.fills:
            from lydite.verifiers.registry import find

            find(self._fixed.type)
        else:
            build(self._fixed)

    @property
    def per_row(self) -> bool:
        """Whether each row brings its own checker."""
        return self._fixed is None

    def of(self, value: Any, field: str) -> tuple[Checker, CompiledChecker]:
        """The checker of a row, and its compiled check.

        Args:
            value: the row's checker (text or object), or its gold, whichever is asked of a row.
            field: what to call the value in an error, for example ``checker[3]``.

        Raises:
            InputError: it cannot be used; names the field and the remedy.
            UnavailableError: something that the verifier needs is not on this machine.
        """
        try:
            if self._fixed is None:
                checker = read_checker(value)
            elif self.fills:
                if value is None:
                    raise InputError("there is no gold in this row", remedy=f"{self._fixed.type} needs one")
                checker = Checker(type=self._fixed.type, config={**self._fixed.config, "answer": plain(value)})
            else:
                checker = self._fixed
            return checker, build(checker)
        except InputError as error:
            inner = error.field.removeprefix("checker").lstrip(".") if error.field else None
            told = InputError(error.message, path=error.path, line=error.line, field=inner or None, remedy=error.remedy)
            raise told.at(prefix=field) from None


def _takes_gold(named: Checker) -> bool:
    """Whether a verifier of which only the name is given may be given an answer, or cannot do without."""
    from lydite.verifiers.registry import find

    find(named.type)
    try:
        build(named)
        build(Checker(type=named.type, config={"answer": "0"}))
    except InputError as error:
        return error.field != "checker.config.answer" or error.message != "unknown field"
    except LyditeError:  # something that it needs is not here: told when there is something to judge
        return True
    return True


def read_checker(value: Any) -> Checker:
    """A checker as data sets hold it: JSON text, or an object.

    A data set of objects gives every row the fields of all rows, with nulls where nothing was written. Nulls directly
    in the checker or in its ``config`` are taken for that and left out; a null deeper inside could have been meant (an
    expected value, say), so it is refused. JSON text has neither problem.

    Raises:
        InputError: it is no checker.
    """
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, Checker):
        return value
    if isinstance(value, Mapping):
        document = {name: item for name, item in plain(value).items() if item is not None}
        config = document.get("config")
        if isinstance(config, dict):
            document["config"] = config = {name: item for name, item in config.items() if item is not None}
            for name, item in config.items():
                if _has_null(item):
                    raise InputError(
                        "holds a null that nobody may have written", field=f"config.{name}", remedy=AS_TEXT
                    )
        return _from_document(document)
    if value is None:
        raise InputError("there is no checker in this row")
    raise InputError(f"a checker is an object or JSON text, not {type(value).__name__}")


@lru_cache(maxsize=4096)
def _from_text(text: str) -> Checker:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", remedy=AS_TEXT) from None
    return _from_document(document)


def _from_document(document: Any) -> Checker:
    if not isinstance(document, Mapping) or not isinstance(document.get("type"), str):
        raise InputError("not a checker", remedy='it is {"type": "math", "config": {"answer": "7"}}')
    extra = sorted(map(str, {*document} - {"type", "config"}))
    if extra:
        raise InputError("unknown field", field=extra[0], remedy='a checker has "type" and "config" only')
    config = document.get("config") or {}
    if not isinstance(config, Mapping):
        raise InputError("expected an object", field="config")
    return Checker(type=document["type"], config=dict(config))


def plain(value: Any) -> Any:
    """JSON values from what data frames hold: arrays become lists, their scalars Python's."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    to_list = getattr(value, "tolist", None)
    return plain(to_list()) if callable(to_list) else value


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_null(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_null(item) for item in value)
    return value is None
