from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lydite.verdict import Outcome, Verdict
from lydite.verifiers import Submission, build, verify, verify_many
from lydite.verifiers.aside import Aside
from lydite.verifiers.math import compare, confirm, prover, read
from lydite.verifiers.math.nodes import Node, num
from lydite.verifiers.math.verifier import MathVerifier

GOLD = "2\\cos\\frac{\\pi}{16}"
RIGHT, WRONG = "\\boxed{\\sqrt{2+\\sqrt{2+\\sqrt{2}}}}", "\\boxed{\\sqrt{2+\\sqrt{2-\\sqrt{2}}}}"
CHECKER = {"type": "math", "config": {"answer": GOLD}}


def tree(text: str) -> Node:
    node = read(text).node
    assert node is not None
    return node


def opinion(one: str, other: str) -> bytes:
    """What the process would say, had it all the time that it wants."""
    data = confirm.encoded(tree(one), tree(other))
    assert data is not None
    return prover.opinion(data)


def children() -> set[int]:
    """Processes of ours that run SymPy."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        for pid in (task / "children").read_text().split():
            if b"math.prover" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(int(pid))
    return found


def appears(besides: int = 0) -> bool:
    """Whether there is such a process soon: it has no command line yet while it is being loaded."""
    for _ in range(500):
        if children() - {besides}:
            return True
        time.sleep(0.02)
    return False


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    confirm.confirm.cache_clear()
    yield
    confirm.confirm.cache_clear()
    confirm.close()


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Aside]:
    """Another process in place of SymPy's."""
    aside = Aside(f"verifiers.prover_targets:{request.param}", cpu_seconds=0.05, memory_mb=64)
    monkeypatch.setattr(confirm, "_ASIDE", aside)
    yield aside
    aside.close()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\\sin\\frac{\\pi}{7}", "\\cos\\frac{5\\pi}{14}"),
        ("\\cos\\frac{\\pi}{9}(8\\cos^2\\frac{\\pi}{9}-6)", "1"),
        ("\\sqrt[3]{2+\\sqrt5}+\\sqrt[3]{2-\\sqrt5}", "1"),
        ("\\tan\\frac{\\pi}{8}", "\\sqrt{2}-1"),
        ("x^{100}(x+1)^{100}", "(x^2+x)^{100}"),
    ],
)
def test_proved_equal(one: str, other: str) -> None:
    assert opinion(one, other) == b"equal"
    assert compare(one, other)
    assert compare(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("\\sin x", "\\sin x + 10^{-60}"), ("\\sin\\frac{\\pi}{7}", "\\sin\\frac{\\pi}{7}+10^{-80}"), ("|x|", "x")],
)
def test_a_difference_is_computed(one: str, other: str) -> None:
    assert opinion(one, other) == b"different"


OPEN = [
    ("4\\arctan\\frac15-\\arctan\\frac1{239}", "\\frac{\\pi}{4}"),
    ("\\ln(2+\\sqrt3)", "2\\ln\\frac{1+\\sqrt3}{\\sqrt2}"),
    ("\\sqrt{x^3}", "x\\sqrt{x}"),
]


@pytest.mark.parametrize(("one", "other"), OPEN)
def test_what_cannot_be_proved_is_left_to_the_points(one: str, other: str) -> None:
    assert opinion(one, other) == b"open"
    assert compare(one, other)


IDENTITIES = [
    ("\\operatorname{arccot}(x)+\\arctan(x)", "\\frac{\\pi}{2}"),
    ("\\arccos(x/9)+\\arcsin(x/9)", "\\frac{\\pi}{2}"),
    ("\\sqrt[3]{x^3}", "x"),
    ("(x^3)^{1/3}", "x"),
    ("\\lfloor -x\\rfloor", "-\\lceil x\\rceil"),
    ("\\max(x,y)", "\\frac{x+y+|x-y|}{2}"),
    ("|xy|", "|x||y|"),
    ("\\binom{n}{k}", "\\binom{n}{n-k}"),
    ("\\log_2(x^2+1)", "\\frac{\\ln(x^2+1)}{\\ln 2}"),
    ("\\log_{10}(x^2+1)", "\\log(x^2+1)"),
    ("\\tanh x", "\\frac{e^{2x}-1}{e^{2x}+1}"),
    ("\\sec^2 x", "1+\\tan^2 x"),
    ("\\cot x", "\\frac{1}{\\tan x}"),
    ("i^i", "e^{-\\pi/2}"),
    ("f(x+1)", "f(1+x)"),
]


