"""What runs within the sandbox: standard library and pytest only, nothing of ours.

The modules here are put together into one (see ``..programs``), which the sandbox's interpreters have loaded before a
job comes. They import each other by name alone.
"""
