"""Caught by state: random numbers"""

import random

from lydite.verifiers import Example


def check(submission, config):
    random.seed(0)
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
