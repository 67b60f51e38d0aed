"""The policy of the system call filter, written down a second time, and a machine that runs filters."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import struct

from lydite.sandbox.jail.seccomp import Policy

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS, NOTHING = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS, 0x50000
NOT_SUPPORTED = 0x50000 | errno.EOPNOTSUPP
WORD = 0xFFFFFFFF
CORE = 4  # RLIMIT_CORE


def _names(text: str) -> set[str]:
    return set(text.split())


# Allowed by every policy, whatever the arguments. A call that is added to the table has to be put somewhere here.
ORDINARY = _names(
    """
    access alarm arch_prctl brk capget capset chdir clock_getres clock_gettime clock_nanosleep close close_range
    copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd
    eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fdatasync fgetxattr
    file_getattr flistxattr flock fork fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv
    futex_wake get_mempolicy getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername
    getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname
    getsockopt gettid gettimeofday getuid getxattr getxattrat inotify_init inotify_init1 inotify_rm_watch ioprio_get
    landlock_add_rule landlock_create_ruleset landlock_restrict_self lgetxattr link linkat listxattr listxattrat
    llistxattr lseek lstat madvise map_shadow_stack membarrier mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect
    mremap mseal msync munlock munlockall munmap nanosleep newfstatat open openat openat2 pause pipe pipe2 pkey_alloc
    pkey_free pkey_mprotect poll ppoll pread64 preadv preadv2 pselect6 pwrite64 pwritev pwritev2 read readahead readlink
    readlinkat readv recvfrom recvmmsg recvmsg rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
    rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
    sched_yield select sendfile sendmmsg sendmsg sendto set_robust_list set_tid_address setfsgid setfsuid setgid
    setgroups setitimer setregid setresgid setresuid setreuid setuid shutdown sigaltstack signalfd signalfd4
    splice stat statfs statx symlink symlinkat sync_file_range sysinfo tee time timer_create timer_delete
    timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times truncate umask
    uname unlink unlinkat uprobe uretprobe vfork wait4 waitid write writev
    """
)
REFUSED = _names(
    """
    acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init fanotify_mark finit_module
    get_robust_list init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl mbind migrate_pages modify_ldt
    move_pages mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd
    name_to_handle_at open_by_handle_at perf_event_open pidfd_getfd pivot_root process_madvise process_mrelease
    process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key semctl semget semop semtimedop
    set_mempolicy set_mempolicy_home_node setdomainname sethostname settimeofday shmat shmctl shmdt shmget swapoff
    swapon syslog userfaultfd vhangup
    """
)
ABSENT = _names(
    """
    _sysctl afs_syscall cachestat clone3 create_module epoll_ctl_old epoll_wait_old fsconfig fsmount fsopen fspick
    get_kernel_syms get_thread_area getpmsg io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit
    io_uring_enter io_uring_register io_uring_setup listmount lookup_dcookie lsm_get_self_attr lsm_list_modules
    lsm_set_self_attr memfd_secret mount_setattr move_mount nfsservctl open_tree open_tree_attr putpmsg query_module
    remap_file_pages security set_thread_area statmount sysfs tuxcall uselib ustat vmsplice vserver
    """
)
IDLE = {"sync", "syncfs"}
ATTRIBUTES = _names(
    """
    chmod chown fchmod fchmodat fchmodat2 fchown fchownat file_setattr futimesat lchown utime utimensat utimes
    """
)
NOTES = _names(
    """
    inotify_add_watch fremovexattr fsetxattr lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat
    """
)
DEPENDING = _names(
    """
    accept accept4 bind clone connect fcntl ioctl ioprio_set kill listen memfd_create mknod mknodat mount personality
    pidfd_open pidfd_send_signal prctl prlimit64 rt_sigqueueinfo rt_tgsigqueueinfo sched_setaffinity sched_setattr
    sched_setparam sched_setscheduler seccomp setns setpgid setpriority
    setrlimit setsid setsockopt socket socketpair tgkill tkill
    umount2 unshare
    """
)


def expected(policy: Policy, name: str, args: tuple[int, ...], pid: int | None) -> int:
    """What the policy says of one call. ``pid``: the number of the job's process, where it is baked in."""
    low = [arg & WORD for arg in args]
    if name in ORDINARY:
        return ALLOW
    if name in REFUSED:
        return EPERM
    if name in ABSENT:
        return ENOSYS
    if name in IDLE:
        return NOTHING
    if name in NOTES:
        return NOT_SUPPORTED
    if name == "setsockopt" and not policy.memfd and low[1] == socket.SOL_SOCKET and low[2] in (7, 8, 32, 33):
        return NOTHING
    if name in ATTRIBUTES:
        return ALLOW if policy.attributes else EPERM
    if name == "memfd_create":
        return ALLOW if policy.memfd else ENOSYS
    if name == "pidfd_open":
        return ENOSYS if policy.own_process_only else ALLOW
    if name == "setrlimit":
        return NOTHING if low[0] == CORE or low[0] > 15 else ALLOW
    if name == "prlimit64" and not policy.own_process_only:
        return ALLOW if args[2] == 0 or (low[1] != CORE and low[1] <= 15) else NOTHING
    return ALLOW if may(policy, name, args, low, pid) else EPERM


