"""The filter as a program: run here, instruction by instruction, and compared with a second telling of the policy."""

from __future__ import annotations

import dataclasses
import itertools
import math
import socket
import stat
import struct
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from seccomp_oracle import (
    ABSENT,
    ALLOW,
    ATTRIBUTES,
    DEPENDING,
    ENOSYS,
    EPERM,
    IDLE,
    KILL,
    NOTES,
    ORDINARY,
    REFUSED,
    WORD,
    expected,
    run,
)

from lydite.sandbox.jail import arch, seccomp
from lydite.sandbox.jail.seccomp import Policy

MACHINES = tuple(arch.AUDIT_ARCH)
NUMBERS = {machine: arch.numbers(machine) for machine in MACHINES}
PID = 4711

SWITCHES = ("memfd", "namespaces", "same_group", "own_process_only", "signals", "attributes")
POLICIES = [
    Policy(sockets=sockets, **dict(zip(SWITCHES, values, strict=True)))
    for sockets in ("none", "unix", "loopback")
    for values in itertools.product((False, True), repeat=len(SWITCHES))
]


@cache
def rows(policy: Policy, machine: str, pid: int | None = None, below: Policy | None = None) -> list[tuple[int, ...]]:
    code = seccomp.program(policy, machine, pid, below)
    return list(struct.iter_unpack("=HBBI", code))


def verdict(policy: Policy, machine: str, name: str, args: tuple[int, ...], pid: int | None) -> int:
    return run(rows(policy, machine, pid), NUMBERS[machine][name], arch.AUDIT_ARCH[machine], args)[0]


def test_every_call_of_the_tables_is_in_one_list_of_this_test() -> None:
    lists = (ORDINARY, REFUSED, ABSENT, IDLE, ATTRIBUTES, NOTES, DEPENDING)
    named = [name for names in lists for name in names]
    assert len(named) == len(set(named))
    assert set(named) == {name for machine in MACHINES for name in NUMBERS[machine]}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("pid", [None, PID])
def test_every_number_is_decided_as_the_policy_says(machine: str, pid: int | None) -> None:
    names = {number: name for name, number in NUMBERS[machine].items()}
    args = (0,) * 6
    for policy in POLICIES:
        code = rows(policy, machine, pid)
        for number in range(arch.LAST + 51):
            wanted = expected(policy, names[number], args, pid) if number in names else ENOSYS
            got, _ = run(code, number, arch.AUDIT_ARCH[machine], args)
            assert got == wanted, (policy, number, names.get(number))


INTERESTING = [
    *(0, 1, 2, 3, 5, 6, 8, 10, 15, 16, 17, 25, 26, 31, 32, 35, 38, 40, 50, 51, 52, 62, 132, 136, 262, 1024),
    *(1026, 1040),
    *(socket.SOCK_CLOEXEC, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK),
    *(stat.S_IFREG | 0o600, stat.S_IFIFO | 0o600, stat.S_IFCHR | 0o600, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFDIR),
    *(0x5412, 0x541C, 0x5423, 0x8901, 0x8902, 0x40086602, 0x40046602, 0x401C5820, 0x59616D61, 0x5401),
    *(0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x8000, 0x80, 0x3D0F00),
    *(PID, -PID & WORD, PID + 1, -1 & WORD, 0x80000000),
]
HALF = st.one_of(st.sampled_from(INTERESTING), st.integers(0, WORD))
ARGUMENT = st.builds(lambda low, high: low | high << 32, HALF, st.one_of(st.just(0), HALF))


@settings(max_examples=600, deadline=None)
@given(
    policy=st.sampled_from(POLICIES),
    machine=st.sampled_from(MACHINES),
    name=st.sampled_from(sorted(DEPENDING)),
    args=st.tuples(*[ARGUMENT] * 6),
    pid=st.sampled_from([None, PID]),
)
def test_arguments_are_judged_as_the_policy_says(
    policy: Policy, machine: str, name: str, args: tuple[int, ...], pid: int | None
) -> None:
    if name in NUMBERS[machine]:
        assert verdict(policy, machine, name, args, pid) == expected(policy, name, args, pid)


