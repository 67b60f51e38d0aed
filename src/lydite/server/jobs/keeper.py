"""Looks after jobs: begins those that wait, notices how they end, stops those that shall stop."""

from __future__ import annotations

import logging
import signal
import subprocess
import time

from lydite.errors import InputError
from lydite.ledger import RunFolder
from lydite.ledger import State as RunState
from lydite.server.files import Files
from lydite.server.jobs import process, table
from lydite.server.jobs.desk import Desk
from lydite.server.jobs.outcome import last_words, metrics_csv, scrubbed, trained_tokens
from lydite.server.jobs.status import JobRow, Status
from lydite.server.jobs.store import JobFolder, Standing, State
from lydite.server.settings import Settings

GRACE = 20.0
"""Seconds from the first signal to the one that cannot be caught, where a job is cancelled."""
_AGAIN = 2.0
"""Seconds after which a job that is cancelled is told not to wait for its step."""
_log = logging.getLogger("lydite.server.jobs")


class Keeper:
    """Safe from threads: it holds the desk's lock while it looks at a job.

    Attributes:
        command: of a job's process, to which its folder is added.
        grace: seconds; see ``GRACE``.
    """

    def __init__(self, desk: Desk, settings: Settings) -> None:
        self.desk, self.settings = desk, settings
        self.command: tuple[str, ...] = ("-m", "lydite.server.jobs.child")
        self.grace = GRACE
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._urged: set[str] = set()

    def adopt(self) -> None:
        """At the beginning: jobs whose process is gone are settled; with ``resume_jobs`` they wait to go on."""
        with self.desk.lock:
            for row in table.active(self.desk.engine):
                folder = self.desk.folder(row.id)
                standing = folder.standing()
                if row.status is Status.QUEUED or process.alive(standing.pid, standing.began):
                    continue
                self._over(folder, standing, None, resume=self.settings.resume_jobs)

    def tick(self) -> None:
        """Look at every job that is not over."""
        running = 0
        rows = table.active(self.desk.engine)
        for row in rows:
            if row.status is not Status.QUEUED:
                running += self._safely(row.id)
        for folder in self._queue(rows):
            if running >= self.settings.jobs:
                return
            running += self.begin(folder)

    def queue(self) -> list[str]:
        """Ids of the jobs that wait, the next one first."""
        return [folder.id for folder in self._queue(table.active(self.desk.engine))]

    def _queue(self, rows: list[JobRow]) -> list[JobFolder]:
        waiting = [self.desk.folder(row.id) for row in rows if row.status is Status.QUEUED]
        return sorted(waiting, key=lambda folder: folder.standing().order)

    def _safely(self, job: str) -> bool:
        try:
            return self.look(self.desk.folder(job))
        except Exception:  # a folder that somebody took away, a full disk: the others go on
            _log.exception("looking after job %s", job)
            return True

    def begin(self, folder: JobFolder) -> bool:
        """Begin the process of a job that waits; whether it runs."""
        with self.desk.lock:
            standing = folder.standing()
            if standing.status is not Status.QUEUED:
                return False
            (folder.path / "state.json").unlink(missing_ok=True)
            launches = standing.launches + 1
            standing = self.desk.change(
                folder,
                standing,
                status=Status.VALIDATING,
                launches=launches,
                launched=time.time(),
                asked="",
                ooms=process.ooms(),
                error=None,
                error_code=None,
                error_param=None,
                finished=None,
            )
            try:
                child = process.launch([*self.command, str(folder.path)], self.desk.home.path, folder.path / "log.txt")
            except OSError as error:
                why = f"its process cannot be begun: {error.strerror}"
                self._failed(folder, standing, why, "unavailable")
                return False
            self._children[folder.id] = child
            self.desk.change(folder, standing, pid=child.pid, began=process.began(child.pid))
            return True

    def look(self, folder: JobFolder) -> bool:
        """Take in what a job said and did; whether its process is still there."""
        with self.desk.lock:
            standing, state = folder.standing(), folder.state()
            if standing.status not in (Status.VALIDATING, Status.RUNNING, Status.PAUSING):
                return False
            child = self._children.get(folder.id)
            if child is not None:
                code = process.ended(child)
                gone = code is not None
            else:
                code, gone = None, not process.alive(standing.pid, standing.began)
            if gone:
                self._children.pop(folder.id, None)
                self._urged.discard(folder.id)
                self._over(folder, standing, code)
                return False
            if state is not None and state.session == standing.launches:
                if standing.status is Status.VALIDATING and state.part not in ("loading", "validating"):
                    standing = self.desk.change(folder, standing, status=Status.RUNNING)
                self.desk.take_in(folder, state)
            self._press(folder, standing)
            return True

    def ask(self, folder: JobFolder, what: str) -> Standing:
        """Ask the process of a job to stop, for good or for now."""
        with self.desk.lock:
            standing = folder.standing()
            pid = standing.pid
            assert pid is not None
            if what == "cancel":
                standing = self.desk.change(folder, standing, "Cancelling", asked="cancel", asked_at=time.time())
                process.send(pid, signal.SIGTERM, group=True)
            else:
                message = "Pausing: the step under way ends, and a checkpoint is written"
                standing = self.desk.change(
                    folder, standing, message, status=Status.PAUSING, asked="pause", asked_at=time.time()
                )
                process.send(pid, signal.SIGTERM, group=False)
            return standing

    def _press(self, folder: JobFolder, standing: Standing) -> None:
        """A job that is cancelled does not take its time."""
        if standing.asked != "cancel" or standing.pid is None:
            return
        waited = time.time() - standing.asked_at
        if waited > self.grace:
            process.send(standing.pid, signal.SIGKILL, group=True)
        elif waited > _AGAIN and folder.id not in self._urged:
            self._urged.add(folder.id)
            process.send(standing.pid, signal.SIGTERM, group=False)

    def _over(self, folder: JobFolder, standing: Standing, code: int | None, *, resume: bool = False) -> None:
        """The process of a job is gone: what that means."""
        if code is None and standing.pid is not None:
            process.sweep(standing.pid, standing.began)
        state = folder.state()
        if state is not None and state.session != standing.launches:
            state = None  # of a session before
        if self._complete(folder) and (code in (None, 0) or (state is not None and state.end == "complete")):
            self._succeeded(folder, standing)
        elif standing.asked == "cancel":
            self.cancelled(folder, standing)
        elif standing.asked == "pause":
            self.desk.change(folder, standing, "Paused", status=Status.PAUSED, asked="", pid=None)
        elif resume:
            message = "The process was gone when the service began: the job goes on"
            self.desk.change(folder, standing, message, level="warn", status=Status.QUEUED, pid=None, order=time.time())
        elif state is not None and state.end == "failed":
            self._failed(folder, standing, state.error, state.code, state.param)
        else:
            self._failed(folder, standing, self._why(folder, standing, code, state), "killed")
        self.desk.done_with(folder)

    def _why(self, folder: JobFolder, standing: Standing, code: int | None, state: State | None) -> str:
        if state is not None and state.end == "interrupted":
            why = "stopped by a signal that the service did not send"
        elif code is None:
            why = "its process is gone and left no word: killed, or the machine went down"
        else:
            why = process.named(code)
        now = process.ooms()
        if code == -signal.SIGKILL and now is not None and standing.ooms is not None and now > standing.ooms:
            why += ", perhaps by the kernel for want of memory"
        words = last_words(folder, self.desk.home)
        return f"{why}; resume goes on from the last checkpoint" + (f". Last lines:\n{words}" if words else "")

    def _complete(self, folder: JobFolder) -> bool:
        try:
            return RunFolder.open(self.desk.home.runs / folder.id).info.state is RunState.COMPLETE
        except InputError:
            return False

    def _succeeded(self, folder: JobFolder, standing: Standing) -> None:
        run = self.desk.home.runs / folder.id
        files: tuple[str, ...] = standing.result_files
        try:
            with metrics_csv(run) as table_of_steps:
                kept = Files(self.desk.home, self.desk.engine).add(
                    table_of_steps, "step_metrics.csv", "fine-tune-results", limit=self.settings.upload_limit
                )
            files = (kept.id,)
        except Exception as error:  # the job is done all the same
            _log.exception("the table of metrics of job %s", folder.id)
            folder.append(f"The table of metrics was not kept: {type(error).__name__}", level="warn")
        self.desk.change(
            folder,
            standing,
            f"The job has successfully completed: run:{folder.id}",
            data={"fine_tuned_model": f"run:{folder.id}"},
            status=Status.SUCCEEDED,
            finished=time.time(),
            result_files=files,
            trained_tokens=trained_tokens(run),
            asked="",
            pid=None,
        )

    def cancelled(self, folder: JobFolder, standing: Standing) -> Standing:
        """A job that shall not run any more."""
        return self.desk.change(
            folder, standing, "Cancelled", status=Status.CANCELLED, finished=time.time(), asked="", pid=None
        )

    def _failed(self, folder: JobFolder, standing: Standing, error: str, code: str, param: str | None = None) -> None:
        told = scrubbed(error, self.desk.home)
        self.desk.change(
            folder,
            standing,
            f"The job failed: {told}",
            level="error",
            status=Status.FAILED,
            finished=time.time(),
            error=told,
            error_code=code or "job_error",
            error_param=param,
            asked="",
            pid=None,
        )
