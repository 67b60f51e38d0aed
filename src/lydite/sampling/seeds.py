"""Seeds of single attempts."""

from __future__ import annotations

import hashlib

from lydite.codec import canonical


def attempt_seed(run_seed: int, phase: str, task_id: str, index: int) -> int:
    """The seed of one attempt, in [0, 2^63): it depends on these four values alone.

    So an attempt comes out the same whatever was sampled before it, in whichever order, and after a resume.
    """
    name = hashlib.sha256(canonical([run_seed, phase, task_id, index])).digest()
    return int.from_bytes(name[:8], "big") >> 1
