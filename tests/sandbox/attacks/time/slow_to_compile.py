"""Let the program's own compilation take long, before its first line runs: half a million lines.

Shows: the job returns late, or the runner breaks.
Lasts: to the time limit.
"""

lines = """
@LINES@
"""
x = 1
