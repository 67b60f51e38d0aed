"""Where the answer is, kind by kind: labelled sentences, several boxes, thinking, second thoughts, last numbers.

Every kind has completions that are right and completions that are wrong, as (gold, completion).
"""

from __future__ import annotations

import pytest

from lydite.verdict import Outcome
from lydite.verifiers import verify

Cases = list[tuple[str, str]]

LABELLED: tuple[Cases, Cases] = (
    [
        ("\\frac53", "**Final Answer**\n\nThe slope of the tangent is $\\frac{5}{3}$."),
        ("18", "### Final answer\n\nThe smallest possible perimeter is 18."),
        ("(4,-1)", "## Answer\n\n> **(4, -1)**"),
        ("(4,-1)", "**Answer:**\n\n> $(4, -1)$"),
        ("[0,\\infty)", "**Final Answer:** The range is $[0, \\infty)$."),
        ("Yes", "**Answer:** Yes, both triangles are similar."),
        ("No", "Answer: No, the series diverges."),
        ("False", "**Final Answer:** The claim is false."),
        ("True", "Answer: The statement is true."),
        ("\\frac16", "The final result is 1/6 ≈ 0.167."),
        ("\\frac{1}{6}", "The final result is 1/6, or approximately 0.167."),
        ("25", "**Answer**\n\nThe maximum of $f(x)$ on the interval is $25$."),
        ("60", "**Final Answer:** The train travels at 60 km/h."),
        ("2\\sqrt{3}", "**Final Answer**\n\nThe height of the triangle equals \\(2\\sqrt{3}\\)."),
        ("720", "**Answer:** There are 720 arrangements."),
        ("\\sqrt{2}", "**Final Answer:** The value is $\\sqrt{2} \\approx 1.414$."),
        ("Yes", "Final Answer: **Yes**, they meet."),
    ],
    [
        ("\\frac35", "**Final Answer**\n\nThe slope of the tangent is $\\frac{5}{3}$."),
        ("18", "**Final Answer:** The perimeter is 4 more than 18."),
        ("18", "**Final Answer:** The perimeter is not 18."),
        ("18", "**Final Answer:** The perimeter is at least 18."),
        ("18", "**Final Answer:** The perimeter is 17 or 18."),
        ("18", "**Final Answer:** The perimeter is 17, the area is 18."),
        ("18", "**Final Answer:** The sides are 17 and 18."),
        ("Yes", "**Answer:** No, the triangles are not similar."),
        ("No", "Answer: Yes, they meet."),
        ("True", "**Final Answer:** The claim is false."),
        ("True", "**Final Answer:** The claim is not true."),
        ("0.1", "The final result is 1/6 ≈ 0.167."),
        ("(-1,4)", "## Answer\n\n> **(4, -1)**"),
        ("Yes", "**Answer:** Yes, unless the triangles are degenerate."),
        ("18", "**Final Answer:** If the sides are integers, the perimeter is 18."),
        ("60", "**Final Answer:** The train travels at 60 m/s, not km/h, or maybe 61."),
    ],
)

