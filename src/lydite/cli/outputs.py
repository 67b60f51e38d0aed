"""Files that a command writes: never what it reads, and never what a run is made of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

OF_A_RUN = frozenset(
    {
        "run.json",
        "tasks.jsonl",
        "rollouts.jsonl",
        "ledger.jsonl",
        "metrics.jsonl",
        "flags-review.jsonl",
        "recipe.yaml",
        "workspaces",
        "checkpoints",
        "adapter",
        "model",
    }
)
"""Names in a run folder that no export, proof or selection may take."""


def free(output: Path | None, inputs: Iterable[Path] = ()) -> None:
    """See that a file may be written.

    Args:
        output: the file; ``None`` needs nothing.
        inputs: what the command reads, by whatever name.

    Raises:
        InputError: it is one of the inputs, or a part of a run.
    """
    from lydite.errors import InputError

    if output is None:
        return
    here = output.resolve()
    if any(here == given.resolve() for given in inputs):
        raise InputError("is what this command reads", path=output, field="-o", remedy="write to another file")
    if here.name in OF_A_RUN and (here.parent / "run.json").exists():
        raise InputError("is a part of a run", path=output, field="-o", remedy="write to another file")
