"""What the index answers, held against the run folders themselves; the same whichever database is behind it.

Imported by the modules that bring databases along: ``url`` one for each test, ``kept_url`` one for all that only ask.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import server_making as making
from sqlalchemy import insert

from lydite.codec import canonical
from lydite.evaluation.suspicions import summarise_flags, suspicions
from lydite.flag import Flag
from lydite.ledger import Graded, Row, RunFolder
from lydite.ledger.reviews import Decision, Reviews
from lydite.reward import group_stats, signal
from lydite.rollout import FinishReason, Message, Rollout, ToolCall
from lydite.server.database import tables
from lydite.server.database.engine import open_engine
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.events import Bus
from lydite.server.home import Home
from lydite.server.index.index import Index
from lydite.server.index.rows import FlagFilter, GroupFilter, RolloutFilter, RolloutRow
from lydite.server.paging import Page
from lydite.task import Checker, Task
from lydite.verdict import Verdict


def made_up(letter: str) -> list[Task]:
    """Tasks of attempts that are made up."""
    math = Checker(type="math", config={"answer": "7"})
    return [
        Task(id=f"{letter}{at}", prompt=(Message(role="user", content=f"Task {at}"),), checker=math) for at in range(5)
    ]


DIGESTS = {task.id: task.digest for letter in "tu" for task in made_up(letter)}
SORTS = ("seq", "-seq", "reward", "-reward", "tokens", "-tokens", "seconds", "-seconds")


@cache
def _empty() -> Path:
    """An index that is empty: the tables are made once."""
    home = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, home)
    open_engine(Home(home)).dispose()
    return home / ".lydite" / "index.sqlite3"


def opened(home: Path, url: str = "") -> Index:
    """The index of a home."""
    place = Home(home)
    if not url and not (file := place.private / "index.sqlite3").exists():
        shutil.copy(_empty(), file)
    engine = open_engine(place, url)
    return Index(place, engine, Bus(engine))


@pytest.fixture
def index(home: Path, url: str) -> Iterator[Index]:
    (home / "runs").mkdir(parents=True)
    made = opened(home, url)
    yield made
    made.engine.dispose()


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs, made once: judging takes its time."""
    home = tmp_path_factory.mktemp("templates")
    making.sampled(home)
    making.trained(home)
    various(home)
    return home / "runs"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, templates: Path) -> Path:
    """Runs of each kind, for those who change nothing."""
    home = tmp_path_factory.mktemp("settled") / "home"
    for name in ("sampled", "trained", "various"):
        shutil.copytree(templates / name, home / "runs" / name)
    return home / "runs"


@pytest.fixture(scope="module")
def settled(folders: Path, kept_url: str) -> Iterator[Index]:
    """They, taken in."""
    made = opened(folders.parent, kept_url)
    made.refresh()
    yield made
    made.engine.dispose()


@pytest.fixture
def runs(home: Path, templates: Path, index: Index) -> Path:
    """A home with a run of each kind, taken in."""
    for name in ("sampled", "trained", "various"):
        shutil.copytree(templates / name, home / "runs" / name)
    index.refresh()
    return home / "runs"


def graded(number: int, phase: str = "sample", *, task: str | None = None, index: int = 0, **more: Any) -> Graded:
    """An attempt whose verdict is made up, of every kind there is in turn."""
    name = f"t{number % 5}" if task is None else task
    kinds = (
        Verdict.of(1.0, "correct", "math@3", extracted="7"),
        Verdict.of(0.0, "wrong", "math@3", extracted="x" * 300),
        Verdict.of(0.25, "some", "code@3"),
        Verdict.unparseable("no_answer", "math@3"),
        Verdict.invalid("policy_failed", "math@3"),
    )
    verdict = kinds[number % 5]
    flags = (
        Flag(detector="no_visible_work", version=3, bars=True, evidence={"words": number}),
        Flag(detector="hardcoded", version=1, bars=False),
    )[: (number % 7 == 0) + (number % 14 == 0)]
    words = more.pop("words", f"Attempt {number}.")
    rollout = Rollout(
        id=f"{phase}/{name}/{index}",
        task=name,
        task_digest=DIGESTS.get(name, "0" * 64),
        phase=phase,
        index=index,
        policy="scripted",
        prompt=(Message(role="user", content="What is it?"),),
        completion=(Message(role="assistant", content=words),),
        finish=FinishReason.LENGTH if number % 3 == 0 else FinishReason.STOP,
        completion_tokens=None if number % 4 == 0 else number % 11,
        **more,
    )
    reward = None if verdict.score is None else verdict.score - 0.1 * (number % 3)
    return Graded(rollout=rollout, verdict=verdict, flags=flags, reward=reward, seconds=(number * 7 % 13) / 8)


