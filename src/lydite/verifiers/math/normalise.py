"""One spelling for characters: what looks the same to a reader becomes the same text. Linear in the text."""

from __future__ import annotations

import re
import unicodedata

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱˣ", "0123456789+-()nix", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₙₖₘ", "0123456789+-nkm", strict=True))
_CHARS = {
    "−": "-", "‒": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "×": r"\times ", "✕": r"\times ",
    "⋅": r"\cdot ", "·": r"\cdot ", "∙": r"\cdot ", "•": r"\cdot ", "∗": "*", "÷": r"\div ", "∕": "/", "⁄": "/",
    "√": r"\sqrt ", "∛": r"\sqrt[3]", "∜": r"\sqrt[4]", "π": r"\pi ", "∞": r"\infty ", "±": r"\pm ", "∓": r"\mp ",
    "°": r"^\circ ", "º": r"^\circ ", "˚": r"^\circ ", "≤": r"\le ", "≦": r"\le ", "⩽": r"\le ", "≥": r"\ge ",
    "≧": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "≡": r"\equiv ", "∪": r"\cup ", "∩": r"\cap ",
    "∈": r"\in ", "∅": r"\emptyset ", "⌀": r"\emptyset ", "∖": r"\setminus ", "→": r"\to ", "⇒": r"\Rightarrow ",
    "⟹": r"\Rightarrow ", "↔": r"\Leftrightarrow ", "⇔": r"\Leftrightarrow ", "…": r"\ldots ", "⋯": r"\ldots ",
    "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "∶": ":",
    "′": "'", "’": "'", "‘": "'", "“": '"', "”": '"', "，": ",", "、": ",", "；": ";", "：": ":", "。": ".", "（": "(",
    "）": ")", "⟨": r"\langle ", "⟩": r"\rangle ", "〈": r"\langle ", "〉": r"\rangle ", "∧": r" and ", "∨": r" or ",
    "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ", "٪": "%", "％": "%", "٫": ".", "٬": ",", "\u200b": "",
    "\u200c": "", "\u200d": "", "\ufeff": "", "\u2060": "", "\u2009": r"\,", "\u202f": r"\,", "\u00a0": " ",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "∣": "|", "￥": "¥", "￡": "£", "＄": "$",
    "𝑖": "i", "ⅈ": "i", "ℯ": "e", "ⅇ": "e",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "λ": "lambda", "μ": "mu",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi", "ψ": "psi", "ω": "omega", "Δ": "Delta",
    "Ω": "Omega", "ξ": "xi", "η": "eta", "ζ": "zeta", "κ": "kappa", "χ": "chi",
}  # fmt: skip


def normalise(text: str) -> str:
    """ASCII where there is an ASCII or TeX spelling; digits of any script; NFKC for the rest."""
    if text.isascii():
        return text
    out: list[str] = []
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if char in _SUPER or char in _SUB:
            table, mark = (_SUPER, "^") if char in _SUPER else (_SUB, "_")
            end = at
            while end < size and text[end] in table:
                end += 1
            if char in "⁻⁺" and end == at + 1 and not (out and out[-1].strip()):
                mark = ""  # a raised sign before a number is its sign
            out.append(_SUPER[char] if not mark else mark + "{" + "".join(table[c] for c in text[at:end]) + "}")
            at = end
            continue
        at += 1
        if char < "\x80":
            out.append(char)
        elif char in _CHARS:
            out.append(_CHARS[char])
        elif char in _GREEK:
            out.append("\\" + _GREEK[char] + " ")
        else:
            out.append(_other(char))
    return "".join(out)


