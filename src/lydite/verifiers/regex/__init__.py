"""``regex``: the candidate writes a regular expression; it must match some texts and not others.

Covered: one engine and one semantics, that of Python's ``re``; patterns that take exponential time or much memory are
the candidate's fault; patterns that tell nothing apart earn nothing. Not covered: a pattern that is wrong and yet right
on every listed text; an alternation of the listed texts is pointed out, and only texts that the prompt does not show
stop it.

``pattern`` finds the expression in a completion; ``worker`` matches at the side; ``verifier`` makes verdicts.
"""