def various(home: Path, name: str = "various") -> Path:
    """A run with every kind of verdict, without judging; a group of it is written in two places."""
    path = home / "runs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with RunFolder.create(path, kind="sample", settings={"policy": "scripted"}, tasks=made_up("t")) as run:
        run.append([graded(at, index=at // 5) for at in range(30)])
        run.append([graded(at, "train-1-7", index=at // 5, step=7) for at in range(20)])
        run.append([graded(at, index=at // 5) for at in range(30, 45)])
        run.append([graded(at, "train-1-8.2", index=at // 5, step=8) for at in range(10)])
        run.finish("complete")
    return path


def read(path: Path) -> list[Row]:
    return list(RunFolder.open(path).rows())


def pages(ask: Any, limit: int) -> list[Any]:
    """All items of a list, page by page."""
    found: list[Any] = []
    after = None
    while True:
        page: Page[Any] = ask(limit, after)
        assert len(page.items) <= limit
        found.extend(page.items)
        if page.next is None:
            return found
        assert page.next != after
        after = page.next


def listed(index: Index, run: str, which: RolloutFilter, limit: int = 7) -> list[RolloutRow]:
    return pages(lambda limit, after: index.rollouts(run, which, limit=limit, after=after), limit)


def test_a_run_counts_what_its_rows_say(settled: Index, folders: Path) -> None:
    for name in ("sampled", "trained", "various"):
        rows, found = read(folders / name), settled.run(name)
        info = RunFolder.open(folders / name).info
        assert (found.kind, found.state, found.created, found.head) == (info.kind, "complete", info.created, info.head)
        assert found.settings == info.settings
        assert found.rollouts == len(rows)
        assert found.correct == sum(row.record.verdict.correct for row in rows)
        assert found.invalid == sum(row.record.verdict.score is None for row in rows)
        assert found.flagged == sum(bool(row.record.flags) for row in rows)
        assert found.suspected == sum(bool(row.record.flags) and row.record.verdict.correct for row in rows)
        rewards = [row.record.reward for row in rows if row.record.reward is not None]
        assert found.mean_reward == pytest.approx(sum(rewards) / len(rewards))
        assert found.tasks == len(list(RunFolder.open(folders / name).tasks()))


def test_an_attempt_says_what_its_lines_say(settled: Index, folders: Path) -> None:
    for name in ("trained", "various"):
        first: dict[tuple[str, str], int] = {}
        for row in read(folders / name):
            rollout, record, found = row.rollout, row.record, settled.rollout(name, row.seq)
            assert found.id == rollout.id
            assert found.group == first.setdefault((rollout.phase, rollout.task), row.seq)
            for field in ("task", "phase", "index", "policy", "finish", "prompt_tokens", "completion_tokens", "step"):
                assert getattr(found, field) == getattr(rollout, field)
            assert (found.outcome, found.score) == (record.verdict.outcome, record.verdict.score)
            assert (found.reason, found.verifier) == (record.verdict.reason, record.verdict.verifier)
            assert found.extracted == (record.verdict.extracted and record.verdict.extracted[:200])
            assert (found.reward, found.seconds, found.time) == (record.reward, record.seconds, record.time)
            assert found.flags == tuple(flag.detector for flag in record.flags)
            assert found.bars == any(flag.bars for flag in record.flags)
            assert settled.row(name, row.seq) == row


def test_stage_and_step_are_those_of_the_phase(settled: Index, folders: Path) -> None:
    assert {(row.phase, row.stage, row.step) for row in listed(settled, "various", RolloutFilter())} == {
        ("sample", None, None),
        ("train-1-7", 1, 7),
        ("train-1-8.2", 1, 8),
    }


def test_a_group_counts_all_its_attempts_wherever_they_were_written(settled: Index, folders: Path) -> None:
    for name in ("trained", "various"):
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in read(folders / name):
            groups.setdefault((row.rollout.phase, row.rollout.task), []).append(row)
        found = pages(lambda limit, after, run=name: settled.groups(run, GroupFilter(), limit=limit, after=after), 3)
        assert [group.number for group in found] == [rows[0].seq for rows in groups.values()]
        for group, rows in zip(found, groups.values(), strict=True):
            assert group.n == len(rows)
            stats = group_stats([row.record.reward for row in rows])
            assert (group.mean, group.std) == (stats.mean, stats.std)
            assert group.signal == signal(row.record.verdict for row in rows)
            assert group.flagged == sum(bool(row.record.flags) for row in rows)
            outcomes = [row.record.verdict.outcome for row in rows]
            for outcome in ("correct", "partial", "incorrect", "unparseable", "invalid"):
                assert getattr(group, outcome) == outcomes.count(outcome)
            alone, attempts = settled.group(name, group.number)
            assert alone == group
            assert [one.seq for one in attempts] == [row.seq for row in sorted(rows, key=lambda r: r.rollout.index)]


def test_groups_stand_beside_each_other(settled: Index, folders: Path) -> None:
    numbers = [group.number for group in settled.groups("various", GroupFilter()).items]
    beside = [settled.beside("various", number) for number in numbers]
    assert [one[0] for one in beside] == [None, *numbers[:-1]]
    assert [one[1] for one in beside] == [*numbers[1:], None]


@pytest.mark.parametrize("sort", ["number", "-number", "mean", "-mean", "std", "-std"])
def test_groups_come_in_the_order_that_is_asked_for(settled: Index, folders: Path, sort: str) -> None:
    which = GroupFilter(sort=sort)  # type: ignore[arg-type]
    found = pages(lambda limit, after: settled.groups("various", which, limit=limit, after=after), 4)
    assert len({group.number for group in found}) == settled.groups("various", GroupFilter()).total
    values = [getattr(group, sort.lstrip("-")) for group in found]
    there = [value for value in values if value is not None]
    assert there == sorted(there, reverse=sort.startswith("-"))
    assert values[len(there) :] == [None] * (len(values) - len(there))


def test_groups_are_filtered(settled: Index, folders: Path) -> None:
    every = settled.groups("various", GroupFilter(), limit=1000).items
    for which, keep in (
        (GroupFilter(phase="sample"), lambda one: one.phase == "sample"),
        (GroupFilter(stage=1, steps=(7, 7)), lambda one: one.step == 7),
        (GroupFilter(steps=(8, None)), lambda one: one.step == 8),
        (GroupFilter(task="t3"), lambda one: one.task == "t3"),
        (GroupFilter(signals=("all_wrong", "invalid")), lambda one: one.signal in ("all_wrong", "invalid")),
        (GroupFilter(flagged=True), lambda one: one.flagged > 0),
        (GroupFilter(flagged=False), lambda one: one.flagged == 0),
    ):
        page = settled.groups("various", which, limit=1000)
        assert list(page.items) == [one for one in every if keep(one)]
        assert 0 < len(page.items) == page.total < len(every)


def test_phases_come_in_their_order(settled: Index, folders: Path) -> None:
    rows = read(folders / "various")
    found = settled.phases("various")
    assert [one.phase for one in found] == ["sample", "train-1-7", "train-1-8.2"]
    for one in found:
        mine = [row for row in rows if row.rollout.phase == one.phase]
        rewards = [row.record.reward for row in mine if row.record.reward is not None]
        assert (one.n, one.groups) == (len(mine), 5)
        assert one.mean == pytest.approx(sum(rewards) / len(rewards))
        groups = [[row.record.reward for row in mine if row.rollout.task == f"t{task}"] for task in range(5)]
        assert one.zero_std == sum(group_stats(group).zero_std for group in groups) / 5


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_attempts_come_in_the_order_that_is_asked_for(settled: Index, folders: Path, sort: str, limit: int) -> None:
    for more in ({}, {"outcomes": ("correct", "invalid", "partial")}):
        found = listed(settled, "various", RolloutFilter(sort=sort, **more), limit)  # type: ignore[arg-type]
        expected = [
            row
            for row in listed(settled, "various", RolloutFilter())
            if row.outcome in more.get("outcomes", row.outcome)
        ]
        assert sorted(row.seq for row in found) == [row.seq for row in expected]
        name = {"tokens": "completion_tokens"}.get(sort.lstrip("-"), sort.lstrip("-"))
        values = [getattr(row, name) for row in found]
        there = [value for value in values if value is not None]
        assert there == sorted(there, reverse=sort.startswith("-"))
        assert values[len(there) :] == [None] * (len(values) - len(there))


def test_attempts_are_filtered(settled: Index, folders: Path) -> None:
    every = listed(settled, "various", RolloutFilter())
    for which, keep in (
        (RolloutFilter(phase="train-1-7"), lambda one: one.phase == "train-1-7"),
        (RolloutFilter(stage=1), lambda one: one.stage == 1),
        (RolloutFilter(steps=(None, 7)), lambda one: one.step == 7),
        (RolloutFilter(task="t2"), lambda one: one.task == "t2"),
        (RolloutFilter(outcomes=("correct", "partial")), lambda one: one.outcome in ("correct", "partial")),
        (RolloutFilter(flag="any"), lambda one: bool(one.flags)),
        (RolloutFilter(flag="none"), lambda one: not one.flags),
        (RolloutFilter(flag="hardcoded"), lambda one: "hardcoded" in one.flags),
        (RolloutFilter(rewards=(0.5, None)), lambda one: one.reward is not None and one.reward >= 0.5),
        (RolloutFilter(rewards=(None, 0.1)), lambda one: one.reward is not None and one.reward <= 0.1),
        (RolloutFilter(reason="no_answer"), lambda one: one.reason == "no_answer"),
        (RolloutFilter(finish="length"), lambda one: one.finish == "length"),
        (
            RolloutFilter(phase="sample", task="t0", outcomes=("correct",), flag="any", rewards=(0.7, 1.0)),
            lambda one: one.phase == "sample" and one.task == "t0" and bool(one.flags) and one.reward >= 0.7,
        ),
    ):
        found = listed(settled, "various", which)
        assert found == [one for one in every if keep(one)]
        assert 0 < len(found) < len(every)
        assert settled.rollouts("various", which).total in (None, len(found))


def test_names_of_flags_are_not_patterns(settled: Index, folders: Path) -> None:
    for flag in ("%", "_", "no_visible", "no%work", "a,b"):
        assert not settled.rollouts("various", RolloutFilter(flag=flag)).items


def test_words_are_found_whatever_their_case_and_only_in_words(home: Path, index: Index) -> None:
    texts = [
        "Grüße, QUOKKA",
        'a "quoted" \\ back\nnew line',
        "𝔘nicode\u202e\x07",
        "role content",
        "plain",
        "NUL \0 here",
    ]
    calls = (
        Message(role="assistant", tool_calls=(ToolCall(name="run_command", arguments={"command": ["grep -q Emu"]}),)),
    )
    with RunFolder.create(home / "runs" / "words", kind="sample", settings={}) as run:
        rows = [graded(at, words=text, task=f"T{at}") for at, text in enumerate(texts)]
        with_call = rows[-1]
        call = msgspec.structs.replace(with_call.rollout, id="sample/call/0", task="call", completion=calls)
        run.append([*rows, msgspec.structs.replace(with_call, rollout=call)])
    index.refresh()

    def seqs(q: str, **more: Any) -> list[int]:
        return [row.seq for row in listed(index, "words", RolloutFilter(q=q, **more), 2)]

    assert seqs("quokka") == [1]
    assert seqs("QuoKKa", outcomes=("incorrect",)) == []
    assert seqs("grüße") == [1]
    assert seqs('"QUOTED" \\') == [2]
    assert seqs("back\nNEW") == [2]
    assert seqs("𝔘nicode\u202e\x07") == [3]
    assert seqs("role") == [4]
    assert seqs("Content") == [4]
    assert seqs("assistant") == []
    assert seqs("NUL \0") == [6]
    assert seqs("what IS it?") == [1, 2, 3, 4, 5, 6, 7]
    assert seqs("sample/t4") == [5]
    assert seqs("emu") == [7]
    assert seqs("RUN_com") == [7]
    assert seqs("at", sort="-seq") == [7, 6, 5, 4, 3, 2, 1]
    assert seqs("\ud800") == []


def test_the_newest_run_comes_first(settled: Index, folders: Path) -> None:
    found = pages(lambda limit, after: settled.runs(limit=limit, after=after), 1)
    assert len(found) == 3
    assert [one.created for one in found] == sorted((one.created for one in found), reverse=True)
    assert settled.runs(limit=2).total == 3
    assert found == [settled.run(one.id) for one in found]


def test_runs_are_filtered(settled: Index, folders: Path) -> None:
    assert {run.id for run in settled.runs(kind="sample").items} == {"sampled", "various"}
    assert {run.id for run in settled.runs(q="TRAIN").items} == {"trained"}
    assert {run.id for run in settled.runs(q="builtin:").items} == {"trained"}
    assert not settled.runs(q="%").items
    assert not settled.runs(state="running").items


def test_a_sparkline_shows_steps_of_training_else_groups(settled: Index, folders: Path) -> None:
    assert settled.run("trained").spark == (0.3, 0.4, 0.5, 0.6)
    groups = settled.groups("various", GroupFilter()).items
    assert settled.run("various").spark == tuple(group.mean for group in groups if group.mean is not None)


def test_a_run_names_its_job(index: Index, runs: Path) -> None:
    row = {"id": "job-1", "created": 1.0, "status": "running", "kind": "reinforcement", "model": "m", "run": "trained"}
    with index.engine.begin() as connection:
        connection.execute(insert(tables.jobs).values(**row, document={}))
    assert {run.id: run.job for run in index.runs().items} == {"trained": "job-1", "sampled": None, "various": None}


def test_metrics_come_by_column(settled: Index, folders: Path) -> None:
    found = settled.series("trained", ["reward", "nothing", "reward"], start=2, end=3)
    assert (found.line, found.stage, found.step) == ((2, 3), (0, 0), (2, 3))
    assert found.columns == {"reward": (0.4, 0.5), "nothing": (None, None)}
    every = settled.series("trained")
    assert every.known == tuple(every.columns)
    assert every.columns["entropy"] == (1.0, 0.5, 1 / 3, 0.25)
    assert settled.series("sampled").columns == {}


def test_nul_is_no_obstacle(home: Path, index: Index) -> None:
    settings = {"policy": "a\0b", "x": {"\0": ["\0"]}}
    task = Task(id="a\0b", prompt=(Message(role="user", content="\0"),), checker=Checker(type="math"))
    path = home / "runs" / "nul"
    with RunFolder.create(path, kind="sample", settings=settings, tasks=[task]) as run:
        for number in (0, 7):
            run.append([graded(number, task="a\0b", words="say \0 it", index=number)])
            index.refresh()
        run.metric({"step": 1, "a\0b": 1.0, "kind": "\0"})
    index.refresh()
    assert index.run("nul").state == "interrupted"
    assert index.run("nul").settings == settings
    assert index.series("nul").columns == {"a\0b": (1.0,)}
    first, second = index.rollouts("nul", RolloutFilter(task="a\0b")).items
    assert first.group == second.group
    assert index.row("nul", first.seq).rollout.task == "a\0b"
    assert index.find("nul", "sample/a\0b/7").seq == second.seq
    assert [one.seq for one in index.rollouts("nul", RolloutFilter(q="say \0")).items] == [1, 2]
    assert index.task("nul", "a\0b") == task
    folder = RunFolder.open(path)
    assert [flag.seq for flag in index.flags(FlagFilter(run="nul")).items] == [
        one.row.seq for one in suspicions(folder, Reviews(path))
    ]
    assert index.decide("nul", 1, "no_visible_work", 3, Decision.DISMISSED, "so\0").decision == "dismissed"


def test_a_key_may_have_any_name(home: Path, index: Index, templates: Path) -> None:
    shutil.copytree(templates / "trained", home / "runs" / "trained")
    names = ['say "hi"', "back\\slash", "\n", "", "ключ"]
    with open(home / "runs" / "trained" / "metrics.jsonl", "ab") as file:
        file.write(canonical({"step": 5, **dict.fromkeys(names, 0.5)}) + b"\n")
    index.refresh()
    for keys in (names, [names[-1]]):
        found = index.series("trained", [*keys, "reward"])
        assert [found.columns[key][-1] for key in keys] == [0.5] * len(keys)
        assert found.columns["reward"] == (0.3, 0.4, 0.5, 0.6, None)


def test_metrics_of_any_kind_do_no_harm(home: Path, index: Index, templates: Path) -> None:
    path = home / "runs" / "trained"
    shutil.copytree(templates / "trained", path)
    with open(path / "metrics.jsonl", "ab") as file:
        file.write(
            b'{"step":"x","stage":1e300,"kind":[],"reward":"high","a b\\u0000":true,"n":null}\nhalf a line\n[]\n'
        )
        file.write(b'{"step":9,"reward":%s,"m":2}\n' % (b"9" * 400))
    index.refresh()
    found = index.series("trained")
    assert found.line == (1, 2, 3, 4, 5, 8)
    assert found.step[-2:] == (0, 9)
    assert (found.columns["m"], found.columns["reward"][-2:]) == ((None,) * 5 + (2.0,), (None, None))
    assert index.run("trained").steps == 8


def test_tasks_come_with_what_came_of_them(settled: Index, folders: Path) -> None:
    tasks, rows = list(RunFolder.open(folders / "trained").tasks()), read(folders / "trained")
    found = pages(lambda limit, after: settled.tasks("trained", limit=limit, after=after), 2)
    assert [(one.line, one.id, one.digest) for one in found] == [
        (line, task.id, task.digest) for line, task in enumerate(tasks, 1)
    ]
    for one, task in zip(found, tasks, strict=True):
        mine = [row for row in rows if row.rollout.task == task.id]
        assert (one.attempts, one.correct) == (len(mine), sum(row.record.verdict.correct for row in mine))
        assert (one.prompt, one.checker, one.split, one.difficulty) == (task.prompt_text, "math", task.split, "level-1")
        assert settled.task("trained", task.id) == task
    assert [one.id for one in settled.tasks("trained", q="IS 3").items] == ["t3"]


def test_an_attempt_is_found_by_its_id(home: Path, index: Index, runs: Path) -> None:
    for row in read(runs / "various"):
        assert index.find("various", row.rollout.id).seq == row.seq
    with RunFolder.create(home / "runs" / "slashes", kind="sample", settings={}) as run:
        run.append([graded(at, task=task) for at, task in enumerate(("a/b", "a", "/", "", "a/b/c d"))])
    index.refresh()
    for row in read(home / "runs" / "slashes"):
        assert index.find("slashes", row.rollout.id).seq == row.seq
    for name in ("", "/", "sample", "sample/t0", "sample/t0/99", "nope/t0/0", "x" * 5000, "a\0b/c/d", "\ud800/x/0"):
        with pytest.raises(NotFoundError):
            index.find("various", name)


def test_rows_come_in_the_order_asked(settled: Index, folders: Path) -> None:
    rows = {row.seq: row for row in read(folders / "various")}
    asked = [9, 2, 9, 44, 1]
    assert settled.rows("various", asked) == [rows[seq] for seq in asked]
    assert settled.rows("various", []) == []


def test_what_is_not_there_is_not_found(settled: Index, folders: Path) -> None:
    for run in ("nope", "", "../various", "a~b", "various\0", "\ud800", "x" * 10_000):
        for ask in (
            lambda run=run: settled.run(run),
            lambda run=run: settled.phases(run),
            lambda run=run: settled.series(run),
            lambda run=run: settled.groups(run, GroupFilter()),
            lambda run=run: settled.rollouts(run, RolloutFilter()),
            lambda run=run: settled.rollouts(run, RolloutFilter(q="a")),
            lambda run=run: settled.row(run, 1),
            lambda run=run: settled.rows(run, []),
            lambda run=run: settled.tasks(run),
            lambda run=run: settled.task(run, "t0"),
            lambda run=run: settled.flags(FlagFilter(run=run)),
            lambda run=run: settled.detectors(run),
            lambda run=run: settled.decide(run, 1, "a", 1, Decision.CONFIRMED),
        ):
            with pytest.raises(NotFoundError):
                ask()
    for number in (0, -1, 10_000, 2**31, 10**40, 2):
        for lookup in (settled.group, settled.beside) + (
            (settled.rollout, settled.row, settled.others) if number != 2 else ()
        ):
            with pytest.raises(NotFoundError):
                lookup("trained", number)
    with pytest.raises(NotFoundError):
        settled.task("various", "t9")
    for which in (("various", 1, "nope", 1), ("various", 1, "no_visible_work", 10**30), ("various", 2, "hardcoded", 1)):
        with pytest.raises(NotFoundError):
            settled.decide(*which, Decision.CONFIRMED)


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "0",
        "-1",
        "x",
        "1.0",
        "١",
        "9" * 40,
        "1 OR 1=1",
        "\0",
        "\ud800",
        "various:1",
        "various:1:no_visible_work:9",
        "a:b:c:d",
    ],
)
def test_a_cursor_that_is_none_is_refused(settled: Index, folders: Path, cursor: str) -> None:
    for ask in (
        lambda: settled.runs(after=cursor),
        lambda: settled.groups("various", GroupFilter(), after=cursor),
        lambda: settled.rollouts("various", RolloutFilter(), after=cursor),
        lambda: settled.rollouts("various", RolloutFilter(sort="-reward"), after=cursor),
        lambda: settled.rollouts("various", RolloutFilter(q="a"), after=cursor),
        lambda: settled.flags(FlagFilter(), after=cursor),
    ):
        with pytest.raises(RefusedError):
            ask()


def test_filters_take_anything(settled: Index, folders: Path) -> None:
    for text in ("", "\0", "\ud800", "'; DROP TABLE runs; --", "x" * 100_000):
        which = RolloutFilter(phase=text, task=text, outcomes=(text,), flag=text, reason=text, finish=text, q=text)
        assert not settled.rollouts("various", which).items
        assert not settled.rollouts("various", RolloutFilter(reason=text)).total
        assert not settled.groups("various", GroupFilter(phase=text, task=text, signals=(text,))).items
        settled.flags(FlagFilter(detector=text, decision=text))
        settled.runs(kind=text, state=text, q=text)
        settled.tasks("various", q=text)
        settled.series("various", [text])
    for number in (10**40, -(10**40)):
        settled.rollouts("various", RolloutFilter(stage=number, steps=(number, number)))
        settled.groups("various", GroupFilter(stage=number, steps=(number, number)))
        settled.series("various", start=number, end=number)


def test_flags_come_as_suspicions_has_them(settled: Index, folders: Path) -> None:
    for name in ("trained", "various"):
        folder = RunFolder.open(folders / name)
        expected = suspicions(folder, Reviews(folder.path))
        found = pages(lambda limit, after, run=name: settled.flags(FlagFilter(run=run), limit=limit, after=after), 2)
        assert [(one.seq, one.detector, one.version, one.bars, one.evidence) for one in found] == [
            (one.row.seq, one.flag.detector, one.flag.version, one.flag.bars, one.flag.evidence) for one in expected
        ]
        assert all(one.rollout == settled.rollout(name, one.seq) for one in found)
        assert settled.flags(FlagFilter(run=name), limit=1).total == len(found)
    everything = pages(lambda limit, after: settled.flags(FlagFilter(), limit=limit, after=after), 5)
    assert len({(one.run, one.seq, one.detector) for one in everything}) == len(everything)
    assert len(everything) == sum(settled.flags(FlagFilter(run=run.id)).total or 0 for run in settled.runs().items)


def test_decisions_are_written_counted_and_bar(index: Index, runs: Path) -> None:
    seq = next(row.seq for row in listed(index, "various", RolloutFilter(flag="hardcoded")))
    found = index.decide("various", seq, "hardcoded", 1, Decision.CONFIRMED, "copied\0 it")
    assert (found.decision, found.bars, bool(found.decided)) == ("confirmed", True, True)
    index.decide("various", seq, "no_visible_work", 3, Decision.DISMISSED)
    assert index.rollout("various", seq).bars
    index.decide("various", seq, "hardcoded", 1, Decision.DISMISSED)
    assert not index.rollout("various", seq).bars
    folder = RunFolder.open(runs / "various")
    assert len(Reviews(folder.path)) == 2
    assert index.detectors("various") == summarise_flags([(folder, Reviews(folder.path))])
    assert {one.seq for one in index.flags(FlagFilter(run="various", decision="dismissed")).items} == {seq}
    withdrawn = index.decide("various", seq, "hardcoded", 1, Decision.WITHDRAWN)
    assert (withdrawn.decision, withdrawn.note, withdrawn.decided, withdrawn.bars) == (None, None, None, False)
    left = index.flags(FlagFilter(run="various", decision="open")).total
    assert left == (index.flags(FlagFilter(run="various")).total or 0) - 1


def test_flags_are_filtered(settled: Index, folders: Path) -> None:
    every = settled.flags(FlagFilter(run="various"), limit=1000).items
    for which, keep in (
        (FlagFilter(run="various", detector="hardcoded"), lambda one: one.detector == "hardcoded"),
        (FlagFilter(run="various", correct=True), lambda one: one.rollout.outcome == "correct"),
        (FlagFilter(run="various", correct=False), lambda one: one.rollout.outcome != "correct"),
    ):
        assert list(settled.flags(which, limit=1000).items) == [one for one in every if keep(one)]


def test_detectors_of_all_runs_are_counted_together(settled: Index, folders: Path) -> None:
    folders = [RunFolder.open(path) for path in sorted(folders.iterdir())]
    assert settled.detectors() == summarise_flags([(folder, Reviews(folder.path)) for folder in folders])


def test_events_tell_what_happened(index: Index, home: Path, templates: Path) -> None:
    shutil.copytree(templates / "trained", home / "runs" / "trained")
    index.refresh()
    first = index.bus.past()
    assert [event.kind for event in first] == ["metrics"] * 4 + ["run"]
    assert first[-1].data["state"] == "complete"
    assert first[-1].data["rollouts"] == 24
    with RunFolder.reopen(home / "runs" / "trained") as run:
        run.append([graded(at, "late") for at in range(8)])
        run.metric({"stage": 0, "step": 5, "kind": "grpo", "reward": 0.7})
        assert index.refresh() == ["trained"]
    events = index.bus.past(["run:trained"], after=first[-1].seq)
    assert [event.kind for event in events] == ["metrics", "rollouts", "flags", "run"]
    assert events[0].data == {"line": 5, "stage": 0, "step": 5, "values": {"reward": 0.7}}
    assert events[1].data == {"rollouts": 32, "correct": 17, "flagged": 17, "invalid": 1}
    assert events[2].data == {"flagged": 17, "suspected": 16, "new": 3}
    assert events[3].data["state"] == "running"
    index.refresh()
    assert index.bus.past(after=events[-1].seq)[0].data["state"] == "interrupted"
    flag = index.flags(FlagFilter(run="trained"), limit=1).items[0]
    index.decide("trained", flag.seq, flag.detector, flag.version, Decision.CONFIRMED, "so it is")
    assert index.bus.past(after=index.bus.last() - 1)[0].data == {
        "seq": flag.seq,
        "detector": flag.detector,
        "version": flag.version,
        "decision": "confirmed",
        "note": "so it is",
    }
    shutil.rmtree(home / "runs" / "trained")
    index.refresh()
    assert [(one.kind, one.data) for one in index.bus.past(after=index.bus.last() - 1)] == [
        ("run", {"state": "deleted"})
    ]


def test_a_long_history_is_not_told_line_by_line(index: Index, home: Path, templates: Path) -> None:
    shutil.copytree(templates / "trained", home / "runs" / "old")
    line = canonical({"stage": 0, "step": 9, "reward": 1.0}) + b"\n"
    with open(home / "runs" / "old" / "metrics.jsonl", "ab") as file:
        file.write(line * 100)
    index.refresh()
    assert [event.kind for event in index.bus.past()] == ["run"]
    assert len(index.run("old").spark) == 60


def test_threads_that_refresh_at_once_take_in_everything_once(index: Index, home: Path, templates: Path) -> None:
    for name in ("a", "b", "c"):
        shutil.copytree(templates / "various", home / "runs" / name)
    threads = [threading.Thread(target=index.refresh) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {run.id: run.rollouts for run in index.runs().items} == {"a": 75, "b": 75, "c": 75}
