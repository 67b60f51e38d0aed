"""Files: uploaded and downloaded by the real ``openai`` client, kept on disk, refused where they are in use."""

from __future__ import annotations

import errno
import hashlib
import io
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from fastapi.testclient import TestClient
from server_asking import Asked, asking
from sqlalchemy import insert
from sqlalchemy.exc import OperationalError

from lydite.server.database.tables import jobs
from lydite.server.errors import ApiError, NotFoundError
from lydite.server.failures import told
from lydite.server.service import Service

ROWS = b'{"messages": [{"role": "user", "content": "What is 2 + 2?"}], "answer": "4"}\n' * 3


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with asking(tmp_path_factory.mktemp("files") / "home") as made:
        yield made


def upload(client: TestClient, data: bytes = ROWS, name: str = "tasks.jsonl", **fields: Any) -> Any:
    return client.post("/v1/files", files={"file": (name, data)}, data={"purpose": "fine-tune", **fields})


def test_the_client_uploads_lists_downloads_and_deletes(asked: Asked) -> None:
    files = asked.client.files
    made = files.create(file=("tasks.jsonl", ROWS), purpose="fine-tune")
    assert (made.object, made.bytes, made.filename, made.purpose, made.status) == (
        "file",
        len(ROWS),
        "tasks.jsonl",
        "fine-tune",
        "processed",
    )
    assert abs(made.created_at - time.time()) < 60
    assert files.retrieve(made.id) == made
    assert files.content(made.id).read() == ROWS
    assert files.wait_for_processing(made.id).id == made.id
    assert made.id in [file.id for file in files.list(purpose="fine-tune")]
    assert files.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError) as caught:
        files.retrieve(made.id)
    assert caught.value.code == "file_not_found"


def test_pages_are_followed_by_the_client(asked: Asked) -> None:
    made = [
        asked.client.files.create(file=io.BytesIO(ROWS + bytes([65 + n])), purpose="fine-tune").id for n in range(5)
    ]
    newest = [file.id for file in asked.client.files.list(limit=2)]
    assert newest[:5] == made[::-1]
    assert [file.id for file in asked.client.files.list(limit=2, order="asc")] == newest[::-1]


@pytest.mark.parametrize("purpose", ["batch", "assistants", "vision", "user_data", "evals", "fine-tune-results", "x"])
def test_other_purposes_are_refused_with_the_reason(client: TestClient, purpose: str) -> None:
    answer = upload(client, purpose=purpose)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "purpose"
    assert "fine-tune" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("request_", "param"),
    [
        ({"files": {"file": ("a", b"")}, "data": {"purpose": "fine-tune"}}, "file"),
        ({"files": {"file": ("a", b"x")}}, "purpose"),
        ({"files": {"other": ("a", b"x")}, "data": {"purpose": "fine-tune"}}, "file"),
        ({"files": {"purpose": ("a", b"x"), "file": ("b", b"x")}}, "purpose"),
        (
            {"files": {"file": ("a", b"x")}, "data": {"purpose": "fine-tune", "expires_after[seconds]": "3600"}},
            "expires_after",
        ),
    ],
)
def test_an_upload_that_is_none_is_refused(client: TestClient, request_: dict[str, Any], param: str) -> None:
    answer = client.post("/v1/files", **request_)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\a.jsonl", "a.jsonl"),
        ("a\u202eb\x07.jsonl", "ab.jsonl"),
        ("Übung „1“.jsonl", "Übung „1“.jsonl"),
        ("a" * 400, "a" * 255),
    ],
)
def test_a_name_is_only_ever_shown(service: Service, client: TestClient, name: str, shown: str) -> None:
    file = service.files.add(io.BytesIO(b"x"), name, "fine-tune", limit=10)
    assert file.filename == shown
    answer = client.get(f"/v1/files/{file.id}/content")
    said = answer.headers["content-disposition"]
    assert said.startswith("attachment; filename=")
    assert said.isascii()
    assert '"' not in said.partition('="')[2].partition('";')[0]
    assert answer.headers["content-type"] == "application/octet-stream"
    assert sorted(p.name for p in service.files.path(file.id).parent.iterdir()) == ["data", "file.json"]


