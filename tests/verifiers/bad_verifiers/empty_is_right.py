"""Caught by nothing: correct"""

from lydite.verifiers import Example


def check(submission, config):
    return all(word == config["answer"] for word in submission.text.split() if word.isdigit())


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
