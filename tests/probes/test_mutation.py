from __future__ import annotations

import ast

import pytest

from lydite.probes.mutation import MAX_SOURCE, mutants

SOURCE = '''
def f(xs, limit=10):
    """Text that nobody runs."""
    total = 0
    for x in xs:
        if x < limit and not x == 3:
            total += x * 2
        elif x in (5, 7):
            continue
        else:
            break
    return total
'''


def test_every_mutant_is_another_program() -> None:
    found, _ = mutants(SOURCE)
    sources = [mutant.source for mutant in found]
    assert len(set(sources)) == len(sources) > 15
    original = ast.unparse(ast.parse(SOURCE)) + "\n"
    assert all(ast.parse(source) and source != original for source in sources)


@pytest.mark.parametrize(
    ("operator", "told"),
    [
        ("relation", "x < limit → x <= limit"),
        ("relation", "x in (5, 7) → x not in (5, 7)"),
        ("logic", "x < limit and (not x == 3) → x < limit or not x == 3"),
        ("arithmetic", "x * 2 → x // 2"),
        ("arithmetic", "total += x * 2 → total -= x * 2"),
        ("constant", "10 → 11"),
        ("condition", "x in (5, 7) → False"),
        ("statement", "total += x * 2 → (left out)"),
        ("result", "return total → return None"),
        ("loop", "continue → break"),
        ("loop", "break → continue"),
    ],
)
def test_operators(operator: str, told: str) -> None:
    assert (operator, told) in {(mutant.operator, f"{mutant.was} → {mutant.now}") for mutant in mutants(SOURCE)[0]}


def test_the_line_is_that_of_the_fault() -> None:
    found = {f"{mutant.was} → {mutant.now}": mutant.line for mutant in mutants(SOURCE)[0]}
    assert found["return total → return None"] == 12


def test_text_that_nobody_runs_is_left_alone() -> None:
    assert not any("nobody" in mutant.was for mutant in mutants(SOURCE)[0])
    assert mutants('"""Only words."""\n') == ([], 0)


def test_what_the_compiler_cannot_tell_apart_is_counted_and_left_out() -> None:
    found, left_out = mutants("def f(x):\n    return -0 + x\n")
    assert left_out >= 1
    assert all("+0" not in mutant.source for mutant in found)


@pytest.mark.parametrize("source", ["def f(:\n", "x = '\x00'", "(" * 300, "x" * (MAX_SOURCE + 1)])
def test_what_is_no_program_says_so(source: str) -> None:
    with pytest.raises((SyntaxError, ValueError, MemoryError)):
        mutants(source)
