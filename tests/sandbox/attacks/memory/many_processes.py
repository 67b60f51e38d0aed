"""Touch 1.2 GB in twelve processes together, each of which stays below the limit of 512 MB.

Shows: PWNED on stdout.
Lasts: alone, to the time limit, where it is stopped by waiting.
"""

import os
import time

reader, writer = os.pipe()
for _ in range(12):
    if os.fork() == 0:
        block = bytearray(100 << 20)
        block[::4096] = b"x" * (100 << 8)
        os.write(writer, b"1")
        time.sleep(60)
        os._exit(0)
os.close(writer)
done = 0
while done < 11:
    done += len(os.read(reader, 16))
time.sleep(0.3)
if os.waitpid(-1, os.WNOHANG) == (0, 0):  # all at one time: nobody was killed meanwhile
    print("PWNED", done)
