"""``/tasks``: authored, validated as one types, probed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from page_making import Site, serving
from server_making import HOSTILE

from lydite.server.page import authoring
from lydite.server.service import Service
from lydite.server.tasks import Problem
from lydite.tasksets.starters import HARBOR, KINDS, starter

MATH = 'prompt: What is 6 * 7?\nchecker:\n  type: math\n  config:\n    answer: "42"\nsolution: It is \\boxed{42}.\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    with serving(home) as site:
        site.service.documents.create(
            [
                {
                    "title": HOSTILE[:400].replace("\x07", "").replace("\x1b", ""),
                    "topics": ["<b>bold</b>"],
                    "spec": spec(MATH),
                },
                {"title": "second", "status": "draft", "spec": spec(starter("choice"))},
            ],
            "default",
        )
        yield site


def spec(text: str) -> dict[str, Any]:
    (found,) = authoring.specs_of(text)
    return found


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text("abcdefghij_", min_size=1), plain, min_size=1, max_size=5))
def test_a_document_is_the_same_after_it_was_shown_as_text(document: dict[str, Any]) -> None:
    assert authoring.specs_of(authoring.text_of(document)) == [document]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != HARBOR])
def test_starters_are_shown_as_yaml_with_the_prompt_before_the_checker(kind: str) -> None:
    text = authoring.text_of(dict(sorted(spec(starter(kind)).items())))
    assert text.startswith("id:")
    assert text.index("prompt:") < text.index("checker:") < text.index("solution:")


@pytest.mark.parametrize(
    ("field", "line"),
    [("checker.config.answer", 5), ("checker.type", 3), ("checker.config.nothing", 4), ("nothing", 1), ("prompt", 1)],
)
def test_a_problem_is_told_with_the_line_of_its_field(field: str, line: int) -> None:
    problem = Problem(index=0, severity="error", rule="x", message="x", field=field)
    assert authoring.placed([problem], MATH)[0].line == line


def saved(client: TestClient, service: Service, **form: str) -> Any:
    answer = client.post("/tasks", data={"text": MATH, **form}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return service.documents.get(answer.headers["location"].removeprefix("/tasks/"))


def test_a_task_is_kept_published_archived_copied_and_deleted(client: TestClient, service: Service) -> None:
    document = saved(client, service, title="Six", topics="a, b,,a", workspace="mine", status="draft")
    assert (document.title, document.topics, document.workspace, document.status) == (
        "Six",
        ("a", "b"),
        "mine",
        "draft",
    )
    address = f"/tasks/{document.id}"
    changed = {"text": MATH.replace("6 * 7", "7 * 6"), "title": "Seven", "status": "published"}
    assert client.post(address, data=changed, follow_redirects=False).status_code == 303
    assert service.documents.get(document.id).spec["prompt"] == "What is 7 * 6?"
    assert "7 * 6" in client.get("/tasks/new", params={"copy": document.id}).text
    client.post(address, data={**changed, "status": "archived"})
    assert service.documents.get(document.id).status == "archived"
    assert client.post(f"{address}/delete", follow_redirects=False).status_code == 303
    assert client.get(address).status_code == 404


def test_several_documents_are_kept_at_once(client: TestClient, service: Service) -> None:
    line = '{"prompt": "What is 6 * %d?", "checker": {"type": "math", "config": {"answer": "%d"}}}\n'
    text = "".join(line % (number, 6 * number) for number in (2, 3))
    assert client.post("/tasks", data={"text": text}, follow_redirects=False).headers["location"] == "/tasks"
    assert len(service.documents.page().items) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no tasks"),
        ("prompt: [", "line"),
        (MATH.replace("math", "maths"), "maths"),
        (MATH.replace("answer", "answr"), "answr"),
        ("- 1\n- 2\n", "a task is an object"),
        (MATH.replace("math", "/etc/x.py:check"), "this machine"),
    ],
)
def test_what_is_no_task_is_not_saved_and_stays_in_the_editor(
    client: TestClient, service: Service, text: str, said: str
) -> None:
    answer = client.post("/tasks", data={"text": text, "title": "kept"})
    assert answer.status_code == 400
    assert "It was not saved" in answer.text
    assert said in answer.text
    assert 'value="kept"' in answer.text
    assert service.documents.page().items == ()


def test_problems_are_told_without_saving(client: TestClient) -> None:
    answer = client.post(
        "/tasks/validate", data={"text": MATH.replace("answer", "answr")}, headers={"HX-Request": "true"}
    )
    assert 'data-line="5"' in answer.text
    assert "did you mean" in answer.text
    good = client.post("/tasks/validate", data={"text": MATH}, headers={"HX-Request": "true"})
    assert "Nothing is wrong with it" in good.text
    assert "Nothing to look at" in client.post("/tasks/validate", data={"text": " "}).text
    assert client.post("/tasks/validate", data={"text": "x" * (authoring.MOST + 1)}).status_code == 400


def test_documents_are_found_by_filter(client: TestClient, service: Service) -> None:
    saved(client, service, title="one", topics="a", workspace="w1")
    saved(client, service, title="two", topics="b", workspace="w2", status="draft")
    for query, count in (("topic=a", 1), ("status=draft", 1), ("workspace=w2", 1), ("q=TWO", 1), ("q=zzz", 0), ("", 2)):
        assert client.get(f"/tasks?{query}").text.count("<tr data-row") == count, query
    assert client.get("/tasks?after=zzz").status_code == 400


def test_one_types_and_is_told_and_saves(site: Site) -> None:
    page = site.open("/tasks/new?kind=math")
    assert "half of 7" in page.locator("textarea").input_value()
    page.fill("textarea", MATH.replace("answer", "answr"))
    page.locator("[data-line='5']").click()
    assert page.evaluate("document.activeElement.selectionStart") == MATH.index("    answer")
    page.fill("textarea", MATH)
    page.locator("#problems .note.good").wait_for()
    page.fill("[name=title]", "typed")
    page.click("text=Publish")
    page.wait_for_url("**/tasks/doc-*")
    assert page.locator("h1").inner_text() == "typed"
    site.check(page)


def test_a_checker_is_attacked_and_its_card_shown(site: Site) -> None:
    weak = spec(MATH)
    weak["checker"] = {"type": "format", "config": {"required": ["answer"]}}
    weak.pop("solution")
    (document,) = site.service.documents.create([{"title": "weak", "spec": weak}], "default")
    page = site.open(f"/tasks/{document.id}")
    page.keyboard.press("p")
    page.locator("#probe-panel .card-of").wait_for(timeout=60_000)
    said = page.locator("#probe-panel").inner_text()
    assert "attacks on 1 of 1 tasks" in said
    assert site.service.tasks.card(site.service.documents.digest(document)) is not None
    site.check(page)


def test_leaving_with_changes_asks(site: Site) -> None:
    page = site.open("/tasks/new")
    page.fill("textarea", "prompt: x")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto(site.url + "/tasks")
    assert asked == ["beforeunload"]
    site.check(page)


def test_it_looks_as_it_should_everywhere(site: Site) -> None:
    site.looks(f"/tasks/{site.service.documents.page().items[-1].id}")
    for path in ("/tasks", "/tasks/new"):
        site.check(site.open(path, width=360, theme="dark"))


def test_what_trying_came_to_is_told_beside_what_is_wrong() -> None:
    text = f"---\n{MATH}---\n{MATH.replace('7', '8').replace('42', '48')}---\n{MATH.partition('solution')[0]}"
    warning = Problem(index=0, severity="warning", rule="duplicate_prompt", message="twice")
    found = "2 set up, solved and judged: they hold; 1 set up and judged, without a solution"
    assert authoring.outcome_of(text, [warning]).startswith(f"3 tasks tried: {found}")
    late = Problem(index=1, severity="warning", rule="not_tried", message="late")
    wrong = Problem(index=2, severity="error", rule="solution", message="wrong")
    told = "3 tasks tried: 1 set up, solved and judged: it holds; 1 not tried; 1 with errors."
    assert authoring.outcome_of(text, [late, wrong]) == told
    assert authoring.outcome_of(MATH, []) == "It was set up, solved and judged: it holds."
    assert authoring.outcome_of("{", []) == ""
