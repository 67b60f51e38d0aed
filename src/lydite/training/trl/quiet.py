"""What must be said to the libraries before they are imported, so that a run talks to nobody and prints one bar."""

from __future__ import annotations

import importlib.util
import logging
import os
import warnings

from lydite.errors import MissingExtraError

_MODULES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")
_ENVIRONMENT = {
    "TRL_EXPERIMENTAL_SILENCE": "1",
    "HF_HUB_OFFLINE": "1",  # policies are local folders; set HF_HUB_OFFLINE=0 to let the libraries use the network
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}


def require() -> None:
    """Fail early, before anything is read or written, when the libraries are missing.

    Raises:
        MissingExtraError: with the pip command.
    """
    if any(importlib.util.find_spec(name) is None for name in _MODULES):
        raise MissingExtraError("training", "train")


def hush() -> None:
    """Quieten the libraries. What the user's environment says already stands."""
    for key, value in _ENVIRONMENT.items():
        os.environ.setdefault(key, value)
    import datasets
    import transformers

    datasets.disable_progress_bars()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    # TRL prints a whole row, reference answer included, whenever a sample has no reward; the ledger says it better.
    for name in ("trl", "accelerate", "datasets", "peft"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"(trl|peft|transformers|torch|accelerate|datasets)\b.*")
