"""Caught by forgets: in memory"""

from functools import lru_cache

from lydite.verifiers import Example


@lru_cache(maxsize=4096)
def last_word(text):
    return text.split()[-1:]


def check(submission, config):
    return last_word(submission.text) == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
