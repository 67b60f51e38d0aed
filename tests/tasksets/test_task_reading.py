"""Files of tasks: formats, places of errors, streaming."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.tasksets import iter_tasks, load_tasks, parse_task, task_document, write_tasks


def line(name: str, answer: str = "4") -> str:
    return json.dumps({"id": name, "prompt": f"q {name}", "checker": {"type": "math", "config": {"answer": answer}}})


def ids(path: Path | list[Path]) -> list[str]:
    return [task.id for task in load_tasks(path)]


def failure(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_tasks(path)
    assert caught.value.path == path
    assert caught.value.remedy
    return caught.value


YAML = """\
# two tasks
- id: a
  prompt: q
  checker: {type: math, config: {answer: 4}}
- id: b
  prompt: |
    several
    lines
  checker:
    type: exact
    config:
      answer: yes
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.jsonl", f"{line('a')}\n{line('b')}\n"),
        ("t.jsonl", f"\ufeff{line('a')}\r\n\r\n  \n{line('b')}"),
        ("t.json", f"[{line('a')}, {line('b')}]"),
        ("t.json", f"\ufeff\n[\n{line('a')}\n,{line('b')}\n]\n"),
        ("t.yaml", YAML),
        ("t.yml", f"--- {line('a')}\n---\n{line('b')}\n---\n"),
        ("T.JSONL", f"{line('a')}\n{line('b')}\n"),
    ],
)
def test_formats(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert ids(path) == ["a", "b"]


def test_one_document_in_json_and_yaml(tmp_path: Path) -> None:
    for name in ("t.json", "t.yaml"):
        (tmp_path / name).write_text(json.dumps(json.loads(line("a")), indent=2))
        assert ids(tmp_path / name) == ["a"]


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.json.gz"])
def test_gzip(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(line("a").encode()))
    assert ids(tmp_path / name) == ["a"]


def test_a_line_separator_of_unicode_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    document = {"id": "a", "prompt": "x\u2028y\x85z", "checker": {"type": "math", "config": {"answer": "1"}}}
    path.write_text(json.dumps(document, ensure_ascii=False))
    assert load_tasks(path)[0].prompt_text == "x\u2028y\x85z"


def test_several_files_and_folders_in_order(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for name, task in (("d/2.jsonl", "b"), ("d/1.json", "a"), ("d/3.yaml", "c"), ("z.jsonl", "z")):
        (tmp_path / name).write_text(line(task))
    (tmp_path / "d" / "README.md").write_text("not a task")
    (tmp_path / "d" / ".hidden.jsonl").write_text("not read")
    assert ids([tmp_path / "z.jsonl", tmp_path / "d"]) == ["z", "a", "b", "c"]
    assert ids([str(tmp_path / "z.jsonl")]) == ["z"]  # type: ignore[list-item]


def test_limit_counts_over_files_and_reads_no_further(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f"{line('a')}\n{line('b')}\n")
    (tmp_path / "b.jsonl").write_text(f"{line('c')}\nbroken\n")
    assert [task.id for task in load_tasks([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], limit=3)] == ["a", "b", "c"]
    with pytest.raises(InputError, match="limit"):
        load_tasks(tmp_path / "a.jsonl", limit=0)


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join([line(str(number)) for number in range(5000)]) + "\nbroken\n")
    assert [task.id for task in islice(iter_tasks(path), 3)] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("{", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ('{"prompt": "a"} {"prompt": "b"}', "Extra data"),
        ('{"prompt": "a", "prompt": "b"}', "'prompt' stands twice"),
        ('{"metadata": NaN}', "NaN is not a JSON number"),
        ('{"metadata": 1e999}', "inf is not a JSON number"),
        ('{"metadata": "\\ud800"}', "surrogate"),
        ("[" * 100_000, "nested too deeply"),
        ('{"metadata": ' + "[" * 90 + "]" * 90 + "}", "nested too deeply"),
        ('{"max_steps": ' + "9" * 5000 + "}", "not usable JSON"),
        ('"text"', "must be an object"),
        ("[]", "must be an object"),
        ("null", "must be an object"),
        ("{}", "prompt: is missing"),
        ('{"prompt": "q", "checkr": {}}', "did you mean 'checker'?"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, bad: str, words: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f"{line('a')}\n\n{bad}\n{line('b')}\n")
    error = failure(path)
    assert error.line == 3
    assert words in str(error)


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line("a").encode() + b"\n" + line("é").encode().replace(b"q", b"\xe9") + b"\n")
    error = failure(path)
    assert (error.line, "0xe9" in error.message) == (2, True)
    path = tmp_path / "t.json"
    path.write_bytes(b'{\n"a":\n"\xe9"}')
    assert failure(path).line == 3


def test_utf16_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line("a").encode("utf-16"))
    assert "UTF-16" in failure(path).message


