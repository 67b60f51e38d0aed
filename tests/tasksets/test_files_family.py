"""The family ``files``: what its tasks ask for can be done, and nothing less scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite import verify
from lydite.errors import InputError
from lydite.probes.bench import Bench, bench
from lydite.sandbox import Snapshot
from lydite.task import Task
from lydite.tasksets import generate, parse_task, split_tasks, task_document
from lydite.tasksets.files import LEVELS, MAKERS
from lydite.tasksets.files.draft import STEPS, WORDS, script
from lydite.tasksets.lint import lint_tasks

SEEDS = st.integers(0, 10**9)


@pytest.fixture(scope="module")
def own() -> Iterator[Bench]:
    with bench() as made:
        yield made


def actions(task: Task) -> int:
    assert isinstance(task.solution, dict)
    return len(task.solution.get("files", {})) + len(task.solution.get("commands", []))


def with_garbage(task: Task, text: bytes) -> Snapshot:
    """The set-up, with this in every file that the prompt or the solution names."""
    assert isinstance(task.solution, dict)
    named = {*re.findall(r"[\w/]+\.(?:txt|csv|json|py|md)", task.prompt_text), *task.solution.get("files", {})}
    files = {path: held.encode() for path, held in task.setup_files.items()}
    return Snapshot.from_files({**files, **dict.fromkeys(named, text)})


def hold(tasks: list[Task], own: Bench) -> None:
    """Each reference scores 1; doing nothing, empty files and garbage score nothing."""
    for task in tasks:
        state = own.untouched(task)
        assert state is not None
        verdict = own.judged(task, state)
        assert verdict is not None
        assert verdict.score == 1, (task, verdict)
        assert verify(task, "", state=state).score == 0, task
        for text in (b"", b"x\n"):
            assert verify(task, "", state=with_garbage(task, text)).score == 0, (task, text)


@pytest.mark.parametrize("level", LEVELS)
def test_references_score_1_and_nothing_else_does(level: int, own: Bench) -> None:
    hold(generate("files", levels=[level], n=len(MAKERS[level]), seed=7), own)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("level", LEVELS)
def test_many_references_score_1_and_nothing_else_does(level: int, seed: int, own: Bench) -> None:
    hold(generate("files", levels=[level], n=30, seed=1000 + seed), own)


@given(SEEDS)
@settings(max_examples=15)
def test_the_same_seed_gives_the_same_tasks_and_no_two_are_alike(seed: int) -> None:
    tasks = generate("files", levels=LEVELS, n=100, seed=seed)
    assert tasks == generate("files", levels=LEVELS, n=100, seed=seed)
    for part in ([task.prompt_text for task in tasks], [task.id for task in tasks], [task.digest for task in tasks]):
        assert len(set(part)) == len(tasks)
    assert [parse_task(task_document(task)) for task in tasks] == tasks


@given(SEEDS, SEEDS)
@settings(max_examples=10)
def test_levels_do_not_depend_on_each_other(seed: int, other: int) -> None:
    alone = generate("files", levels=[3], n=5, seed=seed)
    assert [task for task in generate("files", levels=[1, 3], n=10, seed=seed) if task.difficulty == "level-3"] == alone
    if seed != other:
        assert generate("files", levels=[3], n=5, seed=other) != alone


@given(SEEDS)
@settings(max_examples=10)
def test_the_two_sides_of_a_split_share_no_prompt(seed: int) -> None:
    train, held = split_tasks(generate("files", levels=[1, 2], n=200, seed=seed))
    assert not {task.prompt_text for task in train} & {task.prompt_text for task in held}
    assert train
    assert held


@given(SEEDS)
@settings(max_examples=5)
def test_lint_finds_nothing(seed: int) -> None:
    assert lint_tasks(generate("files", levels=LEVELS, n=150, seed=seed)) == []


@given(SEEDS)
@settings(max_examples=10)
def test_what_the_low_levels_ask_for_is_short(seed: int) -> None:
    for level, most in ((1, (1, 1)), (2, (2, 3))):
        for task in generate("files", levels=[level], n=40, seed=seed):
            assert most[0] <= actions(task) <= most[1]
            assert len(task.prompt_text) <= 30 * level
            assert task.max_steps == STEPS[level]
            assert all(len(text) <= 5 for text in task.solution.get("files", {}).values())  # type: ignore[union-attr]


def test_no_word_stands_within_another() -> None:
    assert not [(one, two) for one in WORDS for two in WORDS if one != two and one in two]


def test_every_kind_comes_in_turn() -> None:
    for level in LEVELS:
        tasks = generate("files", levels=[level], n=3 * len(MAKERS[level]), seed=0)
        kinds = Counter(task.metadata["kind"] for task in tasks)
        assert all(count % 3 == 0 for count in kinds.values())
        assert {task.difficulty for task in tasks} == {f"level-{level}"}
    everything = {task.metadata["kind"] for task in generate("files", levels=LEVELS, n=100, seed=0)}
    assert everything >= {"create", "edit", "search", "count", "rename", "json", "csv", "script"}


def test_a_level_has_room_for_a_real_run() -> None:
    assert len(generate("files", levels=[1], n=1500, seed=0)) == 1500
    with pytest.raises(InputError, match="different prompts"):
        generate("files", levels=[1], n=100_000, seed=0)


@pytest.mark.parametrize("levels", [[0], [6], [1, 9]])
def test_a_level_that_is_not_there(levels: list[int]) -> None:
    with pytest.raises(InputError, match="levels 1 to 5"):
        generate("files", levels=levels, n=1)


def judge(changes: list[list[object]], kept: list[list[object]], files: dict[str, str]) -> float | None:
    state = Snapshot.from_files({path: text.encode() for path, text in files.items()})
    return verify({"type": "script", "config": {"script": script(changes, kept)}}, "", state=state).score


@pytest.mark.parametrize(
    ("demand", "good", "bad"),
    [
        (["text", "a", "red\nblue"], ["red\nblue", "red\nblue\n", "red\nblue  \n\n"], ["red", " red\nblue", "redblue"]),
        (["json", "a", {"x": [1, True]}], ['{"x": [1, true]}', '{ "x":[1,true] }\n'],
         ['{"x": [1, 1]}', '{"x": [true, 1]}', "{'x': [1, True]}", "[" * 100_000, "NaN"]),
        (["csv", "a", [["x", "1"], ["y", "2"]]], ["x,1\ny,2", "x,1\n\ny,2\n", '"x",1\r\ny,2\r\n'],
         ["x,1", "x,1\ny,3", "x, 1\ny,2"]),
        (["prints", "a", [[["3"], "", "6"], [["@"], "t", "x"]]],
         ["import sys\nw = sys.argv[1]\nprint(6 if w == '3' else 'x' * len(open(w).read()))"],
         ["print(6)", "import time\ntime.sleep(60)", "print(6); exit(1)", "import os\nos.kill(os.getppid(), 15)"]),
    ],
)  # fmt: skip
def test_demands(demand: list[object], good: list[str], bad: list[str]) -> None:
    assert [judge([demand], [], {"a": text}) for text in good] == [1.0] * len(good)
    assert [judge([demand], [], {"a": text}) for text in bad] == [0.0] * len(bad)
    assert judge([demand], [], {"b": good[0]}) == judge([demand], [], {"a/b": good[0]}) == 0.0


def test_the_score_is_the_share_of_changes_and_nothing_where_something_kept_is_lost() -> None:
    changes: list[list[object]] = [["text", "a", "x"], ["gone", "b"]]
    assert judge(changes, [], {"a": "x"}) == 1.0
    assert judge(changes, [], {"a": "x", "b": ""}) == 0.5
    assert judge(changes, [["text", "c", "y"]], {"a": "x"}) == 0.0
    assert judge(changes, [["text", "c", "y"]], {"a": "x", "c": "y"}) == 1.0


def test_a_link_is_no_file(own: Bench) -> None:
    (task,) = generate("files", levels=[1], n=1, seed=0)
    (path, text), *_ = task.solution["files"].items()  # type: ignore[index, union-attr]
    solved = parse_task({**task_document(task), "solution": {"commands": [f"echo {text} > z; ln -s z {path}"]}})
    verdict = own.judged(solved, own.untouched(solved))
    assert verdict is not None
    assert verdict.score == 0
