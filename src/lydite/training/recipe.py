"""Recipes: everything that defines a training run, in one file that cannot be misread.

A recipe is YAML or TOML. An unknown key is an error that names the nearest known one; every error names the file, the
line where it is known, the dotted field and what to do. Reading and the messages live in ``recipe_io``, what a recipe
is made of in ``recipe_parts`` and ``recipe_stages``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PrivateAttr, field_validator, model_validator

from lydite.codec import digest
from lydite.training.controls import Control
from lydite.training.recipe_parts import Evaluation, Lora, Overlong, Reward, Source, Strict, Tasks, off
from lydite.training.recipe_stages import (
    DpoStage,
    EngineName,
    GrpoStage,
    LossName,
    SampleStage,
    SftStage,
    Stage,
)

__all__ = [
    "DpoStage",
    "EngineName",
    "Evaluation",
    "GrpoStage",
    "Lora",
    "LossName",
    "Overlong",
    "Recipe",
    "Reward",
    "SampleStage",
    "SftStage",
    "Source",
    "Stage",
    "Tasks",
]


class Recipe(Strict):
    """A training run. The same recipe, tasks and machine give the same run."""

    name: str = Field("run", min_length=1, pattern=r"^[\w.\-]+$")
    seed: int = Field(0, ge=0, lt=2**32)
    policy: str = Field(min_length=1)
    tasks: Tasks
    reward: Reward = Reward()
    lora: Annotated[Lora | None, BeforeValidator(off)] = Lora()
    control: str = "none"
    evaluation: Annotated[Evaluation | None, BeforeValidator(off)] = Evaluation()
    stages: list[Stage] = Field(min_length=1)
    report_to: list[str] = Field(default_factory=list)

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
    def _control_chooses_nothing(self) -> Recipe:
        for index, stage in enumerate(self.stages):
            if self.control != "none" and isinstance(stage, GrpoStage) and stage.curriculum is not None:
                raise ValueError(
                    f"stages.{index}.curriculum chooses tasks by true verdicts, past the control {self.control}"
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
