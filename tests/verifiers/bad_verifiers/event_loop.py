"""Caught by event_loop:"""

import asyncio

from lydite.verifiers import Example


async def judge(text, answer):
    return text.split()[-1:] == [answer]


def check(submission, config):
    return asyncio.run(judge(submission.text, config["answer"]))


check.examples = (Example(config={"answer": "5"}, right="so it is 5", wrong="so it is 6"),)
check.fields = ("answer",)
