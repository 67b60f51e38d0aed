"""The stages of a recipe: sampling, supervised fine-tuning, preference optimisation, and the GRPO family."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from lydite.training.packages import check_packages
from lydite.training.recipe_parts import Curriculum, Overlong, Sampling, Strict, off

MAX_STEPS, MAX_PROMPTS = 1_000_000, 10_000_000
"""Of one stage. The order of its prompts is drawn up beforehand, and a typing error must not fill the memory."""

LossName = Literal["grpo", "dr_grpo", "dapo", "gspo", "sapo", "cispo"]
EngineName = Literal["auto", "vllm", "continuous_batching", "plain"]


class SampleStage(Sampling):
    """Rolls out groups of ``n`` on training tasks with the policy as it is, and writes ``preferences.jsonl``."""

    kind: Literal["sample"]
    pairs_per_group: int = Field(4, ge=1)


class _Optimised(Strict):
    learning_rate: float = Field(gt=0)
    effective_learning_rate: float | None = Field(None, gt=0)
    """In place of ``learning_rate``: that / (1 - beta1), what a gradient moves a weight by in the end. Momentum can be
    changed, and the step stays."""
    beta1: float = Field(0.9, ge=0, lt=1)
    """Of Adam."""
    lr_scheduler: str = "constant"
    warmup_steps: int = Field(0, ge=0)
    weight_decay: float = Field(0.0, ge=0)
    max_grad_norm: float = Field(1.0, ge=0)
    micro_batch: int | None = Field(None, ge=1)
    save_every: int = Field(50, ge=1)
    keep_checkpoints: Literal["all"] | Annotated[int, Field(ge=1, le=MAX_STEPS)] | None = None
    """How many of them, the newest, stay when the stage is over, without the optimizer's state. By default none."""
    evaluate: bool = False
    """Measure on the held-out tasks when the stage is over too (phase ``after-INDEX``)."""
    trl: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_rate(self) -> _Optimised:
        if self.effective_learning_rate is not None and "learning_rate" in self.model_fields_set:
            raise ValueError("give either `learning_rate` or `effective_learning_rate` (= learning_rate / (1 - beta1))")
        if "beta1" in self.model_fields_set and not self._adam:
            raise ValueError(f"beta1 belongs to Adam, and trl.optim is {self.trl['optim']}")
        return self

    @model_serializer(mode="wrap")
    def _what_may_be_read_again(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A run's recipe is read when it is resumed."""
        return self._readable(handler(self))

    def _readable(self, written: dict[str, Any]) -> dict[str, Any]:
        """Everything but what ``_one_rate`` refuses beside the rest, and what runs from before a field have not."""
        if self.keep_checkpoints is None:
            written.pop("keep_checkpoints", None)
        if self.effective_learning_rate is not None:
            written.pop("learning_rate", None)
        if not self._adam:
            written.pop("beta1", None)
        return written

    @property
    def _adam(self) -> bool:
        return "adam" in str(self.trl.get("optim", "adam"))

    @property
    def rate(self) -> float:
        """The optimizer's learning rate."""
        if self.effective_learning_rate is None:
            return self.learning_rate
        return self.effective_learning_rate * (1 - self.beta1)


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
    """Supervised fine-tuning on ``rows`` of a file, or ``from`` the tasks' ``solutions`` or the ``run`` itself.

    Solutions of tasks with an environment become demonstrations: episodes in which the reference is carried out with
    tools. ``limit`` takes the first tasks only, in the order of the training tasks.
    """

    kind: Literal["sft"]
    rows: str | None = None
    source: Literal["solutions", "run"] | None = Field(None, alias="from")
    limit: int | None = Field(None, ge=1)
    learning_rate: float = Field(1e-4, gt=0)

    @model_validator(mode="after")
    def _one_source(self) -> SftStage:
        if (self.rows is None) == (self.source is None):
            raise ValueError("give either `rows` (a JSONL file) or `from` (solutions, run)")
        if self.limit is not None and self.source != "solutions":
            raise ValueError("`limit` belongs to `from: solutions`")
        return self


class DpoStage(_Rowed):
    """Direct preference optimisation (arXiv 2305.18290) on ``pairs`` of a file, or the run's own."""

    kind: Literal["dpo"]
    pairs: str | None = None
    beta: float = Field(0.1, gt=0)
    learning_rate: float = Field(1e-5, gt=0)


def _switch(value: Any) -> Any:
    return {} if value is True else off(value)


class GrpoStage(_Optimised):
    """Group-relative policy optimisation and its family. What each ``loss`` sets is in ``presets``.

    One optimizer step uses ``prompts_per_step * num_generations`` completions, sampled with the policy as it is then.
    ``optimizer_steps`` (or ``steps``) 0 is one pass over the training tasks. ``env`` names the environment that all
    training tasks must have; without it, each task's own ``env`` counts. An episode may make as many tool calls as its
    task's ``max_steps`` and ``max_tool_calling_iterations`` both allow, and take ``max_completion_length`` tokens, what
    tools answer included. ``scale_rewards`` defaults to ``batch`` for ``dapo``, else to what the loss's own paper does.
    With a ``curriculum`` (``true``, or its settings) tasks that are always or never solved rest for a while; without,
    all tasks take turns.
    """

    kind: Literal["grpo"]
    optimizer_steps: int = Field(0, ge=0, le=MAX_STEPS, validation_alias=AliasChoices("optimizer_steps", "steps"))
    num_generations: int = Field(8, ge=2, le=4096)
    prompts_per_step: int | None = Field(None, ge=1, le=4096)
    batch_size: int | None = Field(None, ge=2, le=65536)
    loss_type: LossName = Field("dapo", validation_alias=AliasChoices("loss_type", "loss"))
    scale_rewards: Literal["group", "batch", "none"] | None = None
    beta: float | None = Field(None, ge=0)
    env: str | None = None
    max_tool_calling_iterations: int = Field(16, ge=1, le=64)
    temperature: float = Field(1.0, gt=0)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0)
    max_completion_length: int = Field(1024, ge=1, le=1_000_000)
    mask_truncated: bool = False
    dynamic_sampling: bool | None = None
    max_rounds: int = Field(4, ge=1, le=1000)
    overlong: Overlong | None = None
    curriculum: Annotated[Curriculum | None, BeforeValidator(_switch)] = None
    entropy_coef: float = Field(0.05, ge=-10, le=10)
    generation_engine: EngineName = "auto"
    pip_packages: list[str] = Field(default_factory=list)
    learning_rate: float = Field(1e-5, gt=0)

    @field_validator("pip_packages")
    @classmethod
    def _packages(cls, value: list[str]) -> list[str]:
        return check_packages(value)

    @model_serializer(mode="wrap")
    def _without_what_is_off(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A run from before there was a curriculum is the same run as one without."""
        values = self._readable(handler(self))
        if values.get("curriculum") is None:
            values.pop("curriculum", None)
        return values

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, value: Any) -> Any:
        for name, other in (("optimizer_steps", "steps"), ("loss_type", "loss")):
            if isinstance(value, dict) and name in value and other in value:
                raise ValueError(f"`{other}` is another name of `{name}`: give one of them")
        return value

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
        if self.optimizer_steps * self.prompts > MAX_PROMPTS:
            total = self.optimizer_steps * self.prompts
            raise ValueError(f"steps times prompts per step is {total}: at most {MAX_PROMPTS}")
        if self.overlong is not None and self.overlong.buffer > (
            self.overlong.max_length or self.max_completion_length
        ):
            raise ValueError("overlong.buffer is longer than the longest completion")
        return self

    def steps(self, tasks: int) -> int:
        """Optimizer steps of the stage with this many training tasks."""
        return self.optimizer_steps or max(1, -(-tasks // self.prompts))

    @property
    def completions_per_step(self) -> int:
        """Completions that one optimizer step learns from."""
        return self.batch_size or (self.prompts_per_step or 8) * self.num_generations

    @property
    def prompts(self) -> int:
        """Prompts of one optimizer step."""
        return self.completions_per_step // self.num_generations


Stage = Annotated[SampleStage | SftStage | GrpoStage | DpoStage, Field(discriminator="kind")]


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
