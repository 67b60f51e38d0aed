"""Caught by threads:"""

import signal

from lydite.verifiers import Example


def check(submission, config):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
