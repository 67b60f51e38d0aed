"""Caught by invalid: ValueError"""

from lydite.verifiers import Example


def check(submission, config):
    return int(submission.text.split()[-1]) == int(config["answer"])


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