def test_all_pairs_of_interesting_arguments_are_judged_as_the_policy_says() -> None:
    loose = Policy(
        sockets="loopback", memfd=True, namespaces=True, same_group=False, own_process_only=False, signals=True
    )
    tight = Policy(
        sockets="none",
        memfd=False,
        namespaces=False,
        same_group=True,
        own_process_only=True,
        signals=False,
        attributes=False,
    )
    small = [value for value in INTERESTING if value < 300]
    for name in sorted(DEPENDING):
        policy = loose if name in ("socket", "setns", "unshare") else tight
        tried = [
            args
            for first, second in itertools.product(INTERESTING, small)
            for args in ((first, second, 0, 0, 0, 0), (first, 1, second, 0, 0, 0), (0, first, second, 0, 0, 0))
        ]
        # The upper halves, of which the kernel drops some and reads others.
        tried += [(value | 1 << 32, 7, value << 32, 0, 0, 0) for value in INTERESTING]
        tried += [(7, value | WORD << 32, value | 1 << 63, 0, 0, 0) for value in INTERESTING]
        for args in tried:
            assert verdict(policy, "x86_64", name, args, PID) == expected(policy, name, args, PID), (name, args)


@settings(max_examples=300, deadline=None)
@given(policy=st.sampled_from(POLICIES), number=st.integers(arch.LAST + 1, WORD), machine=st.sampled_from(MACHINES))
@example(policy=POLICIES[0], number=0x40000000, machine="x86_64")  # x32: read
@example(policy=POLICIES[0], number=0x40000000 | 165, machine="x86_64")
@example(policy=POLICIES[0], number=WORD, machine="x86_64")
def test_numbers_beyond_the_table_do_not_exist(policy: Policy, number: int, machine: str) -> None:
    assert run(rows(policy, machine), number, arch.AUDIT_ARCH[machine])[0] == ENOSYS


@settings(max_examples=200, deadline=None)
@given(policy=st.sampled_from(POLICIES), number=st.integers(0, 600), other=st.integers(0, WORD))
@example(policy=POLICIES[0], number=0, other=0x40000003)  # i386, which x86-64 reaches by int 0x80
@example(policy=POLICIES[0], number=0, other=0x40000028)  # 32-bit ARM
def test_a_call_of_another_architecture_kills(policy: Policy, number: int, other: int) -> None:
    for machine in MACHINES:
        if other != arch.AUDIT_ARCH[machine]:
            assert run(rows(policy, machine), number, other)[0] == KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_the_kernel_would_accept_every_program(machine: str) -> None:
    for policy, pid in itertools.product(POLICIES, (None, PID)):
        code = rows(policy, machine, pid)
        assert code[-1][0] == 0x06
        for at, (operation, true, false, value) in enumerate(code):
            assert operation in (0x20, 0x54, 0x05, 0x15, 0x35, 0x06)
            if operation == 0x20:
                assert value % 4 == 0
                assert value < 64
            furthest = at + 1 + (value if operation == 0x05 else max(true, false))
            assert furthest < len(code) or operation == 0x06


@pytest.mark.parametrize("machine", MACHINES)
def test_programs_are_short(machine: str) -> None:
    assert max(len(rows(policy, machine, PID)) for policy in POLICIES) <= 300


@pytest.mark.parametrize("machine", MACHINES)
def test_a_number_is_found_in_logarithmic_time(machine: str) -> None:
    for policy in POLICIES:
        code = rows(policy, machine, PID)
        plain = [number for name, number in NUMBERS[machine].items() if name in ORDINARY | REFUSED | ABSENT]
        deepest = max(run(code, number, arch.AUDIT_ARCH[machine])[1] for number in plain)
        # Three instructions in front, one at the end, and two detours where a jump is too short.
        assert deepest <= math.ceil(math.log2(len(code))) + 6


