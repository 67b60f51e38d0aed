"""``steps``: are the arithmetic claims of the work true?

Config: ``{min_claims = 1}``. Score = right claims / claims, see ``claims`` for what is one. Fewer than ``min_claims``
of them are ``too_few_claims``, more than any work has ``too_many_claims``: both score 0. What is thought before the
answer is not looked at: the work is what follows ``</think>``.

True claims need not lead anywhere. Where the answer counts as well, a ``gate`` or ``all_of`` asks for both.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from lydite.verdict import Part, Verdict
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.steps.claims import find_claims
from lydite.verifiers.steps.tokens import TooManyClaimsError
from lydite.verifiers.text import after_thinking, is_refusal

MAX_PARTS = 50
"""Parts of a verdict. All claims count; the false ones are shown first where there are more."""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    min_claims: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1


class StepsVerifier:
    """Right claims among all claims."""

    name = "steps"
    version = 2
    modules = ("lydite.verifiers.steps", "lydite.verifiers.math", "lydite.verifiers.text")
    examples = (
        Example(
            config={"min_claims": 2},
            right="She sold 48 / 2 = 24 clips in May.\nAltogether 48 + 24 = 72 clips.",
            wrong="She sold 48 / 2 = 22 clips in May.\nAltogether 48 + 22 = 71 clips.",
            hacks={
                "the answer alone": "72",
                "one claim many times": "1 + 1 = 2\n" * 50,
                "claims of nothing": "5 = 5, 6 = 6, 2 + 3 = 2 + 3, x = 7",
                "a false claim among true ones": "1 + 1 = 2. 2 + 2 = 4. 48 + 24 = 71.",
                "claims left open": "48 / 2 = ?, 48 + x = 72",
                "claims that hold for any number": "0 + 0 = 0, 7 * 1 = 7, 5 + 0 = 5, 0 * 9 = 0",
                "claims that hold for any number, dressed up": "3 - 3 = 0, 4^1 = 4, 100% of 5 = 5, -0 + 1 = 1",
                "claims that are denied": "It is false that 2 + 2 = 4. 3 + 3 = 6 is wrong.",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the configuration.

        Raises:
            InputError: unknown field, or ``min_claims`` that is no whole number from 1 to 1000.
        """
        least = read_config(config, _Config, self.name).min_claims
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            text = submission.text
            rest = after_thinking(text)
            if rest is None or not rest.strip():
                return Verdict.unparseable("no_answer", identity)
            try:
                claims = find_claims(text)
            except TooManyClaimsError:
                return Verdict.of(0.0, "too_many_claims", identity)
            if len(claims) < least:
                if not claims and is_refusal(rest):
                    return Verdict.unparseable("refused", identity)
                return Verdict.of(0.0, "too_few_claims", identity, detail=f"{len(claims)} of at least {least}")
            wrong = [claim for claim in claims if not claim.right]
            shown = claims if len(claims) <= MAX_PARTS else [*wrong, *(claim for claim in claims if claim.right)]
            parts = tuple(
                Part(f"c{number}", float(claim.right), "ok" if claim.right else "false_claim", claim.text)
                for number, claim in enumerate(shown[:MAX_PARTS], 1)
            )
            score = 1 - len(wrong) / len(claims)
            said = f"{len(claims) - len(wrong)} of {len(claims)} claims are right"
            reason = "false_claim" if wrong else "correct"
            return Verdict.of(score if len(wrong) < len(claims) else 0.0, reason, identity, extracted=said, parts=parts)

        return check
