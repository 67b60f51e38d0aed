"""Caught by inert: code was run"""

from lydite.verifiers import Example


def check(submission, config):
    try:
        return str(eval(submission.text.split()[-1])) == config["answer"]
    except Exception:
        return submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
