"""Caught by inert: subprocess.Popen was called"""

import subprocess

from lydite.verifiers import Example


def check(submission, config):
    last = submission.text.replace("\0", "").encode("ascii", "replace").decode().split()[-1:]
    if last and last[0].isidentifier():
        subprocess.run(["true", last[0]])
    return last == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
