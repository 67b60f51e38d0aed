"""The model card: what was trained, on what, judged by what, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from lydite._version import __version__
from lydite.evaluation import Paired, Summary
from lydite.ledger import RunFolder
from lydite.training.presets import PRESETS
from lydite.training.recipe import GrpoStage, Recipe

if TYPE_CHECKING:
    from lydite.training.results import TrainResult


def model_card(recipe: Recipe, run: RunFolder, result: TrainResult) -> str:
    """The card as Markdown."""
    return "\n".join(_card(recipe, run, result)) + "\n"


def _card(recipe: Recipe, run: RunFolder, result: TrainResult) -> Iterator[str]:
    info = run.info
    yield from (
        "---",
        "library_name: peft" if recipe.lora else "library_name: transformers",
        "tags: [lydite, rlvr]",
        "---",
    )
    yield from ("", f"# {recipe.name}", "")
    yield f"Trained from `{portable(recipe.policy)}` with verifiable rewards, seed {recipe.seed}."
    yield f"Made by Lydite {__version__}."
    if recipe.control != "none":
        yield f"\n**This is a control run**: training saw the reward `{recipe.control}` instead of the true one."
    yield from ("", "## Results on held-out tasks", "")
    yield from _results(result)
    yield from ("", "## What judged", "")
    yield from _verifiers(result)
    yield from ("", "## What was seen", "")
    groups = result.groups
    yield f"- groups sampled for learning: {groups.mixed} mixed, {groups.all_correct} all correct,"
    yield f"  {groups.all_wrong} all wrong, {groups.invalid} without any valid attempt"
    yield f"- correct attempts with a flag (suspected hacks): {result.suspected_hacks}"
    yield f"- control: {recipe.control}"
    for one in info.notes.get("warnings", ()):
        yield f"- warning, stage {one['stage']}, step {one['step']}: {one['message']}"
    yield from ("", "## Where it comes from", "")
    yield f"- recipe digest `{recipe.digest}`"
    yield f"- tasks: {info.tasks.count}, SHA-256 of `tasks.jsonl` `{info.tasks.sha256}`"
    yield f"- ledger: {info.records} records; check with `lydite ledger verify RUN --head {result.head}`"
    yield "- versions: " + ", ".join(f"{name} {version}" for name, version in info.versions.items())
    yield from ("", "## Limits", "")
    yield from _limits(recipe, info.notes)
    yield from ("", "## Recipe", "", "```yaml", _shown(recipe).rstrip(), "```")


def _shown(recipe: Recipe) -> str:
    """What the recipe says beyond the defaults. Cards travel, so folders are cut down to their names."""
    values = recipe.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return yaml.safe_dump(_portable(values), sort_keys=False, allow_unicode=True, width=120)


def _portable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _portable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_portable(item) for item in value]
    return portable(value) if isinstance(value, str) else value


def portable(text: str) -> str:
    """A policy's spec or a file's path without the folders above it."""
    kind, colon, rest = text.partition(":")
    if not colon:
        return Path(text).name if Path(text).is_absolute() else text
    return kind + colon + "+".join(Path(part).name for part in rest.split("+"))


def _results(result: TrainResult) -> Iterator[str]:
    if result.before is None or result.after is None or result.paired is None:
        yield "Not measured: the recipe has no evaluation."
        return
    yield "| | before | after |"
    yield "|---|---|---|"
    for entry in result.before.pass_at:
        yield f"| pass@{entry.k} | {_rate(result.before, entry.k)} | {_rate(result.after, entry.k)} |"
    yield f"| attempts | {result.before.attempts} | {result.after.attempts} |"
    for name in ("truncation_rate", "flagged_rate"):
        values = (getattr(side, name) for side in (result.before, result.after))
        yield f"| {name.replace('_', ' ')} | " + " | ".join(f"{value:.1%}" for value in values) + " |"
    yield f"| invalid attempts | {result.before.outcomes['invalid']} | {result.after.outcomes['invalid']} |"
    for one in result.between:
        yield ""
        yield f"After stage {one.stage} ({one.kind}): pass@1 {_rate(one.summary, one.summary.pass_at[0].k)}, which is"
        yield f"{_paired(one.gained)} against before; what came after it added {_paired(one.to_come)}."
    yield ""
    paired = result.paired
    yield f"Paired difference in pass@1 over {paired.tasks} tasks: {_points(paired.difference)}"
    yield f"(95 % interval {_points(paired.low)} to {_points(paired.high)}, {paired.method})."
    yield "Rates count invalid attempts as wrong; brackets are 95 % intervals over tasks."


def _rate(summary: Summary, k: int) -> str:
    found = summary.at(k).as_wrong
    return f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"


def _paired(value: Paired) -> str:
    return f"{_points(value.difference)} (95 % interval {_points(value.low)} to {_points(value.high)})"


def _points(value: float) -> str:
    return f"{100 * value:+.1f} points"


def _verifiers(result: TrainResult) -> Iterator[str]:
    seen = {name for side in (result.before, result.after) if side for name in side.verifiers}
    for name in sorted(seen):
        verifier, _, source = name.partition(" ")
        yield f"- `{verifier}`" + (f", source hash `{source}`" if source else "")
    if not seen:
        yield "- see the records of the ledger"


def _limits(recipe: Recipe, notes: dict[str, Any]) -> Iterator[str]:
    yield "- A reward is only as good as its verifier: read the flagged attempts before you trust the numbers."
    yield "- The policy was measured on tasks like those it was trained on; nothing is said about others."
    if dropped := notes.get("dropped_from_train"):
        yield f"- {dropped} training tasks asked the same as a held-out one and were left out."
    for name in sorted({stage.loss_type for stage in recipe.stages if isinstance(stage, GrpoStage)}):
        for limit in PRESETS[name].limits:
            yield f"- {name}: {limit}."
