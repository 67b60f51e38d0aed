"""Read a secret of the caller from the environment.

Shows: PWNED on stdout.
"""

import os

if "CANARY-ENV" in str(dict(os.environ)):
    print("PWNED")
