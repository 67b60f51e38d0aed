"""Caught by deterministic:"""

from lydite.verifiers import Example

seen = set()


def check(submission, config):
    again = submission.text in seen
    seen.add(submission.text)
    return not again and submission.text.split()[-1:] == [config["answer"]]


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
