"""Caught by bounded: MemoryError"""

from lydite.verifiers import Example


def check(submission, config):
    return [submission.text * 4000][0].split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
