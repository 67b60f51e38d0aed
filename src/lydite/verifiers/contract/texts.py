"""Completions that have hurt verifiers."""

from __future__ import annotations

from lydite.verifiers.protocol import Example

PROMPT = (
    "Which of these is right? A) 41 B) 42 C) 43. Say 42 or not 42, and put the answer into \\boxed{} or"
    " <answer></answer>."
)
"""The prompt where an example brings none."""

NOTHING = {
    "empty": "",
    "white space": " \n\t\r ",
    "NUL": "\0" * 10 + "\\boxed{\0}" + "\0",
    "lone surrogates": "\\boxed{\ud800} \udfff answer is \udc00",
    "refusal": "I'm sorry, I cannot answer this question.",
    "unclosed boxes": "\\boxed{" * 5000,
    "braces": "}{" * 20000,
    "deep nesting": "\\boxed{" + "(" * 3000 + "1" + ")" * 3000 + "}",
    "deep JSON": '{"a":' * 20000 + "1" + "}" * 20000,
    "deep list": "[" * 20000 + "]" * 20000,
    "tower": "\\boxed{9^{9^{9^9}}}",
    "factorials": "\\boxed{((9!)!)!}",
    "digits": "\\boxed{" + "9" * 100_000 + "}",
    "code": "\\boxed{__import__('os')._exit(7)}",
    "fenced code": "```python\n__import__('os')._exit(7)\n```",
    "format fields": "{0.__class__} %s %(x)d $x ${x} \\1 \\g<0>",
    "right to left": "\u202e\\boxed{24}\u202c",
    "not JSON": '{"answer": NaN}',
    "unfinished thinking": "<think>The answer is 42. \\boxed{42}",
    "every byte": "".join(map(chr, range(256))),
    "combining marks": "e" + "\u0301" * 20_000,
}
"""Label to a completion without an answer, 200 kB at most: nothing in it may raise, be ``invalid``, or be correct."""

UNITS = {
    "dollars": "$", "opened boxes": "\\boxed{", "anchors": "the answer is ", "parentheses": "(", "brackets": "[",
    "braces": "{", "backslashes": "\\", "quotes": '"', "apostrophes": "'", "backquotes": "`", "blanks": " ",
    "lines": "\n", "line ends of Windows": "\r\n", "digits": "9", "minus signs": "-", "stars": "*", "slashes": "/",
    "bars": "|", "dots": ".", "commas": ",", "opened tags": "<", "opened thinking": "<think>",
    "answers": "<answer></answer>", "fences": "```\n", "opened fences": "```python\nx\n", "letters": "a", "words": "a ",
    "claims": "1 + 1 = 3\n", "groups": "(a+)+", "powers": "2^", "comments": "/*", "queries": "SELECT (",
    "members": '{"a":', "opened strings": '"\\', "combining marks": "\u0301", "NUL": "\0", "surrogates": "\ud800",
    "astral letters": "\U0001d7d7", "full-width digits": "\uff19", "options": "(A) or ", "steps": "Step 1: x = \n",
}  # fmt: skip
"""Label to what a degenerate completion repeats."""

BEGINNINGS = ("", "The answer is ", "\\boxed{")
REPEATED = ("a", "0", "a ", " ", "ab", "1,", "x=", "- ", "a,b;", "((")
ENDS = ("!", "\0\n")
"""What 60 of something come before and behind: a pattern like ``(a+)+$`` tries all ways to part them, as it fails."""

FILES = ("letters", "lines", "NUL")
"""Labels of those that make a file's content, for checks that look at files: what is in one hardly matters."""

MEGABYTE = 1_000_000


def megabyte(unit: str) -> str:
    """A million characters of one thing."""
    return unit * (MEGABYTE // len(unit))


def twins(right: str) -> dict[str, str]:
    """Label to a text that is almost the right one, cut, doubled or dirtied. Any verdict will do but ``invalid``."""
    middle = len(right) // 2
    return {
        "cut": right[:middle],
        "cut at the front": right[middle:],
        "twice": right + right,
        "twice in lines": f"{right}\n\n{right}",
        "backwards": right[::-1],
        "capitals": right.upper(),
        "NUL within": f"{right[:middle]}\0{right[middle:]}",
        "surrogate within": f"{right[:middle]}\udcff{right[middle:]}",
        "byte order mark": f"\ufeff{right}",
        "lines of Windows": right.replace("\n", "\r\n"),
        "fenced": f"```\n{right}\n```",
        "after thinking": f"<think>Let me see.</think>{right}",
        "within thinking": f"<think>{right}",
        "after a page": "word " * 10_000 + right,
        "before a page": right + " word" * 10_000,
    }


def completions(example: Example) -> dict[str, str]:
    """Label to text: all completions of an example that are not huge."""
    return {
        "right": example.right,
        "wrong": example.wrong,
        **{f"hack: {name}": text for name, text in example.hacks.items()},
        "echo of the prompt": example.prompt or PROMPT,
        **NOTHING,
        **twins(example.right),
    }
