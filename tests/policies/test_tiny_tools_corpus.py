"""What ``builtin:tiny-tools`` was made from: in the form of its chat template, and nothing of the family of tasks."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from lydite.policies import load_local
from lydite.tasksets import generate

pytest.importorskip("trl")
pytestmark = pytest.mark.train


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    import train_tiny_tools

    yield train_tiny_tools
    for name in ("train_tiny_tools", "train_tiny"):
        sys.modules.pop(name, None)


def test_conversations_are_tokens_as_the_template_has_them(corpus: Any) -> None:
    tokenizer = load_local("builtin:tiny-tools")[1]
    rng = random.Random(0)
    for _ in range(50):
        offered, turns = corpus.conversation(rng, 0.3)
        tools = [
            {"type": "function", "function": {"name": name, "parameters": {"properties": dict.fromkeys(keys)}}}
            for name, keys in offered.items()
        ]
        ids = tokenizer.apply_chat_template(turns, tools=tools or None, return_dict=False)
        pieces = tokenizer([text for text, _ in corpus.rendered(offered, turns)])["input_ids"]
        assert ids == [token for piece in pieces for token in piece]


def test_no_sentence_of_the_family_is_in_it(corpus: Any) -> None:
    rng = random.Random(0)
    asked = [corpus.conversation(rng, 0.1)[1][0]["content"] for _ in range(2000)]
    firsts = {task.prompt_text.split()[0] for task in generate("files", levels=[1, 2], n=60, seed=0)}
    assert {"Write", "Rename", "Copy", "Delete", "Make", "In", "Count", "Which"} <= firsts
    assert not [text for text in asked if text.split()[0] in firsts]
