"""Break the runner by a program of 300 KB: more than one argument of a command may hold.

Shows: an exception of the harness.
"""

text = "@PADDING@"
print("ran", len(text))
