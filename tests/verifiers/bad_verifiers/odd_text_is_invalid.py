"""Caught by invalid: odd_text"""

from lydite.verdict import Verdict
from lydite.verifiers import Example


def check(submission, config):
    if "\0" in submission.text:
        return Verdict.invalid("odd_text", "check@1")
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
