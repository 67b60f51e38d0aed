"""Whether models can be trained in episodes with tools, as ``lydite models check`` says; looked at once for each.

The look takes transformers, so it is a process of its own: ``python -m lydite.server.models.support FOLDER...``, which
prints ``{folder: why not}`` as JSON, empty where it can.
"""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from lydite.errors import StorageError
from lydite.ledger.files import replace
from lydite.policies.tiny import BUILT_IN
from lydite.server.home import Home
from lydite.server.models.catalogue import known_folder
from lydite.server.models.frames import Place
from lydite.server.models.process import environment

KNOWN = {**dict.fromkeys(BUILT_IN, ""), "smollm2": ""}
"""Why not, of models that are known by name. The tests look whether it is so."""
PENDING = "it is being looked at: ask again in a moment"
TIMEOUT = 300.0
_SEEN = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")
_log = logging.getLogger("lydite.server.models")


class Support:
    """What is known of the bases of models. Safe from threads; nothing here waits but ``wait``."""

    def __init__(self, home: Home) -> None:
        self._file = home.folder("models") / "support.json"
        self._lock = threading.Lock()
        self._kept = self._read()
        self._why = dict(self._kept)  # also what could not be found out, until the service ends
        self._looking = False  # one look at a time; what comes meanwhile is looked at when it is asked for again
        self._thread: threading.Thread | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._closed = False

    def why_not(self, places: Iterable[Place]) -> dict[str, str]:
        """By base: empty where episodes can be trained, else why not, or ``PENDING``."""
        bases = {place.base: key_of(place.base) for place in places}
        with self._lock:
            new = sorted(base for base, key in bases.items() if key not in self._why)
            if new and not self._closed and not self._looking:
                self._looking = True
                self._thread = threading.Thread(target=self._look, args=(new,), daemon=True)
                self._thread.start()
            return {base: self._why.get(key, PENDING) for base, key in bases.items()}

    def wait(self) -> None:
        """Until nothing is being looked at."""
        while (thread := self._thread) is not None and thread.is_alive():
            thread.join()

    def close(self) -> None:
        """Look no further."""
        with self._lock:
            self._closed = True
            if self._popen is not None:
                self._popen.kill()
        self.wait()

    def _look(self, bases: list[str]) -> None:
        command = [sys.executable, "-P", "-m", "lydite.server.models.support", *bases]
        try:
            found = kept = self._told(command)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            if not self._closed:
                _log.warning("models could not be looked at: %s", error)
            found, kept = dict.fromkeys(bases, "it could not be looked at; `lydite models check` says more"), {}
        with self._lock:
            self._why.update({key_of(base): why for base, why in found.items()})
            self._kept.update({key_of(base): why for base, why in kept.items()})
            self._looking = False
            with contextlib.suppress(StorageError):  # then it is looked at again the next time
                replace(self._file, json.dumps(self._kept).encode())

    def _told(self, command: list[str]) -> dict[str, str]:
        with self._lock:
            if self._closed:
                return {}
            self._popen = subprocess.Popen(  # noqa: S603
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
            )
        try:
            said, _ = self._popen.communicate(timeout=TIMEOUT)
        finally:
            self._popen.kill()
            self._popen.wait()
        found: dict[str, str] = json.loads(said)
        return found

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads(self._file.read_bytes())
            return {str(key): str(why) for key, why in known.items()}
        except (OSError, ValueError, AttributeError):
            return {}


def known_as(base: str) -> str | None:
    """The name of a model that is known by name, from its folder."""
    return next((name for name in KNOWN if (folder := known_folder(name)) is not None and str(folder) == base), None)


def key_of(base: str) -> str:
    """A name of a folder and of the files that decide: other files, another name."""
    marks = []
    for name in _SEEN:
        try:
            status = (Path(base) / name).stat()
            marks.append(f"{status.st_mtime_ns}.{status.st_size}")
        except OSError:
            marks.append("-")
    return f"{base} {' '.join(marks)}"


def main() -> None:
    from lydite.errors import LyditeError
    from lydite.training.trl.quiet import hush, require

    require()
    hush()
    from lydite.training.trl.model_check import check_model

    found = {}
    for base in sys.argv[1:]:
        try:
            check = check_model(f"hf:{base}")
            found[base] = "" if check.supports_rl else "; ".join(check.reasons)[:500]
        except LyditeError as error:
            found[base] = getattr(error, "message", str(error))[:500]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
