"""The compiled helper (helper.c), where there is one: the loops of :mod:`.zygote` and :mod:`.batch` at half the cost.

Used by the back ends with namespaces. Where it cannot be compiled or loaded, the loops in Python do the work.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import ctypes
import marshal
import mmap
import os
import socket
from typing import Any, NoReturn

from . import batch, job, landlock, program, root, wire
from .world import Namespaces

RUN, FILES, IDLE, DIRTY, GONE, FAILED, DONE = range(7)
TICK = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_double, ctypes.c_double, ctypes.c_int64)


class _Counters(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int64) for name in ("kills", "forks", "hits"))


class _Head(ctypes.Structure):
    _pack_ = 1
    _fields_ = (
        ("kind", ctypes.c_uint8),
        ("timeout", ctypes.c_double),
        ("cpu", ctypes.c_double),
        *((name, ctypes.c_int64) for name in wire.Head._fields[3:]),
    )


_INTS = [
    "requests",
    "note_r",
    "note_w",
    "lifeline",
    "own_ns",
    "ruleset",
    "landlock_flags",
    "oom",
    "kills_fd",
    "hits_fd",
    "forks_fd",
    "cpu_fd",
    "limit_fd",
    "swap_fd",
    "pids_fd",
    "tick_ms",
    "sampled",
    "extra_processes",
    "init",
    "job",
    "out",
    "err",
    "fd_count",
    "inputs",
]


class State(ctypes.Structure):
    """``struct state`` of helper.c."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in _INTS),
        ("fds", ctypes.c_int32 * 8),
        ("usual_memory", ctypes.c_int64),
        ("usual_processes", ctypes.c_int64),
        ("overhead", ctypes.c_int64),
        ("swap_slack", ctypes.c_int64),
        ("stack", ctypes.c_void_p),
        ("filter", ctypes.c_void_p),
        ("buffer", ctypes.c_void_p),
        ("filter_bytes", ctypes.c_int64),
        ("capacity", ctypes.c_int64),
        ("length", ctypes.c_int64),
        ("body", ctypes.c_int64),
        ("skip", ctypes.c_int64),
        ("tick", TICK),
        ("workspace", ctypes.c_char * 256),
        ("tmp", ctypes.c_char * 256),
        ("shm", ctypes.c_char * 256),
        ("clean_bytes", ctypes.c_int64),
        ("clean_files", ctypes.c_int64),
        ("clean_changed", ctypes.c_int64 * 3),
        ("clean_mode", ctypes.c_uint32 * 3),
        ("last", _Counters),
        ("head", _Head),
    )


def load(path: str) -> ctypes.PyDLL | None:
    """The helper in this file; None where it does not fit this process (another build, another architecture)."""
    try:
        library = ctypes.PyDLL(path, use_errno=True)
        library.lydite_sizes.restype = ctypes.c_int64
        sizes = [library.lydite_sizes(number) for number in range(5)]
    except (OSError, AttributeError):
        return None
    wanted = [ctypes.sizeof(State), *(layout.size for layout in (wire.HEAD, wire.NOTE, wire.REPLY, wire.RUN))]
    return library if sizes == wanted else None


def serve(world: Namespaces, requests: socket.socket, group: Any, lifeline: int, watch: Any) -> NoReturn:
    """As :func:`.zygote.serve`."""
    library = world.plan["library"]
    state, keep = prepare(world, requests.fileno(), os.pipe(), group, lifeline, watch)
    pointer = ctypes.byref(state)
    library.lydite_watch(pointer)
    while (code := library.lydite_serve(pointer)) == DIRTY:
        world.clean()
        state.ruleset = world.ruleset
        _fingerprint(state)
    if code in (GONE, FAILED):
        os._exit(0 if code == GONE else 1)
    if code == IDLE:
        world.plan["warm"]()
        code = library.lydite_receive(pointer)
    _become(library, state, keep, code)


