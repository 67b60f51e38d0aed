"""Read and use the kernel's key rings of the caller.

Shows: PWNED on stdout.
"""

from kit import pwned, syscall, told

results = {
    "session ring": syscall("keyctl", 0, -3, 0),
    "user ring": syscall("keyctl", 0, -4, 0),
    "join": syscall("keyctl", 1, 0),
    "add_key": syscall("add_key", b"user", b"lydite-attack", b"x", 1, -3),
    "request_key": syscall("request_key", b"user", b"lydite-attack", 0, -3),
}
for name, result in results.items():
    print(name, told(result))
    if result >= 0:
        pwned(name)
