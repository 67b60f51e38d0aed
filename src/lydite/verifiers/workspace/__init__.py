"""Checks of what an episode left behind in its workspace: ``exit_code``, ``file_exists``, ``script``, ``pytest``.

Each judges a ``Snapshot`` (``Submission.state``): a fresh copy of it is laid out in the sandbox, without a network and
without secrets, and it is never changed. Without a state they say ``invalid`` (``no_workspace``). What a candidate's
programs run into (time, memory, output) is their fault, ``incorrect`` with that reason; what the sandbox fails at is
``invalid`` (``sandbox_lost``).
"""
