"""A recipe beside its controls: the same run with other rewards, and what the true one is better by.

A result counts only if the true reward beats the random one by more than the interval (Spurious rewards, arXiv
2506.10947). All runs have the seed, the tasks and the budget of the recipe; only what training sees differs. One run of
each is one draw: where the difference is close, other seeds belong beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from lydite.errors import InputError
from lydite.evaluation import Paired, paired
from lydite.ledger import RunFolder
from lydite.training.controls import Control
from lydite.training.progress import Report
from lydite.training.recipe import Recipe
from lydite.training.recipe_io import parse_recipe
from lydite.training.run import train

TRUE = "none"
DEFAULT = ("random", "format_only")
DOCUMENT, PAGE = "controls.json", "controls.md"


Watching = Callable[[str], AbstractContextManager[Report | None]]


def _unwatched(_name: str) -> AbstractContextManager[Report | None]:
    return nullcontext()


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One run.

    Attributes:
        control: what training saw; ``none`` is the true reward.
        run: the folder.
        gained: held-out tasks, after minus before.
        beaten_by: after the true reward minus after this one, over the same tasks; ``None`` for the true reward itself.
        head: of the run's ledger.
        seconds: that it took.
    """

    control: str
    run: str
    gained: Paired
    beaten_by: Paired | None
    head: str
    seconds: float


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All runs, the true reward first.

    Attributes:
        recipe: its name; seed: of all runs.
        counts: whether the true reward beats every control by more than the 95 % interval.
    """

    recipe: str
    seed: int
    arms: tuple[Arm, ...]
    counts: bool


def control_runs(
    recipe: Recipe, controls: Sequence[str], out: str | Path, watching: Watching = _unwatched
) -> Comparison:
    """Carry out a recipe with the true reward and under each control; what is done already is not done again.

    Args:
        recipe: with an evaluation, and no control of its own.
        controls: see ``Control.parse``.
        out: a folder; each run gets one below it, named after its control.
        watching: a context, by the name of the control, that gives what is called with how far that run is.

    Raises:
        InputError: the recipe has a control or no evaluation; an unknown control; what ``train`` raises.
        InterruptedRunError: stopped on request; the same call goes on.
    """
    out = Path(out)
    if recipe.control != TRUE:
        raise InputError(f"is {recipe.control!r} already", field="control", remedy="give the recipe of the true reward")
    if recipe.evaluation is None:
        raise InputError("is null", field="evaluation", remedy="controls are compared on held-out tasks")
    names = list(dict.fromkeys([TRUE, *map(_name, controls)]))
    if len(names) == 1:
        raise InputError("no control is named", field="controls", remedy=f"such as {','.join(DEFAULT)}")
    recipes = {name: _under(recipe, name) for name in names}  # all of them are looked at before the first one runs
    results = {}
    for name, plan in recipes.items():
        folder = out / _slug(name)
        with watching(name) as report:
            results[name] = train(plan, folder, resume=(folder / "run.json").exists(), progress=report)
    arms: list[Arm] = []
    for name, result in results.items():
        assert result.paired is not None
        beaten = None
        if name != TRUE:
            rows = (RunFolder.open(results[one].run).rows("after") for one in (name, TRUE))
            beaten = paired(*rows)
        arms.append(
            Arm(
                control=name, run=result.run, gained=result.paired, beaten_by=beaten,
                head=result.head, seconds=result.seconds,
            )
        )  # fmt: skip
    counts = all(arm.beaten_by.low > 0 for arm in arms if arm.beaten_by is not None)
    made = Comparison(recipe=recipe.name, seed=recipe.seed, arms=tuple(arms), counts=counts)
    (out / DOCUMENT).write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n")
    (out / PAGE).write_text("\n".join(page(made)) + "\n", encoding="utf-8")
    return made


def page(made: Comparison) -> Iterator[str]:
    """The comparison as Markdown."""
    yield f"# {made.recipe}: the true reward and its controls (seed {made.seed})"
    yield ""
    yield "Points of pass@1 on held-out tasks, with paired 95 % intervals."
    yield ""
    yield "| training saw | before | after | gained | the true reward is better by |"
    yield "|---|---|---|---|---|"
    for arm in made.arms:
        name = "the true reward" if arm.control == TRUE else f"`{arm.control}`"
        better = "" if arm.beaten_by is None else _points(arm.beaten_by)
        yield f"| {name} | {arm.gained.a:.1%} | {arm.gained.b:.1%} | {_points(arm.gained)} | {better} |"
    yield ""
    if made.counts:
        yield "The true reward beats every control by more than the interval."
    else:
        yield "**The true reward does not beat every control by more than the interval: the gain proves nothing yet.**"
    yield ""
    for arm in made.arms:
        yield f"- `{arm.control}`: {Path(arm.run).name}, {arm.seconds:.0f} s, ledger head `{arm.head}`"


def _points(found: Paired) -> str:
    return f"{100 * found.difference:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def _name(text: str) -> str:
    try:
        return str(Control.parse(text))
    except ValueError as error:
        raise InputError(str(error), field="controls") from None


def _under(recipe: Recipe, control: str) -> Recipe:
    """The recipe under a control, checked as when it is read."""
    if control == TRUE:
        return recipe
    made = parse_recipe(recipe.settings | {"control": control})
    made._base = recipe._base
    return made


def _slug(control: str) -> str:
    return "true" if control == TRUE else control.replace(":", "-")
