"""Caught by bounded: bytes"""

from lydite.verdict import Verdict
from lydite.verifiers import Example


def check(submission, config):
    right = submission.text.split()[-1:] == [config["answer"]]
    return Verdict.of(float(right), "judged", "check@1", extracted=submission.text)


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
