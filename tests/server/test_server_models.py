"""Models: what is on disk, what it is called, and what it stands on. No weights are loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from lydite.policies.weights import resolve
from lydite.server.errors import NotFoundError
from lydite.server.home import Home
from lydite.server.models.catalogue import known_folder
from lydite.server.models.models import Models
from lydite.server.models.support import KNOWN, PENDING, key_of
from lydite.server.service import Service


def run(home: Path, slug: str, policy: str, *results: str, kind: str = "train") -> Path:
    """A run folder with results such as ``adapter``, ``model``, ``checkpoints/1-grpo/checkpoint-25``."""
    folder = home / "runs" / slug.replace("~", "/")
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"kind": kind, "settings": {"policy": policy}}))
    for result in results:
        place = folder / result.removesuffix("!")
        place.mkdir(parents=True)
        whole = result.startswith("model") or "full" in slug
        (place / ("config.json" if whole else "adapter_config.json")).write_text("{}")
        if "checkpoint-" in result and not result.endswith("!"):
            (place / "complete").touch()
    return folder


def folder(home: Path, name: str) -> Path:
    place = home / "models" / name
    place.mkdir(parents=True)
    (place / "config.json").write_text("{}")
    return place


def ids(service: Service) -> list[str]:
    return [model.id for model in service.models.all() if model.id not in KNOWN]


def test_built_in_models_are_there_and_can_be_trained_with_tools(service: Service) -> None:
    found = {model.id: model for model in service.models.all()}
    assert found["builtin:tiny"].supports_rl
    assert found["builtin:tiny-tools"].spec == "builtin:tiny-tools"


def test_folders_below_models_are_found_one_or_two_levels_deep(service: Service, home: Path) -> None:
    for name in ("qwen", "HuggingFaceTB/SmolLM2"):
        folder(home, name)
    (home / "models" / "empty").mkdir()
    (home / "models" / "a b").mkdir()
    assert ids(service) == ["models/HuggingFaceTB/SmolLM2", "models/qwen"]
    assert service.models.find("models/qwen").spec == f"hf:{home.resolve()}/models/qwen"


def test_what_a_run_trained_is_called_after_it(service: Service, home: Path) -> None:
    run(home, "a", "builtin:tiny", "adapter", "checkpoints/0-sft/final", "checkpoints/1-grpo/checkpoint-25")
    run(home, "demo~true", "builtin:tiny", "adapter")
    run(home, "full", "builtin:tiny", "model", "checkpoints/1-grpo/checkpoint-5", "checkpoints/1-grpo/checkpoint-10")
    run(home, "none", "builtin:tiny")
    assert ids(service) == [
        "run:a",
        "run:a@1-grpo/25",
        "run:a@0-sft/final",
        "run:demo~true",
        "run:full",
        "run:full@1-grpo/10",
        "run:full@1-grpo/5",
    ]
    for name in ids(service):
        model = service.models.find(name)
        assert (model.id, model.base) == (name, "builtin:tiny")
        resolve(model.spec)  # the spec names folders that are there


def test_a_checkpoint_that_is_not_whole_is_none(service: Service, home: Path) -> None:
    run(home, "a", "builtin:tiny", "checkpoints/1-grpo/checkpoint-25!")
    assert ids(service) == []


@pytest.mark.parametrize(
    ("policy", "base"),
    [
        ("hf:models/qwen", "models/qwen"),
        ("hf:{home}/models/qwen", "models/qwen"),
        ("hf:models/qwen?plain=1", "models/qwen"),
        ("hf:builtin:tiny+runs/first/adapter", "run:first"),
        ("hf:builtin:tiny+{home}/runs/first/checkpoints/1-grpo/checkpoint-5", "run:first@1-grpo/5"),
        ("hf:{elsewhere}", "elsewhere"),
    ],
)
def test_the_base_is_told_by_id(service: Service, home: Path, tmp_path: Path, policy: str, base: str) -> None:
    folder(home, "qwen")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.json").write_text("{}")
    run(home, "first", "builtin:tiny", "adapter", "checkpoints/1-grpo/checkpoint-5")
    run(home, "second", policy.format(home=home.resolve(), elsewhere=elsewhere), "adapter")
    model = service.models.find("run:second")
    assert model.base == base
    folders = resolve(model.spec.partition("?")[0])
    assert folders.adapter == home.resolve() / "runs/second/adapter"
    assert folders.adapter.is_dir()


def test_a_model_whose_base_is_gone_is_not_offered(service: Service, home: Path) -> None:
    run(home, "a", "hf:/no/such/folder", "adapter")
    run(home, "b", "openai:gpt-4o", "adapter")
    (run(home, "c", "builtin:tiny", "adapter") / "run.json").write_text('{"settings": [1]}')
    (run(home, "d", "builtin:tiny", "adapter") / "run.json").write_text("{")
    assert ids(service) == []


@pytest.mark.parametrize(
    "name",
    [
        *("x", "", "run:", "run:a", "run:a@1-grpo/99", "run:../a", "run:a~..~b", "run:a/../../b", "models/.."),
        *("models/../x", "models//etc", "hf:/etc", "hf:models/x", "builtin:big", "/etc/passwd", "run:a\0", "\u202e"),
    ],
)
def test_an_unknown_name_is_not_found_and_is_no_path(service: Service, home: Path, name: str) -> None:
    run(home, "b", "builtin:tiny", "adapter")
    with pytest.raises(NotFoundError) as caught:
        service.models.find(name)
    assert caught.value.code == "model_not_found"


def test_a_link_below_runs_is_not_followed(service: Service, home: Path) -> None:
    real = run(home, "real", "builtin:tiny", "adapter")
    (home / "runs" / "link").symlink_to(real)
    assert ids(service) == ["run:real"]
    with pytest.raises(NotFoundError):
        service.models.find("run:link")


def test_shapes_for_clients(service: Service, client: TestClient, home: Path) -> None:
    run(home, "a~b", "builtin:tiny", "adapter", "checkpoints/1-grpo/checkpoint-25")
    listed = client.get("/v1/models").json()
    assert (listed["object"], listed["has_more"]) == ("list", False)
    assert str(home.resolve()) not in json.dumps(listed)
    for model in listed["data"]:
        assert client.get(f"/v1/models/{model['id']}").json() == model
    own = client.get("/v1/models/run:a~b@1-grpo/25").json()
    assert (own["root"], own["parent"], own["owned_by"]) == ("builtin:tiny", "builtin:tiny", "lydite")


def test_nothing_is_deleted(client: TestClient, home: Path) -> None:
    place = run(home, "a", "builtin:tiny", "adapter")
    for name in ("run:a", "builtin:tiny"):
        answer = client.delete(f"/v1/models/{name}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "cannot_delete")
    assert (place / "adapter").is_dir()
    assert client.delete("/v1/models/run:b").status_code == 404


@pytest.mark.train
@pytest.mark.slow
def test_whether_a_model_can_be_trained_is_looked_at_once(home: Path) -> None:
    """In a process of its own; and what is taken for granted of models that are known by name is so."""
    place = folder(home, "broken")
    copies = {}
    for name in KNOWN:
        if (known := known_folder(name)) is not None:
            copies[f"models/{known.name}"] = KNOWN[name]
            (home / "models" / known.name).symlink_to(known)
    models = Models(Home(home))
    assert {model.why for model in models.all() if model.id not in KNOWN} == {PENDING}
    models._support.wait()
    looked = {model.id: model for model in models.all()}
    assert {name: looked[name].why for name in copies} == copies
    assert "tokenizer" in looked["models/broken"].why
    assert str(home) not in looked["models/broken"].why
    again = Models(Home(home))  # what was found is kept
    assert {model.id: model for model in again.all()} == looked
    before = key_of(str(place))
    (place / "tokenizer.json").write_text("{}")
    assert key_of(str(place)) != before


def test_the_service_stays_without_torch() -> None:
    code = "import lydite.server.openai.chat_routes, sys; sys.exit(bool({'torch', 'transformers'} & {*sys.modules}))"
    subprocess.run([sys.executable, "-c", code], check=True)
