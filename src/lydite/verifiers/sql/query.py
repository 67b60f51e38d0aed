r"""What kind of statement a text is. Nothing here runs it; all is linear in the text.

What counts must be one SELECT, WITH ... SELECT or VALUES; a semicolon behind it and comments do no harm. Which text of
a completion that is, ``find.py`` tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_QUERY = 50_000
"""Characters of a query; a longer one is not run."""

# Every alternative takes what it begins, closed or not, so that no position is scanned twice.
_TOKEN = re.compile(
    r"(?P<gap>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<string>'[^']*(?:''[^']*)*'?)"
    r"|(?P<name>\"[^\"]*(?:\"\"[^\"]*)*\"?|`[^`]*`?|\[[^\]]*\]?)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<other>\d[\w.]*|.)",
    re.DOTALL,
)
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"})
_READS = frozenset({"SELECT", "VALUES", "FROM", "TABLE"})
_OTHERS = _WRITES | frozenset(
    """CREATE DROP ALTER TRUNCATE ATTACH DETACH PRAGMA VACUUM ANALYZE REINDEX BEGIN COMMIT END ROLLBACK SAVEPOINT
    RELEASE EXPLAIN SET USE CALL COPY LOAD INSTALL EXPORT IMPORT GRANT REVOKE EXECUTE PREPARE DEALLOCATE DESCRIBE DESC
    SHOW SUMMARIZE CHECKPOINT DECLARE DO LOCK COMMENT RESET""".split()  # noqa: SIM905
)
_CLOCK_LIKE = re.compile(r"date|time|julianday|unixepoch|strftime", re.IGNORECASE)
_CLOCK_WORDS = frozenset({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"})
_CLOCK_CALLS = frozenset({"DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH", "STRFTIME", "TIMEDIFF"})


class Token(NamedTuple):
    """A token that means something: ``string``, ``name`` (quoted), ``word`` (in capitals) or ``other``; its depth in
    parentheses."""

    kind: str
    text: str
    depth: int


def tokens(sql: str) -> Iterator[Token]:
    """The tokens of a text, without white space and comments."""
    depth = 0
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup or "other", match.group()
        if kind == "gap":
            continue
        if text == ")":
            depth -= 1
        yield Token(kind, text.upper() if kind == "word" else text, depth)
        if text == "(":
            depth += 1


def refusal(sql: str) -> str | None:
    """Why a text is not run: ``no_query``, ``several_statements``, ``not_a_select``; ``None`` where it is one query."""
    verb, inner, ended = "", "", False
    for token in tokens(sql):
        if token.text == ";":
            ended = True
        elif ended:
            return "several_statements" if verb in _READS | _OTHERS or verb == "WITH" else "no_query"
        elif not verb:
            verb = token.text if token.kind == "word" or token.text == "(" else "?"
        elif verb == "WITH" and not inner and token.depth == 0 and token.text in _READS | _WRITES:
            inner = token.text if token.kind == "word" else ""
    if verb in _OTHERS or (verb == "WITH" and inner in _WRITES):
        return "not_a_select"
    return None if verb in _READS or verb in ("WITH", "(") else "no_query"


def clause(sql: str, *words: str) -> bool:
    """Whether these words stand one after another outside of all parentheses, as ``ORDER BY`` of a whole query does."""
    at = 0
    for token in tokens(sql):
        if token.depth or token.kind != "word" or token.text != words[at]:
            at = 1 if not token.depth and token.kind == "word" and token.text == words[0] else 0
        else:
            at += 1
        if at == len(words):
            return True
    return False


def reads_clock(sql: str) -> bool:
    """Whether a query asks for the present time: ``CURRENT_DATE`` and its like, ``'now'``, ``date()``."""
    if not _CLOCK_LIKE.search(sql):
        return False
    known, now = False, False
    previous: list[Token] = []
    for token in tokens(sql):
        if token.kind == "word" and token.text in _CLOCK_WORDS:
            return True
        known = known or (token.kind == "word" and token.text in _CLOCK_CALLS)
        now = now or (token.kind in ("string", "name") and token.text[1:-1].strip().lower() == "now")
        previous = [*previous[-3:], token]
        texts = [one.text for one in previous]
        call = texts[-3] if texts[-2:] == ["(", ")"] and len(texts) > 2 else ""
        if call in _CLOCK_CALLS and call != "STRFTIME":
            return True
        if texts[:2] == ["STRFTIME", "("] and previous[2:3] and texts[3:] == [")"]:
            return True
    return known and now


def called(sql: str) -> set[str]:
    """Names that a text uses as functions, in capitals."""
    found: set[str] = set()
    last: Token | None = None
    for token in tokens(sql):
        if token.text == "(" and last is not None and last.kind in ("word", "name"):
            found.add((last.text if last.kind == "word" else last.text[1:-1]).upper())
        last = token
    return found
