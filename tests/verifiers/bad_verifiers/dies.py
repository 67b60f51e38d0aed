"""Caught by nothing: exit code 7"""

import os

from lydite.verifiers import Example


def check(submission, config):
    if not submission.text:
        os._exit(7)
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