def _other(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", char)
    if "⁄" in plain:  # a vulgar fraction
        top, _, bottom = plain.partition("⁄")
        return f" \\frac{{{top or 1}}}{{{bottom}}}" if bottom else plain
    return plain if plain == char else "".join(_CHARS.get(c, c) for c in plain)


_PAIRS = (
    ("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"), ('"', '"'), ("`", "`"), ("'", "'"),
    ("__", "__"),
)  # fmt: skip
_SPACES = (r"\ ", r"\,", r"\;", r"\!", r"\:", r"\quad", r"\qquad", r"\\")
_POINTS = ".,;:*`~ \t\r\n"


_OPENING = frozenset("*`~$\"'_")
_CLOSING = frozenset(' \t\r\n*`~$".,;:!\\')


def _dressed(text: str) -> bool:
    """Whether there may be something to trim: a look at both ends."""
    if not text or text[0].isspace() or text[0] in _OPENING or text[-1] in _CLOSING or text.endswith("quad"):
        return True
    return text[0] == "\\" and (not text[1:2].isalpha() or text.startswith(("\\displaystyle", "\\quad", "\\qquad")))


def trim(text: str) -> str:
    """Without outer white space, delimiters of mathematics, emphasis and closing punctuation."""
    if not _dressed(text):
        return text
    while True:
        before = text
        text = text.strip(" \t\r\n*`~").removeprefix("\\displaystyle").lstrip()
        for space in _SPACES:
            text = text.removeprefix(space) if space != r"\\" else text
            text = text.removesuffix(space)
        if text.endswith("''") and text[-3:-2].isalpha():
            text = text[:-2]
        if text.endswith("\\") and not text.endswith("\\\\"):
            text = text[:-1]  # of "\\ ", whose space went before
        if not text.endswith(("...", r"\.", r"\,", r"\;", r"\:")):
            text = text.rstrip(_POINTS)
        for start, end in _PAIRS:
            inner = text[len(start) : -len(end)]
            if text.startswith(start) and text.endswith(end) and inner and start not in inner and end not in inner:
                text = inner
        if text.startswith("$") and text.count("$") == 1 and not text[1:].lstrip(" -")[:1].isdigit():
            text = text[1:]
        if text == before:
            return text


_COMMAND = re.compile(r"\\([A-Za-z]+)\*?\s*")
_ARGUMENT = re.compile(r"(?:\[[^\[\]{}]{0,40}\]\s*)?\{[^{}]{0,80}\}\s*")
_PASSED_OVER = {
    "large": 0, "Large": 0, "LARGE": 0, "huge": 0, "Huge": 0, "normalsize": 0, "small": 0, "displaystyle": 0,
    "textstyle": 0, "bf": 0, "it": 0, "rm": 0, "sf": 0, "bfseries": 0, "centering": 0, "quad": 0, "qquad": 0,
    "hfill": 0,
    "phantom": 1, "hphantom": 1, "vphantom": 1, "hspace": 1, "vspace": 1, "color": 1, "label": 1, "boxed": 0, "fbox": 0,
    "framebox": 0, "textcolor": 1, "colorbox": 1, "fcolorbox": 2, "bbox": 0,
}  # fmt: skip
"""Commands at the start of an answer that only dress it, with the number of arguments that do not show."""


def undressed(text: str) -> str:
    """The answer without braces, boxes, sizes and colours around all of it."""
    for _ in range(16):
        if text[:1] == "{" and _closes_last(text) and not _SPLITS.search(text):
            text = text[1:-1].strip()
            continue
        command = _COMMAND.match(text)
        count = _PASSED_OVER.get(command.group(1)) if command is not None else None
        if command is None or count is None:
            break
        at = command.end()
        if command.group(1) == "bbox" and (options := _OPTIONS.match(text, at)) is not None:
            at = options.end()
        for _ in range(count):
            argument = _ARGUMENT.match(text, at)
            if argument is None:
                return text
            at = argument.end()
        if at >= len(text) or (command.group(1) in _BOXES and not _closes_last(text[at:])):
            return text
        text = text[at:]
    return text


_BOXES = frozenset(["boxed", "fbox", "framebox", "bbox", "textcolor", "colorbox", "fcolorbox"])
_SPLITS = re.compile(r"\\(?:over|choose|atop)(?![A-Za-z])")
_OPTIONS = re.compile(r"\[[^\[\]]{0,80}\]\s*")


def _closes_last(text: str) -> bool:
    """Whether the first brace is closed by the last character."""
    if text[-1] != "}" or len(text) < 3:
        return False
    depth = 0
    for match in _BRACES.finditer(text):
        piece = match.group()
        depth += 1 if piece == "{" else -1 if piece == "}" else 0
        if depth == 0:
            return match.end() == len(text)
    return False


_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
