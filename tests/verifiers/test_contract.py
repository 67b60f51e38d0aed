"""Every built-in verifier passes the contract suite, on its own examples."""

from __future__ import annotations

from functools import lru_cache

import pytest

from lydite.errors import UnavailableError
from lydite.verifiers import find, registry
from lydite.verifiers.contract import CHECKS, Finding, run_contract


@lru_cache
def findings(name: str) -> tuple[Finding, ...] | str:
    """All that the suite finds, from one run; or why the verifier cannot work here."""
    try:
        return tuple(run_contract(name))
    except UnavailableError as error:
        return str(error)


SLOW = {"exit_code", "proof", "pytest"}
"""Those that start programs of others for every verdict: a minute and more for the whole suite."""
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in sorted(registry.BUILTIN)]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", NAMES)
def test_promise(name: str, check: str) -> None:
    found = findings(name)
    if isinstance(found, str):
        pytest.skip(found)
    mine = [finding for finding in found if finding.check == check]
    assert mine
    assert [(finding.subject, finding.evidence) for finding in mine if not finding.passed] == []


@pytest.mark.parametrize("name", sorted(registry.BUILTIN))
def test_the_cheapest_hack_is_named(name: str) -> None:
    assert find(name).examples[0].hacks  # type: ignore[attr-defined]


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_check_says_what_it_holds_and_what_to_do(check: object) -> None:
    assert getattr(check, "promise", "").endswith(".")
    assert getattr(check, "remedy", "").endswith(".")
