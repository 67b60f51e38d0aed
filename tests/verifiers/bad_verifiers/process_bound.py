"""Caught by processes:"""

import os

from lydite.verifiers import Example

owner = os.getpid()


def check(submission, config):
    if os.getpid() != owner and os.environ.get("PATH"):
        raise OSError("the connection belongs to another process")
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
