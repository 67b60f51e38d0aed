"""Start 150 other programs that live on, by vfork and exec.

Shows: PWNED on stdout.
"""

import subprocess
from contextlib import suppress

started = []
with suppress(OSError):
    while len(started) < 150:
        started.append(subprocess.Popen(["/bin/sleep", "60"]))
print("PWNED" if len(started) > 100 else "only", len(started), flush=True)
for process in started:
    process.kill()
