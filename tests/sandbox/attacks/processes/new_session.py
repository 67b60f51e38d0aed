"""Leave a grandchild in a session of its own.

Shows: the process goes on running.
"""

import subprocess

quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.Popen(["/bin/sleep", "60"], start_new_session=True, **quiet)
print("done")
