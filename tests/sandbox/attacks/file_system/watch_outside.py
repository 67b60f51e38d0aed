"""Watch the grader's folders: inotify and fanotify tell the names that are made and used there.

Shows: PWNED on stdout.
"""

from kit import libc, pwned, syscall, told

watch = libc.inotify_init()
for path in (b"@VICTIM@/grader", b"@VICTIM@/home/.ssh", b"@VICTIM@/grader/tests.json"):
    if watch >= 0 and libc.inotify_add_watch(watch, path, 0xFFF) >= 0:
        pwned("inotify", path)
group = syscall("fanotify_init", 0x200, 0)  # FAN_REPORT_FID: open to everybody since Linux 5.13
print("fanotify:", told(group))
if group >= 0 and syscall("fanotify_mark", group, 1, 0x3B, -100, b"@VICTIM@/grader") >= 0:
    pwned("fanotify")
