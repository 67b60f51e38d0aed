"""What a prover says of a candidate's proof."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Outcome(NamedTuple):
    """How a proof fared.

    Attributes:
        reason: ``correct``, ``does_not_compile``, ``not_proved`` (nothing of the statement's name), ``admitted``,
            ``statement_changed``, ``axioms``, ``unsafe`` (checks of the kernel were switched off), ``timeout``,
            ``memory``, ``output``.
        evidence: the prover's words, cut.
        axioms: full names of what the proof rests on.
    """

    reason: str
    evidence: str | None = None
    axioms: tuple[str, ...] = ()


class Prover(Protocol):
    """A statement that is compiled, and can be compared with what candidates write."""

    language: str

    def judge(self, text: str) -> Outcome:
        """What became of a candidate's file.

        Raises:
            LostError: the sandbox failed.
        """
        ...
