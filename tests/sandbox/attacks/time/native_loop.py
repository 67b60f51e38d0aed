"""Sleep in native code with the interpreter's lock held, so that no Python-level timer can run.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import ctypes

ctypes.PyDLL(None).sleep(600)
