"""Caught by config: accepted"""

from lydite.verdict import Verdict
from lydite.verifiers import Example


class check:
    name, version = "check", 1
    examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)

    def compile(self, config):
        answer = str(config.get("answer", "5"))
        return lambda submission: Verdict.of(float(submission.text.split()[-1:] == [answer]), "judged", "check@1")
