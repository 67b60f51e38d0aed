"""The supervisor's side of the keeper: start it, ask it for zygotes, end it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from typing import Any

from lydite.errors import UnavailableError
from lydite.sandbox.interpreter import Environment
from lydite.sandbox.jail import wire

_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from jail import keeper; keeper.main(sys.argv[2:])"
_HERE = os.path.dirname(os.path.abspath(__file__))
START_S = 60.0  # a keeper imports what jobs use; on a loaded machine that takes a while
OVERHEAD = 24 << 20  # bytes of a zygote that its control group is charged for, above the job's own


class Keeper:
    """One keeper process. Thread-safe.

    Raises:
        UnavailableError: this back end does not work here; the text says what is missing.
    """

    def __init__(
        self, environment: Environment, *, namespaces: bool, cgroup: bool, network: str, helper: str | None = None
    ) -> None:
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        plan = {
            "namespaces": namespaces,
            "cgroup": cgroup,
            "network": network,
            "python": environment.python,
            "read_only": list(environment.read_only),
            "masked": list(environment.masked),
            "packages": list(environment.packages),
            "overlays": list(environment.overlays),
            "imports": list(environment.imports),
            "modules": [list(pair) for pair in environment.modules],
            "temp": tempfile.gettempdir(),
            "overhead": OVERHEAD,
            "helper": helper,
            "debug": os.environ.get("LYDITE_SANDBOX_DEBUG", ""),
        }
        with theirs:
            try:
                # subprocess uses vfork here: the memory of this process, a trainer's perhaps, is never copied.
                self._process = subprocess.Popen(  # noqa: S603
                    [environment.python, "-S", "-s", "-P", "-c", _BOOT, _HERE, str(theirs.fileno()), str(os.getpid())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise UnavailableError(
                    f"the sandbox's interpreter {environment.python} does not start: {error}"
                ) from None
        try:
            ours.settimeout(START_S)
            wire.send_plain(ours, plan)
            self._answer()
        except BaseException:
            self.close()
            raise

    def spawn(self, kind: str, plan: Mapping[str, Any]) -> tuple[int, int, socket.socket]:
        """A zygote of this kind (``worker``, ``session``). Returns its number, the uid of its jobs, our end of its
        socket.

        Raises:
            UnavailableError: it could not be set up; the text says why.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, self._lock:
            try:
                message = json.dumps({"do": "spawn", "kind": kind, "plan": dict(plan)}).encode()
                socket.send_fds(self._control, [message], [theirs.fileno()])
                answer = self._answer()
            except OSError as error:
                ours.close()
                raise UnavailableError(f"the sandbox's keeper is gone ({error})") from None
            except UnavailableError:
                ours.close()
                raise
            except BaseException:
                ours.close()
                self._control.close()  # nobody has read its answer; the next request starts another keeper
                raise
        return answer["number"], answer["uid"], ours

    def end(self, number: int) -> int:
        """Kill a zygote and all below it; returns when that and what it had is gone.

        Returns: how many processes of it the kernel had killed, in its time, at its memory limit.
        """
        with contextlib.suppress(UnavailableError, OSError), self._lock:
            try:
                self._control.send(json.dumps({"do": "end", "number": number}).encode())
                return int(self._answer()["memory_kills"])
            except (UnavailableError, OSError):
                raise
            except BaseException:
                self._control.close()
                raise
        return 0

    def _answer(self) -> Any:
        try:
            data = self._control.recv(65536)
        except TimeoutError:
            raise UnavailableError(f"the sandbox's keeper did not answer within {START_S:.0f} s") from None
        except OSError as error:
            raise UnavailableError(f"the sandbox's keeper is gone ({error})") from None
        if not data:
            raise UnavailableError("the sandbox's keeper is gone")
        answer = json.loads(data)
        if "error" in answer:
            raise UnavailableError(answer["error"])
        return answer

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """End everything: every job, every zygote, and the keeper, which removes what they had. Idempotent."""
        self._control.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """After a fork, in the child: give up our copies of the descriptors without ending anything."""
        self._control.close()
        self._process.returncode = 0
