"""Recipes: everything that defines a training run, in one file that cannot be misread.

A recipe is YAML or TOML. An unknown key is an error that names the nearest known one; every error names the file, the
line where it is known, the dotted field and what to do. Reading and the messages live in ``recipe_io``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from lydite.codec import digest
from lydite.reward import Flagged, Preset, RewardScheme
from lydite.training.controls import Control

MAX_STEPS, MAX_PROMPTS = 1_000_000, 10_000_000
"""Of one stage. The order of its prompts is drawn up beforehand, and a typing error must not fill the memory."""

LossName = Literal["grpo", "dr_grpo", "dapo", "gspo", "sapo", "cispo"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Source(_Model):
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


def _off(value: Any) -> Any:
    """TOML has no null: ``false`` says the same."""
    return None if value is False else value


SourceField = Annotated[Source, BeforeValidator(_source)]


class Tasks(_Model):
    """Tasks to train on, and tasks to measure on. Without ``eval``, a share of ``train`` is held out."""

    train: SourceField
    eval: SourceField | None = None
    eval_fraction: float = Field(0.1, ge=0, lt=1)


class Reward(_Model):
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


class Lora(_Model):
    """Low-rank adapters (arXiv 2106.09685). ``target_modules`` defaults to every linear layer but the output head."""

    r: int = Field(16, ge=1)
    alpha: float = Field(32, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    target_modules: str | list[str] = "all-linear"


class _Sampling(_Model):
    n: int = Field(4, ge=1, le=100_000)
    limit: int | None = Field(None, ge=1)
    temperature: float = Field(1.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(256, ge=1, le=1_000_000)


class Evaluation(_Sampling):
    """Measured on the held-out tasks before the first stage and after the last: ``n`` attempts a task, pass@``k``."""

    k: list[int] = [1]

    @model_validator(mode="after")
    def _enough_attempts(self) -> Evaluation:
        if not self.k or min(self.k) < 1 or max(self.k) > self.n:
            raise ValueError(
                f"every k must be between 1 and n = {self.n}: pass@k is not defined beyond the attempts made"
            )
        return self


class SampleStage(_Sampling):
    """Rolls out groups of ``n`` on training tasks with the policy as it is, and writes ``preferences.jsonl``."""

    kind: Literal["sample"]
    pairs_per_group: int = Field(4, ge=1)


class _Optimised(_Model):
    learning_rate: float = Field(gt=0)
    lr_scheduler: str = "constant"
    warmup_steps: int = Field(0, ge=0)
    weight_decay: float = Field(0.0, ge=0)
    max_grad_norm: float = Field(1.0, ge=0)
    micro_batch: int | None = Field(None, ge=1)
    save_every: int = Field(50, ge=1)
    trl: dict[str, Any] = {}


class _Rowed(_Optimised):
    steps: int | None = Field(None, ge=1, le=MAX_STEPS)
    epochs: float | None = Field(None, gt=0, le=10_000)
    batch_size: int = Field(8, ge=1, le=65536)
    max_length: int | None = Field(1024, ge=2)

    @model_validator(mode="after")
    def _length_and_micro_batch(self) -> _Rowed:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either `steps` or `epochs`")
        _check_micro_batch(self.micro_batch, self.batch_size)
        return self


class SftStage(_Rowed):
    """Supervised fine-tuning on ``rows`` of a file, or ``from`` the tasks' ``solutions`` or the ``run`` itself."""

    kind: Literal["sft"]
    rows: str | None = None
    source: Literal["solutions", "run"] | None = Field(None, alias="from")
    learning_rate: float = Field(1e-4, gt=0)

    @model_validator(mode="after")
    def _one_source(self) -> SftStage:
        if (self.rows is None) == (self.source is None):
            raise ValueError("give either `rows` (a JSONL file) or `from` (solutions, run)")
        return self


class DpoStage(_Rowed):
    """Direct preference optimisation (arXiv 2305.18290) on ``pairs`` of a file, or the run's own."""

    kind: Literal["dpo"]
    pairs: str | None = None
    beta: float = Field(0.1, gt=0)
    learning_rate: float = Field(1e-5, gt=0)


class Overlong(_Model):
    """Soft overlong punishment (DAPO, arXiv 2503.14476): from 0 at ``max_length - buffer`` to -1 at ``max_length``."""

    max_length: int | None = Field(None, ge=1)
    buffer: int = Field(ge=1)
    weight: float = Field(1.0, gt=0)


