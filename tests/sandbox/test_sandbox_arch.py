"""The tables of system call numbers, against the kernel's headers and the running kernel."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lydite.sandbox.jail import arch, kernel

MACHINES = tuple(arch.AUDIT_ARCH)
GENERIC = Path("/usr/include/asm-generic/unistd.h")
X86 = [
    path
    for path in (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h"))
    if path.exists()
]


def in_header(path: Path) -> dict[str, int]:
    """Numbers that a header defines. Names with 3264 are those whose size of numbers depends on the machine."""
    found = re.findall(r"^#define __NR(?:3264)?_(\w+) (\d+)$", path.read_text(), re.MULTILINE)
    return {name: int(number) for name, number in found if int(number) <= arch.LAST}


@pytest.mark.skipif(not X86, reason="no x86-64 kernel headers")
def test_the_x86_64_header_says_the_same() -> None:
    header, table = in_header(X86[0]), arch.numbers("x86_64")
    assert {name: table.get(name) for name in header} == header


@pytest.mark.skipif(not X86, reason="no x86-64 kernel headers")
def test_the_x86_64_table_has_nothing_else_in_the_range_of_the_header() -> None:
    header, table = in_header(X86[0]), arch.numbers("x86_64")
    newest = max(header.values())
    assert {name for name, number in table.items() if number <= newest} - {"uretprobe", "uprobe"} == set(header)


@pytest.mark.skipif(not GENERIC.exists(), reason="no generic kernel headers")
def test_the_generic_header_says_the_same_of_aarch64() -> None:
    # 244 to 259 belong to other machines, 403 to 423 are the 64-bit clocks of 32-bit machines; aarch64 has
    # sync_file_range in place of its twin.
    other = {"syscalls", "sync_file_range2", "fstatat"}
    header = {
        name: number
        for name, number in in_header(GENERIC).items()
        if name not in other and not 244 <= number <= 259 and not 403 <= number <= 423
    }
    table = arch.numbers("aarch64")
    assert {name: table.get(name) for name in header} == header


@pytest.mark.skipif(not GENERIC.exists(), reason="no generic kernel headers")
def test_the_aarch64_table_has_nothing_else_in_the_range_of_the_header() -> None:
    text = GENERIC.read_text()
    header, table = in_header(GENERIC), arch.numbers("aarch64")
    newest = max(number for name, number in header.items() if name != "syscalls")
    mine = {name for name, number in table.items() if number <= newest and name not in header}
    assert all(f"__NR_{name} " in text for name in mine - {"newfstatat", "name_to_handle_at", "open_by_handle_at"})


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_has_a_number_of_its_own_and_none_is_beyond_the_last(machine: str) -> None:
    table = arch.numbers(machine)
    assert len(set(table.values())) == len(table)
    assert max(table.values()) == arch.LAST


def test_both_machines_number_new_calls_alike() -> None:
    x86, arm = (arch.numbers(machine) for machine in MACHINES)
    new = {name: number for name, number in x86.items() if number >= 424}
    assert new == {name: number for name, number in arm.items() if number >= 424}


def test_the_running_kernel_agrees() -> None:
    assert kernel.syscall("getpid") == os.getpid()
    assert kernel.syscall("getppid") == os.getppid()
    assert kernel.syscall("gettid") == threading.get_native_id()


def test_a_machine_without_a_table_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(OSError, match="riscv64"):
        arch.numbers()


@pytest.mark.parametrize(("name", "machine"), [("AMD64", "x86_64"), ("arm64", "aarch64"), ("aarch64", "aarch64")])
def test_machines_go_by_several_names(name: str, machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: name)
    assert arch.machine() == machine


def test_the_filter_loads_in_an_interpreter_that_can_import_nothing_else() -> None:
    source = "import sys; sys.path.insert(0, sys.argv[1]); import jail.seccomp; print(jail.seccomp.program.__module__)"
    room = Path(arch.__file__).parent.parent
    done = subprocess.run([sys.executable, "-S", "-s", "-P", "-c", source, room], capture_output=True, text=True)
    assert done.stdout.strip() == "jail.seccomp", done.stderr
