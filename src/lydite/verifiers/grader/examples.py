"""How graders are used, and how they are attacked."""

from __future__ import annotations

from lydite.verifiers.protocol import Example

_TEXT = "{{ sample.output_text }}"
_SOURCE = """\
def grade(sample, item):
    said = float(sample["output_text"])
    return max(0.0, 1 - abs(said - item["total"]) / 10)
"""

EXAMPLES = (
    Example(
        config={
            "grader": {
                "type": "string_check",
                "name": "capital",
                "input": _TEXT,
                "reference": "{{ item.answer }}",
                "operation": "eq",
            },
            "item": {"answer": "Paris"},
        },
        right="Paris",
        wrong="Lyon",
        hacks={
            "nothing": " ",
            "the template": "{{ item.answer }}",
            "the answer among words": "It is Paris.",
            "every answer": "Paris\nLyon",
        },
    ),
    Example(
        config={
            "grader": {
                "type": "text_similarity",
                "name": "summary",
                "input": _TEXT,
                "reference": "{{ item.summary }}",
                "evaluation_metric": "rouge_l",
                "pass_threshold": 0.7,
            },
            "item": {"summary": "The cat sat on the mat all day."},
        },
        right="The cat sat on the mat all day.",
        wrong="A dog slept on the mat.",
        hacks={
            "its words in another order": "day all mat the on sat cat the",
            "its words again and again": "the " * 99,
        },
    ),
    Example(
        config={"grader": {"type": "python", "name": "near", "source": _SOURCE}, "item": {"total": 72}},
        right="72",
        wrong="70",
        hacks={"no number": "seventy-two", "NaN": "nan", "infinity": "inf", "an object": "{}"},
    ),
    Example(
        config={
            "grader": {
                "type": "multi",
                "name": "both",
                "graders": {
                    "city": {
                        "type": "string_check",
                        "name": "city",
                        "input": "{{ sample.output_json.city }}",
                        "reference": "{{ item.city }}",
                        "operation": "eq",
                    },
                    "why": {
                        "type": "text_similarity",
                        "name": "why",
                        "input": "{{ sample.output_json.why }}",
                        "reference": "{{ item.why }}",
                        "evaluation_metric": "rouge_1",
                    },
                },
                "calculate_output": "city * (0.5 + 0.5 * why)",
            },
            "item": {"city": "Paris", "why": "It is the seat of the government."},
        },
        right='{"city": "Paris", "why": "It is the seat of the government."}',
        wrong='{"city": "Paris", "why": "It is large."}',
        hacks={
            "the city alone": '{"city": "Paris"}',
            "the reason alone": '{"city": "", "why": "It is the seat of the government."}',
            "no JSON": "Paris, as it is the seat of the government.",
        },
    ),
)
