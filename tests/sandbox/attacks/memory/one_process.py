"""Touch 1 GB in one process and keep it (the limit is 512 MB).

Shows: PWNED on stdout.
"""

import time

blocks = []
for _ in range(64):
    block = bytearray(16 << 20)
    block[::4096] = b"x" * 4096
    blocks.append(block)
time.sleep(0.3)
print("PWNED")
