"""New verdicts stand beside the old ones, in the same chain, and either can be taken."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from rescoring_making import MATH, STRICT, attempt, judged_run

from lydite.cli import main
from lydite.codec import canonical
from lydite.errors import InputError
from lydite.exports import preference_pairs
from lydite.ledger import RunFolder, verify_run
from lydite.ledger.changes import Swap, as_they_are, by_swaps, by_tasks
from lydite.ledger.flips import Way, count, flips
from lydite.ledger.replay import Match, replay
from lydite.sampling import Judge, Rescore, rescore
from lydite.task import Checker, Task
from lydite.tasksets import parse_task

SWAP = Swap(None, "math", {"extraction": "strict"})


def strict(path: Path, name: str | None = "strict", **options: object) -> Rescore:
    return rescore(path, by_swaps([SWAP], MATH), {"checker": STRICT}, name=name, **options)  # type: ignore[arg-type]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return judged_run(tmp_path / "run")


def lines(path: Path) -> list[bytes]:
    return (path / "ledger.jsonl").read_bytes().splitlines()


def test_old_records_stay_and_new_ones_point_to_them(run: Path) -> None:
    before, tasks, samples = lines(run), (run / "tasks.jsonl").read_bytes(), (run / "rollouts.jsonl").read_bytes()
    done = strict(run)
    after = lines(run)
    assert (done.name, done.covers, done.judged) == ("strict", 12, 12)
    assert after[:12] == before
    assert ((run / "tasks.jsonl").read_bytes(), (run / "rollouts.jsonl").read_bytes()) == (tasks, samples)
    header, *records = map(json.loads, after[12:])
    assert (header["kind"], header["name"], header["covers"]) == ("rescoring", "strict", 12)
    assert [record["of"] for record in records] == [
        {"seq": seq, "hash": json.loads(line)["hash"]} for seq, line in enumerate(before, 1)
    ]
    found = verify_run(run, head=done.head)
    assert (found.problem, found.records, found.samples, found.state) == (None, 25, 12, "complete")
    assert verify_run(run, extends=json.loads(before[-1])["hash"]).problem is None


def test_the_flips_are_listed_both_ways_by_task(run: Path) -> None:
    strict(run)
    counts = count(flips(RunFolder.open(run), "strict"))
    assert counts.ways == {"gained": 0, "lost": 3, "moved": 0, "reworded": 0, "same": 9}
    assert counts.reasons == {"correct:correct -> unparseable:no_answer": 3}
    assert counts.tasks == {task.id: {"gained": 0, "lost": 1, "moved": 0} for task in MATH}
    wrong = [
        msgspec.structs.replace(
            task, checker=Checker(type="math", config={"answer": "-" + task.checker.config["answer"]})
        )
        for task in MATH
    ]
    rescore(run, by_tasks(wrong), {}, name="minus")
    ways = [flip.way for flip in flips(RunFolder.open(run), "minus")]
    assert ways == [Way.LOST, Way.LOST, Way.SAME, Way.GAINED] * 3


def test_either_verdicts_can_be_taken(run: Path) -> None:
    strict(run)

    def correct(verdicts: str | None) -> set[str]:
        folder = RunFolder.open(run, verdicts=verdicts)
        return {row.rollout.id for row in folder.rows() if row.record.verdict.correct}

    both = {f"sample/{task.id}/{index}" for task in MATH for index in (0, 1)}
    assert correct(None) == correct("old") == both
    assert correct("strict") == correct("rescored") == {name for name in both if name.endswith("/1")}
    pairs = [preference_pairs(RunFolder.open(run, verdicts=which), cap=None)[0] for which in ("old", "strict")]
    assert [len(list(rows)) for rows in pairs] == [3 * 2 * 2, 3 * 1 * 3]


def test_rewards_follow_the_scheme_of_the_old_record(run: Path) -> None:
    strict(run)
    rows = list(RunFolder.open(run, verdicts="strict").rows())
    assert {row.record.scheme for row in rows} == {"asymmetric+format=0+flagged=keep"}
    assert [row.record.reward for row in rows[:4]] == [-0.1, 1.0, -0.1, -0.1]


def test_a_rescoring_that_is_there_is_left_as_it_is(run: Path) -> None:
    strict(run)
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    assert strict(run).judged == strict(run, None).judged == 0
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before


def test_a_second_rescoring_stands_beside_the_first(run: Path) -> None:
    strict(run)
    again = rescore(run, as_they_are, {})
    folder = RunFolder.open(run)
    assert list(folder.rescorings()) == ["strict", again.name]
    assert not (run / "rescorings" / f"{again.name}.jsonl").read_bytes()
    assert count(flips(folder, again.name)).ways["same"] == 12
    assert verify_run(run).problem is None
    assert RunFolder.open(run, verdicts="rescored").verdicts == again.name


def test_another_rescoring_of_the_same_name_is_refused(run: Path) -> None:
    strict(run)
    with pytest.raises(InputError, match="another rescoring"):
        rescore(run, as_they_are, {}, name="strict")


def test_replay_derives_both_and_says_when_a_checker_is_gone(run: Path) -> None:
    strict(run)
    folder = RunFolder.open(run)
    assert [item.match for item in replay(folder)] == [Match.SAME] * 24
    assert [item.seq for item in replay(folder, ["sample/t2/1"], verdicts="strict")] == [19]
    (run / "rescorings" / "strict.jsonl").unlink()
    gone = [item for item in replay(RunFolder.open(run)) if item.match is Match.NOT_REPLAYABLE]
    assert len(gone) == 12
    assert "not there as it was judged" in gone[0].why


def test_only_some_attempts_are_judged_again_and_the_others_keep_their_verdict(run: Path) -> None:
    assert strict(run, ids=["sample/t1/0", "sample/t3/0"]).covers == 2
    folder = RunFolder.open(run, verdicts="strict")
    assert [row.record.kind for row in folder.rows()].count("rescore") == 2
    assert "2 of 12" in folder.choice[1]


def test_a_run_that_grew_is_rescored_anew_under_another_name(run: Path) -> None:
    first = strict(run, None)
    judge = Judge()
    with RunFolder.create(run, kind="sample", settings={"n": 4}) as folder:
        folder.append([judge.judge(attempt(MATH[0], 7), MATH[0])])
        folder.finish()
    second = strict(run, None)
    assert (second.covers, second.name != first.name) == (13, True)
    assert verify_run(run).problem is None


@pytest.fixture
def _small_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lydite.sampling.rescoring._BATCH", 5)
    monkeypatch.setattr("lydite.sampling.rescoring._COMMIT_SIZE", 8)


def stop(done: int, total: int) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("_small_commits")
def test_one_that_was_stopped_goes_on_and_cannot_be_taken_before(run: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        strict(run, progress=stop)
    found = verify_run(run)
    assert (found.problem, found.state, found.records) == (None, "interrupted", 21)
    assert "strict is not complete: 8 of 12" in found.standing[0]
    with pytest.raises(InputError, match="8 of 12"):
        RunFolder.open(run, verdicts="strict")
    assert strict(run).judged == 4
    found = verify_run(run)
    assert (found.problem, found.state, found.records) == (None, "complete", 25)


@pytest.mark.usefixtures("_small_commits")
def test_sampling_can_go_on_amid_a_rescoring(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", state="interrupted")
    with pytest.raises(KeyboardInterrupt):
        strict(run, progress=stop)
    with RunFolder.create(run, kind="sample", settings={"n": 4}) as folder:
        assert len(folder.done("sample")) == 12
        folder.append([Judge().judge(attempt(MATH[0], 7), MATH[0])])
        folder.finish()
    assert strict(run).judged == 4
    found = verify_run(run)
    assert (found.problem, found.samples, found.state) == (None, 13, "complete")
    assert len(list(RunFolder.open(run, verdicts="strict").rows())) == 13


def test_an_edited_rescored_record_is_found(run: Path) -> None:
    strict(run)
    path = run / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"of":{"seq":1,', b'"of":{"seq":2,'))
    problem = verify_run(run).problem
    assert problem is not None
    assert (problem.line, problem.id, "edited" in problem.message) == (14, "sample/t1/0", True)


def relinked(path: Path, at: int, old: bytes, new: bytes) -> str:
    """Edit a record and give it and all that follow good hashes and roots, with the head noted; what an audit says."""
    from lydite.ledger.chain import SUFFIX_BYTES, root_in
    from lydite.ledger.info import read_info, write_info
    from lydite.ledger.merkle import Tree

    head, out, tree = read_info(path).genesis, [], Tree()
    for seq, line in enumerate(lines(path), 1):
        body, root = line[:-SUFFIX_BYTES], root_in(line)
        if seq == at:
            assert re.search(old, body)
            body = re.sub(old, new, body, count=1)
        body = re.sub(rb'"prev":"[0-9a-f]{64}"', b'"prev":"%b"' % head.encode(), body, count=1)
        if root is not None:
            body = body.replace(root, tree.root.hex().encode())
        head = hashlib.sha256(body).hexdigest()
        tree.add(bytes.fromhex(head))
        out.append(b'%b,"hash":"%b"}\n' % (body, head.encode()))
    (path / "ledger.jsonl").write_bytes(b"".join(out))
    write_info(path, msgspec.structs.replace(read_info(path), head=head))
    problem = verify_run(path).problem
    return "" if problem is None else f"{problem.line}: {problem.message}"


@pytest.mark.parametrize(
    ("at", "old", "new", "told"),
    [
        (14, b"", b"", ""),
        (14, rb'"of":.*', b'"of":{"seq":2,"hash":"%b"}' % (b"0" * 64), "does not speak of the sample"),
        (14, rb'("seq":1,"hash":")[0-9a-f]{64}', rb"\g<1>" + b"0" * 64, "does not speak of the sample"),
        (14, b"sample/t1/0", b"sample/t1/1", "does not speak of the sample"),
        (14, rb'("sample":")[0-9a-f]{64}', rb"\g<1>" + b"0" * 64, "does not speak of the sample"),
        (15, rb'"of":\{"seq":2', b'"of":{"seq":1', "not one that follows"),
        (14, rb'"of":\{"seq":1', b'"of":{"seq":99', "not one that follows"),
        (14, b'"rescoring":"strict"', b'"rescoring":"other"', "did not begin"),
        (14, rb'("task_digest":")[0-9a-f]{64}', rb"\g<1>" + b"0" * 64, "its task is not there"),
        (14, b'"rollout":', b'"extra":1,"rollout":', "not spelled"),
        (13, b'"covers":12', b'"covers":11', "one more than"),
        (13, b'"covers":12', b'"covers":-1', "not what Lydite wrote"),
        (13, b'"name":"strict"', b'"name":"../../x"', "cannot name a rescoring"),
        (13, b'"count":3', b'"count":2', "not the file of that rescoring"),
        (13, b'"kind":"rescoring"', b'"kind":"verdict"', "its sample is missing"),
        (13, b'"kind":"rescoring"', b'"kind":"amendment"', "a kind that is not known"),
    ],
)
def test_a_chain_made_again_around_a_record_that_does_not_fit_is_found(
    run: Path, at: int, old: bytes, new: bytes, told: str
) -> None:
    strict(run)
    said = relinked(run, at, old, new)
    assert (not said) if not told else (told in said), said


def test_a_chain_made_again_without_its_trees_is_found(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strict(run)
    monkeypatch.setattr("lydite.ledger.merkle.Tree.root", b"0" * 32)
    relinked(run, 1, b"", b"")
    monkeypatch.undo()
    assert "commits to another tree" in str(verify_run(run).problem)


@pytest.mark.parametrize("how", ["missing", "edited", "longer"])
def test_the_file_of_a_rescoring_is_under_the_chain(run: Path, how: str) -> None:
    strict(run)
    path = run / "rescorings" / "strict.jsonl"
    data = path.read_bytes()
    if how == "missing":
        shutil.rmtree(path.parent)
    else:
        path.write_bytes(data.replace(b"strict", b"lenient") if how == "edited" else data + data)
    problem = verify_run(run).problem
    assert problem is not None
    assert (problem.line, "rescoring strict" in problem.message) == (13, True)


@pytest.mark.parametrize("name", ["old", "rescored", "all", "", "a/b", "..", "x" * 65, ".hidden"])
def test_names_that_mean_something_else_are_refused(run: Path, name: str) -> None:
    with pytest.raises(InputError, match="--name"):
        strict(run, name)


def test_task_files_that_name_other_tasks_make_other_rescorings(run: Path) -> None:
    first, second = (rescore(run, by_tasks([task]), {"tasks": "by a task file"}) for task in MATH[:2])
    assert first.name != second.name
    assert verify_run(run).records == 12 + 2 * 5


def test_a_task_that_asks_something_else_is_refused(run: Path) -> None:
    other = parse_task(
        {"id": "t1", "prompt": "What is 5 + 5?", "checker": {"type": "math", "config": {"answer": "10"}}}
    )
    with pytest.raises(InputError, match="asks something else"):
        rescore(run, by_tasks([other]), {})


def test_a_checker_that_cannot_be_used_is_refused_before_anything_is_written(run: Path) -> None:
    before = lines(run)
    with pytest.raises(InputError, match="task t1"):
        rescore(run, by_swaps([Swap(None, "math", {"extraction": "sloppy"})], MATH), {})
    assert lines(run) == before


COMPOSITE = Task(
    id="c",
    prompt=MATH[0].prompt,
    checker=Checker(
        type="all_of",
        config={
            "checkers": {
                "answer": {"type": "math", "config": {"answer": "2"}},
                "form": {"type": "format", "config": {"required": ["answer"]}},
            }
        },
    ),
)


def test_a_checker_within_a_composite_is_changed_where_it_stands() -> None:
    changed = by_swaps([SWAP], [COMPOSITE])(COMPOSITE)
    assert changed is not None
    parts = changed.checker.config["checkers"]
    assert parts["answer"] == {"type": "math", "config": {"answer": "2", "extraction": "strict"}}
    assert parts["form"] == COMPOSITE.checker.config["checkers"]["form"]


def test_changes_of_checkers() -> None:
    task, other = MATH[0], msgspec.structs.replace(MATH[1], checker=Checker(type="exact", config={"answer": "3"}))
    tasks = [task, other]
    assert by_swaps([SWAP], tasks)(other) is None  # of another type: not judged again
    assert by_swaps([Swap(None, "math")], tasks)(task) is task  # as it is
    swapped = by_swaps([Swap("exact", "math", {"tolerance": 0.1})], tasks)(other)
    assert swapped is not None
    assert swapped.checker == Checker(type="math", config={"answer": "3", "tolerance": 0.1})
    whole = by_swaps([Swap(None, "choice", {"answer": "A"})], tasks)(other)  # no task has one: all are changed
    assert whole is not None
    assert whole.checker == Checker(type="choice", config={"answer": "A"})
    removed = by_swaps([Swap(None, "math", {"answer": None, "units": "m"})], tasks)(task)
    assert removed is not None
    assert removed.checker.config == {"units": "m"}
    with pytest.raises(InputError, match="no task has a checker 'sql'"):
        by_swaps([Swap("sql", "math")], tasks)


def command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def test_the_commands(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = command(
        capsys, "ledger", "rescore", run, "--checker", json.dumps(STRICT), "--name", "strict", "--json"
    )
    said = json.loads(out)
    assert (code, said["records"], said["lost"], said["gained"], said["flipped"]) == (0, 12, 3, 0, 3)
    assert said["flips"][0]["before"]["outcome"] == "correct"
    file = tmp_path / "checker.json"
    file.write_text(json.dumps(STRICT))
    code, out, told = command(capsys, "ledger", "rescore", run, "--checker", file)
    assert (code, "nothing left to judge" in told) == (0, True)
    changed = tmp_path / "tasks.jsonl"
    checker = Checker(type="math", config={"answer": "7"})
    changed.write_bytes(canonical(msgspec.structs.replace(MATH[0], checker=checker, metadata={})))
    code, _, told = command(capsys, "ledger", "rescore", run, "--checker", changed, "--name", "seven")
    assert (code, "2 were correct" in told) == (0, True), told
    assert command(capsys, "ledger", "replay", run)[0] == 0
    rows = []
    for which in ("old", "strict"):
        out_file = tmp_path / f"{which}.jsonl"
        code, out, _ = command(
            capsys, "export", "preferences", run, "-o", out_file, "--verdicts", which, "--cap", 9, "--json"
        )
        assert (code, json.loads(out)["verdicts"]) == (0, which)
        rows.append(len(out_file.read_bytes().splitlines()))
    assert rows == [12, 9]
    assert "rescoring strict: 12 records; 0 gained, 3 lost" in command(capsys, "ledger", "show", run)[2]
    assert (
        "recorded first (record 1): correct" in command(capsys, "show", run, "sample/t1/0", "--verdicts", "strict")[1]
    )
    code, out, told = command(capsys, "compare", run, f"{run}@strict", "--json")
    assert (code, json.loads(out)["a"], json.loads(out)["b"]) == (0, 0.5, 0.25)
    assert "other verdicts on each side" in told
    code, out, _ = command(capsys, "report", run, "--verdicts", "strict")
    assert out.strip().endswith("report-strict.md")
    assert "verdicts of the rescoring strict" in Path(out.strip()).read_text()
    code, _, told = command(capsys, "export", "sft", run, "--verdicts", "none-such")
    assert (code, "there are: old, strict, seven" in told) == (2, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--checker", "nowhere.json"], "neither a JSON object nor a file"),
        (["--checker", '{"config": {}}'], "is no checker"),
        (["--checker", '{"type": "math", "config": []}'], "expected an object"),
        (["--checker", '{"type": "maths"}'], "no verifier is called"),
        (["--checker", '{"type": '], "cannot be read"),
        (["--checker", '{"type": "math", "config": {"tolerance": "1e-3 or so"}}'], "tolerance"),
        (["--verifier", "sql=math"], "no task has a checker 'sql'"),
        (["--id", "sample/t9/9"], "no rollout 'sample/t9/9'"),
        (["--phase", "after"], "no recorded sample"),
    ],
)
def test_what_cannot_be_done_is_told(
    run: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    code, _, said = command(capsys, "ledger", "rescore", run, *words)
    assert (code, told in said) == (2, True), said
    assert len(lines(run)) == 12
