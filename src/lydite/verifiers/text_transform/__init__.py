"""``text_transform``: the candidate transforms texts, by writing the output itself or a function that makes it.

Covered: a function runs in the sandbox, in a process of its own for each case, which gets the input and returns data;
expected outputs stay here. Not covered: a function that is wrong and yet right on every case; what the prompt shows of
the cases can be answered by a table of them.
"""
