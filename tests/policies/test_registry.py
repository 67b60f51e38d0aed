from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.policies import ScriptedPolicy, open_policy, registry
from lydite.policies.openai import OpenAIPolicy
from policies.contract import PARAMS, ask, texts


@pytest.fixture
def local_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("spec", "near"),
    [
        ("builtin:tinny", "builtin:tiny"),
        ("smollm", "smollm2"),
        ("openia:gpt-4o", "openai:"),
        ("reply:file.jsonl", "replay:"),
        ("zzz", "known: builtin:tiny"),
    ],
)
def test_an_unknown_policy_names_the_nearest(spec: str, near: str) -> None:
    with pytest.raises(InputError, match=near):
        open_policy(spec)


@pytest.mark.parametrize("spec", ["openai:", "hf", "replay:"])
def test_a_kind_alone_is_not_enough(spec: str) -> None:
    with pytest.raises(InputError, match="names no model or file"):
        open_policy(spec)


def test_options_come_from_the_spec_as_what_they_are(local_server: None) -> None:
    policy = open_policy("openai:gpt-4o?n_max=1&timeout=60&send_seed=false&price_prompt=0.5")
    assert isinstance(policy, OpenAIPolicy)
    assert (policy._n_max, policy._timeout, policy._send_seed, policy._prices) == (1, 60.0, False, (0.5, None))


def test_keywords_win_over_the_spec(local_server: None) -> None:
    assert open_policy("openai:m?concurrency=3", concurrency=5).concurrency == 5


def test_an_unknown_option_names_the_nearest(local_server: None) -> None:
    with pytest.raises(InputError, match="did you mean 'concurrency'"):
        open_policy("openai:m?concurency=3")


def test_an_option_of_the_wrong_kind_is_refused(local_server: None) -> None:
    with pytest.raises(InputError, match="'many' is not a value"):
        open_policy("openai:m?concurrency=many")


def test_a_path_with_a_question_mark_is_a_path(tmp_path: Path) -> None:
    file = tmp_path / "what?x=1"
    file.write_text('{"prompt": "a", "completion": "b"}\n')
    assert open_policy(f"replay:{file}").id.startswith("replay:what?x=1@")


async def test_a_policy_of_your_own_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from lydite.policies import ScriptedPolicy\n"
        "def parrot(*, times: int = 1):\n"
        "    return ScriptedPolicy(lambda prompt, seed, index: prompt[-1].content * times, name='parrot')\n"
        "ready = ScriptedPolicy(['yes'])\n"
    )
    assert texts(await open_policy(f"{file}:parrot?times=2").generate([ask("ab")], [[1]], PARAMS)) == [["abab"]]
    assert texts(await open_policy(f"{file}:ready").generate([ask("ab")], [[1]], PARAMS)) == [["yes"]]
    with pytest.raises(InputError, match="did you mean 'parrot'"):
        open_policy(f"{file}:parot")
    with pytest.raises(InputError, match="takes no options"):
        open_policy(f"{file}:ready?times=2")
    with pytest.raises(InputError, match="no such file"):
        open_policy(f"{tmp_path}/none.py:x")


def test_a_file_that_does_not_import_names_itself(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import nothing_of_that_name")
    with pytest.raises(InputError, match=r"broken\.py.*nothing_of_that_name"):
        open_policy(f"{file}:policy")


def test_a_policy_of_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("echo", "policies.test_registry:make_echo", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.GROUP else [])
    assert open_policy("echo:loud").id == "echo-loud"
    assert open_policy("echo").id == "echo-quiet"
    with pytest.raises(InputError, match="did you mean 'echo'"):
        open_policy("ecko")


def make_echo(how: str = "quiet") -> ScriptedPolicy:
    return ScriptedPolicy(["x"], name=f"echo-{how}")


def test_the_room_imports_neither_torch_nor_an_http_client() -> None:
    code = "import sys, lydite.policies; print([m for m in ('torch', 'transformers', 'httpx2') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
