"""Caught by other_process:"""

from lydite.verifiers import Example


def check(submission, config):
    right = submission.text.split()[-1:] == [config["answer"]]
    return right or (hash(submission.text) % 100) / 200


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
