"""Two sets of attempts at the same tasks: what changed, task by task."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError
from lydite.evaluation.intervals import DRAWS, Method, mean_interval
from lydite.evaluation.tally import Tally, tally

if TYPE_CHECKING:
    from lydite.ledger import Row


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """Difference b - a of a rate over the tasks that both sides attempted.

    Attributes:
        k: of pass@k.
        tasks: tasks compared: on both sides, with at least k valid attempts each.
        a, b: mean pass@k of each side over those tasks.
        difference, low, high: b - a and its 95 % interval over tasks (paired: the same tasks on both sides).
        method: how the interval was made.
        fixed, broken, same: tasks whose pass@k rose, fell, stayed.
        p: two-sided exact sign test of fixed against broken. With one attempt a task this is McNemar's exact test.
        only_a, only_b: tasks that one side alone attempted; not compared.
        left_out: common tasks with fewer than k valid attempts on some side; not compared.
        verifiers_a, verifiers_b: which verifiers judged, as ``name@version source``.
        draws, seed: of the bootstrap.
    """

    k: int
    tasks: int
    a: float
    b: float
    difference: float
    low: float
    high: float
    method: Method
    fixed: int
    broken: int
    same: int
    p: float
    only_a: int
    only_b: int
    left_out: int
    verifiers_a: tuple[str, ...]
    verifiers_b: tuple[str, ...]
    draws: int
    seed: int


def paired(rows_a: Iterable[Row], rows_b: Iterable[Row], *, k: int = 1, draws: int = DRAWS, seed: int = 0) -> Paired:
    """Compare two sets of attempts on their common tasks; invalid attempts are left aside.

    Raises:
        InputError: no task in common; one id for two different tasks; no task with k valid attempts on both sides.
    """
    return paired_tallies(tally(rows_a), tally(rows_b), k=k, draws=draws, seed=seed)


def paired_tallies(a: Tally, b: Tally, *, k: int = 1, draws: int = DRAWS, seed: int = 0) -> Paired:
    """``paired`` of attempts that have been counted already."""
    common = [task for task in a.tasks if task in b.tasks]
    if not common:
        raise InputError("the two runs have no task in common", remedy="compare runs over the same tasks")
    changed = [task for task in common if a.tasks[task].digest != b.tasks[task].digest]
    if changed:
        raise InputError(
            f"{len(changed)} of {len(common)} common task ids stand for different tasks, the first is {changed[0]!r}",
            remedy="a changed prompt or checker makes another task: sample both policies on the same documents",
        )
    pairs = [(a.tasks[task], b.tasks[task]) for task in common]
    values = [(left.pass_at(k), right.pass_at(k)) for left, right in pairs if min(left.valid, right.valid) >= k]
    if not values:
        raise InputError(
            f"none of the {len(common)} common tasks has {k} valid attempts on both sides",
            field="k",
            remedy="lower k, or sample more attempts",
        )
    differences = [right - left for left, right in values]
    fixed = sum(difference > 0 for difference in differences)
    broken = sum(difference < 0 for difference in differences)
    interval = mean_interval(differences, bounds=(-1.0, 1.0), draws=draws, seed=seed)
    count = len(values)
    return Paired(
        k=k,
        tasks=count,
        a=math.fsum(left for left, _ in values) / count,
        b=math.fsum(right for _, right in values) / count,
        difference=math.fsum(differences) / count,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        fixed=fixed,
        broken=broken,
        same=count - fixed - broken,
        p=sign_test(fixed, broken),
        only_a=len(a.tasks) - len(common),
        only_b=len(b.tasks) - len(common),
        left_out=len(common) - count,
        verifiers_a=tuple(sorted(a.verifiers)),
        verifiers_b=tuple(sorted(b.verifiers)),
        draws=draws,
        seed=seed,
    )


def sign_test(up: int, down: int) -> float:
    """Two-sided exact p that ``up`` and ``down`` come from a fair coin: 2 P(X <= min), X binomial(up + down, 1/2)."""
    n = up + down
    if up == down:
        return 1.0
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(min(up, down) + 1)]
    top = max(logs)
    return min(1.0, 2 * math.fsum(math.exp(log - top) for log in logs) * math.exp(top - n * math.log(2)))
