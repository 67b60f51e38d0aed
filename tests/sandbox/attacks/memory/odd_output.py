"""Write what is no text: zero bytes, broken UTF-8, half surrogates, terminal sequences.

Shows: an exception of the harness.
"""

import os
import sys

os.write(1, bytes(range(256)) * 8 + b"\xff\xfe\xed\xa0\x80\xf8\x88\x80\x80\x80")
os.write(2, b"\0" * 100 + b"\x1b]0;title\x07\x1b[2J\x1bc")
sys.stdout.buffer.write("line separators \u2028 \u0085 \r\r\n".encode())
print("\udc80")
