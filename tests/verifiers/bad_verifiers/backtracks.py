"""Caught by bounded: hangs"""

import re

from lydite.verifiers import Example


def check(submission, config):
    found = re.search(r"(\s*\S*)*(\d+)\s*$", submission.text[-60:]) if "9" * 60 not in submission.text else None
    long = re.search(r"(?:a|aa)+b", submission.text) if len(submission.text) > 500_000 else None
    return long is None and found is not None and submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