SEVERAL: tuple[Cases, Cases] = (
    [
        ("20", "Each row has $\\boxed{5}$ seats. With four rows the final answer is $4\\cdot 5=\\boxed{20}$."),
        ("9", "I first got $\\boxed{8}$, but I left out the corner. The correct answer is $\\boxed{9}$."),
        ("9", "My first guess was \\boxed{7}, but the correct value is \\boxed{9}."),
        ("9", "At first I thought \\boxed{7}. However, zero counts too, so it is actually \\boxed{9}."),
        ("9", "The answer is \\boxed{7}. Strike that. The answer is \\boxed{9}."),
        ("9", "First attempt: \\boxed{7}\n\nFinal: \\boxed{9}"),
        (
            "24",
            "**Step 1.** Base: $\\boxed{6}$.\n\n**Step 2.** Height: $\\boxed{4}$.\n\n**Final Answer:** $\\boxed{24}$",
        ),
        ("24", "The base is $\\boxed{6}$.\n\n**Final Answer**\n\n$$\\boxed{24}$$"),
        ("(4,7)", "Hence $x = \\boxed{4}$ and $y = \\boxed{7}$."),
        ("(4,7)", "So $a=\\boxed{4}$, $b=\\boxed{7}$."),
        ("x-1, 3", "The quotient is $\\boxed{x-1}$ and the remainder is $\\boxed{3}$."),
        ("x-1, 3", "Quotient: $\\boxed{x-1}$\nRemainder: $\\boxed{3}$"),
        ("9", "\\boxed{7} is not valid; \\boxed{9}."),
        ("\\frac23", "Initially I had $\\boxed{\\frac32}$, upside down. The final answer is $\\boxed{\\frac23}$."),
        ("9", "My earlier answer was \\boxed{7}, but the corrected answer is \\boxed{9}."),
    ],
    [
        ("5", "Each row has $\\boxed{5}$ seats. With four rows the final answer is $4\\cdot 5=\\boxed{20}$."),
        ("8", "I first got $\\boxed{8}$, but I left out the corner. The correct answer is $\\boxed{9}$."),
        ("9", "\\boxed{7} \\boxed{8} \\boxed{9}"),
        ("9", "\\boxed{7}\n\n\\boxed{8}\n\nfinal: \\boxed{9}"),
        ("9", "The answer is \\boxed{7}. The answer is \\boxed{9}."),
        ("9", "The final answer is \\boxed{7}.\n\nThe final answer is \\boxed{9}."),
        ("9", "Either \\boxed{7} or \\boxed{9}."),
        ("9", "If the die is fair it is \\boxed{7}, otherwise the answer is \\boxed{9}."),
        ("9", "Method 1 gives \\boxed{7}. Method 2 gives \\boxed{9}."),
        ("9", "Initially I got \\boxed{7}, but it could also be \\boxed{9}."),
        ("9", "Ann claims that it is \\boxed{7}. So the final answer is \\boxed{9}."),
        ("(7,4)", "Hence $x = \\boxed{4}$ and $y = \\boxed{7}$."),
        ("x=7, y=4", "Hence $x = \\boxed{4}$ and $y = \\boxed{7}$."),
        ("3, x+1", "The quotient is $\\boxed{x-1}$ and the remainder is $\\boxed{3}$."),
        ("9", "Possible answers: \\boxed{7}, \\boxed{8}. The final answer might be \\boxed{9}."),
        ("9", "\\boxed{7}; alternatively, the final answer is \\boxed{9}."),
        ("7", "First attempt: \\boxed{7}\n\nFinal: \\boxed{9}"),
    ],
)

MARKS = [
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"), ("<scratchpad>", "</scratchpad>"), ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("◁think▷", "◁/think▷"), ("[THINK]", "[/THINK]"),
]  # fmt: skip

REJECTED: tuple[Cases, Cases] = (
    [
        ("6", "\\boxed{6}\n\nCheck: 6 + 6 = 12, as required."),
        ("6", "The answer is \\boxed{6}, which equals 2*3."),
        ("6", "\\boxed{6}. The other root, $x = -2$, is negative, so it must be rejected."),
        ("6", "\\boxed{x = 6} (the solution $x = -2$ is extraneous)."),
        ("6", "\\boxed{6} square metres. It does not include the garden."),
        ("6", "\\boxed{6}. There are no other solutions."),
        ("6", "\\boxed{6}\n\nFor negative $x$ there is no solution."),
        ("6", "\\boxed{6}. If order mattered, it would be 12."),
        ("6", "\\boxed{6}. We discard $x = -2$ because lengths are positive."),
        ("6", "\\boxed{6}. So the correct value is $6.0$."),
        ("\\frac12", "\\boxed{\\frac12}\n\nHence the true probability is 50%."),
        ("6", "\\boxed{6}. A common error is to count pairs twice, which gives 12."),
        ("0", "\\boxed{0}, so there are no real solutions."),
        ("6", "\\boxed{6}. It is easy to see that 7 does not work."),
        ("6", "\\boxed{6}. Here 8 is too big and 4 is too small."),
        ("\\text{no solution}", "\\boxed{\\text{no solution}}. Hence there is no solution."),
        ("6", "It is not hard to see that the answer is \\boxed{6}."),
        ("6", "There is no doubt that the answer is \\boxed{6}."),
        ("6", "It is not 5, so the answer is \\boxed{6}."),
        ("6", "\\boxed{6}\n\nNote that the result is an integer, but this need not be true in general."),
    ],
    [
        ("6", "\\boxed{6}, but this is not allowed since the sides would be negative."),
        ("6", "\\boxed{x = 6}. However $x = 6$ does not satisfy the second equation."),
        ("6", "So $x=\\boxed{6}$. But 6 is not prime, so there is no such number."),
        ("6", "\\boxed{6}. This counts every edge two times, so the actual number is 3."),
        ("6", "\\boxed{6}\n\nEdit: 7"),
        ("6", "\\boxed{6}\n\nUpdate: should read 7."),
        ("6", "\\boxed{6}. Sorry, 7."),
        ("6", "\\boxed{6}. I take that back."),
        ("6", "\\boxed{6}. Only joking, it is 7."),
        ("6", "\\boxed{6}. Hence it has to be discarded."),
        ("6", "\\boxed{6}. That cannot be, since the sum is odd."),
        ("6", "\\boxed{6}, which is impossible. Thus there are no solutions."),
        ("6", "\\boxed{6}. Unfortunately we forgot the empty set, making it 7."),
        ("6", "\\boxed{6}. The real total is 7."),
        ("6", "\\boxed{6}. Nope, 7."),
        ("6", "\\boxed{6}. But 6 violates the condition."),
        ("6", "\\boxed{6}. We therefore reject 6."),
        ("6", "It is not true that the value of $n$ is \\boxed{6}."),
        ("6", "I doubt that the answer is \\boxed{6}."),
        ("6", "It is wrong that the total comes to \\boxed{6}."),
        ("6", "The number is 7 rather than \\boxed{6}."),
        ("6", "Suppose the answer is \\boxed{6}. That leads to a contradiction."),
        ("6", "The wrong answer is \\boxed{6}."),
        ("6", "The answer is 6. Edit: 7"),
        ("6", "The answer is 6. This counts every edge twice, so the true number is 3."),
        ("-2, 6", "$\\boxed{-2}$ and $\\boxed{6}$. But $-2$ is not valid."),
        ("B", "The answer is \\boxed{B}. Edit: C."),
    ],
)

