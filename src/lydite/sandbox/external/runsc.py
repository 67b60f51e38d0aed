"""gVisor (runsc): the job's system calls are answered by a kernel of its own in user space.

Covered by it: everything that bwrap covers, and the host's kernel: a job reaches little of it. Not covered by it, and
added by us: limits. Its processes are no processes of this machine, so memory is what its kernel keeps for them in a
memory file, processor time is the whole sandbox's (both less what was used before the program began), and processes are
counted inside. It lets no descriptors through: a command of a session has a box of its own, and what it leaves running
ends with it.
"""

from __future__ import annotations

import os
import secrets

from lydite.errors import UnavailableError
from lydite.sandbox.external.box import Box, Command, find
from lydite.sandbox.external.host import apart
from lydite.sandbox.external.oci import bundle, config


def command(box: Box) -> Command:
    """The box of gVisor."""
    tool = find("runsc")
    if tool is None:
        raise UnavailableError("runsc is not installed (Debian: apt install runsc, newer ones: gvisor.dev)")
    key = f"{box.place.key}-{secrets.token_hex(3)}"
    start = [tool, "--root", f"{box.state}/runsc", "--network=none", "--host-uds=open", "--ignore-cgroups"]
    start += ["--log", box.place.under("log")]
    settings = config(box, None)
    if box.uid is None:
        start.append("--rootless")
        settings["linux"] = {"namespaces": [kind for kind in settings["linux"]["namespaces"] if kind["type"] != "user"]}
    return Command(
        argv=apart([*start, "run", "--bundle", bundle(box, settings), key], box),
        env={"PATH": os.defpath},
        undo=[*start, "delete", "--force", key],
        passes=False,
        inside=False,
        per_user=False,
        filtered=False,
        setup_s=90.0,
    )
