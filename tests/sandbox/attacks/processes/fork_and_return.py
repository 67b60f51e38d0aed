"""Fork and let both processes return to the runner, which then ends the job twice over.

Shows: a result that is not the program's fault, an exception of the harness, or honest jobs that go wrong.
"""

import os

for _ in range(3):
    os.fork()
print("one of eight", flush=True)
