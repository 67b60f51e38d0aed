"""One spelling for what has several: rows of equations, packages for units, words that compare, other scripts."""

from __future__ import annotations

import re

from lydite.verifiers.math.notations import inward
from lydite.verifiers.math.units import parse_unit

_MINUS = re.compile(r"(?:negative|minus)\s(?=[\d\\$.])", re.IGNORECASE)
_POINT = re.compile(r"(?<=\d)\{\.\}(?=\d)")
_ROUGHLY = re.compile(
    r"(?<=\S)\s*,?\s*(?:\\text\s?\{\s?)?,?\s?(?:or |which is |that is |i\.e\. )?"
    r"(?:about|approximately|approx\.?|roughly)\s\}?\s?"
)
_OPERATOR = re.compile(r"\{([-+=<>])\}")
_GATHERED = re.compile(
    r"\\begin\{(aligned|align\*?|gathered|split|array|matrix|cases)\}(?:\{[clr| ]{0,12}\})?(.{1,2000}?)\\end\{\1\}",
    re.DOTALL,
)
_QUANTITY = re.compile(r"\\(?:qty|SI)\s?\{([^{}]{1,40})\}\s?\{([^{}]{1,40})\}")
_NUMERAL = re.compile(r"\\num\s?\{([^{}]{1,60})\}")
_LETTER = re.compile(r"\\(?:text|mathrm)\s?\{([A-Z]{1,8})\}(?=[\dA-Z_])")
_UNIT_IN_BRACKETS = re.compile(r"\\text\s?\{\s?\(([A-Za-z][A-Za-z/^ \d]{0,20})\)\s?\}$")
_WITHOUT = re.compile(r"(\\mathbb\{[A-Z]\})\s?\\\s+\\?\{([^{}]{1,40})\\?\}")
_LABELLED = re.compile(r"^[^\x00-\x7f]{1,12}\s?:\s?(?=[\x21-\x7e])")
_COUNTED = re.compile(r"(?<=[\d}])\s?(?:\\text\s?\{\s?)?([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{1,4})\s?\}?$")
_EASTERN = {
    "元": "yuan", "円": "yen", "度": "degrees", "米": "m", "厘米": "cm", "千米": "km", "公里": "km", "小时": "hours",
    "分钟": "minutes", "秒": "seconds", "天": "days", "千克": "kg", "公斤": "kg", "克": "g", "升": "L",
}  # fmt: skip
_THAN = re.compile(
    r"(?:\\text\s?\{\s?)?(?:all |any )?(?:the )?(?:real )?(?:numbers|values|reals)(?: of)? ?(?:[a-z] )?(?:that are )?"
    r"(greater|less|larger|smaller) than( or equal to)? \}?\s?([-\d\\./a-z{} ]{1,40}?)\}?$",
    re.IGNORECASE,
)
_ALL = re.compile(r"(?:\\text\s?\{\s?)?(?:for )?all \}?\s?(?=\$?[a-z]\s?(?:[<>]|\\[lg]e|\\ne|\\in|=))", re.IGNORECASE)


def respelled(clean: str) -> str:
    """The answer in one spelling; linear in it."""
    if "{" in clean:
        clean = _unbraced(clean)
    if not clean.isascii():
        clean = _western(clean)
    if " than " in clean or "all " in clean[:12]:
        clean = _compared(clean)
    if clean[:4] in ("nega", "minu", "Nega", "Minu"):
        clean = _MINUS.sub("-", clean)
    if "[" in clean or "]" in clean:
        clean = inward(clean)
    if "{:}" in clean:
        clean = clean.replace("{:}", ":")
    if ("about" in clean or "approx" in clean or "roughly" in clean) and "\\approx" not in clean:
        clean = _ROUGHLY.sub(r" \\approx ", clean)
    if "{}^" in clean or "{.}" in clean:
        clean = _POINT.sub(".", clean.replace("{}^", "^"))
    return clean


def _unbraced(clean: str) -> str:
    """One spelling for braces around operators, rows of equations, packages for units, and the like."""
    if "{+}" in clean or "{-}" in clean or "{=}" in clean or "{<}" in clean or "{>}" in clean:
        clean = _OPERATOR.sub(r"\1", clean)
    if "\\mathord" in clean:
        clean = clean.replace("\\mathord{,}", "{,}")
    if "\\begin" in clean:
        clean = _rows(clean)
    if "\\qty" in clean or "\\SI" in clean:
        clean = _QUANTITY.sub(
            lambda match: f"{match.group(1)} \\text{{ {match.group(2).replace(chr(92), ' ').strip()}}}", clean
        )
    if "\\num" in clean:
        clean = _NUMERAL.sub(r"\1", clean)
    if clean[-2:] == ")}" and (stated := _UNIT_IN_BRACKETS.search(clean)) is not None:
        unit = parse_unit(stated.group(1))
        if unit is not None and not any(name.startswith("of:") for name, _ in unit.dims):
            clean = f"{clean[: stated.start()]} \\text{{ {stated.group(1)}}}"
    if "_" in clean:
        clean = _LETTER.sub(r"\1", clean)
    if "\\mathbb" in clean:
        clean = _WITHOUT.sub(r"\1 \\setminus \\{\2\\}", clean)
    return clean


def _western(clean: str) -> str:
    """Without a label before the answer in a script of its own; with the unit behind it in English."""
    clean = _LABELLED.sub("", clean)
    counted = _COUNTED.search(clean)
    if counted is None:
        return clean
    unit = _EASTERN.get(counted.group(1))
    return clean[: counted.start()] + (f" \\text{{ {unit}}}" if unit else "")


def _compared(clean: str) -> str:
    """All real numbers greater than 5, all x > 5: as an interval or relation."""
    told = _THAN.fullmatch(clean)
    if told is not None:
        which, equal, end = told.groups()
        if which.casefold() in ("greater", "larger"):
            return f"{'[' if equal else '('}{end}, \\infty)"
        return f"(-\\infty, {end}{']' if equal else ')'}"
    return _ALL.sub("", clean)


def _rows(clean: str) -> str:
    """Equations one under the other as a list; a lone entry as itself."""
    match = _GATHERED.fullmatch(clean)
    if match is None:
        return clean
    name, body = match.groups()
    rows = [row.strip() for row in body.split("\\\\") if row.strip()]
    plain = name not in ("array", "matrix", "cases")
    if plain:
        rows = [row.replace("&", "") for row in rows]
    single = len(rows) == 1 and "&" not in rows[0]
    equations = all("=" in row and "&" not in row for row in rows)
    return ", ".join(rows) if (single or equations) else clean
