"""``grader``: ``python``, in the sandbox, and whose fault a failure is."""

from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import verify


def grade(said: str, body: str, item: Any = None, **more: Any) -> Verdict:
    source = "import json\ndef grade(sample, item):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    grader = {"type": "python", "name": "g", "source": source, **more}
    return verify({"type": "grader", "config": {"grader": grader, "item": item or {}}}, said)


@pytest.mark.parametrize(
    ("body", "score"),
    [
        ("return 0.25", 0.25),
        ("return sample['output_text'] == item['a']", 1.0),
        ("return len(sample['choices'][0]['message']['content']) / 10", 0.5),
        ("return sample['output_json'] is None and sample['output_tools'] == []", 1.0),
        ("print('{\"score\": \"1.0\"}')\nimport os\nos.write(1, b'L{}')\nreturn 0", 0.0),
    ],
)
def test_what_the_function_returns_is_the_score(body: str, score: float) -> None:
    assert grade("hello", body, {"a": "hello"}).score == score


def test_json_of_a_completion_is_read_for_the_grader() -> None:
    assert grade('{"n": 4}', "return sample['output_json']['n'] == 4").correct


@pytest.mark.parametrize(
    ("number", "score"), [("1.5", 1.0), ("-1", 0.0), ("float('nan')", 0.0), ("float('inf')", 0.0), ("10 ** 30", 1.0)]
)
def test_a_score_out_of_range_is_brought_into_it(number: str, score: float) -> None:
    verdict = grade("x", f"return {number}")
    assert (verdict.score, verdict.reason) == (score, "score_out_of_range")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return float(sample['output_text'])", "grader_error"),
        ("return None if 'no' in sample['output_text'] else 1.0", "grader_error"),
        ("if 'no' in sample['output_text']: exit(0)\nreturn 1.0", "grader_error"),
        ("if 'no' in sample['output_text']:\n    import os; os._exit(0)\nreturn 1.0", "grader_error"),
        ("while 'no' in sample['output_text']: pass\nreturn 1.0", "timeout"),
        ("if 'no' in sample['output_text']: x = 'a' * (1 << 29)\nreturn 1.0", "memory"),
        ("return json.loads(sample['output_text'])['answer'] == item['answer']", "grader_error"),
    ],
)
def test_a_completion_on_which_the_grader_fails_is_wrong(body: str, reason: str) -> None:
    """Else nonsense would be a way out of a wrong answer."""
    verdict = grade("no number", body, {"answer": "4"}, timeout=2.0, memory_mb=128)
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, reason)


@pytest.mark.parametrize("body", ["return item['refrence'] == 1", "return undefined", "raise ValueError('x')"])
def test_a_grader_that_fails_on_everything_is_broken(body: str) -> None:
    verdict = grade("x", body, {"reference": 1})
    assert (verdict.outcome, verdict.reason) == (Outcome.INVALID, "grader_error")
    assert "fails on every sample" in (verdict.detail or "")


def test_a_grader_that_cannot_be_loaded_is_broken() -> None:
    source = "import no_such_module\ndef grade(sample, item): return 1.0"
    config = {"grader": {"type": "python", "name": "g", "source": source}}
    verdict = verify({"type": "grader", "config": config}, "x")
    assert (verdict.outcome, verdict.reason) == (Outcome.INVALID, "grader_error")


def test_a_probe_of_the_authors_shows_that_the_grader_works() -> None:
    body = "return json.loads(sample['output_text'])['steps'][2]['value'] == 4"
    assert grade("nonsense", body).outcome is Outcome.INVALID
    probe = '{"steps": [{}, {}, {"value": 1}]}'
    assert grade("nonsense", body, probe=probe).reason == "grader_error"
    assert grade("nonsense", body, probe=probe).outcome is Outcome.INCORRECT


def test_there_is_no_network_and_no_file_of_ours() -> None:
    body = (
        "import os, socket\ntry:\n    socket.create_connection(('1.1.1.1', 53), 1)\nexcept OSError:\n    pass\nelse:\n"
    )
    assert grade("x", body + "    return 0.0\nreturn 0.0 if os.path.exists('/etc/shadow') else 0.5").score == 0.5


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def grade(sample, item: return 1", "no Python"),
        ("def score(sample, item): return 1", "no function grade"),
        ("def grade(sample): return 1", "does not take"),
        ("def grade(sample, item, more): return 1", "does not take"),
        ("async def grade(sample, item): return 1", "no function grade"),
        ("x = 1 #" + "a" * 256_000, "more than 256000 bytes"),
    ],
)
def test_a_source_that_cannot_grade_is_refused(source: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        verify({"type": "grader", "config": {"grader": {"type": "python", "name": "g", "source": source}}}, "x")
    assert caught.value.field == "checker.config.grader.source"


def test_an_image_is_refused_rather_than_ignored() -> None:
    with pytest.raises(InputError, match="no images") as caught:
        grade("x", "return 1.0", image_tag="2025-05-08")
    assert caught.value.field == "checker.config.grader.image_tag"
