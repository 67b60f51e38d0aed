r"""From text to tokens, in one pass. TeX dressing (``\left``, ``\text{...}``, colours, spaces) goes here."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

from lydite.verifiers.math.nodes import NotMathError, TooBigError
from lydite.verifiers.math.numerals import number, repeating

_split = str.split  # tables of words stay readable

MAX_TOKENS = 600
MAX_SCALE = 2000
"""Largest decimal exponent in ``1e2000``."""

_LEX = re.compile(
    r"(?P<repeat>\d*\.\d*(?:\\(?:overline|bar|dot)\s?\{?\d+\}?(?:\d*\\dot\s?\{?\d\}?)?(?:\\[lc]?dots|\.\.\.)?|\(\d+\)(?![\d(])|\d(?:\\[lc]?dots|\.\.\.)(?:\d*)))"
    r"|(?P<num>\d{1,3}(?:(?:\{,\}|\\[,;!]\s?|\\!,\\!|\\!,|,\\!|\\ |~|\\thinspace\s|')\d{3})+(?!\d)(?:\.\d+)?"
    r"|\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])"
    r"|\d{1,3}(?: \d{3})+(?![\d/.,])|\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<env>\\(?:begin|end)\s?\{[A-Za-z]{1,20}\*?\}(?:\{[clr|@ ]{0,40}\})?)"
    r"|(?P<cmd>\\(?:[A-Za-z]+|[^A-Za-z]))"
    r"|(?P<name>[A-Za-z]+)"
    r"|(?P<space>\s+|~)"
    r"|(?P<op>\*\*|\+/-|<=|=<|:=|>=|!=|==|=>|->|\.\.\.|[^\sA-Za-z\d])",
    re.DOTALL,
)
_ALONE = frozenset("()[]{},;^_|/&%")  # what begins no longer token
_SCALE = re.compile(r"[eE]([-+]?\d{1,9})(?![\d.])")

_SKIP = frozenset(
    _split(
        "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle textstyle"
        " scriptstyle limits displaylimits nobreak allowbreak protect centering therefore newline"
        " quad qquad nolimits bf rm it sf tt bfseries rmfamily mathstrut strut large Large"
        " LARGE huge Huge normalsize small footnotesize scriptsize tiny hfill thinspace enspace , ; : ! > <"
        " boldmath unboldmath middle"
    )
)
_TEXT = frozenset(
    _split("text textbf textit textrm textsf texttt textnormal textup mbox hbox emph fbox boxed framebox")
)
_ROMAN = frozenset(
    _split(
        "mathrm mathbf mathit mathsf mathtt mathnormal mathcal mathscr mathfrak mathord mathopen mathclose mathbin"
        " boldsymbol bm underline operatorname pmb mathop"
        " ensuremath cancel"
    )
)
_ARGUMENTS = {
    "textcolor": 1, "colorbox": 1, "color": 1, "fcolorbox": 2, "phantom": 1, "hphantom": 1, "vphantom": 1, "hspace": 1,
    "vspace": 1, "label": 1, "tag": 1, "href": 1, "fontsize": 2, "raisebox": 1, "style": 1,
    "overset": 1, "underset": 1, "stackrel": 1,
}  # fmt: skip
"""Commands of which so many arguments leave nothing on the page that counts."""
_ARGUMENT = re.compile(r"\*?\s*(?:\[[^\[\]{}]{0,40}\]\s*)?\{[^{}]{0,80}\}")
_ROW_GAP = re.compile(r"\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in)\s*\]")
_TIMES = re.compile(r"\s*\}?\s*10\s*(?:\^|\*\*)")
_RENAME = {
    "leq": "le", "leqslant": "le", "geq": "ge", "geqslant": "ge", "neq": "ne", "lt": "<", "gt": ">",
    "varnothing": "emptyset", "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "dbinom": "binom",
    "tbinom": "binom", "ast": "*", "cdots": "ldots", "dots": "ldots", "dotsc": "ldots", "implies": "Rightarrow",
    "Longrightarrow": "Rightarrow", "rightarrow": "to", "longrightarrow": "to", "iff": "Leftrightarrow",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "lbrace": "{", "rbrace": "}", "lbrack": "[",
    "rbrack": "]", "land": "and", "wedge": "and", "lor": "or", "vee": "or", "backslash": "setminus",
    "degree": "circ", "colon": ":", "simeq": "approx", "sim": "approx", "N": "N", "varphi": "phi",
    "varepsilon": "epsilon", "textdegree": "circ", "dollar": "$", "textdollar": "$", "euro": "€", "pounds": "£",
    "vartheta": "theta", "nicefrac": "frac", "sfrac": "frac", "surd": "sqrt", "cr": "\\",
    "lparen": "(", "rparen": ")", "lnot": "neg", "yen": "¥",
}  # fmt: skip
FUNCTIONS = frozenset(
    _split(
        "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh log ln lg exp gcd lcm max min"
        " sqrt cbrt abs floor ceil"
        " asin acos atan det mod sech csch coth"
    )
)
_PLAIN = {
    "pi": "pi",
    "infinity": "infty",
    "inf": "infty",
    "oo": "infty",
    "infty": "infty",
    "theta": "theta",
    "alpha": "alpha",
    "beta": "beta",
}
_OPS = {"==": "=", "**": "^", "...": "ldots", "+/-": "pm", "=<": "<="}
_WORDS_KEPT = frozenset(["and", "or"])


class Token(NamedTuple):
    """Type (``num``, ``cmd``, ``sym``, ``word``, ``op``, ``env``), value, and whether white space stands before it."""

    type: str
    value: Any
    spaced: bool = False
    text: bool = False  # from within \text{...}


def tokenize(text: str, thousands: bool = True) -> list[Token]:
    """Tokens of a normalised answer.

    Args:
        text: the answer.
        thousands: whether ``1,250`` outside of brackets is one number.

    Raises:
        NotMathError: a character or a construct that is no mathematics.
        TooBigError: too many tokens or digits.
    """
    out: list[Token] = []
    braces: list[str] = []  # what each open brace is: "{", or "text", "roman" for one that leaves no token
    depth = 0
    spaced = False
    pending = ""  # the next brace opens this kind of group
    at, size = 0, len(text)
    while at < size:
        value, begin = text[at], at
        if value == " ":
            at += 1
            spaced = True
            continue
        if value in _ALONE:
            kind, at = "op", at + 1
        else:
            match = _LEX.match(text, at)
            if match is None:
                raise NotMathError
            kind, value = str(match.lastgroup), match.group()
            at = match.end()
            if kind == "space":
                spaced = True
                continue
        in_text = bool(braces) and braces[-1] in ("text", "roman")
        if len(out) > MAX_TOKENS:
            raise TooBigError
        if kind == "num":
            if "," in value and "{,}" not in value and "\\" not in value and (depth or not thousands):
                value = value.partition(",")[0]  # within brackets a comma parts the coordinates
                at = begin + len(value)
            if out and out[-1].value in ("_", "^") and not value.replace(".", "").isdigit():
                value = value[: next(i for i, char in enumerate(value) if not (char.isdigit() or char == "."))]
                at = begin + len(value)  # \\log_2 256: the subscript ends at the space
            scale = _SCALE.match(text, at) if text[at : at + 1] in ("e", "E") else None
            plain = value.isdigit()
            amount = number(value if plain else "".join(char for char in value if char.isdigit() or char == "."))
            if scale:
                if abs(int(scale.group(1))) > MAX_SCALE:
                    raise TooBigError
                amount *= Fraction(10) ** int(scale.group(1))
                at = scale.end()
            out.append(Token("num", (amount, value if not scale else ""), spaced, in_text))
        elif kind == "repeat":
            out.append(Token("num", (repeating(value), ""), spaced))
        elif kind == "env":
            out.append(
                Token("env", ("begin" in value[:7], value[value.index("{") + 1 : value.index("}")].rstrip("*")), spaced)
            )
        elif kind == "name":
            if value == "x" and out and out[-1].type == "num" and _TIMES.match(text, at):
                out.append(Token("cmd", "times", spaced))  # 4.5 x 10^6
            else:
                _name(value, spaced, braces, out)
        elif kind == "cmd":
            name = value[1:]
            if name in _TEXT or name in _ROMAN:
                pending = "text" if name in _TEXT else "roman"
                spaced = spaced or name in _TEXT
                continue
            if name in _ARGUMENTS:
                for _ in range(_ARGUMENTS[name]):
                    argument = _ARGUMENT.match(text, at)
                    if argument is None:
                        raise NotMathError
                    at = argument.end()
                pending = "roman" if text[at : at + 1] == "{" else ""
                continue
            if name in ("\\", "cr") and (gap := _ROW_GAP.match(text, at)):
                at = gap.end()
            if name in ("left", "right") and text[at : at + 1] == ".":
                at += 1
            if name in _SKIP or name.isspace():
                spaced = spaced or name not in ("!", "left", "right")
                continue
            _command(name, spaced, out)
            depth += (name == "{") - (name == "}")
        else:
            if value == "{":
                braces.append(pending or "{")
                if not pending:
                    out.append(Token("op", "{", spaced))
                elif pending == "text":
                    spaced = True
                pending = ""
                if braces[-1] in ("text", "roman"):
                    continue
            elif value == "}":
                if not braces:
                    raise NotMathError
                closed = braces.pop()
                if closed == "{":
                    out.append(Token("op", "}", spaced))
                else:
                    spaced = closed == "text"
                    continue
            elif value == "&" or value not in "$`":
                depth += (value in "([") - (value in ")]")
                out.append(Token("op", _OPS.get(value, value), spaced, in_text))
            elif value == "$":
                out.append(Token("op", "$", spaced))
        pending = "" if kind != "cmd" and value != "}" else pending
        spaced = False
    if braces:
        raise NotMathError
    return out


def _command(name: str, spaced: bool, out: list[Token]) -> None:
    name = _RENAME.get(name, name)
    if name in ("<", ">", "|", "[", "]", ":", "$", "*", "%", "&", "#", "_", "€", "£", "¥", "(", ")"):
        out.append(Token("op", name, spaced))
    elif name in ("and", "or"):
        out.append(Token("word", name, True))
    elif name == "." or name == "-" or name == "'":
        return
    else:
        out.append(Token("cmd", name, spaced))


def _name(run: str, spaced: bool, braces: list[str], out: list[Token]) -> None:
    """A run of letters: a function, a constant, a word, or symbols one by one."""
    in_text = bool(braces) and braces[-1] in ("text", "roman")
    if len(run) == 1:
        after_number = bool(out) and (
            out[-1].type == "num" or (out[-1].value == "/" and len(out) > 1 and out[-2].type == "word")
        )
        unit = in_text and (after_number or (bool(out) and out[-1].value in ("/", "}"))) and run not in "eix"
        out.append(Token("word" if unit else "sym", run, spaced, in_text))
    elif run in _PLAIN:
        out.append(Token("cmd", _PLAIN[run], spaced))
    elif run in FUNCTIONS and not (run in ("min", "sec") and out and out[-1].type == "num"):
        out.append(Token("cmd", run, spaced))
    elif not in_text and (_is_product(run) or (run in _LETTERS and not _counts(out))):
        out.extend(Token("sym", letter, spaced and index == 0) for index, letter in enumerate(run))
    else:
        out.append(Token("word", run.lower() if run.lower() in _WORDS_KEPT else run, spaced, in_text))


_UNIT_PAIRS = frozenset(
    _split(
        "cm mm km kg mg ml mL ft in yd mi lb oz hr pm am PM AM or is if no to of at by on so be he me we"
        " it Rs kW Hz dm nm US hrs yrs lbs kms cms mins secs"
    )
)


_LETTERS = frozenset(["hr", "nm", "ml", "dm", "mi"])


def _counts(out: list[Token]) -> bool:
    """Whether a number or another unit stands before: hr is a unit in 60 km/hr, a product in 2\\pi hr."""
    return bool(out) and (out[-1].type in ("num", "word") or out[-1].value in ("/", "}", "*", "cdot", ")"))


def _is_product(run: str) -> bool:
    """Whether letters in a row are a product (``ab``, ``xyz``) and not a word or a unit."""
    if run in _UNIT_PAIRS:
        return False
    if len(run) == 2:
        return run.islower() or run[1].islower() is False
    return (
        len(run) <= 4
        and run.islower()
        and (list(run) == sorted(set(run)) or run in ("xyz", "wxyz"))
        and not set("iou") & set(run)
    )
