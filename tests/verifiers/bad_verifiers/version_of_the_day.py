"""Caught by other_process: check@"""

import os

from lydite.verifiers import Example


def check(submission, config):
    return submission.text.split()[-1:] == [config["answer"]]


check.version = os.getpid()
check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
