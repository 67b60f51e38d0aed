r"""The query in a completion, by rule. All is linear in the text.

Thinking is left out. Then the first of these that there is:

1. what stands in ``<answer>`` tags, outside of fenced blocks, else in a box that holds a query;
2. the last complete fenced block labelled as SQL that is a query, else one without a label that is, else the last one
   labelled as SQL, else the last one, else what follows a fence that is never closed;
3. where the text does not begin as SQL: inline code that is a query; else the first line that begins a query, also
   behind a label (``SQL: SELECT ...``), with what follows it;
4. the whole text.

In the first, third and fourth, prose behind the statement is left out: what follows its semicolon, or an empty line,
on a line of its own. Several different ones (tags, boxes, inline code, lines) are several statements.
"""

from __future__ import annotations

import re

from lydite.codec import well_formed
from lydite.verifiers.fences import Block, fenced_blocks, pick_block
from lydite.verifiers.marks import answers, inline, is_prose
from lydite.verifiers.sql.query import MAX_QUERY, refusal
from lydite.verifiers.text import after_thinking

LOOKS = 20
"""Blocks and pieces of inline code that are read as SQL, from the end."""

_LABELS = frozenset({"sql", "sqlite", "sqlite3", "duckdb", "postgres", "postgresql", "mysql", "ansi-sql"})
_NONE = frozenset({""})
_READ = r"(?:SELECT|WITH|VALUES|select|with|values)"
_OTHER = r"(?:INSERT|DELETE|UPDATE|DROP|CREATE|ALTER|ATTACH|PRAGMA|EXPLAIN|insert|delete|drop|pragma)"
_FIRST = re.compile(rf"\s*(?:(?i:{_READ}|{_OTHER})\b|\(|--|/\*|;)")
_LABEL = r"(?i:(?:the |my |final |sql )?(?:sql|query|answer|statement))(?: is)?[*_]{0,2}[ \t]?[:=][*_]{0,2}"
_LINE = re.compile(
    rf"^[ \t]{{0,9}}[*_>]{{0,3}} ?(?:{_LABEL}[ \t]{{0,9}}(?:\n[ \t]{{0,9}})?)?({_READ}|{_OTHER})\b[^\n]*", re.MULTILINE
)
_QUERY_LINE = re.compile(rf"^[ \t]{{0,9}}{_READ}\b", re.MULTILINE)
_STATEMENT_END = re.compile(r"'[^']*'|\"[^\"]*\"|;[ \t]*[*_`]{0,3}[ \t]*\n\s*|\n[ \t]*\n\s*")
_CLAUSES = frozenset(
    """FROM WHERE GROUP ORDER HAVING LIMIT OFFSET JOIN LEFT RIGHT INNER OUTER CROSS FULL NATURAL ON USING AND OR NOT
    UNION EXCEPT INTERSECT SELECT VALUES CASE WHEN THEN ELSE END AS IN BETWEEN LIKE WINDOW QUALIFY FETCH""".split()  # noqa: SIM905
)
_TALK = re.compile(r"[A-Z][a-z]+ [^\n]*[.:!?](?:\n|\Z)")
"""A first line such as ``With one filter this is easy.``, which begins with a word of SQL."""
_WORD = re.compile(r"[^\W\d]\w*")


def find_query(text: str) -> str | None:
    """The text that counts as the query; ``None`` where there is none."""
    rest = after_thinking(text)
    if rest is None:
        return None
    rest = rest.replace("\r\n", "\n")
    found = _find(rest)
    return well_formed(found).strip().lstrip("\ufeff") or None


def _find(text: str) -> str:
    blocks = fenced_blocks(text)
    marked = answers(text, blocks)
    if marked and "<answer>" not in text:
        marked = [one for one in marked if _is_query(_inside(one))]
    if marked:
        return _joined([_inside(one) for one in marked])
    return _block(blocks) if blocks else _bare(text)


def _inside(text: str) -> str:
    """The query in what was marked as the answer."""
    blocks = fenced_blocks(text)
    return _block(blocks) if blocks else _bare(text)


def _block(blocks: list[Block]) -> str:
    complete = [block for block in blocks if block.closed]
    for labels in (_LABELS, _NONE):
        some = [block for block in complete if block.label in labels][-LOOKS:]
        queries = [block.text for block in some if _is_query(block.text)]
        if queries:
            return queries[-1]
    block = pick_block(blocks, _LABELS)
    return block.text if block is not None else ""


def _bare(text: str) -> str:
    if len(text) > 4 * MAX_QUERY:
        return text
    if _FIRST.match(text.lstrip("\ufeff")) and not _TALK.match(text.strip()):
        return _statement(text)
    pieces = [span.text for span in inline(text)[-LOOKS:] if _is_query(span.text)]
    if pieces:
        return _joined(pieces)
    for match in _LINE.finditer(text):
        if not is_prose(match[0]) or not match[0].rstrip().endswith((".", ":", "!", "?")):
            return _statement(text[match.start(1) :])
    return text


def _is_query(text: str) -> bool:
    return len(text) <= MAX_QUERY and len(text.split()) > 1 and refusal(text) is None and not _sentence(text.strip())


def _sentence(text: str) -> bool:
    return "\n" not in text and is_prose(text) and text.endswith((".", "!", "?", ":"))


def _joined(queries: list[str]) -> str:
    """One of them where all are the same, else all, which are several statements."""
    different = {" ".join(query.split()).rstrip("; "): query for query in reversed(queries)}
    return ";\n".join(reversed(different.values()))


def _statement(text: str) -> str:
    """A text that begins with a statement, without the prose behind it. Where a query begins there, all of it."""
    last = max((match.start() for match in _QUERY_LINE.finditer(text)), default=0)
    for match in _STATEMENT_END.finditer(text):
        if match[0][0] in "'\"":
            continue
        end = text.find("\n", match.end())
        line = text[match.end() : end if end >= 0 else len(text)][:2000].strip("*_# \t")
        word = _WORD.match(line)
        if word is None or word[0].upper() in _CLAUSES or not word[0][0].isupper() or word[0].isupper():
            continue
        if last < match.end() and (is_prose(line) or line.endswith(":")):
            return text[: match.start()].rstrip(" \t*_`")
    return text.strip().removesuffix("**") if text.rstrip().endswith(";**") else text
