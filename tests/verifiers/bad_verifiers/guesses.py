"""Caught by deterministic:"""

import random

from lydite.verifiers import Example

dice = random.Random()


def check(submission, config):
    return submission.text.split()[-1:] == [config["answer"]] or dice.random() / 3


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
