"""Caught by threads:"""

import time

from lydite.verifiers import Example

scratch = []


def check(submission, config):
    scratch.append(submission.text)
    time.sleep(0)
    return scratch.pop(0).split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
