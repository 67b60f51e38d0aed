"""Burn processor time for ever.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

while True:
    pass
