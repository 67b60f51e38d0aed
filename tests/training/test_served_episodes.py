"""A served model at work in workspaces: trained here, behind a real server on loopback, asked through ``sample``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tiny_llama import make_tokenizer

from lydite.ledger import RunFolder, verify_run
from lydite.policies.toolcalls import offered
from policies.serving import serving

pytest.importorskip("trl")
pytestmark = [
    pytest.mark.train,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="workspaces are Linux only"),
]

KEY = "sk-of-a-test-0123456789abcdef"
TASKS = 4
"""Few enough that a very small model knows each by heart, after these many steps."""
STEPS = 150


class Served(NamedTuple):
    run: Path
    said: str
    raw: dict[str, Any]


def lydite(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "lydite", *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Four tasks learned by heart from their reference solutions, then attempted through a server."""
    folder = tmp_path_factory.mktemp("served")
    tasks = str(folder / "tasks.jsonl")
    lydite("tasks", "generate", "files", "--levels", "1", "-n", str(TASKS), "--seed", "0", "-o", tasks)
    _untrained(folder / "base")
    recipe = {
        "policy": f"hf:{folder / 'base'}",
        "lora": None,
        "tasks": {"train": tasks, "eval_fraction": 0},
        "evaluation": None,
        "stages": [
            {
                "kind": "sft",
                "from": "solutions",
                "steps": STEPS,
                "batch_size": TASKS,
                "learning_rate": 5e-3,
                "lr_scheduler": "cosine",
                "warmup_steps": 10,
            }
        ],
    }
    (folder / "recipe.yaml").write_text(json.dumps(recipe))
    lydite("train", str(folder / "recipe.yaml"), "-o", str(folder / "learned"))
    model = folder / "learned" / "model"
    with serving(model) as address:
        asked = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY}
        command = ["sample", tasks, "--policy", f"openai:{model}", "-n", "2"]
        done = lydite(*command, "--max-tokens", "400", "-o", str(folder / "run"), **asked)
        yield Served(folder / "run", done.stdout + done.stderr, _asked_directly(address, model))


def _untrained(folder: Path) -> None:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    tokenizer = make_tokenizer()
    config = LlamaConfig(
        vocab_size=272,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _asked_directly(address: str, model: Path) -> dict[str, Any]:
    """What the server says of one prompt, past Lydite."""
    from lydite.environments import Environments

    body = {
        "model": str(model),
        "messages": [{"role": "user", "content": "Write wind to h.txt."}],
        "tools": offered(Environments().find("workspace").tools),
        "temperature": 0,
        "max_tokens": 400,
    }
    request = urllib.request.Request(
        f"{address}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


def test_the_server_sends_tool_calls_in_the_protocols_own_form(served: Served) -> None:
    [choice] = served.raw["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "write_file"


def test_turns_calls_durations_and_digests_are_recorded(served: Served) -> None:
    with RunFolder.open(served.run) as run:
        rows = list(run.rows())
        left = [run.state(row.rollout.workspace) for row in rows]
    assert len(rows) == 2 * TASKS
    assert all(state is not None for state in left)
    for row in rows:
        calls = row.rollout.calls
        assert calls is not None
        roles = [message.role for message in row.rollout.completion]
        assert roles == ["assistant", "tool"] * len(calls.seconds) + ["assistant"]
        assert all(seconds > 0 for seconds in calls.seconds)
        assert row.rollout.completion_tokens
    assert [row.record.verdict.outcome for row in rows].count("correct") >= TASKS
    assert verify_run(served.run).problem is None


def test_an_episode_is_shown_as_a_transcript(served: Served) -> None:
    with RunFolder.open(served.run) as run:
        row = next(row for row in run.rows() if row.rollout.prompt[0].content == "Write wind to h.txt.")
    shown = lydite("show", str(served.run), row.rollout.id).stdout
    for part in ("Write wind to h.txt.", "write_file(", "wrote 4 bytes to h.txt", "correct", row.rollout.workspace):
        assert part is not None
        assert part in shown


def test_the_key_is_in_no_file_and_in_no_message(served: Served) -> None:
    assert KEY not in served.said
    files = [path for path in served.run.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
