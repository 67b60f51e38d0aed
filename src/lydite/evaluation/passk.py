"""pass@k and pass^k of one task, without bias.

With ``n`` attempts of which ``c`` are correct, both are averages over all subsets of size k of those attempts:

    pass@k = 1 - C(n - c, k) / C(n, k)     at least one of k succeeds (Chen et al. 2021, arXiv 2107.03374)
    pass^k =     C(c, k)     / C(n, k)     all k succeed (tau-bench, arXiv 2406.12045)

``n`` counts the attempts at *that task*, never the tasks: from one attempt a task only k = 1 can be estimated.

The usual way around overflow is the product form 1 - prod (1 - k / i), i from n - c + 1 to n. Python's integers do not
overflow and their quotient is rounded once, so the definition itself is used: equal rates such as 1 of 2 and 2 of 4 are
then equal numbers, which the comparison of two runs counts on.
"""

from __future__ import annotations

import math
from functools import lru_cache

from lydite.errors import InputError


@lru_cache(maxsize=4096)
def pass_at_k(n: int, c: int, k: int) -> float:
    """Unbiased estimate of the chance that at least one of ``k`` attempts succeeds.

    Args:
        n: attempts at the task.
        c: correct ones among them, 0 to n.
        k: 1 to n.

    Raises:
        InputError: when n < k (there is no unbiased estimate), or the counts make no sense.
    """
    _check(n, c, k)
    subsets = math.comb(n, k)
    return (subsets - math.comb(n - c, k)) / subsets


@lru_cache(maxsize=4096)
def pass_hat_k(n: int, c: int, k: int) -> float:
    """Unbiased estimate of the chance that all of ``k`` attempts succeed. Arguments and errors as ``pass_at_k``."""
    _check(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if k < 1:
        raise InputError(f"must be at least 1, not {k}", field="k")
    if not 0 <= c <= n:
        raise InputError(f"{c} correct attempts out of {n} is impossible")
    if n < k:
        raise InputError(
            f"pass@{k} cannot be estimated from {n} attempts at a task",
            field="k",
            remedy=f"sample at least {k} attempts",
        )
