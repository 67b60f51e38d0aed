"""What the text behind a box makes of it: taken back, doubted, said once more, or left as it is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from lydite.verifiers.math import claims, disclaimed, second_thoughts
from lydite.verifiers.math.behind import may_belong
from lydite.verifiers.text import holds

Looked = tuple[bool, str | None, claims.Claim | None, tuple[str, ...]]
_WITHDRAW = re.compile(
    r"\b(?:wait|scratch that|on second thought|on reflection|hold on|hmm|oops|correction|disregard|redo(?:ing)?"
    r"|never ?mind|i (?:have )?(?:made|make) (?:a|an) (?:\w{1,12} )?(?:mistake|error|slip)"
    r"|(?:i|we) (?:forgot|was wrong|were wrong|misread|miscalculated)"
    r"|(?:that|this|it|which)(?:'s| is| was| seems| looks)(?: clearly| actually| in fact)?"
    r" (?:wrong|incorrect|not right|not correct|false|a mistake|an error|too (?:big|small|large))"
    r"|strike that|(?:just )?kidding|ignore (?:that|this|the|my)|(?:actually|no)[,.]? (?:no\b|wait|that|it|the|this|i)"
    r"|(?:answer|it|that|this) should (?:instead |really |actually )?(?:be|have been)"
    r"|actually,? \(?(?:[a-j]\)?\.|[-$\\]?\d)|let me (?:re|correct|fix|try again))",
    re.IGNORECASE,
)
# One of these is in whatever _WITHDRAW or _DOUBT matches.
_WITHDRAWING = (
    "wait", "scratch", "thought", "reflection", "hold on", "hmm", "oops", "correction", "disregard", "redo", "mind",
    "mistake", "error", "slip", "forgot", "wrong", "misread", "miscalc", "incorrect", "not right", "not correct",
    "false", "too ", "ignore", "kidding", "strike", "actually", "no ", "no,", "no.", "should", "let me",
)  # fmt: skip
_DOUBTING = (
    "or it ", "or maybe", "or perhaps", "or possibly", "or any", "or else", "or something", "could ", "might ",
    "may ", "not sure", "not certain", "not confident", "guess", "another ",
)  # fmt: skip
_DOUBT = re.compile(
    r"\b(?:or (?:maybe|perhaps|possibly|any|else|something)|(?:could|might|may) (?:also|instead) be"
    r"|not (?:sure|certain|confident)|just (?:a guess|guessing)|(?:is|was) a guess|i(?:'m| am) guessing"
    r"|(?:answer|it) (?:might|may|could) be|another (?:possible|valid) answer|or it (?:could|might|may))\b",
    re.IGNORECASE,
)
_TAIL_OR = re.compile(
    r"[\s$)\].,\\(]{0,6}(?:or(?! (?:equivalently|in other words|simply|as a decimal)\b)|unless|if not)\s"
    r"|[\s$)\]\\]{0,4}\?",
    re.IGNORECASE,
)
# "or 0.5" behind a box: the same once more, or another answer.
_SAYING = (
    "or", "i.e.", "that is", "=",
)  # fmt: skip
_OR_VALUE = re.compile(
    r"[\s$)\].,\\(]{0,6}(?:or|i\.e\.|that is,?|=)\s?(?:\$(?P<tex>[^$\n]{1,80})\$|[\s$]{0,3}((?:[-−]?\d|\\[dt]?frac"
    r"|\\sqrt)[^\s$),;]{0,60})(?:\$|(?=[\s),.;]|$)))"
)
NOTHING: Looked = (False, None, None, ())
MAX_SHORT = 40
CLOSING = " .$*)]\\\n"
_TAGGED = re.compile(r"<answer>\s{0,8}([^<]{1,200}?)\s{0,8}</answer>", re.IGNORECASE)


def _looked_at(tail: str) -> Looked:
    other = _OR_VALUE.match(tail) if holds(tail[:14], _SAYING) else None
    back = taken_back(tail[other.end() :] if other is not None else tail)
    after = claims.anchored(tail) if len(tail) > 8 else []
    marks = claims.marked(tail) if "####" in tail else _TAGGED.findall(tail) if "</" in tail else []
    said = (other.group("tex") or other.group(2)).rstrip(".") if other is not None else None
    again = after[-1].text if after else marks[-1] if marks else said
    back_too, rejected, stated = second_thoughts.behind(tail)
    again = stated if again is None or stated == second_thoughts.NO_SOLUTION else again
    return back or back_too, again, after[-1] if after else None, rejected


# Most answers are followed by a few words that many share: "dollars.", "apples in total.". A longer text is looked at
# once more where the first look at it leads to a full search.
_short_look = lru_cache(maxsize=1024)(_looked_at)
_long_look = lru_cache(maxsize=16)(_looked_at)


def looked_at(tail: str) -> Looked:
    """What stands behind a box: whether it is taken back, the answer said once more, the claim, and rejected values."""
    return _short_look(tail) if len(tail) <= MAX_SHORT else _long_look(tail)


def effect(tail: str) -> Literal["nothing", "belongs", "says more"]:
    """What a text behind a box may change: nothing; its answer, some of which may stand there; or more."""
    return _short_effect(tail) if len(tail) <= MAX_SHORT else _effect(tail)


def _effect(tail: str) -> Literal["nothing", "belongs", "says more"]:
    if len(tail) > 1 and tail.strip(CLOSING) and looked_at(tail) != NOTHING:
        return "says more"
    return "belongs" if may_belong(tail) else "nothing"


_short_effect = lru_cache(maxsize=1024)(_effect)


def taken_back(tail: str) -> bool:
    plain = tail.replace("’", "'")
    return bool(
        withdrawn(plain)
        or ((len(tail) < 20 or holds(tail, _DOUBTING)) and _DOUBT.search(plain))
        or _TAIL_OR.match(plain)
    )


def withdrawn(text: str) -> bool:
    return (len(text) < 20 or holds(text, _WITHDRAWING)) and _WITHDRAW.search(text) is not None


def replaced(tail: str, claim: claims.Claim) -> bool:
    """Whether the text behind a box takes it back, then claims another answer and stays with it."""
    start = claim.behind - len(claim.text)
    short = len(claim.text) <= 40 and any(char.isdigit() for char in claim.text)
    back = _WITHDRAW.search(tail.replace("’", "'"), 0, start)
    return short and back is not None and not taken_back(tail[claim.behind :]) and not disclaimed.denied(tail, start)