def may(policy: Policy, name: str, args: tuple[int, ...], low: list[int], pid: int | None) -> bool:
    own = [] if pid is None else [pid]
    match name:
        case "mount" | "umount2":
            return policy.namespaces
        case "setns":
            return policy.namespaces and low[1] == os_flag("CLONE_NEWPID")
        case "unshare":
            return policy.namespaces and args[0] == os_flag("CLONE_NEWPID")
        case "setsid" | "setpgid":
            return not policy.same_group
        case "clone":
            forbidden = ("NEWNS", "NEWCGROUP", "NEWUTS", "NEWIPC", "NEWUSER", "NEWPID", "NEWNET", "PARENT")
            return not any(low[0] & os_flag(f"CLONE_{flag}") for flag in forbidden)
        case "connect" | "bind" | "listen" | "accept" | "accept4":
            return policy.sockets != "none"
        case "socket":
            return may_socket(policy, *low[:3])
        case "socketpair":
            connected = low[1] & 0xF in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
            return low[0] == socket.AF_UNIX and (connected or policy.sockets != "none")
        case "setsockopt":
            return tuple(low[1:3]) not in {(1, 26), (1, 50), (1, 51), (1, 52), (6, 31)}
        case "personality":
            return low[0] in (0, WORD)
        case "prctl":
            return low[0] not in (35, 62, 0x59616D61)
        case "seccomp":
            return low[1] & 0b101000 == 0
        case "mknod" | "mknodat":
            mode = low[1 if name == "mknod" else 2] & 0xFFFF
            return stat.S_IFMT(mode) in (0, stat.S_IFREG, stat.S_IFIFO)
        case "ioctl":
            terminal = low[1] in (0x5412, 0x541C, 0x5423)
            owner = low[1] in (0x8901, 0x8902) and not policy.signals
            attribute = low[1] in (0x40086602, 0x40046602, 0x401C5820)
            return not (terminal or owner or attribute)
        case "fcntl":
            owner = low[1] in (fcntl.F_SETOWN, 15) and not policy.signals
            return not owner and low[1] not in (fcntl.F_SETLEASE, fcntl.F_NOTIFY, 1040)
        case "kill":
            group = [0, *(-number & WORD for number in own)] if policy.same_group else []
            return policy.signals or low[0] in own + group
        case "tkill" | "tgkill" | "rt_sigqueueinfo" | "rt_tgsigqueueinfo":
            return policy.signals or low[0] in own
        case "pidfd_send_signal":
            return policy.signals
        case "sched_setaffinity" | "sched_setattr" | "sched_setparam" | "sched_setscheduler":
            return not policy.own_process_only or low[0] in [0, *own]
        case "prlimit64":
            return args[2] == 0 or (low[0] in [0, *own] and low[1] != CORE and low[1] <= 15)
        case "setpriority":
            return not policy.own_process_only or (low[0] == os.PRIO_PROCESS and low[1] in [0, *own])
        case "ioprio_set":
            return not policy.own_process_only or (low[0] == 1 and low[1] in [0, *own])
    raise AssertionError(f"nothing is written about {name}")


def may_socket(policy: Policy, family: int, kind: int, protocol: int) -> bool:
    if policy.sockets == "none":
        return False
    if family == socket.AF_UNIX or policy.sockets == "unix":
        return family == socket.AF_UNIX
    internet = family in (socket.AF_INET, socket.AF_INET6)
    ordinary = kind & 0xF in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
    return internet and ordinary and protocol in (0, socket.IPPROTO_TCP, socket.IPPROTO_UDP)


def os_flag(name: str) -> int:
    values = {"CLONE_PARENT": 0x8000, "CLONE_NEWNS": 0x20000, "CLONE_NEWCGROUP": 0x2000000, "CLONE_NEWUTS": 0x4000000}
    values |= {"CLONE_NEWIPC": 0x8000000, "CLONE_NEWUSER": 0x10000000, "CLONE_NEWPID": 0x20000000}
    return (values | {"CLONE_NEWNET": 0x40000000})[name]


def run(code: list[tuple[int, ...]], number: int, machine: int, args: tuple[int, ...] = (0,) * 6) -> tuple[int, int]:
    """The verdict, and the number of instructions until then."""
    data = struct.pack("=IIQ6Q", number & WORD, machine, 0, *args)
    at = steps = accumulator = 0
    while True:
        steps += 1
        operation, true, false, value = code[at]
        at += 1
        if operation == 0x20:
            accumulator = int.from_bytes(data[value : value + 4], "little")
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x05:
            at += value
        elif operation == 0x15:
            at += true if accumulator == value else false
        elif operation == 0x35:
            at += true if accumulator >= value else false
        else:
            assert operation == 0x06
            return value, steps
