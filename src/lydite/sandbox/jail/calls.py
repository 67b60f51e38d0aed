"""Which system calls a job may make, and why not the others.

Covered: a list of what is refused, group by group with its reason; a call that is in none of the groups is allowed if
the table of :mod:`.arch` names it, and does not exist (ENOSYS) if it does not, so nothing that a newer kernel adds is
open before someone has looked at it. Not covered: what a call's pointers point to (a filter cannot see it, so paths,
addresses and the structures of clone3 or openat2 are judged elsewhere or refused whole), bugs in the calls that are
allowed, and the limits on their use (memory, files, processes), which are cgroups' and rlimits' business.

EPERM says no. ENOSYS says "this kernel is older than that": it is for calls that programs try first and have an older
way for. Debuggers, tracers and leak checkers do not work in a job, nor do programs that make their own containers.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Literal, NamedTuple

ALLOW = 0x7FFF0000
KILL = 0x80000000  # the whole process
# DONE: success, nothing done.
EPERM, ENOSYS, NOT_SUPPORTED, DONE = (0x00050000 | code for code in (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, 0))

# Stand-ins for the process number of the job and its negative, beyond the 32 bits of any real value.
OWN, OWN_GROUP = 1 << 32, 1 << 33


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """What depends on the tier.

    Attributes:
        sockets: ``none``: no socket but a connected pair of them. ``unix``: also AF_UNIX. ``loopback``: also TCP and
            UDP, for a network namespace that has nothing but the loopback interface.
        memfd: memfd_create is allowed. Refuse it where nobody counts the memory of a file without a name.
        namespaces: mount, umount2, setns and unshare to a new pid namespace are open. The zygote needs them; a job
            inherits the filter and has no capability to use them.
        same_group: the job stays in its process group, so that killpg reaches all of it. The filter must be installed
            after the job has become the leader of its own session.
        own_process_only: there is no pid namespace and the job has the user id of processes outside. Calls that change
            a process by its number take 0 (or the job's own number) alone.
        signals: the job may send signals. Refuse it where neither a pid namespace, nor a user id of its own, nor
            Landlock (scope, ABI 6) keeps signals in; then only the job's first process can signal itself, and a
            program cannot end its own children.
        attributes: the job may change mode, owner, times and extended attributes of files, and watch them. Landlock
            has no right for any of these: refuse them where the job's user id owns files outside.
    """

    sockets: Literal["none", "unix", "loopback"]
    memfd: bool
    namespaces: bool
    same_group: bool
    own_process_only: bool
    signals: bool
    attributes: bool = True

    def __post_init__(self) -> None:
        if self.sockets not in ("none", "unix", "loopback"):
            raise ValueError(f"sockets: {self.sockets!r} is neither none nor unix nor loopback")


class Arg(NamedTuple):
    """One half of the argument at this place (0 to 5), seen through a mask, is one of these values.

    The kernel reads most arguments as 32-bit integers and drops the rest, so the low half is what counts; ``high`` is
    for the true 64-bit ones.
    """

    place: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    high: bool = False


class Rule(NamedTuple):
    """``hit`` if every test of any clause holds, else ``miss``."""

    clauses: tuple[tuple[Arg, ...], ...]
    hit: int
    miss: int | Rule


Decision = int | Rule


def _only(*clauses: tuple[Arg, ...]) -> Rule:
    return Rule(clauses, ALLOW, EPERM)


def _never(*clauses: tuple[Arg, ...]) -> Rule:
    return Rule(clauses, EPERM, ALLOW)


_ALWAYS: tuple[tuple[int, str], ...] = (
    # Into other processes. The job's user id can be that of the zygote, or of the caller.
    (EPERM, "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp"),
    (EPERM, "get_robust_list move_pages migrate_pages"),
    # Placement of memory on nodes: code of the kernel with a history and no use for a job.
    (EPERM, "mbind set_mempolicy set_mempolicy_home_node"),
    # Programs in the kernel, and hooks that stop or see others; userfaultfd makes every race of the kernel winnable.
    (EPERM, "bpf perf_event_open userfaultfd fanotify_init fanotify_mark"),
    (EPERM, "init_module finit_module delete_module kexec_load kexec_file_load"),
    # Keyrings belong to the user id, not to a namespace, and outlive the job.
    (EPERM, "add_key request_key keyctl"),
    # System V and POSIX objects outlive the pid namespace: a letter box between jobs.
    (EPERM, "shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl"),
    (EPERM, "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr"),
    # Files by number instead of by path go round every check of a path.
    (EPERM, "name_to_handle_at open_by_handle_at"),
    (EPERM, "chroot pivot_root"),
    # The machine: clocks, names, quotas, swap, power, ports, the kernel's log, other people's terminals.
    (EPERM, "settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname quotactl quotactl_fd"),
    (EPERM, "swapon swapoff reboot acct syslog vhangup iopl ioperm modify_ldt"),
    # A second way to make system calls, past this filter.
    (ENOSYS, "io_uring_setup io_uring_enter io_uring_register"),
    # Its flags are behind a pointer. Every libc goes on with clone.
    (ENOSYS, "clone3"),
    # The old asynchronous input and output: fs.aio-max-nr is one pool for the whole machine.
    (ENOSYS, "io_setup io_destroy io_getevents io_pgetevents io_submit io_cancel"),
    # Memory that no sampler sees, and pages kept alive by a pipe after they were unmapped.
    (ENOSYS, "memfd_secret vmsplice"),
    # Writing out the disks of the whole machine, in a loop: nothing that a job writes has to outlive it.
    (DONE, "sync syncfs"),
    # What others read from the page cache is seen in it.
    (ENOSYS, "cachestat"),
    # The new mount interface, and what the mounts and security modules of the machine are.
    (ENOSYS, "open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr statmount listmount"),
    (ENOSYS, "lsm_get_self_attr lsm_set_self_attr lsm_list_modules"),
    # Removed from the kernel, never there on 64 bits, or without a user for twenty years.
    (ENOSYS, "create_module get_kernel_syms query_module nfsservctl getpmsg putpmsg afs_syscall tuxcall security"),
    (ENOSYS, "vserver epoll_ctl_old epoll_wait_old set_thread_area get_thread_area uselib _sysctl lookup_dcookie"),
    (ENOSYS, "ustat sysfs remap_file_pages"),
)

_ATTRIBUTES = (
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat file_setattr"
)

_NOTES = "inotify_add_watch setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat"

# CLONE_NEW*: user namespaces give capabilities. CLONE_PARENT: the new process would be the zygote's child, and the end
# of the pid namespace would wait for the zygote to collect it. CLONE_NEWTIME cannot be given to clone.
_CLONE_REFUSED = 0x7E020000 | 0x8000
_CLONE_NEWPID = 0x20000000
# TIOCSTI and TIOCLINUX type into a terminal, TIOCSETD loads line disciplines.
_TERMINALS: tuple[int, ...] = (0x5412, 0x541C, 0x5423)
# FIOSETOWN and SIOCSPGRP, as fcntl's F_SETOWN and F_SETOWN_EX: whoever owns a descriptor gets signals from it, of a
# number that F_SETSIG chooses.
_IOCTL_OWNER, _FCNTL_OWNER = (0x8901, 0x8902), (8, 15)
# FS_IOC_SETFLAGS (64 and 32 bits), FS_IOC_FSSETXATTR.
_IOCTL_ATTRIBUTES = (0x40086602, 0x40046602, 0x401C5820)
# F_SETLEASE and F_SETDELEG hold up whoever else opens the file, though it can only be read here. F_NOTIFY watches.
_FCNTL_REFUSED: tuple[int, ...] = (1024, 1040, 1026)
# PR_SET_MM rewrites what /proc says of the process, PR_SCHED_CORE and PR_SET_PTRACER name other processes.
_PRCTL_REFUSED = (35, 62, 0x59616D61)
# A listener for system calls (NEW_LISTENER, WAIT_KILLABLE_RECV). Ordinary filters on top of this one are welcome.
_SECCOMP_LISTENER = 8 | 32
# Every resource limit but that on core files. The zygote sets it to 1, at which the kernel writes no core and starts no
# program of the machine (core_pattern) to take one, as root. At 0, which means none elsewhere, it would start one.
_LIMITS = tuple(number for number in range(16) if number != 4)
_NO_LIMIT = (Arg(2, (0,)), Arg(2, (0,), high=True))
_STREAM, _DGRAM, _SEQPACKET = 1, 2, 5


def decisions(policy: Policy, named: bool) -> dict[str, Decision]:
    """Every call that is not simply allowed, by name.

    Args:
        policy: what depends on the tier.
        named: the number of the job's process is known (``OWN`` may stand in the rules).
    """
    found: dict[str, Decision] = {name: answer for answer, names in _ALWAYS for name in names.split()}
    found["clone"] = _only((Arg(0, (0,), _CLONE_REFUSED),))
    found["personality"] = _only((Arg(0, (0, 0xFFFFFFFF)),))  # the ordinary one, and the question which one it is
    found["prctl"] = _never((Arg(0, _PRCTL_REFUSED),))
    found["seccomp"] = _only((Arg(1, (0,), _SECCOMP_LISTENER),))
    # The mode has 16 bits. A plain file or a named pipe, no device; a socket file is made by bind.
    found["mknod"], found["mknodat"] = (_only((Arg(at, (0, 0x8000, 0x1000), 0xF000),)) for at in (1, 2))
    # SO_ATTACH_FILTER and its kin put programs into the kernel, TCP_ULP puts other protocols on top of TCP.
    filters = _never((Arg(1, (1,)), Arg(2, (26, 50, 51, 52))), (Arg(1, (6,)), Arg(2, (31,))))
    found["setsockopt"] = filters
    found["setrlimit"] = Rule(((Arg(0, _LIMITS),),), ALLOW, DONE)
    found["prlimit64"] = Rule(((Arg(1, _LIMITS),), _NO_LIMIT), ALLOW, DONE)
    if not policy.memfd:
        # Nobody counts what sockets hold, so they keep the size they are made with: SO_SNDBUF, SO_RCVBUF, -FORCE.
        sizes = ((Arg(1, (1,)), Arg(2, (7, 8, 32, 33))),)
        found["setsockopt"] = filters._replace(miss=Rule(sizes, DONE, ALLOW))
    found |= _sockets(policy)
    if policy.namespaces:
        found["setns"] = _only((Arg(1, (_CLONE_NEWPID,)),))
        found["unshare"] = _only((Arg(0, (_CLONE_NEWPID,)), Arg(0, (0,), high=True)))
    else:
        found |= dict.fromkeys(("mount", "umount2", "setns", "unshare"), EPERM)
    if not policy.memfd:
        found["memfd_create"] = ENOSYS
    if policy.same_group:
        found |= dict.fromkeys(("setsid", "setpgid"), EPERM)
    found |= dict.fromkeys(_NOTES.split(), NOT_SUPPORTED)
    ioctls, fcntls = _TERMINALS + _IOCTL_ATTRIBUTES, _FCNTL_REFUSED
    if not policy.attributes:
        found |= dict.fromkeys(_ATTRIBUTES.split(), EPERM)
    if not policy.signals:
        found |= _signals(policy, (OWN,) if named else ())
        ioctls += _IOCTL_OWNER
        fcntls += _FCNTL_OWNER
    found["ioctl"], found["fcntl"] = (_never((Arg(1, refused),)) for refused in (ioctls, fcntls))
    if policy.own_process_only:
        found |= _own_process((0, OWN) if named else (0,))
    return found


def _sockets(policy: Policy) -> dict[str, Decision]:
    """socketpair asks every family for two sockets, so it is held to AF_UNIX: others would load modules on demand.

    A datagram pair can be sent to any address, which ``none`` must not allow; a connected stream cannot leave its peer.
    Ports and protocols: type and protocol are named, because SOCK_PACKET with AF_INET is a packet socket, and protocols
    such as SCTP, MPTCP, UDP-Lite and ICMP come as types of stream and datagram.
    """
    unix = Arg(0, (1,))
    if policy.sockets == "none":
        alone = dict.fromkeys(("socket", "connect", "bind", "listen", "accept", "accept4"), EPERM)
        return {**alone, "socketpair": _only((unix, Arg(1, (_STREAM, _SEQPACKET), 0xF)))}
    internet = (Arg(0, (2, 10)), Arg(1, (_STREAM, _DGRAM), 0xF), Arg(2, (0, 6, 17)))
    return {
        "socket": _only((unix,), internet) if policy.sockets == "loopback" else _only((unix,)),
        "socketpair": _only((unix,)),
    }


def _signals(policy: Policy, own: tuple[int, ...]) -> dict[str, Decision]:
    """Signals to the job's first process (raise, abort, pthread_kill) and, where it cannot be left, to its group."""
    group = (0, *(OWN_GROUP for _ in own)) if policy.same_group else ()
    # tgkill and its kin name a process and a thread of it, so the process is enough. tkill names a thread alone.
    itself = dict.fromkeys(("tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), _only((Arg(0, own),)))
    return {**itself, "kill": _only((Arg(0, own + group),)), "pidfd_send_signal": EPERM}


def _own_process(own: tuple[int, ...]) -> dict[str, Decision]:
    """Limits, priorities and processors of a process by its number.

    A thread's own number (pthread_setaffinity_np, pthread_setschedparam) cannot be told from a stranger's and is
    refused. Reading the limits of others stays: only a new limit changes anything. By user or group (PRIO_USER,
    PRIO_PGRP) nothing may be set. pidfd_open is answered with ENOSYS, for which asyncio and others have another way.
    """
    first = _only((Arg(0, own),))
    calls = ("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
    return {
        **dict.fromkeys(calls, first),
        "prlimit64": _only((Arg(0, own), Arg(1, _LIMITS)), _NO_LIMIT),
        "setpriority": _only((Arg(0, (0,)), Arg(1, own))),
        "ioprio_set": _only((Arg(0, (1,)), Arg(1, own))),
        "pidfd_open": ENOSYS,
    }
