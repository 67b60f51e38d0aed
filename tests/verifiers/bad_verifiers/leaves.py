"""Caught by invalid: SystemExit"""

import sys

from lydite.verifiers import Example


def check(submission, config):
    if not submission.text:
        sys.exit("no text")
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
