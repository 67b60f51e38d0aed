"""Parts of a recipe: where tasks come from, what is rewarded, how adapters are shaped, what is measured."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lydite.reward import Flagged, Preset, RewardScheme


class Strict(BaseModel):
    """Frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Source(Strict):
    """Where tasks come from: a generated ``family``, or ``files`` of task documents."""

    family: str | None = None
    levels: list[int] | None = None
    n: int | None = Field(None, ge=1, le=10_000_000)
    seed: int = 0
    files: list[str] | None = None
    limit: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _one_kind(self) -> Source:
        if (self.family is None) == (self.files is None):
            raise ValueError("give either `family` (generated tasks) or `files` (task documents), not both")
        if self.family is not None and (self.levels is None or self.n is None):
            raise ValueError("a generated family needs `levels` (a list of numbers) and `n` (how many tasks)")
        if self.files is not None and (self.levels is not None or self.n is not None):
            raise ValueError(
                "`levels` and `n` belong to a generated `family`; use `limit` to take the first tasks of files"
            )
        return self


def _source(value: Any) -> Any:
    if isinstance(value, str):
        return {"files": [value]}
    if isinstance(value, list):
        return {"files": value}
    return value


def off(value: Any) -> Any:
    """TOML has no null: ``false`` says the same."""
    return None if value is False else value


SourceField = Annotated[Source, BeforeValidator(_source)]


class Tasks(Strict):
    """Tasks to train on, and tasks to measure on. Without ``eval``, a share of ``train`` is held out."""

    train: SourceField
    eval: SourceField | None = None
    eval_fraction: float = Field(0.1, ge=0, lt=1)


class Reward(Strict):
    """How a verdict becomes the number that training sees."""

    preset: Preset = Preset.ASYMMETRIC
    format_weight: float = Field(0.0, ge=0)
    flagged: Flagged = Flagged.KEEP

    @model_validator(mode="after")
    def _scheme_exists(self) -> Reward:
        self.scheme()
        return self

    def scheme(self) -> RewardScheme:
        """The reward scheme of the core."""
        return RewardScheme(preset=self.preset, format_weight=self.format_weight, flagged=self.flagged)


class Lora(Strict):
    """Low-rank adapters (arXiv 2106.09685). ``target_modules`` defaults to every linear layer but the output head."""

    r: int = Field(16, ge=1)
    alpha: float = Field(32, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    target_modules: str | list[str] = "all-linear"


class Sampling(Strict):
    """How attempts are sampled. ``max_tokens`` is the budget of one answer, or of all turns of an episode."""

    n: int = Field(4, ge=1, le=100_000)
    limit: int | None = Field(None, ge=1)
    temperature: float = Field(1.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(256, ge=1, le=1_000_000)


class Evaluation(Sampling):
    """Measured on the held-out tasks before the first stage and after the last: ``n`` attempts a task, pass@``k``."""

    k: list[int] = [1]

    @model_validator(mode="after")
    def _enough_attempts(self) -> Evaluation:
        if not self.k or min(self.k) < 1 or max(self.k) > self.n:
            raise ValueError(
                f"every k must be between 1 and n = {self.n}: pass@k is not defined beyond the attempts made"
            )
        return self


class Curriculum(Strict):
    """Which tasks a stage asks: those with a success rate from ``low`` to ``high`` in their latest ``groups`` groups.
    Others rest for up to ``rest`` turns before they are tried again. See ``training.curriculum``."""

    low: float = Field(0.1, ge=0, le=1)
    high: float = Field(0.9, ge=0, le=1)
    groups: int = Field(1, ge=1, le=100)
    rest: int = Field(8, ge=1, le=1000)

    @model_validator(mode="after")
    def _a_band(self) -> Curriculum:
        if self.low > self.high:
            raise ValueError(f"the band from low {self.low} to high {self.high} is empty")
        return self


class Overlong(Strict):
    """Soft overlong punishment (DAPO, arXiv 2503.14476): from 0 at ``max_length - buffer`` to -1 at ``max_length``."""

    max_length: int | None = Field(None, ge=1)
    buffer: int = Field(ge=1)
    weight: float = Field(1.0, gt=0)