class GrpoStage(_Optimised):
    """Group-relative policy optimisation and its family. What each ``loss`` sets is in ``presets``.

    One optimizer step uses ``prompts_per_step * num_generations`` completions, sampled with the policy as it is then.
    """

    kind: Literal["grpo"]
    steps: int = Field(ge=1, le=MAX_STEPS)
    num_generations: int = Field(8, ge=2, le=4096)
    prompts_per_step: int | None = Field(None, ge=1, le=4096)
    batch_size: int | None = Field(None, ge=2, le=65536)
    loss: LossName = "grpo"
    scale_rewards: Literal["group", "batch", "none"] | None = None
    beta: float | None = Field(None, ge=0)
    temperature: float = Field(1.0, gt=0)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0)
    max_completion_length: int = Field(256, ge=1, le=1_000_000)
    mask_truncated: bool = False
    dynamic_sampling: bool | None = None
    max_rounds: int = Field(4, ge=1, le=1000)
    overlong: Overlong | None = None
    entropy_coef: float = 0.0
    learning_rate: float = Field(1e-5, gt=0)

    @model_validator(mode="after")
    def _batches(self) -> GrpoStage:
        if self.prompts_per_step is not None and self.batch_size is not None:
            raise ValueError("give either `prompts_per_step` or `batch_size` (= prompts_per_step * num_generations)")
        if self.batch_size is not None and self.batch_size % self.num_generations:
            raise ValueError(
                f"num_generations {self.num_generations} does not divide batch_size {self.batch_size}:"
                f" {_names(_divisors(self.batch_size)[1:])} would do"
            )
        _check_micro_batch(self.micro_batch, self.completions_per_step)
        if self.steps * self.prompts > MAX_PROMPTS:
            raise ValueError(f"steps times prompts per step is {self.steps * self.prompts}: at most {MAX_PROMPTS}")
        if self.overlong is not None and self.overlong.buffer > (
            self.overlong.max_length or self.max_completion_length
        ):
            raise ValueError("overlong.buffer is longer than the longest completion")
        return self

    @property
    def completions_per_step(self) -> int:
        """Completions that one optimizer step learns from."""
        return self.batch_size or (self.prompts_per_step or 8) * self.num_generations

    @property
    def prompts(self) -> int:
        """Prompts of one optimizer step."""
        return self.completions_per_step // self.num_generations


Stage = Annotated[SampleStage | SftStage | GrpoStage | DpoStage, Field(discriminator="kind")]


class Recipe(_Model):
    """A training run. The same recipe, tasks and machine give the same run."""

    name: str = Field("run", min_length=1, pattern=r"^[\w.\-]+$")
    seed: int = Field(0, ge=0, lt=2**32)
    policy: str = Field(min_length=1)
    tasks: Tasks
    reward: Reward = Reward()
    lora: Annotated[Lora | None, BeforeValidator(_off)] = Lora()
    control: str = "none"
    evaluation: Annotated[Evaluation | None, BeforeValidator(_off)] = Evaluation()
    stages: list[Stage] = Field(min_length=1)
    report_to: list[str] = []

    _base: Path = PrivateAttr(default_factory=Path)

    @field_validator("control")
    @classmethod
    def _known_control(cls, value: str) -> str:
        Control.parse(value)
        return value

    @model_validator(mode="after")
    def _control_reaches_everything(self) -> Recipe:
        if self.control == "none":
            return self
        if not any(isinstance(stage, GrpoStage) for stage in self.stages):
            raise ValueError(f"control {self.control} replaces the reward of a grpo stage, and there is none")
        for index, stage in enumerate(self.stages):
            if isinstance(stage, DpoStage) or (isinstance(stage, SftStage) and stage.source == "run"):
                raise ValueError(
                    f"stage {index} ({stage.kind}) learns from true verdicts, past the control {self.control}"
                )
        return self

    @model_validator(mode="after")
    def _pairs_exist(self) -> Recipe:
        for index, stage in enumerate(self.stages):
            before = self.stages[:index]
            if isinstance(stage, DpoStage) and not stage.pairs and not any(item.kind == "sample" for item in before):
                raise ValueError(
                    f"stages.{index} (dpo) has no pairs to learn from: put a `sample` stage before it, or give `pairs`"
                )
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """The recipe as plain values: what a run folder keeps, and compares before it resumes."""
        return self.model_dump(mode="json", by_alias=True)

    @property
    def digest(self) -> str:
        """Digest of the settings."""
        return digest(self.settings)

    def resolve(self, path: str) -> str:
        """A relative path is looked for beside the recipe first, then in the working directory."""
        beside = self._base / path
        return str(beside) if beside.exists() else path


def _divisors(number: int) -> list[int]:
    return [value for value in range(1, number + 1) if number % value == 0]


def _names(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _check_micro_batch(micro_batch: int | None, batch: int) -> None:
    if micro_batch is not None and batch % micro_batch:
        raise ValueError(
            f"micro_batch {micro_batch} does not divide the {batch} samples of a step:"
            f" {_names(_divisors(batch))} would do"
        )
