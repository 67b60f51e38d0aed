r"""Stage one: where in a completion the answer is. Linear-time scanners only.

| place, first hit wins | strict | lenient |
|---|---|---|
| text after the thinking (``text.THINKING``); thinking that never ends holds no answer | yes | yes |
| the boxes (``\boxed``, ``\fbox``), balanced and not empty | yes | yes |
| ``<answer>...</answer>`` | no | yes |
| a line ``#### ...`` (GSM8K) | no | yes |
| "the answer is ...", "Answer: ...", "... is the answer" | no | yes |
| the last line, where it is nothing but an answer | no | yes |
| the last formula or number, where its sentence states one (``sentences``), never when there was a box | no | yes |

Several boxes are one answer when they say the same; the last one when the text between withdraws those before, or when
it is plainly the final one (``several``); one list when they are joined by commas, "and" or "or" and labels. Otherwise
they are a scatter, which no comparison can make right; so are several "the answer is ..." that disagree. Of a longer
text, the last ``WINDOW`` characters are looked at; comments (``disclaimed``) are not. Boxes and claims that are struck
out or denied give way to those that are not; where there are no others, the answer is hedged. What the text behind an
answer makes of it: ``second_thoughts``.
"""

from __future__ import annotations

from typing import Literal

from lydite.verifiers.math import disclaimed
from lydite.verifiers.math.boxed import of_boxes
from lydite.verifiers.math.direct import at_a_glance
from lydite.verifiers.math.extraction import EMPTY, Extraction
from lydite.verifiers.math.unboxed import anchored, last, marked, tagged
from lydite.verifiers.text import after_thinking, box_commands, boxes, is_refusal

WINDOW = 65536
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "<|end|>")


def extract(text: str, policy: Literal["strict", "lenient"] = "lenient") -> Extraction:
    """Find the answer of a completion.

    Args:
        text: the completion.
        policy: ``strict`` takes boxes alone; ``lenient`` the places in the table above.
    """
    rest = after_thinking(text)
    if rest is None:
        return Extraction()
    seen = at_a_glance(rest, policy)
    return searched(rest, policy) if seen is None else Extraction((seen[0],), seen[1])


def searched(text: str, policy: str) -> Extraction:
    """The full search through what follows the thinking."""
    if "|" in text and "<|" in text:  # what follows the end of the turn was not said by its writer
        text = text[: min((place for place in map(text.find, _TURN_ENDS) if place >= 0), default=len(text))]
    text = disclaimed.without_html_comments(text[-WINDOW:])
    commands = box_commands(text) if "\\" in text else []
    plain = disclaimed.without_tex_comments(text, commands)
    if plain is not text:
        text, commands = plain, box_commands(plain)
    every = boxes(text, commands) if commands else []
    found = [box for box in every if box.content.strip(EMPTY)]
    if found:
        return of_boxes(text, found, policy)
    if policy == "strict":
        return Extraction(refused=is_refusal(text))
    said = tagged(text) or marked(text) or anchored(text)
    if said is None and every:
        return Extraction(refused=is_refusal(text))  # the box was left empty
    return said or last(text)
