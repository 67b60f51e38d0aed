"""Call what only the administrator may: modules, kexec, reboot, swap, accounting, quotas, ports, the kernel's log.

Each call is given arguments with which it does no harm; an answer that is not "not permitted" means that it was let in.

Shows: PWNED on stdout.
"""

import errno

from kit import ctypes, pwned, syscall, told

buffer = ctypes.create_string_buffer(4096)
for name, result in {
    "init_module": syscall("init_module", buffer, 0, b""),
    "finit_module": syscall("finit_module", -1, b"", 0),
    "delete_module": syscall("delete_module", b"lydite_attack", 0x800),
    "kexec_load": syscall("kexec_load", 0, 10**6, 0, 0),
    "kexec_file_load": syscall("kexec_file_load", -1, -1, 0, 0, 0),
    "reboot": syscall("reboot", 0, 0, 0, 0),
    "swapon": syscall("swapon", b"/does-not-exist", 0),
    "swapoff": syscall("swapoff", b"/does-not-exist"),
    "acct": syscall("acct", b"/does-not-exist/x"),
    "quotactl": syscall("quotactl", 0x800007 << 8, b"/does-not-exist", 0, buffer),
    "quotactl_fd": syscall("quotactl_fd", 0, 0x800007 << 8, 0, buffer),
    "iopl": syscall("iopl", 3),
    "ioperm": syscall("ioperm", 0x80, 1, 1),
    "syslog": syscall("syslog", 3, buffer, 100),
    "vhangup": -errno.EPERM,  # hangs up our own terminal only; not tried
    "lookup_dcookie": syscall("lookup_dcookie", 0, buffer, 100),
    "nfsservctl": syscall("nfsservctl", 0, buffer, buffer),
    "modify_ldt": syscall("modify_ldt", 0, buffer, 16),
    "kcmp": syscall("kcmp", 1, 1, 0, 0, 0),
    "mbind": syscall("mbind", 0, 0, 0, 0, 0, 0),
    "set_mempolicy": syscall("set_mempolicy", 0, 0, 0),
    "migrate_pages": syscall("migrate_pages", 0, 0, 0, 0),
    "move_pages": syscall("move_pages", 0, 0, 0, 0, 0, 0),
    "process_madvise": syscall("process_madvise", -1, 0, 0, 0, 0),
    "name_to_handle_at": syscall("name_to_handle_at", -100, b"/", buffer, buffer, 0),
    "fanotify_init": syscall("fanotify_init", 0x200, 0),
    "personality": syscall("personality", 0x0040000),
    "uselib": syscall("uselib", b"/does-not-exist"),
    "memfd_secret": syscall("memfd_secret", 0),
}.items():
    print(name, told(result))
    if -result not in (errno.EPERM, errno.ENOSYS, errno.EACCES):
        pwned(name, told(result))
