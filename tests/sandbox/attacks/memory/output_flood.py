"""Write 200 MB to standard output.

Shows: more output than its cap, or the harness's memory grows with it.
"""

import os

block = b"x" * (1 << 20)
for _ in range(200):
    os.write(1, block)
