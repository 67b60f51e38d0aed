"""One regular expression and one power that take years.

Shows: the job returns late, or goes on running.
Lasts: to the time limit.
"""

import re
import threading

threading.Thread(target=lambda: pow(7, 10**9), daemon=True).start()
re.match(r"(a+)+$", "a" * 64 + "b")