@pytest.mark.parametrize(("one", "other"), IDENTITIES)
def test_both_systems_mean_the_same_by_their_functions(one: str, other: str) -> None:
    assert compare(one, other)
    assert opinion(one, other) != b"different"


@pytest.mark.parametrize("replaced", ["spin", "fill"], indirect=True)
def test_over_budget_is_the_verdict_of_the_points(replaced: Aside) -> None:
    assert confirm.confirm(tree(RIGHT[7:-1]), tree(GOLD)) == "over budget"
    assert verify(CHECKER, RIGHT) == Verdict.of(1.0, "correct", build(CHECKER).id, extracted=RIGHT[7:-1])
    assert verify(CHECKER, WRONG).reason == "incorrect"


@pytest.mark.parametrize("replaced", ["differ"], indirect=True)
def test_a_difference_decides(replaced: Aside) -> None:
    assert verify(CHECKER, RIGHT).reason == "incorrect"


@pytest.mark.parametrize("replaced", ["die", "fail"], indirect=True)
def test_a_lost_process_decides_nothing(replaced: Aside) -> None:
    verdict = verify(CHECKER, RIGHT)
    assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.INVALID, "confirm_lost", None)
    assert verify(CHECKER, WRONG).reason == "incorrect"
    assert verify({"type": "math", "config": {"answer": "7"}}, "\\boxed{7}").correct


def test_a_killed_process_is_replaced() -> None:
    assert confirm.confirm(tree("\\tan\\frac{\\pi}{8}"), tree("\\sqrt{2}-1")) == "equal"
    (pid,) = children()
    os.kill(pid, signal.SIGKILL)
    confirm.confirm.cache_clear()
    assert verify(CHECKER, RIGHT).correct
    assert appears(besides=pid)


def test_an_expansion_without_end_is_stopped() -> None:
    """SymPy would multiply this out for minutes."""
    one, other = "((x+y+z+1)^{30}+1)^{30}(\\sin x)^{2}", "(1+(1+z+y+x)^{30})^{30}(1-\\cos^2 x)"
    assert confirm.confirm(tree(one), tree(other)) == "over budget"
    assert compare(one, other)
    assert confirm.confirm(tree(RIGHT[7:-1]), tree(GOLD)) in ("equal", "over budget")


def test_an_opinion_is_remembered() -> None:
    confirm.confirm(tree(RIGHT[7:-1]), tree(GOLD))
    confirm.close()
    assert verify(CHECKER, RIGHT).correct
    assert confirm.confirm.cache_info().hits
    assert not confirm._ASIDE._idle or confirm._ASIDE._idle[0].calls == 0


def test_a_gold_that_may_need_it_starts_the_process() -> None:
    MathVerifier().compile({"answer": "(1, \\sin\\frac{\\pi}{7})"})
    assert appears()


PLAIN = [
    "42", "\\frac{3}{4}", "0.\\overline{3}", "25\\%", "\\$5", "3\\sqrt{2}", "2\\pi", "x^2+2x+1", "(1,\\sqrt{3})",
    "[0,\\infty)", "x<\\frac{1}{2}", "1,2,3", "80 km/h", "3:30 pm", "\\text{blue}", "(B)", "3+4i", "y=2x+1",
    "\\begin{pmatrix}1&2\\end{pmatrix}", "\\sin x", "e^{x}", "\\ln 2",
]  # fmt: skip


