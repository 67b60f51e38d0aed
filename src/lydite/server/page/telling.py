"""How numbers, times and a policy's words are put."""

from __future__ import annotations

import math
import re
import time as clock
from datetime import UTC, datetime

from markupsafe import Markup, escape

MISSING = "–"

SIGNALS = {
    "mixed": "right and wrong answers: something to learn from",
    "all_correct": "no signal: every attempt earned the same, all are correct (too easy)",
    "all_wrong": "no signal: every attempt earned the same, none is correct (too hard)",
    "invalid": "no signal: no attempt could be judged",
}
"""What a group can teach (``reward.Signal``), in words."""

_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Characters that nobody would see, or that change how others are seen: controls, marks of direction, half pairs."""


def number(value: float | None, digits: int = 3) -> str:
    """A figure with at most so many significant digits, never in exponents between 0.001 and a million."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size == 0:
        return "0"
    if 1e-3 <= size < 1e6:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        text = f"{value:,.{places}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    else:
        text = f"{value:.{digits - 1}e}".replace("e-0", "e-").replace("e+0", "e")
    return text.replace("-", "−", 1) if text.startswith("-") else text


def signed(value: float | None, places: int = 2) -> str:
    """A reward or an advantage: always with its sign, and as many places as its neighbours."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:+.{places}f}"
    return text.replace("-", "−")


def percent(value: float | None, places: int = 0) -> str:
    """A share as per cent. What is not quite none or all does not look so."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{100 * value:.{places}f}"
    if value > 0 and float(text) == 0:
        return f"<{10**-places:g} %"
    if value < 1 and float(text) == 100:
        return f">{100 - 10**-places:g} %"
    return f"{text} %"


def count(value: int | None) -> str:
    """A whole number with thousands apart."""
    return MISSING if value is None else f"{value:,}"


def many(value: int, noun: str, plural: str = "") -> str:
    """So many of something: ``1 task``, ``2 tasks``."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def size(value: int | None) -> str:
    """Bytes, or characters, in a unit of sense."""
    if value is None:
        return MISSING
    amount, unit = float(value), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{value} B" if unit == "B" else f"{amount:.1f} {unit}"


def duration(seconds: float | None) -> str:
    """Seconds as people say them."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    if seconds < 0.0995:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < 48 else f"{hours // 24} days"


def moment(value: float | str | None) -> float | None:
    """Seconds since the epoch of a time that is such, or ISO 8601."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    return value


def ago(value: float | str | None, now: float | None = None) -> str:
    """How long ago; ``keys.js`` keeps it true."""
    then = moment(value)
    if then is None:
        return MISSING
    passed = (clock.time() if now is None else now) - then
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if passed >= length:
            return f"{int(passed // length)} {unit} ago"
    return "just now" if passed < 10 else f"{int(passed)} s ago"


def iso(value: float | str | None) -> str:
    """A time for machines, in UTC."""
    then = moment(value)
    try:
        return "" if then is None else datetime.fromtimestamp(then, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def short(digest: str | None, length: int = 10) -> str:
    """The beginning of a digest."""
    return (digest or MISSING)[:length]


def clip(text: str | None, length: int = 80) -> str:
    """The beginning of a text, in one line, with an ellipsis where there is more."""
    line = " ".join((text or "")[: 4 * length].split())
    return line if len(line) <= length and len(text or "") <= 4 * length else line[: length - 1] + "…"


def reason(code: str | None) -> str:
    """A reason code in words."""
    return (code or MISSING).replace("_", " ")


def words(text: str | None, limit: int | None = None) -> Markup:
    """What a policy said, as text: escaped, and characters that nobody would see are shown by their number.

    Args:
        text: anything.
        limit: characters after which it is cut; the caller says so and links to all of it.
    """
    shown = text or ""
    if limit is not None:
        shown = shown[:limit]
    escaped = str(escape(shown.replace("\r\n", "\n")))
    return Markup(_ODD.sub(_odd, escaped))  # noqa: S704 (escaped, and what `_odd` makes holds only numbers)


def _odd(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code == 0x1B:
        name = "ESC"
    elif code < 0x20:
        name = f"^{chr(code + 64)}"
    else:
        name = f"{code:04X}"
    return f'<span class="odd" title="U+{code:04X}">{name}</span>'
