"""What many attack programs need. The harness puts this text in the place of their ``from kit import ...``."""

import ctypes
import errno
import os
import platform
from contextlib import suppress

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
COLUMN = 0 if platform.machine() in ("x86_64", "AMD64") else 1
NUMBERS = {  # x86-64, aarch64
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "capget": (125, 90),
    "capset": (126, 91),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "exit": (60, 93),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "file_setattr": (469, 469),
    "finit_module": (313, 273),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "landlock_create_ruleset": (444, 444),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, -1),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setattr": (314, 274),
    "semget": (64, 190),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "setxattrat": (463, 463),
    "shmget": (29, 194),
    "statx": (332, 291),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "timerfd_create": (283, 85),
    "tkill": (200, 130),
    "unshare": (272, 97),
    "uselib": (134, -1),
    "userfaultfd": (323, 282),
    "utimensat": (280, 88),
    "write": (1, 64),
}


def pwned(*why):
    """The attack succeeded."""
    print("PWNED", *why, flush=True)


def syscall(name, *args):
    """The result of a system call, or minus the error number."""
    number = NUMBERS[name][COLUMN]
    if number < 0:
        return -errno.ENOSYS
    values = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    result = libc.syscall(ctypes.c_long(number), *values)
    return -ctypes.get_errno() if result < 0 else result


def told(result):
    """A result of ``syscall`` in words."""
    return os.strerror(-result) if result < 0 else str(result)


def victims():
    """The processes of the grader, as far as /proc shows them: (number, command line)."""
    found = []
    with suppress(OSError):
        for name in os.listdir("/proc"):
            with suppress(OSError):
                if name.isdigit() and int(name) != os.getpid():
                    with open(f"/proc/{name}/cmdline", "rb") as file:
                        line = file.read()
                    if b"victim_grader" in line:
                        found.append((int(name), line))
    return found


def own():
    """Our own numbers: the one that we are told, and the one under which /proc shows us."""
    numbers = {0, os.getpid()}
    with suppress(OSError, ValueError):
        numbers.add(int(os.readlink("/proc/self")))
    return numbers


def nearby():
    """Numbers of processes to try: the grader's, else (where /proc shows nothing) all that are near our own number."""
    found = {pid for pid, _ in victims()} | {os.getppid()}
    if len(found) == 1:
        found |= set(range(max(2, os.getpid() - 1500), os.getpid() + 20))
    return sorted(found - own() - {1})


def host_root():
    """Is this process the root of the machine itself?"""
    if os.getuid():
        return False
    try:
        with open("/proc/self/uid_map") as file:
            return file.read().split() == ["0", "0", "4294967295"]
    except OSError:
        return True
