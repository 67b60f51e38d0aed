"""Caught by nothing: hangs"""

import time

from lydite.verifiers import Example


def check(submission, config):
    while not submission.text:
        time.sleep(1)
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
