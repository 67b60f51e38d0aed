"""What ``fine_tuning.jobs.create`` sends. A field that is not here is refused by name, never left out silently.

Beside OpenAI's own there are fields of Foundry's (``tools``, ``max_episode_steps``, ``response_format``) and
``x_rlvr``, which carries what a recipe has beyond them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainValidator, WithJsonSchema

from lydite.server.bodies import shown

Auto = Literal["auto"]
Key = Annotated[str, Field(max_length=64)]
Value = Annotated[str, Field(max_length=512)]


def _numbers(least: float, most: float, *, whole: bool) -> tuple[PlainValidator, WithJsonSchema]:
    """``auto`` or a number, refused with the range it may have; and what the document of the API says of it."""

    def read(value: Any) -> Any:
        if value is None or value == "auto":
            return value
        number = not isinstance(value, bool) and isinstance(value, int if whole else (int, float))
        if not number or not (least <= value <= most and value > 0):
            reach = f"from {least} to {most}" if whole else f"above 0, at most {most:g}"
            kind = "a whole number" if whole else "a number"
            raise ValueError(f"must be 'auto' or {kind} {reach}, not {shown(value)}")
        return value

    bounds = {"minimum": least, "maximum": most} if whole else {"exclusiveMinimum": 0, "maximum": most}
    kinds: list[dict[str, Any]] = [
        {"const": "auto", "type": "string"},
        {"type": "integer" if whole else "number", **bounds},
        {"type": "null"},
    ]
    return PlainValidator(read), WithJsonSchema({"anyOf": kinds})


Whole = Annotated[Auto | int | None, *_numbers(1, 1_000_000, whole=True)]
Factor = Annotated[Auto | int | float | None, *_numbers(0, 1e6, whole=False)]
Epochs = Annotated[Auto | int | None, *_numbers(1, 10_000, whole=True)]
Rows = Annotated[Auto | int | None, *_numbers(1, 65_536, whole=True)]
Prompts = Annotated[Auto | int | None, *_numbers(1, 4_096, whole=True)]
Attempts = Annotated[Auto | int | None, *_numbers(1, 100_000, whole=True)]
Groups = Annotated[Auto | int | float | None, *_numbers(0, 512, whole=False)]
"""As far as the fields of a recipe reach that they become."""


class Asked(BaseModel):
    """Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Hyperparameters(Asked):
    """Of every method. ``auto`` is the default of each."""

    n_epochs: Epochs = None
    batch_size: Rows = None
    learning_rate_multiplier: Factor = None


class DpoHyperparameters(Hyperparameters):
    """Of ``dpo``."""

    beta: Factor = None


class ReinforcementHyperparameters(Hyperparameters):
    """Of ``reinforcement``."""

    n_epochs: Whole = None
    batch_size: Prompts = None
    compute_multiplier: Groups = None
    eval_interval: Whole = None
    eval_samples: Attempts = None
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
