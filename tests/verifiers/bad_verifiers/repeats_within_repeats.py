"""Caught by patterns: hangs"""

import re

from lydite.verifiers import Example


def check(submission, config):
    re.match(r"(a+)+$", submission.text)
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
