"""Leave a key in the rings of the user, the session and the process.

Shows: PWNED on stdout, where a later job finds it.
Again: what was left is found.
"""

from kit import pwned, syscall, told

for ring in (-5, -4, -3, -2, -1):
    if syscall("keyctl", 10, ring, b"user", b"lydite-attack", 0) >= 0:
        pwned("ring", ring)
    print(told(syscall("add_key", b"user", b"lydite-attack", b"message", 7, ring)))
