"""Container engines: docker and podman, with an image that the user names and that is on the machine already.

Covered by them: what the engine isolates, with no network, no capability, a read-only root, and the engine's own system
call filter below ours. The image brings programs and packages; it needs a python3 for process 1. Not covered: an image
that holds secrets; a daemon on another machine (its containers cannot see our folders, and the first trial says so).
The engine's limits on memory and processes stand a little above the job's, which are counted as everywhere.
"""

from __future__ import annotations

import os
import resource
import secrets

from lydite.errors import InputError, UnavailableError
from lydite.sandbox.external.backend import External
from lydite.sandbox.external.box import HOSTNAME, WORKSPACE, Box, Command, find
from lydite.sandbox.external.oci import SLACK_MB
from lydite.sandbox.interpreter import Environment

_IMAGE = Environment(python="python3", path=(), read_only=(), masked=(), packages=(), imports=())
_KEPT = ("PATH", "HOME", "XDG_RUNTIME_DIR", "TMPDIR")
_KEPT_OF = ("DOCKER_", "CONTAINER_", "CONTAINERS_")


def container(kind: str, image: str, environment: Environment, workers: int, network: str) -> External:
    """A back end of this engine.

    Raises:
        InputError: packages of this machine were asked for; those of the image are what there is.
    """
    if environment.packages or environment.overlays:
        names = ", ".join([*sorted(name for _, name in environment.packages), *environment.overlays])
        remedy = f"install them in the image {image}"
        raise InputError(f"{kind} cannot show packages of this machine: {names}", field="packages", remedy=remedy)
    if image.startswith("-"):
        raise InputError(f"{image!r} is no image", field="backend")
    return External(f"{kind}:{image}", lambda box: _command(kind, image, box), _IMAGE, workers, network)


def _command(kind: str, image: str, box: Box) -> Command:
    tool = find(kind)
    if tool is None:
        raise UnavailableError(f"{kind} is not installed")
    root = os.geteuid() == 0
    key = f"{box.place.key}-{secrets.token_hex(3)}"
    argv = [tool, "run", "--rm", "--name", key, "--pull=never", "--network=none", "--read-only", "--cap-drop=all"]
    argv += ["--security-opt=no-new-privileges", f"--hostname={HOSTNAME}", f"--workdir={WORKSPACE}"]
    if root:
        argv.append(f"--user={box.uid}:{box.uid}")
    elif kind == "docker":
        argv.append(f"--user={os.getuid()}:{os.getgid()}")
    else:
        argv.append("--user=0:0")  # of a user namespace in which that is us
    if kind == "docker" or root or os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        argv += [f"--memory={box.limits.memory_mb + SLACK_MB}m", f"--pids-limit={box.limits.processes + 1}"]
    for name, wanted in (
        ("nofile", max(box.limits.descriptors, 1024)),
        ("nproc", 4096),
    ):  # the engine's defaults may be out of reach
        argv.append(f"--ulimit={name}={_allowed(name, wanted)}")
    if kind == "podman":
        argv.append("--read-only-tmpfs=false")
    for source, path in box.writable:
        argv += ["--volume", f"{source}:{path}:rw"]
    for source, path in box.late:
        argv += ["--volume", f"{source}:{path}:ro"]
    python, *rest = box.init
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_OF)}
    return Command(
        argv=[*argv, "--entrypoint", python, image, *rest],
        env=kept,
        undo=[tool, "rm", "--force", key],
        per_user=root or kind == "podman",
        setup_s=120.0,
    )


def _allowed(name: str, wanted: int) -> str:
    _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    return f"{value}:{value}"
