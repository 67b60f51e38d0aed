"""What ``fine_tuning.jobs.create`` sends. A field that is not here is refused by name, never left out silently.

Beside OpenAI's own there are fields of Foundry's (``tools``, ``max_episode_steps``, ``response_format``) and
``x_rlvr``, which carries what a recipe has beyond them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Auto = Literal["auto"]
Whole = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
Factor = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Key = Annotated[str, Field(max_length=64)]
Value = Annotated[str, Field(max_length=512)]


class Asked(BaseModel):
    """Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Hyperparameters(Asked):
    """Of every method. ``auto`` is the default of each."""

    n_epochs: Auto | Whole | None = None
    batch_size: Auto | Whole | None = None
    learning_rate_multiplier: Auto | Factor | None = None


class DpoHyperparameters(Hyperparameters):
    """Of ``dpo``."""

    beta: Auto | Factor | None = None


class ReinforcementHyperparameters(Hyperparameters):
    """Of ``reinforcement``."""

    compute_multiplier: Auto | Factor | None = None
    eval_interval: Auto | Whole | None = None
    eval_samples: Auto | Whole | None = None
    reasoning_effort: Literal["default", "low", "medium", "high"] | None = None


class Supervised(Asked):
    """Rows that end with the assistant's message."""

    hyperparameters: Hyperparameters | None = None


class Dpo(Asked):
    """Rows of ``input``, ``preferred_output`` and ``non_preferred_output``."""

    hyperparameters: DpoHyperparameters | None = None


class Reinforcement(Asked):
    """Rows that end with the user's message, and a grader. It may be left out where every row is a task document."""

    grader: dict[str, JsonValue] | None = None
    hyperparameters: ReinforcementHyperparameters | None = None
    max_episode_steps: Annotated[int, Field(strict=True, ge=1, le=64)] | None = None
    tools: list[JsonValue] | None = None
    response_format: dict[str, JsonValue] | None = None


class Method(Asked):
    """How to train, and the settings of that method alone."""

    type: Literal["supervised", "dpo", "reinforcement"]
    supervised: Supervised | None = None
    dpo: Dpo | None = None
    reinforcement: Reinforcement | None = None


class Wandb(Asked):
    """Weights & Biases."""

    project: Annotated[str, Field(min_length=1, max_length=128)]
    name: Annotated[str, Field(max_length=128)] | None = None
    entity: Annotated[str, Field(max_length=128)] | None = None
    tags: list[Annotated[str, Field(max_length=64)]] | None = None


class Integration(Asked):
    """A tracker that metrics are sent to as well."""

    type: str
    wandb: Wandb | None = None


class JobAsked(Asked):
    """A job. Without ``method`` it is ``supervised``, with the ``hyperparameters`` beside it."""

    model: Annotated[str, Field(min_length=1, max_length=1000)]
    training_file: Annotated[str, Field(max_length=100)]
    validation_file: Annotated[str, Field(max_length=100)] | None = None
    method: Method | None = None
    hyperparameters: Hyperparameters | None = None
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**32)] | None = None
    suffix: Annotated[str, Field(max_length=64)] | None = None
    metadata: Annotated[dict[Key, Value], Field(max_length=16)] | None = None
    integrations: list[Integration] | None = None
    x_rlvr: dict[str, JsonValue] | None = None

    @property
    def kind(self) -> str:
        """The method's type."""
        return self.method.type if self.method else "supervised"

    def plain(self) -> dict[str, Any]:
        """As it came, without what was left out."""
        return self.model_dump(mode="json", exclude_unset=True)
