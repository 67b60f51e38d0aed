"""Which back ends work here, and which one a sandbox gets."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from lydite.errors import InputError, LyditeError, UnavailableError
from lydite.sandbox.interpreter import SWITCH, environment, reachable, with_modules
from lydite.sandbox.result import Backend, Limits

NATIVE = ("namespaces", "namespaces-nocgroup", "landlock")
EXTERNAL = ("bwrap", "nsjail", "runsc", "runc", "crun", "podman", "docker")
UNSAFE = "unsafe"


class Found(NamedTuple):
    """Whether a back end works here; ``reason`` says why not."""

    name: str
    available: bool
    reason: str


def make(
    name: str,
    *,
    workers: int,
    preload: str | Sequence[str],
    packages: Sequence[str],
    network: str,
    python: str | None,
    limits: Limits,
    modules: Mapping[str, str] | None = None,
    overlays: Sequence[str] = (),
) -> Backend:
    """A back end that has shown that it works.

    Raises:
        InputError, UnavailableError: see :class:`~lydite.sandbox.Sandbox`.
    """
    known = ("auto", *NATIVE, *EXTERNAL, UNSAFE)
    kind, _, image = name.partition(":")
    if kind not in known:
        near = get_close_matches(kind, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}"
        raise InputError(f"no back end {name!r}", field="backend", remedy=hint)

    def native(wanted: str) -> Backend:
        _supported()
        from lydite.sandbox.jail import landlock
        from lydite.sandbox.native import Native

        env = with_modules(environment(preload, packages, python, overlays), modules or {})
        if wanted == "landlock":
            if network != "none":
                raise InputError(
                    "the landlock back end has no network of its own", field="network", remedy="use namespaces"
                )
            if (abi := landlock.abi()) < 3:
                raise UnavailableError(f"Landlock 3 (Linux 6.2) is needed, this kernel has {abi or 'none'}")
            if os.getuid() == 0 and (reason := reachable(env, 65534, 65534)):
                raise UnavailableError(
                    f"jobs run as a spare user here, and {reason}: give python='/usr/bin/python3', or set {SWITCH}"
                )
        backend = Native(wanted, env, workers=workers, network=network, limits=limits)
        try:
            backend.start()
        except BaseException:
            backend.close()
            raise
        return backend

    if kind == "auto":
        _supported()
        reasons = []
        for candidate in NATIVE:
            try:
                return native(candidate)
            except UnavailableError as error:
                reasons.append(f"{candidate}: {error}")
        raise UnavailableError(
            "no sandbox works here; nothing was run. "
            + "; ".join(reasons)
            + ". `lydite sandbox doctor` says more; backend='unsafe' isolates nothing and must be asked for by name"
        )
    if kind in NATIVE:
        return native(kind)
    from lydite.sandbox.external import external

    if modules:
        raise InputError(f"{kind} has no modules of yours", field="modules", remedy=f"use {', '.join(NATIVE)}")
    env = environment(preload, packages, python, overlays) if sys.platform == "linux" or kind != UNSAFE else None
    try:
        return external(kind, image or None, env, workers=workers, network=network, limits=limits)
    except OSError as error:
        raise UnavailableError(f"{name} does not work here: {error}") from None


def _supported() -> None:
    """Raises UnavailableError where our own back ends cannot work at all."""
    from lydite.sandbox.jail import arch

    try:
        arch.machine()
    except OSError as error:
        raise UnavailableError(str(error)) from None
    if sys.platform != "linux":
        raise UnavailableError(
            f"the sandbox needs Linux; this is {sys.platform}. Run Lydite in a Linux container or virtual machine; "
            "maths and other checkers that run no code work everywhere"
        )


def probe() -> list[Found]:
    """Try every back end by running a program in it. Takes a second or two."""
    found = []
    for name in NATIVE + EXTERNAL + (UNSAFE,):
        try:
            backend = make(
                name, workers=1, preload="plain", packages=(), network="none", python=None, limits=Limits(timeout=20.0)
            )
        except LyditeError as error:
            found.append(Found(name, False, str(error)))
            continue
        try:
            from lydite.sandbox.result import Job, Status

            result = backend.run(Job(code="print(6 * 7)", limits=Limits(timeout=20.0)))[0]
            good = result.status == Status.OK and result.stdout == b"42\n"
            found.append(Found(name, good, "" if good else f"a trivial program ended {result.status}: {result.detail}"))
        finally:
            backend.close()
    return found
