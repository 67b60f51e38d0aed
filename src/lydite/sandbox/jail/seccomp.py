"""The system call filter of a job: a :class:`~.calls.Policy` as a classic BPF program.

Covered: every system call of the process, its threads and all that they fork and exec, for good: a filter can be added
to but not taken off. A call of another architecture (int 0x80 on x86-64) kills the process; x32 calls and calls that
the table does not know answer ENOSYS. Not covered: what :mod:`.calls` says of pointers, the calls of a thread that was
running before the filter was installed (install it while there is one thread), and calls through the vDSO, which never
enter the kernel.

The program is a balanced tree over the call number. At every install the kernel runs it once for each number (to learn
which calls are allowed whatever their arguments), so the depth of the tree is what an install costs: a chain of
comparisons takes three times as long.
"""

from __future__ import annotations

import ctypes
import functools
import struct

from . import arch, kernel
from .calls import ALLOW, ENOSYS, KILL, OWN, OWN_GROUP, Decision, Policy, Rule, decisions

__all__ = ["Policy", "install", "program"]

SECCOMP_SET_MODE_FILTER = 1

# Instructions of linux/bpf_common.h: load a word of seccomp_data, mask it, jump, return.
LOAD, AND, JA, JEQ, JGE, RET = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
# seccomp_data: int nr; u32 arch; u64 instruction_pointer; u64 args[6]. Both machines are little-endian.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16

# Conditional jumps have 8 bits. A little less, because a target that is out of reach puts an instruction in between.
_REACH = 250
_INSTRUCTION = struct.Struct("=HBBI")


class _Code:
    """Instructions from the last to the first: jumps only go forward, so every target is in place before its jump.

    A position counts from the end of the program.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int]] = []
        self._returns: dict[int, int] = {}
        self._rules: dict[Rule, int] = {}

    def put(self, code: int, value: int, true: int | None = None, false: int | None = None) -> int:
        """Put an instruction in front; a conditional jump has two targets. Returns its position."""
        jumps = (0, 0)
        if true is not None and false is not None:
            true, false = self._near(true), self._near(false)
            jumps = (len(self.rows) - true - 1, len(self.rows) - false - 1)
        self.rows.append((code, *jumps, value))
        return len(self.rows) - 1

    def _near(self, target: int) -> int:
        """The target or, where that is too far, something nearer that comes to the same."""
        if len(self.rows) - target <= _REACH:
            return target
        code, _, _, value = self.rows[target]
        return self.answer(value) if code == RET else self.put(JA, len(self.rows) - target - 1)

    def answer(self, verdict: int) -> int:
        """A return with this verdict that is within reach."""
        at = self._returns.get(verdict)
        if at is None or len(self.rows) - at > _REACH:
            at = self._returns[verdict] = self.put(RET, verdict)
        return at

    def decide(self, decision: Decision) -> int:
        """The answer of one call. Calls with the same rule share it."""
        if not isinstance(decision, Rule):
            return self.answer(decision)
        if decision not in self._rules:
            self._rules[decision] = self._rule(decision)
        return self._rules[decision]

    def _rule(self, rule: Rule) -> int:
        otherwise = self.decide(rule.miss)
        for clause in reversed(rule.clauses):
            if not all(arg.values for arg in clause):
                continue  # nothing can be one of no values
            start = self.answer(rule.hit)
            for arg in reversed(clause):
                test = otherwise
                for value in reversed(arg.values):
                    test = self.put(JEQ, value, start, test)
                if arg.mask != 0xFFFFFFFF:
                    self.put(AND, arg.mask)
                start = self.put(LOAD, ARGUMENTS + 8 * arg.place + 4 * arg.high)
            otherwise = start
        return otherwise

    def tree(self, spans: list[tuple[int, Decision]]) -> int:
        """Which of these spans (first number, decision; the last has no end) holds the number that was loaded?"""
        if len(spans) == 1:
            return self.decide(spans[0][1])
        middle = len(spans) // 2
        upper, lower = self.tree(spans[middle:]), self.tree(spans[:middle])
        return self.put(JGE, spans[middle][0], upper, lower)


def _spans(policy: Policy, machine: str, named: bool, below: Policy | None) -> list[tuple[int, Decision]]:
    """Runs of numbers with the same decision, in order; the last one begins above the table and answers ENOSYS."""
    decided = decisions(policy, named)
    if below is not None:
        old = decisions(below, False)
        decided = {name: decision for name, decision in decided.items() if old.get(name) != decision}
    by_number = {number: decided.get(name, ALLOW) for name, number in arch.numbers(machine).items()}
    spans: list[tuple[int, Decision]] = []
    for number in range(arch.LAST + 2):
        decision = by_number.get(number, ENOSYS)
        if not spans or spans[-1][1] != decision:
            spans.append((number, decision))
    return spans


@functools.cache
def _template(
    policy: Policy, machine: str, named: bool, below: Policy | None
) -> tuple[bytes, tuple[tuple[int, bool], ...]]:
    """The program, and where in it the process number goes (offset in bytes, negative or not)."""
    code = _Code()
    code.tree(_spans(policy, machine, named, below))
    native = code.put(LOAD, NUMBER)
    code.put(JEQ, arch.AUDIT_ARCH[machine], native, code.answer(KILL))
    code.put(LOAD, ARCHITECTURE)
    rows = code.rows[::-1]
    holes = tuple((8 * at + 4, row[3] == OWN_GROUP) for at, row in enumerate(rows) if row[3] in (OWN, OWN_GROUP))
    return b"".join(_INSTRUCTION.pack(*row[:3], row[3] & 0xFFFFFFFF) for row in rows), holes


def program(
    policy: Policy, machine: str | None = None, self_pid: int | None = None, below: Policy | None = None
) -> bytes:
    """The filter of a policy, 8 bytes per instruction. Cheap after the first time, whatever the process number.

    Args:
        policy: what depends on the tier.
        machine: ``x86_64`` or ``aarch64``; default: this machine.
        self_pid: number of the job's first process, as seen by itself. Used where ``signals`` or ``own_process_only``
            tell it from other processes. Collect that process only after its group has been killed: from then on
            the number can be a stranger's.
        below: policy of a filter that is installed already (made without ``self_pid``). What that decides the same way
            is left out: the stricter answer of the two holds, and a short program is quicker to install.

    Raises:
        ValueError: the number can be no job's: 1 is an init, and minus 1 is everybody.
        OSError: unknown machine.
    """
    if self_pid is not None and not 1 < self_pid < 1 << 31:
        raise ValueError(f"self_pid: {self_pid} is no process number of a job")
    code, holes = _template(policy, machine or arch.machine(), self_pid is not None, below)
    if not holes or self_pid is None:
        return code
    filled = bytearray(code)
    for offset, negative in holes:
        struct.pack_into("=I", filled, offset, -self_pid & 0xFFFFFFFF if negative else self_pid)
    return bytes(filled)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(program: bytes) -> None:
    """Put the filter on this thread and all that it will start. The caller has set no_new_privs.

    Raises:
        OSError: EACCES without no_new_privs, EINVAL for a program that the kernel does not accept, or a kernel without
            seccomp.
    """
    code = ctypes.create_string_buffer(program, len(program))
    header = _Program(len(program) // _INSTRUCTION.size, ctypes.addressof(code))
    kernel.syscall("seccomp", SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(header))
