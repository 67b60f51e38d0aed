"""An adapter brings the chat template that it was trained with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_llama import CHAT_TEMPLATE

from lydite.policies.weights import load_local
from lydite.training import parse_recipe

pytest.importorskip("peft")
pytestmark = pytest.mark.train

OWN = CHAT_TEMPLATE.replace("<|im_start|>assistant\n", "<|im_start|>assistant\nAnswer: ")


@pytest.fixture
def adapter(tiny: Path, tmp_path: Path) -> Path:
    """An adapter alone, without a tokenizer."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    model = get_peft_model(AutoModelForCausalLM.from_pretrained(tiny), LoraConfig(r=2, target_modules="all-linear"))
    model.save_pretrained(tmp_path / "adapter")
    return tmp_path / "adapter"


def with_template(adapter: Path, tiny: Path) -> Path:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    tokenizer.chat_template, tokenizer.response_template = OWN, {"fields": {}}
    tokenizer.save_pretrained(adapter)
    return adapter


def test_it_is_used_where_the_policy_is_asked(tiny: Path, adapter: Path) -> None:
    assert load_local(f"hf:{tiny}+{adapter}")[1].chat_template == CHAT_TEMPLATE
    with_template(adapter, tiny)
    _, tokenizer = load_local(f"hf:{tiny}+{adapter}")
    assert (tokenizer.chat_template, tokenizer.response_template) == (OWN, {"fields": {}})
    assert tokenizer.padding_side == "left"


def test_it_is_used_where_the_adapter_is_trained_further(tiny: Path, adapter: Path, document: dict[str, Any]) -> None:
    from lydite.training.trl.model import Learner

    document.pop("lora")
    recipe = parse_recipe({**document, "policy": f"hf:{tiny}+{with_template(adapter, tiny)}"})
    assert Learner(recipe).tokenizer.chat_template == OWN
