"""Task documents of workspaces: kept whole or not at all, found again, changed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from lydite.server.documents import MOST, Documents
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.service import Service
from lydite.server.settings import Settings

KILLED = """
import os, signal, sys
from pathlib import Path
from lydite.server.service import Service
from lydite.server.settings import Settings

calls, real, kill_at = 0, os.replace, int(sys.argv[2])

def replace(source, target):
    global calls
    calls += 1
    if calls == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    real(source, target)

service = Service(Settings(home=Path(sys.argv[1])))
os.replace = replace
spec = {"prompt": "What is 1 + 1?", "checker": {"type": "math", "config": {"answer": "2"}}}
service.documents.create([{"spec": spec}] * 20, "w")
print("not killed")
"""


def math(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "spec": {
            "prompt": f"What is {number} + 1?",
            "checker": {"type": "math", "config": {"answer": str(number + 1)}},
        },
        **more,
    }


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    """Of a service for tests that keep nothing."""
    made = Service(Settings(home=tmp_path_factory.mktemp("refusing")))
    yield made.documents
    made.close()


def ids(documents: Documents, **which: Any) -> list[str]:
    found, after = [], None
    while True:
        page = documents.page(limit=3, after=after, **which)
        found += [one.id for one in page.items]
        after = page.next
        if after is None:
            return found


def test_a_document_comes_back_as_it_was_given(service: Service) -> None:
    (made,) = service.documents.create([math(title="t", topics=["a", "b", "a"], user="u", status="draft")], "w")
    found = service.documents.get(made.id)
    assert found == made
    assert (found.title, found.topics, found.user, found.status, found.workspace) == (
        "t",
        ("a", "b"),
        "u",
        "draft",
        "w",
    )
    assert found.spec == math()["spec"]


def test_pages_hold_every_document_once_the_newest_first(service: Service) -> None:
    made = [one.id for one in service.documents.create([math(number) for number in range(10)], "w")]
    assert ids(service.documents) == made[::-1]


def test_a_page_is_of_a_workspace_a_status_and_any_of_some_topics(service: Service) -> None:
    a, b, c = service.documents.create(
        [math(1, topics=["x", "y"]), math(2, topics=["y"]), math(3, topics=["z"], status="draft")], "w"
    )
    (other,) = service.documents.create([math(4, topics=["x"])], "v")
    assert ids(service.documents, workspace="w") == [c.id, b.id, a.id]
    assert ids(service.documents, topics=["x", "z"]) == [other.id, c.id, a.id]
    assert ids(service.documents, workspace="w", status="published") == [b.id, a.id]
    assert ids(service.documents, q="WHAT IS 2") == [b.id]
    assert service.documents.workspaces() == [("v", 1), ("w", 3)]


def test_a_cursor_that_is_none_is_refused(refusing: Documents) -> None:
    with pytest.raises(RefusedError, match="go on behind"):
        refusing.page(after="doc-0")


def test_one_bad_document_keeps_all_out(service: Service) -> None:
    with pytest.raises(RefusedError) as caught:
        service.documents.create([math(), {"spec": {"prompt": "x", "checker": {"type": "math"}}}], "w")
    assert caught.value.param == "documents[1].spec.checker.config.answer"
    assert ids(service.documents) == []
    assert list((service.home.private / "documents").glob("*.json")) == []


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"spec": 5}, "documents[0].spec"),
        ({}, "documents[0].spec"),
        (math(status="gone"), "documents[0].status"),
        (math(type="note"), "documents[0].type"),
        (math(topics="a"), "documents[0].topics"),
        (math(topics=["a", 1]), "documents[0].topics[1]"),
        (math(title="a\nb"), "documents[0].title"),
        (math(title="\ud800"), "documents[0].title"),
        (math(title="x" * 501), "documents[0].title"),
        (math(colour="red"), "documents[0].colour"),
        ({"spec": {"prompt": "\ud800", "checker": {"type": "steps"}}}, "documents[0].spec.prompt"),
        ({"spec": {"prompt": "x", "checker": {"type": "nope"}}}, "documents[0].spec.checker.type"),
        ({"spec": {"prompt": "x", "checker": {"type": "/tmp/a.py:f"}}}, "documents[0].spec.checker.type"),
        ({"spec": {"prompt": "x", "env": "a.py:E", "checker": {"type": "steps"}}}, "documents[0].spec.env"),
        (
            {
                "spec": {
                    "prompt": "x",
                    "checker": {"type": "all_of", "config": {"checkers": {"a": {"type": "b.py:c", "config": {}}}}},
                }
            },
            "documents[0].spec.checker.config.checkers.a.type",
        ),
        (
            {
                "spec": {
                    "prompt": "x",
                    "checker": {"type": "exit_code", "config": {"command": "a", "expected_code": "b"}},
                }
            },
            "documents[0].spec.checker.config.expected_code",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(refusing: Documents, given: dict[str, Any], param: str) -> None:
    with pytest.raises(RefusedError) as caught:
        refusing.create([given], "w")
    assert caught.value.param == param
    assert param in caught.value.message


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "x" * 201, "a\ud800"])
def test_a_workspace_has_a_name(refusing: Documents, name: str) -> None:
    with pytest.raises(RefusedError):
        refusing.create([math()], name)


def test_too_many_at_once_are_refused(refusing: Documents) -> None:
    with pytest.raises(RefusedError, match="at most"):
        refusing.create([math()] * (MOST + 1), "w")


def test_a_change_is_kept_and_a_deletion_too(service: Service) -> None:
    a, b = service.documents.create([math(1), math(2)], "w")
    service.documents.replace(a.id, {"status": "archived", "spec": math(7)["spec"]})
    service.documents.delete(b.id)
    again = Documents(service.home, service.engine)
    assert ids(again, status="archived") == [a.id] == ids(again)
    assert again.get(a.id).spec == math(7)["spec"]
    with pytest.raises(NotFoundError):
        again.get(b.id)


@pytest.mark.parametrize("name", ["doc-0", "../x", "", ".lock", "a/b"])
def test_an_unknown_id_is_not_found(refusing: Documents, name: str) -> None:
    for ask in (refusing.get, refusing.delete, refusing.task):
        with pytest.raises(NotFoundError):
            ask(name)


def test_the_tasks_id_is_the_authors_or_the_documents(service: Service) -> None:
    own = math()
    own["spec"]["id"] = "mine"
    a, b = service.documents.create([own, math()], "w")
    assert [service.documents.task(one.id).id for one in (a, b)] == ["mine", b.id]


def test_a_title_changes_no_digest(service: Service) -> None:
    (made,) = service.documents.create([math()], "w")
    before = service.documents.task(made.id).digest
    service.documents.replace(made.id, {"title": "another", "topics": ["new"]})
    assert service.documents.task(made.id).digest == before


def test_a_new_index_is_filled_from_the_files(home: Path, service: Service) -> None:
    made = service.documents.create([math(number) for number in range(5)], "w")
    (home / ".lydite" / "documents" / "doc-odd.json").write_text("{")
    other = Service(Settings(home=home, database=f"sqlite:///{home / 'other.sqlite3'}"))
    assert ids(other.documents) == [one.id for one in made][::-1]
    assert other.documents.reload() == 5
    other.close()


@pytest.mark.parametrize(("kill_at", "left"), [(1, 0), (2, 20), (12, 20)])
def test_a_process_killed_at_any_rename_leaves_all_or_none(home: Path, kill_at: int, left: int) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(home), str(kill_at)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    service = Service(Settings(home=home))
    assert len(ids(service.documents)) == left
    assert len(list((home / ".lydite" / "documents").glob("*.json"))) == left
    assert [path.name for path in (home / ".lydite" / "documents").iterdir() if path.name[0] == "."] == [".lock"]
    service.close()


def test_what_the_index_refuses_leaves_no_files(service: Service) -> None:
    (kept,) = service.documents.create([math()], "w")
    with service.engine.begin() as connection:
        connection.execute(text("DROP TABLE documents"))
    with pytest.raises(SQLAlchemyError):
        service.documents.create([math()] * 3, "w")
    with pytest.raises(SQLAlchemyError):
        service.documents.replace(kept.id, {"status": "archived"})
    assert [path.stem for path in (service.home.private / "documents").glob("*.json")] == [kept.id]
    assert service.documents.get(kept.id).status == "published"


def test_many_at_once_lose_nothing(service: Service) -> None:
    def work(name: str) -> None:
        for number in range(5):
            service.documents.create([math(number), math(number)], name)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert service.documents.workspaces() == [(f"w{number}", 10) for number in range(4)]


def test_a_task_is_found_by_the_id_that_its_author_gave_it(service: Service) -> None:
    checker = {"type": "exact", "config": {"answer": "x"}}
    spec = {"id": "WS-weak", "prompt": "Say x.", "checker": checker}
    service.documents.create([{"spec": spec}, {"spec": {"prompt": "Say x!", "checker": checker}}], "default")
    row = {"spec": {"question": "How many geese?", "answer": "#### 3"}}
    service.documents.create([row], "default")
    assert [one.spec.get("id") for one in service.documents.page(q="ws-w").items] == ["WS-weak"]
    assert len(service.documents.page(q="geese").items) == 1
