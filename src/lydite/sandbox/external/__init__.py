"""Back ends made of tools that others wrote (bubblewrap, nsjail, gVisor, OCI runtimes, engines), or of none."""

from __future__ import annotations

import sys

from lydite.errors import InputError, UnavailableError
from lydite.sandbox.interpreter import Environment
from lydite.sandbox.result import Backend, Job, Limits, Status

IMAGES = ("podman", "docker")
TRIAL = Limits(timeout=30.0)


def external(
    kind: str,
    image: str | None,
    environment: Environment | None,
    *,
    workers: int,
    network: str = "none",
    limits: Limits | None = None,
) -> Backend:
    """A back end that has run a trivial program.

    Args:
        kind: ``bwrap``, ``nsjail``, ``runsc``, ``runc``, ``crun``, ``podman``, ``docker`` or ``unsafe``.
        image: of a container engine, present on this machine; nothing is fetched.
        environment: None only for ``unsafe``, which then runs the interpreter below this one.
        limits: unused; each job brings its own.

    Raises:
        InputError: an option that this back end cannot honour.
        UnavailableError: it does not work here; the text is the tool's.
    """
    from lydite.sandbox.external.unsafe import Unsafe

    if (kind in IMAGES) != (image is not None):
        remedy = f"{kind}:IMAGE, for example {kind}:python:3.12-slim" if kind in IMAGES else kind
        raise InputError(
            f"{kind} {'needs an image' if image is None else 'takes no image'}", field="backend", remedy=remedy
        )
    if kind == "unsafe":
        return Unsafe(environment, workers, network)
    if sys.platform != "linux" or environment is None:
        raise UnavailableError(f"{kind} needs Linux; elsewhere run Lydite in a Linux container, or use unsafe")
    backend = _tool(kind, image, environment, workers, network)
    try:
        result = backend.run(Job(code="print(6 * 7)", limits=TRIAL))[0]
        if result.status is not Status.OK or result.stdout != b"42\n":
            said = result.detail or result.stderr.decode(errors="replace").strip()[-500:]
            raise UnavailableError(f"{kind} does not work here: a trivial program ended {result.status}: {said}")
    except BaseException:
        backend.close()
        raise
    return backend


def _tool(kind: str, image: str | None, environment: Environment, workers: int, network: str) -> Backend:
    from lydite.sandbox.external import bwrap, engine, nsjail, oci, runsc
    from lydite.sandbox.external.backend import External

    if image is not None:
        return engine.container(kind, image, environment, workers, network)
    builders = {
        "bwrap": bwrap.command,
        "nsjail": nsjail.command,
        "runsc": runsc.command,
        "runc": oci.runc,
        "crun": oci.crun,
    }
    return External(kind, builders[kind], environment, workers, network)
