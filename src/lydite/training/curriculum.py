"""Which tasks a GRPO stage asks: those that the policy solves sometimes. A group that is all right or all wrong has no
advantage to learn from, and costs as much as one that teaches.

Tasks take turns, one seeded permutation after another. A task's success rate is the mean score of its latest
``groups`` groups (a partial score counts for what it is; what could not be judged does not count). Outside of the band
it rests: for one turn, then two, four, up to ``rest``, for as long as it is found outside each time it is tried again.
Back in the band it takes every turn. A task that was never asked takes its turn.

All of it is a function of the seed and of the scores, and its state is part of every checkpoint: a run that is resumed
asks what it would have asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError

if TYPE_CHECKING:
    from lydite.ledger import Row
    from lydite.task import Task
    from lydite.training.recipe_parts import Curriculum

FILE = "curriculum.json"
"""Name of the state in a checkpoint's folder."""


class Standing(msgspec.Struct, forbid_unknown_fields=True):
    """How a task stands.

    Attributes:
        scores: of its latest groups, oldest first, each a list of scores that could be judged.
        turns: turns that it still rests.
        rest: turns that its latest rest was set to; 0 in the band.
    """

    scores: list[list[float]] = msgspec.field(default_factory=list)
    turns: int = 0
    rest: int = 0

    @property
    def rate(self) -> float | None:
        """The success rate of late; ``None`` before there is one."""
        known = [score for group in self.scores for score in group]
        return fmean(known) if known else None


class _State(msgspec.Struct, forbid_unknown_fields=True):
    """What goes on from a checkpoint: the permutation under way, the place in it, and how tasks stand."""

    walk: int
    place: int
    standings: list[Standing]


class Schedule:
    """Picks tasks, by their position, and is told what came of them."""

    def __init__(self, tasks: int, settings: Curriculum, seed: str) -> None:
        self._settings, self._seed = settings, seed
        self.standings = [Standing() for _ in range(tasks)]
        self._walk = self._place = 0
        self._order = self._permutation()

    def _permutation(self) -> list[int]:
        count = len(self.standings)
        return random.Random(f"{self._seed}/{self._walk}").sample(range(count), count)

    def next(self, count: int) -> list[int]:
        """The tasks of the next ``count`` groups. Where too few are in the band, those that rest are tried again."""
        picked: list[int] = []
        while len(picked) < count:
            if self._place == len(self._order):
                self._walk, self._place = self._walk + 1, 0
                self._order = self._permutation()
            standing = self.standings[self._order[self._place]]
            if standing.turns:
                standing.turns -= 1
            else:
                picked.append(self._order[self._place])
            self._place += 1
        return picked

    def record(self, task: int, scores: Sequence[float | None]) -> None:
        """What a group at a task came to: a score per attempt, ``None`` for one that could not be judged."""
        standing, settings = self.standings[task], self._settings
        known = [score for score in scores if score is not None]
        if not known:
            return
        standing.scores = [*standing.scores, known][-settings.groups :]
        rate = standing.rate
        assert rate is not None
        if settings.low <= rate <= settings.high:
            standing.rest = standing.turns = 0
        else:
            standing.rest = standing.turns = min(max(1, 2 * standing.rest), settings.rest)

    def shares(self) -> dict[str, float]:
        """Shares of all tasks, for the metrics: in the band, below and above it, never asked, resting now."""
        rates = [standing.rate for standing in self.standings]
        low, high, total = self._settings.low, self._settings.high, len(rates)
        return {
            "curriculum/in_band": sum(rate is not None and low <= rate <= high for rate in rates) / total,
            "curriculum/too_hard": sum(rate is not None and rate < low for rate in rates) / total,
            "curriculum/too_easy": sum(rate is not None and rate > high for rate in rates) / total,
            "curriculum/unseen": sum(rate is None for rate in rates) / total,
            "curriculum/resting": sum(standing.turns > 0 for standing in self.standings) / total,
        }

    def save(self, folder: Path) -> None:
        """Write the state into a checkpoint's folder."""
        state = _State(walk=self._walk, place=self._place, standings=self.standings)
        (folder / FILE).write_bytes(msgspec.json.encode(state))

    def restore(self, folder: Path) -> None:
        """Go on from a checkpoint.

        Raises:
            InputError: it holds no state of a curriculum over as many tasks.
        """
        try:
            state = msgspec.json.decode((folder / FILE).read_bytes(), type=_State)
            if len(state.standings) != len(self.standings) or not 0 <= state.place <= len(state.standings):
                raise ValueError(f"it is about {len(state.standings)} tasks, not {len(self.standings)}")
        except (OSError, ValueError) as error:  # msgspec's errors are ValueErrors
            raise InputError(
                f"the curriculum cannot go on: {error}", path=folder / FILE, remedy="remove this checkpoint's folder"
            ) from None
        self._walk, self._place, self.standings = state.walk, state.place, state.standings
        self._order = self._permutation()

    def learn(self, rows: Iterable[Row], tasks: Sequence[Task], stage: int) -> None:
        """Take over what a run has found out about its training tasks before a stage: in the stages in front of it."""
        place = {task.id: position for position, task in enumerate(tasks)}
        groups: dict[tuple[str, str], list[float | None]] = {}
        for row in rows:
            kind, _, rest = row.rollout.phase.partition("-")
            before = (
                kind in ("sample", "train") and rest.partition("-")[0].isdigit() and int(rest.partition("-")[0]) < stage
            )
            if before and row.rollout.task in place:
                groups.setdefault((row.rollout.phase, row.rollout.task), []).append(row.record.verdict.score)
        for (_, task), scores in groups.items():
            self.record(place[task], scores)
