"""What watchers are told of a run when more of it was taken in."""

from __future__ import annotations

from typing import Any

import msgspec

from lydite.server.index.slices import Slice

_FEW = 20
"""Lines of metrics of which each is told; more of them at once are not news but history."""


class News:
    """What a refresh has to tell of a run."""

    def __init__(self) -> None:
        self.first = self.changed = self.replaced = self.history = False
        self.tries = 0
        self.new_rollouts = self.new_flags = 0
        self.rollouts = 0
        self.state: str | None = None

    def add(self, before: dict[str, Any], found: Slice) -> None:
        if self.state is None:
            self.state = before["state"]
        self.new_rollouts += len(found.rollouts)
        self.new_flags += len(found.flags)
        self.rollouts = found.values.get("rollouts", before["rollouts"])

    def told(
        self, before: dict[str, Any], found: Slice, decided: list[dict[str, Any]]
    ) -> list[tuple[str, dict[str, Any]]]:
        """Kinds and data of the events that belong to a slice."""
        row = {**before, **found.values}
        told: list[tuple[str, dict[str, Any]]] = []
        if len(found.steps) > _FEW:
            self.history = True
        else:
            for _, line, stage, step, _, values in found.steps:
                told.append(
                    ("metrics", {"line": line, "stage": stage, "step": step, "values": msgspec.json.decode(values)})
                )
        told.extend(("review", data) for data in decided)
        if found.more:
            return told if before["generation"] else [*told, ("run", summary(row))]
        if not self.first and self.new_rollouts:
            told.append(("rollouts", {name: row[name] for name in ("rollouts", "correct", "flagged", "invalid")}))
        if not self.first and self.new_flags:
            counts = {name: row[name] for name in ("flagged", "suspected")}
            told.append(("flags", {**counts, "new": self.new_flags}))
        if self.first or row["state"] != self.state or self.history:
            told.append(("run", summary(row)))
        return told


def summary(row: dict[str, Any]) -> dict[str, Any]:
    """A run in the data of an event."""
    names = ("kind", "state", "error", "rollouts", "correct", "invalid", "flagged", "suspected", "tasks", "head")
    return {**{name: row[name] for name in names}, "steps": row["metrics_lines"]}