@pytest.mark.parametrize("reach", [5, 12, 40])
def test_jumps_that_are_too_short_are_made_in_two(reach: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # A tree that is larger than 8 bits can jump across: here it need not be large, because the bits are fewer.
    monkeypatch.setattr(seccomp, "_REACH", reach)
    template = seccomp._template.__wrapped__
    policies = POLICIES[:: len(POLICIES) // 7]
    for policy, machine in itertools.product(policies, MACHINES):
        code = list(struct.iter_unpack("=HBBI", template(policy, machine, False, None)[0]))
        assert max(max(row[1:3]) for row in code) <= reach + 2
        for number in range(arch.LAST + 2):
            for args in ((0,) * 6, (1, 2, 6, 0, 0, 0), (0x20000000, 0x20000000, 0, 0, 0, 0)):
                short = run(code, number, arch.AUDIT_ARCH[machine], args)[0]
                assert short == run(rows(policy, machine), number, arch.AUDIT_ARCH[machine], args)[0]


@settings(max_examples=100, deadline=None)
@given(policy=st.sampled_from(POLICIES), pid=st.integers(2, (1 << 31) - 1), machine=st.sampled_from(MACHINES))
def test_the_process_number_is_baked_in(policy: Policy, pid: int, machine: str) -> None:
    policy = dataclasses.replace(policy, signals=False, same_group=True)
    code = list(struct.iter_unpack("=HBBI", seccomp.program(policy, machine, pid)))
    for who, wanted in ((pid, ALLOW), (-pid & WORD, ALLOW), (0, ALLOW), (pid - 1 or 1, EPERM), (WORD, EPERM)):
        got, _ = run(code, NUMBERS[machine]["kill"], arch.AUDIT_ARCH[machine], (who, 9, 0, 0, 0, 0))
        assert got == wanted


@pytest.mark.parametrize("pid", [1, 0, -1, 1 << 31])
def test_a_process_number_that_could_mean_everybody_is_refused(pid: int) -> None:
    with pytest.raises(ValueError, match="self_pid"):
        seccomp.program(POLICIES[0], "x86_64", pid)


def test_a_policy_for_unknown_sockets_is_refused() -> None:
    with pytest.raises(ValueError, match="internet"):
        dataclasses.replace(POLICIES[0], sockets="internet")  # type: ignore[arg-type]


def strictest(*verdicts: int) -> int:
    """What the kernel makes of several filters: an error before allow. Of two errors the last filter's counts."""
    return next((verdict for verdict in verdicts if verdict != ALLOW), ALLOW)


@settings(max_examples=300, deadline=None)
@given(
    below=st.sampled_from(POLICIES),
    policy=st.sampled_from(POLICIES),
    machine=st.sampled_from(MACHINES),
    name=st.sampled_from(sorted(DEPENDING | ATTRIBUTES | REFUSED | ABSENT)),
    args=st.tuples(*[ARGUMENT] * 6),
    pid=st.sampled_from([None, PID]),
)
def test_a_filter_above_another_adds_up_to_the_stricter_of_both(
    below: Policy, policy: Policy, machine: str, name: str, args: tuple[int, ...], pid: int | None
) -> None:
    if name in NUMBERS[machine]:
        number, audit = NUMBERS[machine][name], arch.AUDIT_ARCH[machine]
        upper, lower = rows(policy, machine, pid, below), rows(below, machine)
        stacked = strictest(run(upper, number, audit, args)[0], run(lower, number, audit, args)[0])
        assert stacked == strictest(expected(policy, name, args, pid), expected(below, name, args, None))


def test_a_filter_above_another_leaves_out_only_what_is_the_same() -> None:
    args = (1, 0x20000000, 0, 0, 0, 0)
    for below, policy in itertools.product(POLICIES[::13], POLICIES[::11]):
        upper, lower = rows(policy, "x86_64", PID, below), rows(below, "x86_64")
        for name in DEPENDING | ATTRIBUTES:
            number, audit = NUMBERS["x86_64"][name], arch.AUDIT_ARCH["x86_64"]
            stacked = strictest(run(upper, number, audit, args)[0], run(lower, number, audit, args)[0])
            assert stacked == strictest(expected(policy, name, args, PID), expected(below, name, args, None)), name


def test_a_filter_above_another_is_much_shorter() -> None:
    below = Policy(sockets="unix", memfd=True, namespaces=True, same_group=False, own_process_only=False, signals=True)
    above = dataclasses.replace(below, memfd=False, namespaces=False)
    assert len(rows(above, "x86_64", None, below)) < len(rows(above, "x86_64")) / 3
