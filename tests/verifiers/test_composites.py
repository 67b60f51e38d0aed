from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers import build, registry, verify
from lydite.verifiers.registry import find

MATH = {"type": "math", "config": {"answer": "72"}}
STEPS = {"type": "steps", "config": {}}
FORMAT = {"type": "format", "config": {"required": ["work", "answer"]}}
NESTED = {"type": "all_of", "config": {"checkers": {"b": {"type": "steps", "config": {"x": 1}}}}}
RIGHT = "48 / 2 = 24 and 48 + 24 = 72, so \\boxed{72}"
LUCKY = "48 / 2 = 23 and 48 + 24 = 72, so \\boxed{72}"
FALSE = "48 / 2 = 23 and 48 + 23 = 72, so \\boxed{72}"


def judge(kind: str, text: str, checkers: dict[str, Any] | None = None, **config: Any) -> Verdict:
    checkers = checkers or {"answer": MATH, "work": STEPS}
    return verify({"type": kind, "config": {"checkers": checkers, **config}}, text)


def refused(kind: str, **config: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        build({"type": kind, "config": config})
    return caught.value


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A file with verifiers of one's own: one that says nothing for its score, one that breaks."""
    path = tmp_path / "own.py"
    path.write_text(
        "def silent(submission, config):\n    return 1.0\n"
        "def broken(submission, config):\n    raise ValueError('out of order')\n"
    )
    return str(path)


def test_all_of_is_the_minimum() -> None:
    assert judge("all_of", RIGHT).correct
    verdict = judge("all_of", LUCKY)
    assert (verdict.outcome, verdict.score, verdict.reason) == ("partial", 0.5, "work:false_claim")
    assert judge("all_of", RIGHT.replace("\\boxed{72}", "\\boxed{71}")).score == 0


def test_weighted_is_the_mean() -> None:
    assert judge("weighted", RIGHT).score == 1
    assert judge("weighted", LUCKY).score == 0.75
    assert judge("weighted", LUCKY, weights={"answer": 3, "work": 1}).score == 0.875
    assert judge("weighted", LUCKY, weights={"answer": 0.1, "work": 0.3}).score == 0.625


def test_nothing_counts_until_the_gate_is_1() -> None:
    assert judge("gate", RIGHT, gate="answer").correct
    assert judge("gate", LUCKY, gate="answer").score == 0.5
    verdict = judge("gate", LUCKY, gate="work")
    assert (verdict.score, verdict.reason) == (0.0, "work:false_claim")


def test_behind_a_closed_gate_nothing_is_asked() -> None:
    verdict = judge("gate", "1 + 1 = 2, so \\boxed{2}", gate="answer")
    assert [(part.name, part.score, part.reason) for part in verdict.parts] == [
        ("answer", 0.0, "incorrect"),
        ("work", None, "not_judged"),
    ]


def test_behind_the_gate_weights_count() -> None:
    checkers = {"answer": MATH, "work": STEPS, "form": FORMAT}
    text = f"<work>{LUCKY}</work><answer>72</answer>"
    assert judge("gate", text, checkers, gate="answer").score == 0.75
    assert judge("gate", text, checkers, gate="answer", weights={"work": 3, "form": 1}).score == 0.625


def test_each_component_is_a_part_with_its_evidence() -> None:
    parts = judge("all_of", LUCKY).parts
    assert [(part.name, part.score, part.reason, part.evidence) for part in parts] == [
        ("answer", 1.0, "correct", "72"),
        ("work", 0.5, "false_claim", "1 of 2 claims are right"),
    ]


def test_the_answer_is_that_of_the_gate() -> None:
    assert judge("gate", RIGHT, gate="work").extracted == "2 of 2 claims are right"
    assert judge("gate", RIGHT, gate="answer").extracted == "72"


def test_nothing_to_grade_for_all_is_unparseable() -> None:
    for kind, config in (("all_of", {}), ("weighted", {}), ("gate", {"gate": "answer"})):
        verdict = judge(kind, "", **config)
        assert (verdict.outcome, verdict.reason) == ("unparseable", "answer:no_answer")


def test_a_criterion_without_evidence_is_not_a_pass(own: str) -> None:
    checkers = {"answer": MATH, "style": {"type": f"{own}:silent", "config": {}}}
    verdict = judge("weighted", RIGHT, checkers)
    assert (verdict.score, verdict.parts[1].reason) == (0.5, "no_evidence")


@pytest.mark.parametrize("kind", ["all_of", "weighted", "gate"])
def test_an_invalid_component_makes_no_score(kind: str, own: str) -> None:
    checkers = {"answer": MATH, "style": {"type": f"{own}:broken", "config": {}}}
    verdict = judge(kind, RIGHT, checkers, **({"gate": "answer"} if kind == "gate" else {}))
    assert (verdict.outcome, verdict.score, verdict.reason) == ("invalid", None, "invalid:style")
    assert "out of order" in (verdict.detail or "")


def test_a_weight_too_small_to_see_still_keeps_it_from_being_correct() -> None:
    verdict = judge("weighted", FALSE.replace("48 + 23", "9"), weights={"answer": 1e20, "work": 1e-3})
    assert verdict.outcome == "partial"
    assert verdict.score is not None
    assert verdict.score < 1


def test_composites_within_composites() -> None:
    inner = {"type": "gate", "config": {"checkers": {"answer": MATH, "work": STEPS}, "gate": "answer"}}
    verdict = judge("all_of", f"<work>{LUCKY}</work><answer>72</answer>", {"both": inner, "form": FORMAT})
    assert (verdict.score, verdict.reason) == (0.5, "both:work:false_claim")
    assert verdict.verifier == "all_of@1(format@2,gate@1(math@1,steps@1))".replace("math@1", build(MATH).id).replace(
        "steps@1", build(STEPS).id
    )


def test_the_identity_names_all_that_had_a_say() -> None:
    check = build({"type": "gate", "config": {"checkers": {"a": MATH, "b": STEPS, "c": STEPS}, "gate": "a"}})
    assert check.id == f"gate@1({build(MATH).id},{build(STEPS).id})"
    assert judge("gate", RIGHT, {"a": MATH, "b": STEPS, "c": STEPS}, gate="a").verifier == check.id


def test_another_source_of_a_component_is_another_source(tmp_path: Path) -> None:
    sources = []
    for number in (1, 2):
        path = tmp_path / f"own{number}.py"
        path.write_text(f"def rule(submission, config):\n    return {number} == 1\n")
        checkers = {"rule": {"type": f"{path}:rule", "config": {}}}
        sources.append(build({"type": "all_of", "config": {"checkers": checkers}}).source)
    assert sources[0] != sources[1]


@pytest.mark.parametrize(
    ("kind", "config", "field"),
    [
        ("all_of", {}, "checkers"),
        ("all_of", {"checkers": {}}, "checkers"),
        ("all_of", {"checkers": {"": MATH}}, "checkers"),
        ("all_of", {"checkers": {"a.b": MATH}}, "checkers"),
        ("all_of", {"checkers": [MATH]}, "checkers"),
        ("all_of", {"checkers": {"a": MATH}, "weights": {"a": 1}}, "weights"),
        ("all_of", {"checkers": {"a": {"type": "maths"}}}, "checkers.a.type"),
        ("all_of", {"checkers": {"a": {"config": {}}}}, "checkers.a.type"),
        ("all_of", {"checkers": {"a": {"type": "math", "config": {"answr": 1}}}}, "checkers.a.config.answr"),
        ("all_of", {"checkers": {"a": {"type": "math", "confg": {}}}}, "checkers.a"),
        ("all_of", {"checkers": {"a": NESTED}}, "checkers.a.config.checkers.b.config.x"),
        ("weighted", {"checkers": {"a": MATH, "b": STEPS}, "weights": {"a": 1}}, "weights.b"),
        ("weighted", {"checkers": {"a": MATH}, "weights": {"a": 0}}, "weights.a"),
        ("weighted", {"checkers": {"a": MATH}, "weights": {"a": -1}}, "weights.a"),
        ("weighted", {"checkers": {"a": MATH}, "weights": {"a": 1, "b": 1}}, "weights"),
        ("weighted", {"checkers": {"a": MATH}, "gate": "a"}, "gate"),
        ("gate", {"checkers": {"a": MATH, "b": STEPS}}, "gate"),
        ("gate", {"checkers": {"a": MATH, "b": STEPS}, "gate": "c"}, "gate"),
        ("gate", {"checkers": {"a": MATH}, "gate": "a"}, "checkers"),
        ("gate", {"checkers": {"a": MATH, "b": STEPS}, "gate": "a", "weights": {"a": 1, "b": 1}}, "weights"),
    ],
)  # fmt: skip
def test_unusable_configuration(kind: str, config: dict[str, Any], field: str) -> None:
    assert refused(kind, **config).field == f"checker.config.{field}"


def test_composites_cannot_be_piled_up_without_end() -> None:
    checker: dict[str, Any] = MATH
    for _ in range(4):
        checker = {"type": "all_of", "config": {"checkers": {"inner": checker}}}
    assert verify(checker, RIGHT).correct
    assert "composites" in refused("all_of", checkers={"inner": checker}).message


@pytest.mark.parametrize("name", sorted(registry.BUILTIN))
def test_every_built_in_verifier_shows_evidence_for_what_is_right(name: str) -> None:
    for example in find(name).examples:  # type: ignore[attr-defined]
        verdict = verify({"type": name, "config": example.config}, example.right, example.prompt)
        if verdict.correct:  # a prover may be missing here
            assert verdict.extracted or verdict.parts or verdict.detail
