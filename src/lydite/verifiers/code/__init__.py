"""``code``: programs are judged by what they return or print, never by what they say of themselves.

Covered: a candidate that exits early, patches builtins, walks frames, forges markers or records, returns objects that
equal everything, looks for the expected values, spawns, bombs or hangs. Its process only ever returns data; expected
values, comparison and counting stay in the grader's process, and test source runs in a process of its own.
Not covered: a candidate that knows the hidden inputs from elsewhere and answers from a table; one that looks at all
calls of its own test before it answers the first (they are in its process from the start, other tests' never); what
the sandbox does not contain (see ``docs/sandbox.md``).
"""
