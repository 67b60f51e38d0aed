"""Coq's own kernel decides; what a candidate may write around a proof gains nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from lydite.errors import InputError
from lydite.verdict import Outcome
from lydite.verifiers import build, verify

needs_coq = pytest.mark.skipif(not (shutil.which("coqc") and shutil.which("coqchk")), reason="no coqc here")

PLUS = "Theorem plus_zero (n : nat) : n + 0 = n."
PROOF = "Proof. induction n; simpl; congruence. Qed."
DOUBLE = """
(* What doubling is. *)
Require Import Arith.
Fixpoint double (n : nat) : nat := match n with 0 => 0 | S m => S (S (double m)) end.
Notation "# n" := (double n) (at level 20).
Theorem double_plus : forall n, # n = n + n.
"""
INDUCTIVE = """
Inductive even : nat -> Prop := even_0 : even 0 | even_SS n : even n -> even (S (S n)).
Theorem four : even 4
"""
EXTENSIONAL = """
Require Import FunctionalExtensionality.
Theorem same (f g : nat -> nat) : (forall x, f x = g x) -> f = g.
"""


def coq(statement: str, *allowed: str, **more: object) -> dict[str, object]:
    return {
        "type": "proof",
        "config": {"system": "coq", "statement": statement, "allowed_axioms": list(allowed), **more},
    }


AXIOM = "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep"
STATEMENTS = {"plus": PLUS, "double": DOUBLE, "inductive": INDUCTIVE, "extensional": EXTENSIONAL}
CASES = {case["case"]: case for case in yaml.safe_load(Path(__file__).with_name("proof_cases.yaml").read_text())}


@needs_coq
@pytest.mark.parametrize("name", CASES)
def test_a_case_is_judged_right(name: str) -> None:
    case = CASES[name]
    right = case["reason"] == "correct"
    bounds = {} if right else {"timeout": 3, "memory_mb": 1024}
    verdict = verify(coq(STATEMENTS[case["statement"]], **bounds), case["text"])
    assert verdict.outcome is (Outcome.CORRECT if right else Outcome.INCORRECT)
    assert verdict.reason in case["reason"].split(), verdict.parts


@needs_coq
@pytest.mark.parametrize("name", [AXIOM, AXIOM.rpartition(".")[2]])
def test_an_axiom_that_is_allowed(name: str) -> None:
    text = EXTENSIONAL + "Proof. intro H. extensionality x. apply H. Qed."
    assert verify(coq(EXTENSIONAL, name), text).correct


@needs_coq
@pytest.mark.parametrize(
    "own",
    [
        "Axiom functional_extensionality_dep : False.",
        "Module FunctionalExtensionality. Axiom functional_extensionality_dep : False. End FunctionalExtensionality."
        " Import FunctionalExtensionality.",
        "Module Coq. Module Logic. Module FunctionalExtensionality. Axiom functional_extensionality_dep : False."
        " End FunctionalExtensionality. End Logic. End Coq. Import Coq.Logic.FunctionalExtensionality.",
    ],
)
def test_an_own_axiom_of_an_allowed_name_is_not_allowed(own: str) -> None:
    text = f"{own}\n{PLUS}\nProof. destruct functional_extensionality_dep. Qed."
    for allowed in (AXIOM, "functional_extensionality_dep"):
        assert verify(coq(PLUS, allowed), text).reason == "axioms"


@needs_coq
@pytest.mark.parametrize("text", ["", "```coq\n```", "<think>unfinished", "I cannot answer this."])
def test_nothing_to_check(text: str) -> None:
    assert verify(coq(PLUS), text).outcome in (Outcome.UNPARSEABLE, Outcome.INCORRECT)


@needs_coq
@pytest.mark.parametrize(
    "text",
    [
        "I can't prove this.",
        "I’m not able to prove it.",
        "I do not know how to prove the step, so I give up.",
        "This cannot be proved by me.",
        "I could not find a proof.",
        "I'm sorry, I can't help with this.",
    ],
)
def test_a_refusal_is_no_proof(text: str) -> None:
    verdict = verify(coq(PLUS), text)
    assert (verdict.outcome, verdict.reason) == (Outcome.UNPARSEABLE, "refused")


@needs_coq
def test_words_of_refusal_in_an_attempt_change_nothing() -> None:
    comment = "(* Without induction I cannot prove this. *)"
    assert verify(coq(PLUS), f"{comment}\n{PLUS}\n{PROOF}").correct
    assert verify(coq(PLUS), f"I cannot prove it well.\n```coq\n{PLUS}\nProof. auto. Qed.\n```").reason != "refused"


@needs_coq
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("Theorem t : forall n, n + = n.", "does not compile"),
        ("Definition x := 3.", "states no theorem"),
        ("(* nothing *)", "states no theorem"),
        ("Theorem t : undefined_name.", "undefined_name"),
    ],
)
def test_a_statement_that_is_none(statement: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        build(coq(statement))


def test_an_unknown_system_is_named() -> None:
    with pytest.raises(InputError, match="system"):
        build({"type": "proof", "config": {"system": "agda", "statement": "x"}})


def test_lean_that_is_not_here_is_told() -> None:
    if shutil.which("lean"):
        pytest.skip("Lean is here")
    with pytest.raises(Exception, match="Lean need the command lean"):
        build({"type": "proof", "config": {"system": "lean4", "statement": "theorem t : 1 = 1"}})
