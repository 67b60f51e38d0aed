"""What was trained is sent as a zip: whole, without places of this machine, and without what only training needs."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

from fastapi.testclient import TestClient
from server_making import trained

PLACE = "/home/someone/models/tiny"


def checkpoint(run: Path, step: int, *, whole: bool = True) -> Path:
    folder = run / "checkpoints" / "0-grpo" / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": PLACE, "r": 2}))
    (folder / "adapter_model.safetensors").write_bytes(os.urandom(3 << 20))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "README.md").write_text(f"base_model: {PLACE}")
    for name in ("optimizer.pt", "rng_state.pth", "training_args.bin", "trainer_state.json"):
        (folder / name).write_text("x")
    if whole:
        (folder / "complete").touch()
    return folder


def test_a_checkpoint_is_sent_whole_and_says_no_place(client: TestClient, home: Path) -> None:
    folder = checkpoint(trained(home), 2)
    answer = client.get("/v1/rlvr/checkpoints/run:trained@0-grpo/2/adapter")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.headers["x-checksum-sha256"] == hashlib.sha256(answer.content).hexdigest()
    with zipfile.ZipFile(io.BytesIO(answer.content)) as held:
        assert held.namelist() == ["adapter_config.json", "adapter_model.safetensors", "tokenizer.json"]
        assert held.read("adapter_model.safetensors") == (folder / "adapter_model.safetensors").read_bytes()
        assert json.loads(held.read("adapter_config.json")) == {"base_model_name_or_path": "builtin:tiny", "r": 2}
    assert PLACE.encode() not in answer.content


def test_the_one_that_a_client_has_is_not_sent_again(client: TestClient, home: Path) -> None:
    folder = checkpoint(trained(home), 2)
    path = "/v1/rlvr/checkpoints/run:trained@0-grpo/2/adapter"
    tag = client.get(path).headers["etag"]
    assert client.get(path, headers={"If-None-Match": f'"other", W/{tag}'}).status_code == 304
    (folder / "tokenizer.json").write_text('{"other": 1}')
    again = client.get(path, headers={"If-None-Match": tag})
    assert again.status_code == 200
    assert again.headers["etag"] != tag


def test_what_is_not_whole_or_not_there_is_not_found(client: TestClient, home: Path) -> None:
    checkpoint(trained(home), 2, whole=False)
    for model in ("run:trained@0-grpo/2", "run:trained@0-grpo/3", "run:trained", "run:..~x@0-grpo/2", "run:nothing"):
        assert client.get(f"/v1/rlvr/checkpoints/{model}/adapter").status_code == 404, model
