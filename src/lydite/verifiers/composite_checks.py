"""What composites compile to: checks that have other checks judge, and put their verdicts together."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from lydite.codec import sha256
from lydite.verdict import Outcome, Part, Verdict
from lydite.verifiers.build import CompiledChecker, source_hash
from lydite.verifiers.protocol import Submission

SHOWN = 300
"""Characters of a component's evidence."""


class Composite:
    """A compiled composite. ``identity``: its id and source hash, which stand for all components."""

    name = ""

    def __init__(self, verifier: Any, checkers: dict[str, CompiledChecker]) -> None:
        self.checkers = checkers
        components = ",".join(sorted({checker.id for checker in checkers.values()}))
        self.id = f"{verifier.name}@{verifier.version}({components})"
        sources = [checkers[name].source for name in sorted(checkers)]
        self.identity = self.id, sha256("\n".join([source_hash(verifier), *sources]).encode())

    def __call__(self, submission: Submission) -> Verdict:
        said: dict[str, Verdict] = {}
        parts: list[Part] = []
        for name in self.order():
            if not self.asks(said):
                parts.append(Part(name, None, "not_judged"))
                continue
            verdict = self.checkers[name](submission)
            said[name] = verdict
            if verdict.outcome is Outcome.INVALID:
                detail = f"{verdict.verifier}: {verdict.reason}" + (f": {verdict.detail}" if verdict.detail else "")
                return Verdict.invalid(f"invalid:{name}", self.id, detail=detail[:1000])
            parts.append(self.part(name, verdict))
        parts.sort(key=lambda part: part.name)
        return self.verdict(said, tuple(parts))

    def order(self) -> list[str]:
        return sorted(self.checkers)

    def asks(self, said: dict[str, Verdict]) -> bool:
        """Whether the next component is asked."""
        return True

    def part(self, name: str, verdict: Verdict) -> Part:
        return Part(name, verdict.score, verdict.reason, _evidence(verdict))

    def score(self, scores: dict[str, Fraction]) -> Fraction:
        """The score, from those of the components that were asked."""
        raise NotImplementedError

    def verdict(self, said: dict[str, Verdict], parts: tuple[Part, ...]) -> Verdict:
        scores = {part.name: Fraction(part.score) for part in parts if part.score is not None}
        exact = self.score(scores)
        score = float(exact)
        if exact < 1 <= score:
            score = math.nextafter(1.0, 0.0)  # a sliver short of right is not right
        elif score == 0 < exact:
            score = math.ulp(0.0)
        extracted = next((v.extracted for v in said.values() if v.extracted is not None), None)
        if score == 1:
            return Verdict.of(1.0, "correct", self.id, extracted=extracted, parts=parts)
        short = next(part for name in said for part in parts if part.name == name and part.score != 1)
        reason = f"{short.name}:{short.reason}"
        if score == 0 and all(verdict.outcome is Outcome.UNPARSEABLE for verdict in said.values()):
            return Verdict.unparseable(reason, self.id, extracted=extracted, parts=parts)
        return Verdict.of(score, reason, self.id, extracted=extracted, parts=parts)


class AllOf(Composite):
    def score(self, scores: dict[str, Fraction]) -> Fraction:
        return min(scores.values())


class WeightedMean(Composite):
    def __init__(self, verifier: Any, checkers: dict[str, CompiledChecker], weights: dict[str, Fraction]) -> None:
        super().__init__(verifier, checkers)
        self.weights = weights

    def part(self, name: str, verdict: Verdict) -> Part:
        if verdict.score and not _evidence(verdict):
            return Part(name, 0.0, "no_evidence")
        return super().part(name, verdict)

    def score(self, scores: dict[str, Fraction]) -> Fraction:
        return _mean(scores, self.weights)


class Gated(Composite):
    def __init__(
        self, verifier: Any, checkers: dict[str, CompiledChecker], weights: dict[str, Fraction], gate: str
    ) -> None:
        super().__init__(verifier, checkers)
        self.weights, self.gate = weights, gate

    def order(self) -> list[str]:
        return [self.gate, *sorted(set(self.checkers) - {self.gate})]

    def asks(self, said: dict[str, Verdict]) -> bool:
        return not said or said[self.gate].correct

    def score(self, scores: dict[str, Fraction]) -> Fraction:
        return _mean(scores, self.weights) if scores[self.gate] == 1 else Fraction(0)


def _mean(scores: dict[str, Fraction], weights: dict[str, Fraction]) -> Fraction:
    return sum((scores[name] * weight for name, weight in weights.items()), Fraction(0)) / sum(weights.values())


def _evidence(verdict: Verdict) -> str | None:
    """What a component shows for its score: its answer, else its parts in a few words, else its detail."""
    shown = verdict.extracted
    if not shown and verdict.parts:
        shown = ", ".join(f"{part.name}: {part.reason}" for part in verdict.parts[:10])
    shown = shown or verdict.detail
    return shown[:SHOWN] if shown else None