def test_html_comes_back_as_a_download(client: TestClient) -> None:
    page = b"<script>alert(1)</script>"
    made = upload(client, page, "page.html").json()
    answer = client.get(f"/v1/files/{made['id']}/content")
    assert answer.content == page
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"


class Endless:
    """Reads as one long file, of which nothing is kept."""

    def __init__(self, size: int) -> None:
        self.left, self.largest = size, 0

    def read(self, size: int = -1) -> bytes:
        self.largest = max(self.largest, size)
        assert size > 0, "it was read in one piece"
        size = min(size, self.left)
        self.left -= size
        return b"x" * size


def test_a_file_is_read_piece_by_piece(service: Service) -> None:
    source = Endless(5 << 20)
    file = service.files.add(source, "big", "fine-tune", limit=1 << 30)  # type: ignore[arg-type]
    assert file.bytes == 5 << 20
    assert source.largest <= 1 << 20
    assert file.sha256 == hashlib.sha256(b"x" * (5 << 20)).hexdigest()


def test_of_a_file_that_is_too_long_nothing_is_kept(service: Service) -> None:
    with pytest.raises(ApiError) as caught:
        service.files.add(Endless(1 << 20), "big", "fine-tune", limit=1000)  # type: ignore[arg-type]
    assert caught.value.status == 413
    assert list((service.home.private / "files").iterdir()) == []
    assert service.files.page().items == ()


@pytest.mark.parametrize("status", ["validating_files", "queued", "running", "paused"])
def test_a_file_of_a_job_under_way_cannot_be_deleted(service: Service, client: TestClient, status: str) -> None:
    made = upload(client).json()
    row = {"id": f"j-{status}", "created": 1.0, "status": status, "kind": "reinforcement", "model": "m", "run": "r"}
    document = {"request": {"training_file": "file-other", "validation_file": made["id"]}}
    with service.engine.begin() as connection:
        connection.execute(insert(jobs).values(**row, document=document))
    answer = client.delete(f"/v1/files/{made['id']}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "file_in_use")
    assert client.get(f"/v1/files/{made['id']}").status_code == 200


def test_a_file_of_a_job_that_is_over_can_be_deleted(service: Service, client: TestClient) -> None:
    made = upload(client).json()
    row = {"id": "j", "created": 1.0, "status": "succeeded", "kind": "dpo", "model": "m", "run": "r"}
    with service.engine.begin() as connection:
        connection.execute(insert(jobs).values(**row, document={"request": {"training_file": made["id"]}}))
    assert client.delete(f"/v1/files/{made['id']}").json() == {"id": made["id"], "object": "file", "deleted": True}
    assert not (service.home.private / "files" / made["id"]).exists()


@pytest.mark.parametrize("name", ["file-no", "..", "%2e%2e", "a%2fb", "file-%00", "\u202e"])
def test_an_unknown_file_is_not_found(client: TestClient, name: str) -> None:
    for method, path in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
        assert client.request(method, f"/v1/files/{name}{path}").status_code in (404, 405)


def test_a_page_after_nothing_is_refused(client: TestClient) -> None:
    answer = client.get("/v1/files", params={"after": "file-no"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "after")


def test_the_table_is_made_again_from_the_folders(service: Service, home: Path) -> None:
    kept = [service.files.add(io.BytesIO(b"x"), str(n), "fine-tune", limit=10) for n in range(3)]
    (service.home.private / "files" / kept[0].id / "file.json").unlink()
    (service.home.folder("files", "file-half") / "data").write_bytes(b"half")
    assert service.files.reload() == 2
    assert [file.id for file in service.files.page(ascending=True).items] == [file.id for file in kept[1:]]
    with pytest.raises(NotFoundError):
        service.files.get(kept[0].id)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "/home/somebody/x"),
        OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full")),
    ],
)
def test_a_full_disk_is_told_as_one(error: Exception) -> None:
    found = told(error)
    assert found is not None
    assert (found.status, found.code) == (503, "unavailable")
    assert "somebody" not in found.message
