"""The policy while it learns: loaded, wrapped in an adapter, saved and brought back."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import torch
from peft import LoraConfig, PeftModel, get_peft_model, set_peft_model_state_dict
from peft.utils import load_peft_weights

from lydite.errors import InputError
from lydite.policies.weights import load_folders, resolve, take_templates
from lydite.training.recipe import Lora, Recipe
from lydite.training.trl.templates import offer_tools

REFERENCE = "ref"
"""Name of the frozen copy of an adapter that TRL makes when a stage needs a reference policy."""


class Learner:
    """A model that is trained in stages.

    Attributes:
        model: a ``PeftModel``, or the model itself for full fine-tuning.
        tokenizer: its tokenizer, pad token set.
        name: identity of the policy before training: the recipe's spec, and a digest of the weights.
        tools_note: what had to be done to the chat template so that tools can be offered.
        plain: prompts are given as plain text, without a chat template (``?plain=1`` in the spec).
    """

    def __init__(self, recipe: Recipe) -> None:
        self.tools_note = ""
        spec, _, options = resolve_policy(recipe).partition("?")
        self.plain = options == "plain=1"
        if options and not self.plain:
            raise InputError(f"unknown option {options!r}", field="policy", remedy="known: ?plain=1")
        folders = resolve(spec)
        base = msgspec.structs.replace(folders, adapter=None)
        self.model, self.tokenizer = load_folders(base)
        if folders.adapter is not None:
            take_templates(self.tokenizer, folders.adapter)
        self.spec = recipe.policy
        self.name = f"{recipe.policy}@{folders.digest[:16]}"
        if not self.plain and not self.tokenizer.chat_template:
            raise InputError(
                "the model has no chat template",
                field="policy",
                remedy="to give it prompts as plain text, add ?plain=1 to the policy",
            )
        torch.manual_seed(recipe.seed)  # adapters start at random
        if folders.adapter is not None:
            self.model = PeftModel.from_pretrained(self.model, str(folders.adapter), is_trainable=True)
            _check_adapter(self.model, recipe)
        elif recipe.lora is not None:
            self.model = get_peft_model(self.model, _lora_config(recipe.lora, recipe.policy))
        self._name_base()

    def offer_tools(self) -> None:
        """Make the chat template fit for episodes; see ``templates``.

        Raises:
            InputError: it cannot be.
        """
        if self.plain:
            raise InputError("a plain prompt tells of no tools", field="policy", remedy="leave out ?plain=1")
        self.tools_note = offer_tools(self.tokenizer)

    @property
    def adapted(self) -> bool:
        """Whether an adapter is trained rather than the model itself."""
        return isinstance(self.model, PeftModel)

    def _name_base(self) -> None:
        """Adapters and checkpoints name the spec of the recipe as their base, never a path of this machine; who loads
        one names the base anyway."""
        if self.adapted:
            self.model.peft_config["default"].base_model_name_or_path = base_name(self.spec)

    def save(self, folder: Path) -> None:
        """Write the adapter, or the whole model, with its tokenizer. The folder is replaced at once."""
        fresh = folder.with_name(folder.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        if self.adapted:
            self._name_base()
            self.model.save_pretrained(fresh, save_embedding_layers=False)
            (fresh / "README.md").unlink(missing_ok=True)  # PEFT's empty card
        else:
            self.model.save_pretrained(fresh)
            _forget_path(fresh / "config.json")
        self.tokenizer.save_pretrained(fresh)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
        self._reference_at(folder)

    def _reference_at(self, folder: Path) -> None:
        """TRL loads the reference of a fully tuned model from this path: the policy as the last stage left it."""
        if not self.adapted:
            self.model.config._name_or_path = str(folder)

    def restore(self, folder: Path) -> None:
        """Take the weights that ``save`` wrote."""
        if self.adapted:
            set_peft_model_state_dict(self.model, load_peft_weights(str(folder), device="cpu"))
        else:
            fresh = type(self.model).from_pretrained(folder, dtype=self.model.dtype)
            self.model.load_state_dict(fresh.state_dict())
        self._reference_at(folder)

    def digest(self) -> str:
        """Hex SHA-256 over the weights that are trained, in the order of their names."""
        sha256 = hashlib.sha256()
        for name, parameter in sorted(self.model.named_parameters()):
            if parameter.requires_grad:
                sha256.update(name.encode())
                sha256.update(parameter.detach().to("cpu", torch.float32).contiguous().numpy().tobytes())
        return sha256.hexdigest()

    def settle(self) -> None:
        """After a stage: evaluation mode, and without the reference that TRL may have made."""
        self._drop_reference()
        self.model.eval()

    def _drop_reference(self) -> None:
        if self.adapted and REFERENCE in self.model.peft_config:
            self.model.delete_adapter(REFERENCE)


def _forget_path(config: Path) -> None:
    """A model folder does not tell where on this machine it was made."""
    values = json.loads(config.read_text(encoding="utf-8"))
    if values.pop("_name_or_path", None) is not None:
        config.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def resolve_policy(recipe: Recipe) -> str:
    """The policy's spec with its paths looked up as the recipe says."""
    kind, colon, rest = recipe.policy.partition(":")
    if kind != "hf":
        return recipe.policy
    folders, mark, options = rest.partition("?")
    return kind + colon + "+".join(recipe.resolve(part) for part in folders.split("+")) + mark + options


def base_name(spec: str) -> str:
    """What an adapter says it belongs to: the spec, with folders cut down to their names."""
    kind, colon, rest = spec.partition(":")
    return Path(re.split(r"[+?]", rest)[0]).name if kind == "hf" and colon else spec


def _lora_config(lora: Lora, spec: str) -> Any:
    return LoraConfig(
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.target_modules,
        task_type="CAUSAL_LM",
        base_model_name_or_path=base_name(spec),
    )


def _check_adapter(model: Any, recipe: Recipe) -> None:
    """A policy that comes with an adapter goes on with it; a recipe that asks for another shape cannot be honoured."""
    found = model.peft_config["default"]
    asked = recipe.lora
    if asked is None:
        raise InputError(
            "full fine-tuning of a policy with an adapter is not possible",
            field="lora",
            remedy="merge the adapter into its base first, or leave `lora` out to go on training the adapter",
        )
    if "lora" in recipe.model_fields_set:
        for name, value, have in (("r", asked.r, found.r), ("alpha", asked.alpha, found.lora_alpha)):
            if name in asked.model_fields_set and value != have:
                raise InputError(
                    f"the policy's adapter has {name} {have}, the recipe asks for {value}",
                    field=f"lora.{name}",
                    remedy="leave `lora` out to go on training the adapter as it is",
                )
