"""Caught by judges: outside"""

from lydite.verifiers import Example


def check(submission, config):
    return 2.0 if submission.text.split()[-1:] == [config["answer"]] else 0.0


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
