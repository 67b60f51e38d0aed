"""The table of all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from lydite.verifiers.contract import bounds, process, safety, stability, verdicts
from lydite.verifiers.contract.session import Session

Run = Callable[[Session], Iterator[tuple[str, str]]]


class ContractCheck(msgspec.Struct, frozen=True):
    """One promise that every verifier keeps.

    Attributes:
        name: short, for tables.
        promise: one sentence.
        remedy: what to do where it is broken.
        run: tries it; yields (subject, evidence) for what was tried, the evidence being empty where all is well.
    """

    name: str
    promise: str
    remedy: str
    run: Run


def _described(run: Run) -> ContractCheck:
    """A function as a check: its name, the first sentence of its docstring, and what that says after ``Remedy:``."""
    promise, _, remedy = " ".join((run.__doc__ or "").split()).partition(" Remedy: ")
    return ContractCheck(run.__name__, promise, remedy, run)


CHECKS = {
    check.name: check
    for check in map(
        _described,
        (
            process.state,  # first: nothing has been judged yet
            verdicts.judges,
            verdicts.hacks,
            verdicts.nothing,
            verdicts.invalid,
            verdicts.round_trip,
            verdicts.messages,
            bounds.config,
            bounds.bounded,
            bounds.patterns,
            safety.inert,
            safety.forgets,
            stability.deterministic,
            stability.order,
            stability.processes,  # before threads: a fork does not take them along
            stability.other_process,
            stability.threads,
            stability.event_loop,
            process.prints,  # last: everything has had its chance
        ),
    )
}
"""The checks by name, in the order in which they run."""
