"""Let the interpreter call us wherever the runner goes on: sys.settrace, setprofile, audit hooks, in every frame above.

Shows: PWNED on stdout.
"""

import re
import sys
import threading


def look(frame, event, argument):
    for value in list(frame.f_locals.values()):
        if isinstance(value, (str, bytes)) and re.search(r"CANARY-[A-Z]+-\d{4}", str(value)):
            print("PWNED", str(value)[:60], flush=True)
    return look


sys.settrace(look)
sys.setprofile(look)
threading.settrace(look)
frame = sys._getframe()
while frame is not None:
    frame.f_trace = look
    frame = frame.f_back
sys.addaudithook(lambda event, arguments: None)