@pytest.mark.parametrize(
    ("content", "where", "words"),
    [
        ("[\n{},\n", 2, "prompt"),
        (f"[\n{line('a')},\n{{\n}}\n]", 3, "prompt"),
        (f"[\n{line('a')}\n{line('b')}]", 3, "','"),
        (f"[\n{line('a')},\n]", 3, "comma"),
        (f"[\n{line('a')},\n", 3, "never ends"),
        (f"[\n{line('a')}\n", 3, "','"),
        (f"{line('a')}\n{line('b')}\n", 2, ".jsonl"),
        (f"[{line('a')}]\nx", 2, "more text"),
        (f'[\n{line("a")},\n{{"prompt": "a",\n"prompt": "b"}}]', 3, "twice"),
        ("{\n\n'a'}", 3, "not JSON"),
    ],
)
def test_bad_json_is_placed(tmp_path: Path, content: str, where: int, words: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(content)
    error = failure(path)
    assert error.line == where
    assert words in str(error)


@pytest.mark.parametrize(
    ("content", "where", "words"),
    [
        ("- id: a\n  prompt: q\n- id: b\n", 1, "checker"),
        (YAML + "- id: c\n  prompt: q\n  checkr: x\n", 13, "checker"),
        (f"{line('a')}\n---\n- {line('b')}\n- 5\n", 4, "object"),
        ("id: a\n  prompt: b\n", 2, "not YAML"),
        ("id: [a\n", 2, "not YAML"),
        ("id: a\nid: b\n", 2, "twice"),
        ("id: !!python/object/apply:os.system ['true']\n", 1, "could not determine a constructor"),
        ("id: a\nprompt: !!timestamp 2024-01-01\n", 2, "could not determine a constructor"),
        ("id: a\nmax_steps: !!int x\n", 2, "not of type int"),
        ("id: a\n\nprompt: *nowhere\n", 3, "undefined alias"),
        ("id: a\nprompt: a\x00b\n", 2, "U+0000"),
        ("&a {id: a, prompt: *a}\n", 1, "prompt"),
        ("&a {metadata: *a, prompt: q}\n", 1, "nested too deeply"),
        ("metadata: {x: .nan}\n", 1, "nan"),
        ("metadata: {1: a}\n", 1, "key 1"),
        ("metadata: {? [a] : b}\n", 1, "unhashable"),
    ],
)
def test_bad_yaml_is_placed(tmp_path: Path, content: str, where: int, words: str) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(content)
    error = failure(path)
    assert error.line == where
    assert words in str(error)


def test_deep_yaml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("[" * 20_000)
    assert "not YAML" in failure(path).message


def test_yaml_aliases_cannot_unfold_without_end(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    rows = ["prompt: q", "metadata:", "  a0: &a0 [" + ", ".join(["x"] * 10) + "]"]
    rows += [f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    path.write_text("\n".join(rows))
    assert "too large" in failure(path).message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("1:30", "1:30"),
        ("010", 10),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0x10", 16),
        ("0o10", 8),
        ("-7", -7),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ('"4"', "4"),
        ("1,250", "1,250"),
        ("3/4", "3/4"),
        ("1.2.3", "1.2.3"),
        ("=", "="),
    ],
)
def test_yaml_scalars_mean_what_is_written(tmp_path: Path, text: str, value: object) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(f"prompt: q\nchecker: {{type: steps}}\nmetadata:\n  x: {text}\n")
    found = load_tasks(path)[0].metadata["x"]
    assert (found, type(found)) == (value, type(value))


def test_yaml_anchors_and_merges_work(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(
        "- &base\n  id: a\n  prompt: q\n  checker: &c {type: math, config: {answer: '4'}}\n"
        "- <<: *base\n  id: b\n- {id: c, prompt: r, checker: *c}\n"
    )
    tasks = load_tasks(path)
    assert [task.id for task in tasks] == ["a", "b", "c"]
    assert {task.checker.config["answer"] for task in tasks} == {"4"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.jsonl", ""),
        ("t.jsonl", "\n \r\n"),
        ("t.json", ""),
        ("t.json", "[]"),
        ("t.yaml", ""),
        ("t.yaml", "# nothing\n"),
        ("t.yaml", "---\n---\n"),
        ("t.jsonl", "\ufeff"),
    ],
)
def test_nothing_to_read_is_an_error(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert "no tasks" in failure(tmp_path / name).message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "no such file" in failure(tmp_path / "none.jsonl").message
    (tmp_path / "t.csv").write_text("a,b")
    assert ".jsonl" in str(failure(tmp_path / "t.csv"))
    (tmp_path / "empty").mkdir()
    assert "folder" in failure(tmp_path / "empty").message
    with pytest.raises(InputError, match="no task file"):
        load_tasks([])


@pytest.mark.parametrize("cut", [5, 25, -4])
def test_damaged_gzip(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(line("a").encode() * 20)[:cut])
    assert "damaged" in failure(path).message
    path.write_text(line("a"))
    assert "damaged" in failure(path).message


def test_an_id_that_stands_twice_names_both_places(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(f"{line('x')}\n{line('a')}\n")
    second.write_text(f"\n{line('a', '5')}\n")
    with pytest.raises(InputError) as caught:
        load_tasks([first, second])
    assert (caught.value.path, caught.value.line, caught.value.field) == (second, 2, "id")
    assert f"{first}:2" in str(caught.value)


def test_the_same_task_twice_is_told_as_that(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"question": "q", "answer": "#### 1"}\n' * 2)
    assert "the same task" in failure(path).message


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_bytes_raise_anything_else(tmp_path: Path, content: bytes) -> None:
    for name in ("t.jsonl", "t.json", "t.yaml", "t.jsonl.gz"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError):
            load_tasks(tmp_path / name)


@given(st.text("[]{}&*!|>-:,?'\"#%@` \nab1<~.", max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
def test_no_yaml_raises_anything_else(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.yaml").write_text(content)
    with pytest.raises(InputError):
        load_tasks(tmp_path / "t.yaml")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    tasks = [parse_task(json.loads(line(name))) for name in ("a", "é", "\u2028x")]
    for name in ("deep/t.jsonl", "t.jsonl.gz"):
        assert write_tasks(tmp_path / name, tasks) == 3
        assert load_tasks(tmp_path / name) == tasks
    assert json.loads((tmp_path / "deep/t.jsonl").read_text().split("\n")[0]) == task_document(tasks[0])
    before = (tmp_path / "t.jsonl.gz").read_bytes()
    write_tasks(tmp_path / "t.jsonl.gz", tasks)
    assert (tmp_path / "t.jsonl.gz").read_bytes() == before


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("old")

    def failing():  # type: ignore[no-untyped-def]
        yield parse_task(json.loads(line("a")))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_tasks(path, failing())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="jsonl"):
        write_tasks(tmp_path / "t.csv", [])
