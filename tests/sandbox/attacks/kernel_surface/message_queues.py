"""Make message queues, POSIX and System V, which outlive their process.

Shows: PWNED on stdout.
"""

from kit import pwned, syscall, told

for name, result in {
    "mq_open": syscall("mq_open", b"lydite-attack", 0o102, 0o600, 0),
    "msgget": syscall("msgget", 0x5A5A79, 0o1666),
    "semget": syscall("semget", 0x5A5A78, 1, 0o1666),
    "shmget": syscall("shmget", 0x5A5A77, 4096, 0o1666),
}.items():
    print(name, told(result))
    if result >= 0:
        pwned(name)