def test_other_golds_never_start_it_nor_load_sympy() -> None:
    code = """
import json, sys
from pathlib import Path
from lydite.verifiers import verify
for gold in json.loads(sys.argv[1]):
    for said in (gold, "7", "\\\\sin x", "x^2+1", "\\\\frac{\\\\sqrt{18}}{1}"):
        verify({"type": "math", "config": {"answer": gold}}, f"so \\\\boxed{{{said}}}")
print("sympy" in sys.modules, [task.joinpath("children").read_text() for task in Path("/proc/self/task").iterdir()])
"""
    argument = msgspec.json.encode(PLAIN).decode()
    told = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "['']"]


def test_trees_that_are_too_large_are_not_sent() -> None:
    many = num(1)
    for _ in range(100):
        many = Node("add", (many, Node("sym", ("x",))))
    assert confirm.confirm(many, Node("mul", (many, num(1)))) == "too large"
    assert confirm.confirm(num(2**3000), num(2**3000 + 1)) == "too large"
    assert not children()


def test_names_are_never_read_as_code(tmp_path: Path) -> None:
    """SymPy's own readers would run this."""
    mark = tmp_path / "here"
    name = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    one = Node("call", ("sin", (Node("sym", (name,)),)))
    other = Node("mul", (num(1), Node("call", ("sin", (Node("sym", (name,)),)))))
    data = confirm.encoded(one, other)
    assert data is not None
    assert prover.opinion(data) == b"equal"
    assert not mark.exists()


def _judged(text: str) -> tuple[str, str | None]:
    verdict = verify(CHECKER, text)
    return verdict.reason, verdict.extracted


def _in_child(queue: multiprocessing.SimpleQueue[list[tuple[str, str | None]]]) -> None:
    queue.put([_judged(RIGHT), _judged(WRONG)])
    confirm.close()


EXPECTED = [("correct", RIGHT[7:-1]), ("incorrect", WRONG[7:-1])]


def test_main_thread_and_thread_pool() -> None:
    assert [_judged(RIGHT), _judged(WRONG)] == EXPECTED
    confirm.confirm.cache_clear()
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert list(threads.map(_judged, [RIGHT, WRONG] * 20)) == EXPECTED * 20


async def test_asyncio() -> None:
    assert [_judged(RIGHT), _judged(WRONG)] == EXPECTED
    confirm.confirm.cache_clear()
    assert await asyncio.gather(*(asyncio.to_thread(_judged, text) for text in [RIGHT, WRONG] * 4)) == EXPECTED * 4


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_daemonic_worker(method: str) -> None:
    assert _judged(RIGHT) == EXPECTED[0]  # so that a fork finds a process of its parent's
    confirm.confirm.cache_clear()
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    worker = context.Process(target=_in_child, args=(queue,), daemon=True)
    worker.start()
    assert queue.get() == EXPECTED
    worker.join()
    confirm.confirm.cache_clear()
    assert _judged(RIGHT) == EXPECTED[0]


def test_worker_processes_of_verify_many() -> None:
    verdicts = list(verify_many([(CHECKER, RIGHT), (CHECKER, WRONG)] * 3, jobs=2))
    assert [(verdict.reason, verdict.extracted) for verdict in verdicts] == EXPECTED * 3


def test_points_decide_alone_from_the_third_pair_on() -> None:
    gold = "2\\cos\\frac{\\pi}{16}, 2\\cos\\frac{\\pi}{32}, 2\\sin\\frac{\\pi}{16}, 2\\sin\\frac{\\pi}{32}"
    root = "\\sqrt{2+\\sqrt{2}}"
    said = f"\\sqrt{{2-\\sqrt{{2+{root}}}}}, \\sqrt{{2-{root}}}, \\sqrt{{2+\\sqrt{{2+{root}}}}}, \\sqrt{{2+{root}}}"
    steps = build({"type": "math", "config": {"answer": gold}}).explain(Submission(text=f"\\boxed{{{said}}}"))
    told = [step.said for step in steps if step.name == "confirm"]
    assert [words.startswith("SymPy: not asked") for words in told] == [False, False, True, True]
    assert steps[-1].said.startswith("correct")