def child(world: Namespaces, state: State, keep: Any, requests: int) -> NoReturn:
    """As :func:`.job.main`, in a child that a session has forked ahead."""
    library = world.plan["library"]
    state.requests, state.ruleset = requests, world.ruleset
    _become(library, state, keep, library.lydite_child(ctypes.byref(state)))


def _become(library: ctypes.PyDLL, state: State, keep: Any, code: int) -> NoReturn:
    """In the process of a job: the program."""
    try:
        if state.body:
            body = keep[0][state.body : state.length]
        else:  # it came in a memory file, which the helper has mapped
            body = ctypes.string_at(state.buffer + state.skip, state.length - state.skip)
        kind = keep[0][1]
        # From the supervisor, which made it; nothing that a model wrote is ever parsed by this.
        files, env, source, sizes = marshal.loads(body)  # noqa: S302
        if code == FILES:
            job.write_files(files)
    except BaseException as error:
        if code != FILES:
            os._exit(1)  # the note has gone out already
        job.fail(state.note_w, error)
    if code == FILES:
        library.lydite_strip(ctypes.byref(state))
    if kind == wire.BATCH:
        _run_batch(library, state, env, source, sizes)
    program.start(kind, env, source)


def _run_batch(
    library: ctypes.PyDLL, state: State, env: dict[str, str], source: str, sizes: tuple[int, ...]
) -> NoReturn:
    os.environ.update(env)
    code = batch.compiled(source)
    array = (ctypes.c_int64 * len(sizes))(*sizes)
    found = library.lydite_batch(ctypes.byref(state), state.inputs, array, ctypes.c_int64(len(array)))
    if found != RUN:
        os._exit(0 if found == DONE else 1)
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    program.run(source, code)


def prepare(
    world: Namespaces, requests: int, note: tuple[int, int], group: Any, lifeline: int, watch: Any
) -> tuple[State, Any]:
    """What the helper needs to know, and what has to be kept for as long as it is used."""
    fds = group.descriptors if group else {}
    # Private: a job's request must not reach the memory of the zygote or of another job.
    buffer = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    state = State(
        requests=requests,
        note_r=note[0],
        note_w=note[1],
        lifeline=lifeline,
        own_ns=world.own,
        ruleset=world.ruleset,
        landlock_flags=landlock.RESTRICT_FLAGS if landlock.abi() >= 7 else 0,
        oom=bool(world.plan["cgroup"]),
        kills_fd=fds.get("kills", -1),
        hits_fd=fds.get("hits", -1),
        forks_fd=fds.get("forks", -1),
        cpu_fd=fds.get("cpu", -1),
        limit_fd=fds.get("limit", -1),
        swap_fd=fds.get("swap", -1),
        pids_fd=fds.get("pids", -1),
        tick_ms=watch.tick_ms,
        sampled=watch.sampled,
        extra_processes=world.extra_processes,
        usual_memory=world.plan["memory"],
        usual_processes=world.plan["processes"],
        overhead=world.plan["overhead"],
        swap_slack=group.swap_slack if group else 0,
        stack=world.stack_top,
        buffer=ctypes.addressof(ctypes.c_char.from_buffer(buffer)),
        capacity=len(buffer),
        workspace=root.WORKSPACE.encode(),
        tmp=root.TMP.encode(),
        shm=root.SHM.encode(),
    )
    rules: Any = None
    if world.filter is not None:
        rules = ctypes.create_string_buffer(world.filter, len(world.filter))
        state.filter, state.filter_bytes = ctypes.addressof(rules), len(world.filter)

    def tick(pid: int, used: float, cpu: float, memory: int) -> int:
        world.init = state.init
        return int(watch.sample(pid, cpu, memory))

    state.tick = TICK(tick)
    _fingerprint(state)
    return state, (buffer, rules, state.tick)


def _fingerprint(state: State) -> None:
    space = os.statvfs(root.TMP)
    state.clean_bytes, state.clean_files = space.f_bfree, space.f_ffree
    for number, path in enumerate((root.WORKSPACE, root.TMP, root.SHM)):
        info = os.stat(path)
        state.clean_mode[number], state.clean_changed[number] = info.st_mode, info.st_ctime_ns
