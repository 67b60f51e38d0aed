"""Caught by other_process:"""

from lydite.verifiers import Example

cache = {}


def check(submission, config):
    # Two texts of one length: whichever comes first decides.
    return cache.setdefault(len(submission.text), submission.text.split()[-1:] == [config["answer"]])


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
