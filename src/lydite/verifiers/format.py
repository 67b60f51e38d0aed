"""``format``: the completion has certain tags, each once and with something in it.

Config: ``{required: [tags], forbidden?: [tags or texts]}``. A tag is ``think`` or ``<think>``, both mean the same.
Score = requirements that are met / requirements.

A required tag is met by exactly one ``<tag>`` and one ``</tag>`` after it, with content: at least one letter or digit
(or ``∞`` or ``∅``, which are values) outside of other tags. None of ``<think></think>``, ``<think>...</think>``,
``<think>★</think>`` and ``<think>&nbsp;</think>`` earns anything. Whatever else looks like the tag (``<Think>``,
``<think/>``, ``<think x="1">``) is one too many. Required tags may come in any order and stand within each other, but
may not cross.

A forbidden ``<tag>`` is met where no such tag stands in the text, opening or closing, in any spelling; any other
forbidden text where it does not occur, whatever the case. A space in it stands for white space of any kind and length,
line ends included; characters that nobody sees do not part a text. That something is absent earns nothing by itself: it
counts once a required tag is met.
"""

from __future__ import annotations

import html
import re
from typing import Annotated, Any, NamedTuple

import msgspec

from lydite.errors import InputError
from lydite.verdict import Part, Verdict
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import is_refusal

MAX_REQUIREMENTS = 50
MAX_TEXT = 200
"""Characters of a forbidden text."""

_NAME = re.compile(r"<?([A-Za-z][\w.:-]{0,59})>?")
_BLANK = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters by category that nobody sees: the fillers of Hangul."""
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_NAMED = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
"""A character by its name in HTML."""
_WHITE = re.compile(r"[\s\u2800]++")


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    required: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_REQUIREMENTS)]
    forbidden: Annotated[list[str], msgspec.Meta(max_length=MAX_REQUIREMENTS)] = []


class _Seen(NamedTuple):
    """A tag in the text. ``spelled``: exactly ``<name>`` or ``</name>``."""

    name: str
    closing: bool
    spelled: bool
    start: int
    end: int


class FormatVerifier:
    """Tags, exactly once, with content."""

    name = "format"
    version = 2
    modules = ("lydite.verifiers.format", "lydite.verifiers.text")
    examples = (
        Example(
            config={"required": ["think", "answer"], "forbidden": ["<tool>", "as an AI"]},
            right="<think>6 * 7 is what we need.</think>\n<answer>42</answer>",
            wrong="6 * 7 is what we need.\n<tool>42</tool>",
            hacks={
                "empty tags": "<think></think><answer></answer>",
                "dots in the tags": "<think>...</think><answer>…</answer>",
                "tags that enclose only tags": "<think><answer></answer></think>",
                "signs in the tags": "<think>★</think><answer>😀</answer>",
                "a blank by its name": "<think>&nbsp;</think><answer>&#8203;</answer>",
                "invisible content": "<think>\u200b</think><answer>\u3164</answer>",
                "closing tags again": "<think>a</think></think><answer>42</answer></answer>",
                "tags twice": "<think>a</think><think>b</think><answer>1</answer><answer>42</answer>",
                "closed before it is opened": "</think>6 * 7<think> </answer>42<answer>",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the names of the tags.

        Raises:
            InputError: unknown field, no required tag, a name that is none, one that is named twice or both required
                and forbidden.
        """
        settings = read_config(config, _Config, self.name)
        required = _names(settings.required)
        forbidden = _forbidden(settings.forbidden, required)
        tags = [*required, *(name for name in forbidden.values() if name)]
        pattern = re.compile(
            rf"<[ \t]{{0,8}}(/?)[ \t]{{0,8}}({'|'.join(re.escape(tag) for tag in sorted(tags, key=len, reverse=True))})"
            r"(?![\w.:-])[^<>]{0,200}>",
            re.IGNORECASE,
        )
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            return _judge(submission.text, required, forbidden, pattern, identity)

        return check


def _names(given: list[str]) -> list[str]:
    names: list[str] = []
    for index, text in enumerate(given):
        match = _NAME.fullmatch(text.strip())
        field = f"required.{index}"
        if match is None or text.strip().startswith("<") != text.strip().endswith(">"):
            raise InputError(f"{text[:60]!r} is no tag", field=field, remedy="a name, such as think or <think>")
        if match.group(1).casefold() in {name.casefold() for name in names}:
            raise InputError(f"{match.group(1)!r} is named twice", field=field, remedy="name every tag once")
        names.append(match.group(1))
    return names


