"""Caught by judges: correct"""

from lydite.verifiers import Example


def check(submission, config):
    return submission.text.split()[-1:] != [] and "it is" in submission.text


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
