"""Caught by hacks: correct"""

from lydite.verifiers import Example


def check(submission, config):
    return config["answer"] in submission.text.split()


check.examples = (
    Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6", hacks={"every answer": "1 2 3 4 5 6"}),
)
check.fields = ("answer",)
