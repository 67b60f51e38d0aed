"""What a back end contains of the eleven ways in which a program can do harm, and what it does not.

This is what we configure and what the attacks in the tests show, in words; :func:`lydite.sandbox.probe` says which
back ends work on this machine. `lydite sandbox doctor` and docs/sandbox.md print this table, and a test keeps the two
the same.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Containment(StrEnum):
    """How far a dimension is closed."""

    CONTAINED = "contained"  # a wall or a hard limit
    PARTLY = "partly"  # found out and stopped after the fact, or some ways are left open
    OPEN = "open"


class Threat(msgspec.Struct, frozen=True):
    """One dimension of one back end, with the reason in one line."""

    contained: Containment
    reason: str


DIMENSIONS = {
    "time": "running on and on, with or without children that left their parent",
    "cpu": "more processor time than allowed, by many processes as well",
    "memory": "more memory than allowed, in one process, in many, or in files in memory",
    "disk": "filling a file system with bytes or with files; endless output",
    "processes": "more processes and threads than allowed",
    "file descriptors": "more open files than allowed",
    "file system": "reading or changing files of the host, of graders, of other jobs",
    "network": "talking to anything outside, this machine's own services included",
    "credentials": "environment, keys, arguments and memory of other processes; being another user",
    "kernel surface": "rarely needed parts of the kernel: mounts, bpf, io_uring, keyrings, user namespaces, tracing",
    "persistence": "leaving something for a later job: processes, files, shared memory, queues",
}

_YES, _PARTLY, _OPEN = Containment.CONTAINED, Containment.PARTLY, Containment.OPEN

_NAMESPACES = {
    "time": (_YES, "wall clock from the program's start; then its whole pid namespace is killed"),
    "cpu": (_YES, "a control group counts the whole job, and each process has a limit"),
    "memory": (_YES, "a control group holds the whole job, with its files in memory and its output"),
    "disk": (_YES, "one private tmpfs with a limit on bytes and on files; output has a limit of its own"),
    "processes": (_YES, "a control group and a limit per user namespace"),
    "file descriptors": (_YES, "a limit per process, times the limit on processes"),
    "file system": (_YES, "a root of its own: interpreter and system programs read-only, packages hidden"),
    "network": (_YES, "a network namespace without interfaces; only Unix sockets can be made"),
    "credentials": (_YES, "empty environment, an own proc, a fresh process that never held a secret"),
    "kernel surface": (_YES, "a filter denies such calls; the kernel is the host's, its own errors are not contained"),
    "persistence": (_YES, "processes die with their namespace, files with the tmpfs; other traces are denied"),
}

_LIMITS_BY_SAMPLING = {
    "cpu": (_PARTLY, "a hard limit per process; the job's total is sampled every 30 ms"),
    "memory": (
        _PARTLY,
        "the job's total is sampled every 30 ms, so it can be exceeded briefly",
    ),
}

_LANDLOCK = {
    "time": (_YES, "wall clock from the program's start; it cannot leave its process group, which is killed"),
    **_LIMITS_BY_SAMPLING,
    "disk": (_PARTLY, "a hard limit per file; the total is sampled, and lies on the host's own disk until then"),
    "processes": (_YES, "a limit per user; an ordinary user's own processes are added to it"),
    "file descriptors": (_YES, "a limit per process, times the limit on processes"),
    "file system": (_PARTLY, "nothing else can be opened; that a file exists, and its size, can be seen (stat)"),
    "network": (_YES, "no socket can be made; the machine's name can be seen"),
    "credentials": (
        _YES,
        "empty environment, no proc, no call that reaches another process; own user id only under root",
    ),
    "kernel surface": (_YES, "a filter denies such calls; the kernel is the host's, its own errors are not contained"),
    "persistence": (_YES, "its process group is killed, its folders are emptied; other traces are denied"),
}

_TOOL = {
    "time": (_YES, "wall clock from the program's start; then the whole box is killed"),
    "cpu": (_PARTLY, "a hard limit per process; the job's total is looked at every 30 ms"),
    "memory": (_PARTLY, "the job's total is looked at every 30 ms, so it can be exceeded briefly"),
    "disk": (_PARTLY, "a hard limit per file; the total, on the host's own disk, is looked at every 60 ms"),
    "processes": (_YES, "a limit per user, and no other process has this user"),
    "file descriptors": (_YES, "a limit per process, times the limit on processes"),
    "file system": (_YES, "a root of its own: interpreter and system programs read-only, packages hidden"),
    "network": (_YES, "a network namespace without interfaces"),
    "credentials": (_YES, "empty environment, of the tool as well; an own proc; under root a spare user"),
    "kernel surface": (
        _YES,
        "our filter on top of the tool's box; the kernel is the host's, its errors are not contained",
    ),
    "persistence": (_YES, "a box per job, folders of its own that are removed"),
}

_RUNSC = {
    **_TOOL,
    "processes": (_PARTLY, "counted inside the box every 20 ms"),
    "kernel surface": (_YES, "gVisor's own kernel answers the job's calls; the host's is asked for little"),
}

_RUNC = {
    **_TOOL,
    "memory": (_PARTLY, "looked at every 30 ms; under root a control group holds it, 128 MiB above the limit"),
}

_ENGINE = {
    **_TOOL,
    "memory": (_PARTLY, "looked at every 30 ms; the engine's control group holds it, 128 MiB above the limit"),
    "processes": (_YES, "the engine's control group, or a limit per user that no other process has"),
    "file system": (_YES, "the image, read-only: what it holds can be read"),
    "credentials": (_YES, "empty environment, an own proc; what lies in the image can be read"),
    "kernel surface": (
        _YES,
        "our filter on top of the engine's; the kernel is the host's, its errors are not contained",
    ),
}

_UNSAFE = {
    "time": (_PARTLY, "wall clock, then its process group is killed; a process that left the group lives on"),
    "cpu": (_PARTLY, "a limit per process; the total is looked at every 10 ms (Linux)"),
    "memory": (_PARTLY, "looked at every 10 ms (Linux)"),
    "disk": (_PARTLY, "a limit per file; its working folder is looked at every 50 ms, other folders are not"),
    "processes": (_PARTLY, "looked at every 10 ms (Linux)"),
    "file descriptors": (_YES, "a limit per process"),
    "file system": (_OPEN, "everything that this user can read and write"),
    "network": (_OPEN, "everything that this user can reach"),
    "credentials": (_OPEN, "empty environment; keys, files and processes of this user are in reach"),
    "kernel surface": (_OPEN, "everything that this user may do"),
    "persistence": (_OPEN, "its process group ends and its folder is removed, nothing else"),
}

_TABLE = {
    "namespaces": _NAMESPACES,
    "namespaces-nocgroup": {
        **_NAMESPACES,
        **_LIMITS_BY_SAMPLING,
        "processes": (_YES, "a limit per user namespace"),
    },
    "landlock": _LANDLOCK,
    "bwrap": _TOOL,
    "nsjail": _TOOL,
    "runsc": _RUNSC,
    "runc": _RUNC,
    "crun": _TOOL,
    "podman": _ENGINE,
    "docker": _ENGINE,
    "unsafe": _UNSAFE,
}

THREATS: dict[str, dict[str, Threat]] = {
    name: {dimension: Threat(*rows[dimension]) for dimension in DIMENSIONS} for name, rows in _TABLE.items()
}
"""By back end, then by dimension."""


def contained(backend: str) -> list[str]:
    """The dimensions that a back end contains wholly."""
    return [name for name, threat in THREATS[backend].items() if threat.contained is Containment.CONTAINED]


def markdown() -> str:
    """The table of docs/sandbox.md: a short one over all back ends, then the reasons of each."""
    lines = ["| | " + " | ".join(f"`{name}`" for name in THREATS) + " |", "|---" * (len(THREATS) + 1) + "|"]
    lines += [
        f"| {dimension} | " + " | ".join(THREATS[name][dimension].contained for name in THREATS) + " |"
        for dimension in DIMENSIONS
    ]
    told: list[str] = []
    for name, rows in THREATS.items():
        same = [other for other in THREATS if THREATS[other] == rows]
        if name not in told:
            told += same
            lines += ["", f"**{', '.join(f'`{other}`' for other in same)}**", ""]
            lines += [f"- {dimension}: {row.contained}. {_sentence(row.reason)}" for dimension, row in rows.items()]
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