LAST: tuple[Cases, Cases] = (
    [
        ("31", "The least such number is 31, because 30 is even and 29 leaves 4."),
        ("31", "So there are 31 coins in the jar."),
        ("31", "Therefore Lea has 40 - 9 = 31 stamps left."),
        ("31", "Adding up, we find 31.\n\nThis completes the solution."),
        ("\\frac23", "Hence the probability equals $\\frac{2}{3}$."),
        ("31", "Thus she earns $31 per day."),
        ("31", "x = 31"),
        ("31", "31 marbles in all."),
        ("31", "Is it 30? No, since 31 is odd, it is 31."),
        ("31", "It takes him 31 minutes, since 62 / 2 = 31."),
        ("31", "The sum of the digits in step 4 was even, so the number is 31."),
        ("7", "Both sides agree, hence $n = 7$.\n\nI hope this helps!"),
    ],
    [
        ("4", "The least such number is 31, because 30 is even and 29 leaves 4."),
        ("31", "Is it 31? No."),
        ("31", "Could the number be 31? I wonder."),
        ("31", "I give up. Perhaps it has to do with 31."),
        ("31", "It depends on 31."),
        ("31", "This is as in equation 31."),
        ("31", "The rest follows from Theorem 31."),
        ("31", "\\boxed{}\n\n31"),
        ("31", "\\boxed{} 31"),
        ("31", "Let us consider the number 31."),
        ("31", "Suppose that n is 31."),
        ("31", "Next, we need to look at 31 and"),
        ("31", "There are 31 students.\n\nThis is a difficult problem and I need to think about what to do next."),
        ("31", "For example, take n = 31."),
        ("31", "I got stuck at 31."),
        ("31", "If the number were 31, the sum would be odd, a contradiction."),
        ("31", "We note that 31 is prime. Proceeding, we have to look at several cases and"),
        ("31", "Try 31."),
        ("31", "Recall that 2^5 - 1 = 31."),
    ],
)


def judged(cases: Cases, expected: bool) -> Cases:
    wrong = []
    for gold, completion in cases:
        verdict = verify({"type": "math", "config": {"answer": gold}}, completion)
        if verdict.correct is not expected or verdict.outcome is Outcome.INVALID:
            wrong.append((gold, completion, verdict.reason, verdict.extracted))
    return wrong


@pytest.mark.parametrize("kind", [LABELLED, SEVERAL, REJECTED, LAST], ids=["labelled", "several", "rejected", "last"])
def test_right_completions(kind: tuple[Cases, Cases]) -> None:
    assert judged(kind[0], True) == []


@pytest.mark.parametrize("kind", [LABELLED, SEVERAL, REJECTED, LAST], ids=["labelled", "several", "rejected", "last"])
def test_wrong_completions(kind: tuple[Cases, Cases]) -> None:
    assert judged(kind[1], False) == []


@pytest.mark.parametrize(("opened", "closed"), MARKS)
def test_boxes_in_thinking_do_not_count(opened: str, closed: str) -> None:
    thought = f"{opened}Perhaps \\boxed{{4}}? Or \\boxed{{5}}.{closed}"
    assert judged([("8", f"{thought}\nThe answer is \\boxed{{8}}."), ("8", f"{thought}\n8")], True) == []
    assert judged([("5", f"{thought}\nThe answer is \\boxed{{8}}.")], False) == []


@pytest.mark.parametrize(("opened", "closed"), MARKS)
def test_an_answer_in_thinking_alone_is_none(opened: str, closed: str) -> None:
    refusals = ["I can't answer this.", "Sorry, I could not finish.", "I do not know.", "", "It remains unclear."]
    assert judged([("5", f"{opened}It is \\boxed{{5}}{closed} {words}") for words in refusals], False) == []
    assert judged([("5", f"{opened}It is \\boxed{{5}}")], False) == []
    assert judged([("5", f"{opened}#### 5")], False) == []
