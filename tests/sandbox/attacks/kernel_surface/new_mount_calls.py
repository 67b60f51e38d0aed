"""Mount by the newer calls: fsopen, fspick, open_tree, move_mount, mount_setattr; list mounts by statmount.

Shows: PWNED on stdout.
"""

from kit import ctypes, pwned, syscall, told

for name, result in {
    "fsopen": syscall("fsopen", b"tmpfs", 0),
    "fspick": syscall("fspick", -100, b"/", 0),
    "open_tree with a copy": syscall("open_tree", -100, b"/", 1 | 0x8000),
    "open_tree_attr": syscall("open_tree_attr", -100, b"/", 1 | 0x8000, ctypes.create_string_buffer(32), 32),
    "mount_setattr": syscall("mount_setattr", -100, b"/", 0, ctypes.create_string_buffer(32), 32),
    "move_mount": syscall("move_mount", -100, b"/tmp", -100, b"/usr", 0),
}.items():
    print(name, told(result))
    if result >= 0:
        pwned(name)
