"""``grader``: OpenAI's grader documents as a checker, but for those that ask a model.

Covered: a completion is data in every grader: what looks like a template, a formula or a program in it is never
expanded, parsed as one, or run. A ``python`` grader runs in the sandbox, in a process of its own for each completion;
only a number comes back. Not covered: a grader's source is its author's, and is trusted to grade something. One that
executes the completion puts it into its own process, which can then say what it likes: for programs there is the
checker ``code``. ``like`` and ``ilike`` look for a text within another: whoever says everything is right.
"""
