"""Leave with the codes by which tools say that they themselves failed.

Shows: a result that is not the program's fault, or an exception of the harness.
Variants: 1 2 3 99 100 111 124 125 126 127 128 129 134 137 139 143 152 153 159 254 255 256 -1 -9 4294967295
    1180591620717411303424
"""

import sys

sys.exit(int("@VARIANT@"))
