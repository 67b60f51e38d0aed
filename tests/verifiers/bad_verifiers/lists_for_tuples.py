"""Caught by round_trip: another one"""

from lydite.verdict import Part, Verdict
from lydite.verifiers import Example


def check(submission, config):
    right = float(submission.text.split()[-1:] == [config["answer"]])
    return Verdict.of(right, "judged", "check@1", parts=[Part("last word", right, "judged")])


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
