"""What the ledger says of a phase, followed while a run writes it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msgspec

from lydite.ledger.files import Lines


class Judged(msgspec.Struct):
    """Attempts of one phase: how many, the sum of their rewards and how many have one, and how many could not be read
    (the candidate's fault) or judged (ours)."""

    n: int = 0
    rewards: float = 0.0
    rewarded: int = 0
    unparseable: int = 0
    invalid: int = 0

    @property
    def mean(self) -> float | None:
        return self.rewards / self.rewarded if self.rewarded else None


class _Verdict(msgspec.Struct):
    outcome: str


class _Record(msgspec.Struct):
    kind: str
    rollout: str
    verdict: _Verdict
    reward: float | None = None


class Following:
    """Reads what is new in a ledger, each line once. Steps that are there at the beginning were done before, and those
    that a crash undid will be done again: they do not count."""

    def __init__(self, run: Path) -> None:
        self._path, self._offset = run / "ledger.jsonl", 0
        self._phases: dict[str, Judged] = defaultdict(Judged)
        self._decoder = msgspec.json.Decoder(_Record)
        self._read()
        for phase in [phase for phase in self._phases if phase.startswith("train-")]:
            del self._phases[phase]

    def of(self, phase: str) -> Judged:
        """A phase as it is now."""
        self._read()
        total = Judged()
        for name, found in self._phases.items():
            if name.partition(".")[0] == phase:
                for field in total.__struct_fields__:
                    setattr(total, field, getattr(total, field) + getattr(found, field))
        return total

    def forget(self, phase: str) -> None:
        """Phases of steps are asked for once."""
        for name in [name for name in self._phases if name.partition(".")[0] == phase]:
            del self._phases[name]

    def _read(self) -> None:
        if not self._path.exists():
            return
        for line in Lines(self._path, start=self._offset):
            self._offset += len(line) + 1
            try:
                record = self._decoder.decode(line)
            except (msgspec.DecodeError, ValueError):
                continue
            found = self._phases[record.rollout.partition("/")[0]]
            found.n += 1
            found.unparseable += record.verdict.outcome == "unparseable"
            found.invalid += record.verdict.outcome == "invalid"
            if record.reward is not None:
                found.rewards += record.reward
                found.rewarded += 1
