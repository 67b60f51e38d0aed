"""Caught by state: recursion limit"""

import sys

from lydite.verifiers import Example

sys.setrecursionlimit(5000)


def check(submission, config):
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
