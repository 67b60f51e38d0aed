"""The checker ``pytest``: which tests there are, what is laid over the workspace, and what became of each test."""
