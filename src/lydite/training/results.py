"""What came of a run: the numbers before and after, and the card that says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.evaluation import GroupCounts, Paired, Summary, group_counts, paired, summarise, tally
from lydite.ledger import RunFolder
from lydite.training.recipe import Recipe, SampleStage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lydite.ledger import Row

PAIRS = "preferences.jsonl"


class Between(msgspec.Struct, frozen=True, kw_only=True):
    """Held-out tasks after a stage that was not the last: ``gained`` since the beginning, ``to_come`` until the end."""

    stage: int
    kind: str
    summary: Summary
    gained: Paired
    to_come: Paired


class TrainResult(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run in numbers.

    Attributes:
        run: the folder.
        before, after: held-out tasks; ``None`` when the recipe has no evaluation.
        paired: after minus before, task by task.
        between: the held-out tasks after the stages that say ``evaluate``.
        groups: what the groups that were sampled for learning could teach (phases ``sample-*`` and ``train-*``).
        suspected_hacks: correct attempts with a flag, in every phase.
        preference_pairs: rows of ``preferences.jsonl``.
        seconds: all sessions together.
        head: of the ledger.
    """

    run: str
    before: Summary | None
    after: Summary | None
    paired: Paired | None
    between: tuple[Between, ...] = ()
    groups: GroupCounts
    suspected_hacks: int
    preference_pairs: int
    seconds: float
    head: str


def results(recipe: Recipe, run: RunFolder) -> TrainResult:
    """Derive the result from the run folder alone."""
    before = after = difference = None
    between: list[Between] = []
    if recipe.evaluation:
        labels = {task.id: task.difficulty for task in run.tasks()}
        before = summarise(run.rows("before"), recipe.evaluation.k, difficulty=labels)
        after = summarise(run.rows("after"), recipe.evaluation.k, difficulty=labels)
        difference = paired(run.rows("before"), run.rows("after"))
        for index, stage in enumerate(recipe.stages):
            if measured_after(recipe, index):
                phase = f"after-{index}"
                between.append(
                    Between(
                        stage=index,
                        kind=stage.kind,
                        summary=summarise(run.rows(phase), recipe.evaluation.k, difficulty=labels),
                        gained=paired(run.rows("before"), run.rows(phase)),
                        to_come=paired(run.rows(phase), run.rows("after")),
                    )
                )
    learned = tally(_learned_from(run))
    return TrainResult(
        run=str(run.path),
        before=before,
        after=after,
        paired=difference,
        between=tuple(between),
        groups=group_counts(learned.groups.values()),
        suspected_hacks=tally(run.rows()).suspected,
        preference_pairs=_lines(run.path / PAIRS),
        seconds=float(run.info.notes.get("seconds", 0.0)),
        head=run.info.head,
    )


def measured_after(recipe: Recipe, index: int) -> bool:
    """Whether the held-out tasks are attempted after this stage; after the last they are anyway."""
    stage = recipe.stages[index]
    last = index + 1 == len(recipe.stages)
    return recipe.evaluation is not None and not last and not isinstance(stage, SampleStage) and stage.evaluate


def write_card(recipe: Recipe, run: RunFolder, result: TrainResult) -> None:
    """The model card beside the weights, and the short result in ``run.json``."""
    from lydite.training.card import model_card

    run.note(result=_short(result))
    card = model_card(recipe, run, result)
    for name in ("adapter", "model"):
        if (run.path / name).is_dir():
            (run.path / name / "README.md").write_text(card, encoding="utf-8")


def _short(result: TrainResult) -> dict[str, Any]:
    def rate(summary: Summary | None) -> float | None:
        return summary.pass_at[0].as_wrong.value if summary else None

    return {
        "before": rate(result.before),
        "after": rate(result.after),
        "difference": result.paired.difference if result.paired else None,
        "suspected_hacks": result.suspected_hacks,
        "preference_pairs": result.preference_pairs,
    }


def _learned_from(run: RunFolder) -> Iterator[Row]:
    return (row for row in run.rows() if row.rollout.phase.startswith(("sample-", "train-")))


def _lines(path: Path) -> int:
    try:
        with open(path, "rb") as file:
            return sum(1 for _ in file)
    except FileNotFoundError:
        return 0
