"""``lydite models``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.cli import main

pytest.importorskip("trl")
pytestmark = pytest.mark.train


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main(["models", *arguments])
    return int(left.value.code or 0), capsys.readouterr().out


def checked(capsys: pytest.CaptureFixture[str], model: str) -> tuple[int, dict[str, Any]]:
    code, out = run(capsys, "check", model, "--json")
    return code, json.loads(out)


def test_the_built_in_policy_supports_rl(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = checked(capsys, "builtin:tiny")
    assert (code, found["supports_rl"], found["own_template"]) == (0, True, True)
    assert [check["name"] for check in found["checks"]] == [
        "chat_template", "tools", "prefix_preserving", "calls_parse", "stop_token",
    ]  # fmt: skip
    assert all(check["passed"] for check in found["checks"])


def test_a_template_without_tools_is_helped_and_told(capsys: pytest.CaptureFixture[str], tiny: Path) -> None:
    code, found = checked(capsys, f"hf:{tiny}")
    assert (code, found["supports_rl"], found["own_template"]) == (0, True, False)
    assert any("given Lydite's short one" in reason for reason in found["reasons"])


def save(folder: Path, **changes: Any) -> Path:
    from tiny_llama import make_tokenizer
    from transformers import AutoConfig, LlamaConfig

    tokenizer = make_tokenizer()
    for name, value in changes.items():
        setattr(tokenizer, name, value)
    tokenizer.save_pretrained(folder)
    LlamaConfig(vocab_size=272).save_pretrained(folder)
    assert AutoConfig.from_pretrained(folder)
    return folder


def test_no_chat_template_and_no_chatml_is_a_no_with_reasons(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, found = checked(capsys, str(save(tmp_path / "m", chat_template=None, eos_token="<|endoftext|>")))
    assert (code, found["supports_rl"]) == (1, False)
    assert any("no chat template" in reason for reason in found["reasons"])


def test_a_turn_that_never_ends_is_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from lydite.training.trl.templates import TOOL_TEMPLATE

    folder = save(tmp_path / "m", chat_template=TOOL_TEMPLATE, eos_token="<|endoftext|>")
    code, found = checked(capsys, str(folder))
    passed = {check["name"]: check["passed"] for check in found["checks"]}
    assert passed == {
        "chat_template": True, "tools": True, "prefix_preserving": True, "calls_parse": True, "stop_token": False,
    }  # fmt: skip
    assert (code, found["supports_rl"]) == (1, False)


def test_what_is_no_model_is_exit_2(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as left:
        main(["models", "check", str(tmp_path)])
    assert left.value.code == 2


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "list", "--json")
    assert code == 0
    assert {row["name"]: row["here"] for row in json.loads(out)}["builtin:tiny"] is True