def _forbidden(given: list[str], required: list[str]) -> dict[str, str | None]:
    """What is forbidden as given, and the tag's name where it is a tag."""
    forbidden: dict[str, str | None] = {}
    for index, text in enumerate(given):
        field = f"forbidden.{index}"
        if not text.strip() or len(text) > MAX_TEXT:
            raise InputError(f"expected 1 to {MAX_TEXT} characters", field=field, remedy="a text, or <tag>")
        match = _NAME.fullmatch(text.strip()) if text.strip().startswith("<") and text.strip().endswith(">") else None
        name = match.group(1) if match else None
        if name and name.casefold() in {tag.casefold() for tag in required}:
            raise InputError(f"{name!r} is required as well", field=field, remedy="take it out of one of the two")
        if text in forbidden:
            raise InputError(f"{text!r} is named twice", field=field, remedy="name it once")
        if name is None and any(text.casefold() in f"<{tag}></{tag}>".casefold() for tag in required):
            raise InputError(f"{text!r} is a part of a required tag", field=field, remedy="forbid something else")
        forbidden[text] = name
    return forbidden


def _judge(
    text: str, required: list[str], forbidden: dict[str, str | None], pattern: re.Pattern[str], identity: str
) -> Verdict:
    if not text.strip():
        return Verdict.unparseable("no_answer", identity)
    spelled = {name.casefold(): name for name in required}
    seen: dict[str, list[_Seen]] = {}
    for match in pattern.finditer(text):
        name = spelled.get(match.group(2).casefold(), match.group(2).casefold())
        exact = match.group() in (f"<{name}>", f"</{name}>")
        tags = seen.setdefault(name, [])
        if len(tags) < 3:  # more of them say nothing new
            tags.append(_Seen(name, bool(match.group(1)), exact, match.start(), match.end()))
    spans = {name: (tags[0].end, tags[1].start) for name in required if _is_pair(tags := seen.get(name, []))}
    parts = [_required(text, name, seen.get(name, []), spans, pattern) for name in required]
    if not seen and is_refusal(text):
        return Verdict.unparseable("refused", identity, parts=tuple(parts))
    met = sum(part.score == 1 for part in parts)
    plain = any(name is None for name in forbidden.values())
    folded = text.casefold() if plain else ""
    in_one_line = _in_one_line(text) if plain else ""
    for said, tag in forbidden.items():
        if tag:
            found = tag.casefold() in seen
        else:  # other white space than spaces is meant as it stands
            loose = not any(char.isspace() and char != " " for char in said)
            found = said.casefold() in folded or (loose and _in_one_line(said) in in_one_line)
        good = not found and met > 0
        reason = "forbidden" if found else "absent" if good else "absent_from_nothing"
        parts.append(Part(f"not {said[:60]}", float(good), reason))
    score = sum(part.score or 0.0 for part in parts) / len(parts)
    last = next((name for name in reversed(required) if name in spans), None)
    content = text[slice(*spans[last])].strip()[:300] if last else None
    reason = "correct" if score == 1 else next(f"{part.name}:{part.reason}" for part in parts if part.score != 1)
    return Verdict.of(score, reason, identity, extracted=content, parts=tuple(parts))


def _in_one_line(text: str) -> str:
    """Text as it reads, whatever its white space and case."""
    return _WHITE.sub(" ", _UNSEEN.sub("", text)).casefold()


def _is_pair(tags: list[_Seen]) -> bool:
    """Whether these are one opening and one closing tag, in this order."""
    return len(tags) == 2 and all(tag.spelled for tag in tags) and not tags[0].closing and tags[1].closing


def _required(
    text: str, name: str, tags: list[_Seen], spans: dict[str, tuple[int, int]], pattern: re.Pattern[str]
) -> Part:
    if name not in spans:
        opened, closed = sum(not tag.closing for tag in tags), sum(tag.closing for tag in tags)
        if not tags:
            reason = "missing"
        elif not all(tag.spelled for tag in tags):
            reason = "misspelt"
        elif opened > 1 or closed > 1:
            reason = "repeated"
        else:
            reason = "not_closed" if not closed else "not_opened" if not opened else "closed_before_opened"
        return Part(name, 0.0, reason)
    start, end = spans[name]
    inner = [other for key, other in spans.items() if key != name and start <= other[0] <= end]
    outer = [other for key, other in spans.items() if key != name and other[0] <= start <= other[1]]
    if any(other[1] > end for other in inner) or any(other[1] < end for other in outer):
        return Part(name, 0.0, "crossed")
    own: list[str] = []  # what is not within another required tag
    at = start
    for low, high in sorted(inner):
        if low >= at:
            own.append(text[at:low])
            at = high
    own.append(text[at:end])
    content = pattern.sub(" ", " ".join(own)) if "<" in text[start:end] else text[start:end]
    if not _says_something(content):
        return Part(name, 0.0, "empty")
    return Part(name, 1.0, "ok", content.strip()[:100])


def _says_something(content: str) -> bool:
    """Whether there is a letter or digit that can be seen, or a sign that is a value by itself."""
    if "&" in content and ";" in content:
        content = _NAMED.sub(lambda name: html.unescape(name.group()), content)
    return any((char.isalnum() and char not in _BLANK) or char in "∞∅" for char in content)
