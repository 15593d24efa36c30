"""``--on slurm``: a job of a Slurm cluster, submitted from its login node by ``submitit``.

The nodes share the files of the login node. The project is unpacked below ``.kerascheck`` in its own folder, where the
job runs. Files that git ignores are linked from the original project. The job ends when that copy is deleted.
"""

from __future__ import annotations

import io
import logging
import os
import shutil
import tarfile
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from kerascheck.runtime.verify.remote.messages import Job
from kerascheck.runtime.verify.remote.pack import Upload
from kerascheck.runtime.verify.remote.talk import Conversation, Refused
from kerascheck.runtime.verify.remote.target import Target
from kerascheck.source import deadline

_POLL_SECONDS = 1.0
_LOOK_SECONDS = 5.0
"""Seconds between queries to the scheduler, which serves many users."""
_SECONDS_TO_CLEAN = 20.0
_SQUEUE_SECONDS = 30.0
LEASE_SECONDS = 180.0
"""Seconds after which a job ends itself if this side no longer touches its ``lease``, because it was killed.

Shared file systems show a change within a minute.
"""
_NOT_A_REASON = ("srun:", "slurmstepd:", "submitit", "Traceback (", "The above exception", " ")
"""Prefixes of log lines that report a failure without its cause."""
_ENDS = {
    "TIMEOUT": "the job reached its time limit of {minutes} min: ask for more, as in slurm,minutes={more}",
    "DEADLINE": "the job reached its deadline",
    "CANCELLED": "the job was cancelled",
    "OUT_OF_MEMORY": "the job ran out of memory",
    "NODE_FAIL": "the node of the job failed",
    "BOOT_FAIL": "the node of the job failed",
    "PREEMPTED": "the job was preempted by another one",
    "REVOKED": "the job was revoked by its cluster",
    "FAILED": "the job ended without a result",
    "COMPLETED": "the job ended without a result",
}
"""Description of a job's end by its state, for display (squeue(1), "JOB STATE CODES")."""
_GONE = "GONE"
"""State of a job that Slurm no longer lists: it ended more than ``MinJobAge`` ago."""
_WORDS = (
    ("DUE TO TIME LIMIT", "TIMEOUT"),
    ("Job has timed out", "TIMEOUT"),
    ("DUE TO PREEMPTION", "PREEMPTED"),
    ("DUE TO NODE FAILURE", "NODE_FAIL"),
    ("CANCELLED AT", "CANCELLED"),
)
"""Lines of slurmstepd and of submitit in a job's log, with the state that they indicate."""
_NEVER = frozenset({"BadConstraints", "PartitionNodeLimit", "PartitionTimeLimit"})
"""Reasons for waiting that only a change to the job or the partition resolves (squeue(1), "JOB REASON CODES")."""
MISSING = "--on slurm needs submitit: pip install 'kerascheck[slurm]'"


def run(
    target: Target, python: str, upload: Upload, job: Job, conversation: Conversation, cluster: str = "slurm"
) -> None:
    """Run ``job`` on a node and process its messages; raises Refused. ``cluster``: of submitit, "local" in tests."""
    try:
        import submitit
    except ImportError:
        raise Refused(MISSING) from None
    base = Path(upload.root, ".kerascheck", "slurm")
    base.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="job-", dir=base))
    try:
        unpack(upload, replace(job, link_from=upload.root, lease=LEASE_SECONDS), folder)
        for name in ("messages", "lease"):
            (folder / name).touch()
        try:
            executor = submitit.AutoExecutor(folder=folder / "log", cluster=cluster)
            executor.update_parameters(**parameters(target, job.minutes, cluster))
            submitted = executor.submit(submitit.helpers.CommandFunction(_command(python, folder), verbose=False))
        except Exception as problem:  # any error of sbatch
            raise Refused(f"slurm does not take the job: {_last_line(problem)}") from None
        # Without accounting, submitit warns at each query.
        logging.getLogger("submitit").setLevel(logging.ERROR)
        conversation.waiting(f"waiting for job {submitted.job_id} of {target.label} to start")
        scheduler = _Scheduler(submitted, cluster, python)
        _follow(scheduler, folder / "messages", conversation, job.minutes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for empty in (base, base.parent):
            with suppress(OSError):  # another job is there, or evidence
                empty.rmdir()


def _command(python: str, folder: Path) -> list[str]:
    return [
        os.path.expanduser(python), "-B", str(folder / "code" / "start.py"), str(folder), str(folder / "messages")
    ]  # fmt: skip


def unpack(upload: Upload, job: Job, folder: Path) -> None:
    """Unpack ``upload`` in ``folder`` in the layout that the remote side expects."""
    with io.BytesIO() as archive:
        upload.write(archive, job)
        archive.seek(0)
        with tarfile.open(fileobj=archive, mode="r:gz") as opened:
            if hasattr(tarfile, "data_filter"):
                opened.extractall(folder, filter="data")
            else:
                opened.extractall(folder)


def parameters(target: Target, minutes: int, cluster: str) -> dict[str, Any]:
    """Parameters of the job for submitit."""
    asked: dict[str, Any] = {"name": "kerascheck", "timeout_min": minutes}
    if target.gpus is not None:
        asked["gpus_per_node"] = target.gpus
    if target.cpus is not None:
        asked["cpus_per_task"] = target.cpus
    if target.partition and cluster == "slurm":
        asked["slurm_partition"] = target.partition
    if cluster == "slurm":
        # submitit lets Slurm send a signal 90 seconds before the limit, for jobs that save their state. It would end
        # this job, immediately if the limit is a minute. 0 disables it.
        asked["slurm_signal_delay_s"] = 0
        # Nobody waits for a job that is requeued.
        asked["slurm_additional_parameters"] = {"no-requeue": True}
    return asked


class _Scheduler:
    """Rarely refreshed state of a job in Slurm."""

    def __init__(self, submitted: Any, cluster: str, python: str = "python") -> None:
        """``submitted``: the job of submitit. ``cluster``: of submitit; only "slurm" supports ``squeue``."""
        self.job = submitted
        self._python = python
        self.state, self.reason = "", ""
        """State in Slurm's words; empty if unknown."""
        self._has_squeue = cluster == "slurm" and shutil.which("squeue") is not None
        self._next = 0.0

    def look(self, *, at_once: bool = False) -> None:
        """Query the state, unless it is recent or final."""
        if not self._has_squeue or self.has_ended() or (time.monotonic() < self._next and not at_once):
            return
        command = ["squeue", "--noheader", "--states=all", f"--jobs={self.job.job_id}", "--format=%T|%r"]
        try:
            text, code = deadline.output_of(command, _SQUEUE_SECONDS)
        except (OSError, deadline.DidNotAnswer):
            text, code = "", 1
        self._next = time.monotonic() + _LOOK_SECONDS
        line = next((line for line in text.splitlines() if "|" in line), None)
        if line is not None and code == 0:
            state, _, reason = line.strip().partition("|")
            self.state, self.reason = state.split()[0].rstrip("+") if state else "", reason.strip()
        elif self.state and ("Invalid job id" in text or (code == 0 and not text.strip())):
            self.state, self.reason = _GONE, ""

    def has_ended(self) -> bool:
        """Whether the last query showed a final state."""
        return self.state in _ENDS or self.state == _GONE

    def is_over(self) -> bool:
        """Whether the job will produce no more output."""
        if not self._has_squeue:
            return bool(self.job.done())
        # submitit writes the result or the error when it leaves the node.
        return self.has_ended() or self.job.paths.result_pickle.exists()

    def why_waiting(self) -> str:
        """Reason why the job has not started, in Slurm's words; empty if it has started, or if unknown."""
        return self.reason if self.state == "PENDING" and self.reason != "None" else ""

    def how_it_ended(self, minutes: int, conversation: Conversation) -> str:
        """One line that describes the end of a job without a result, for display."""
        self.look(at_once=True)
        log = (self.job.stderr() or "").strip()
        state = self.state
        if state in ("", _GONE, "COMPLETING", "RUNNING", "PENDING"):
            state = self._accounted()
        if state in ("FAILED", "COMPLETED") or state not in _ENDS:
            state = next((meant for word, meant in _WORDS if word in log), state)
        if state in _ENDS and state not in ("FAILED", "COMPLETED"):
            return _ENDS[state].format(minutes=minutes, more=2 * minutes)
        lines = [line.strip() for line in log.splitlines() if line.strip() and not line.startswith(_NOT_A_REASON)]
        last = f": {lines[-1]}" if lines else ""
        if not conversation.started:
            return f"{self._python} could not be started on the node (name another one with --python){last}"
        if conversation.ended:
            return conversation.ended
        return f"{_ENDS['FAILED']}{f' ({state})' if state in _ENDS else ''}{last}"

    def _accounted(self) -> str:
        """State according to Slurm's accounting; empty if accounting is off."""
        command = ["sacct", "--noheader", "--parsable2", "--allocations", "--format=State", f"--jobs={self.job.job_id}"]
        try:
            text, code = deadline.output_of(command, _SQUEUE_SECONDS)
        except (OSError, deadline.DidNotAnswer):
            return ""
        state = (text.split() or [""])[0].rstrip("+")
        return state if code == 0 and state in _ENDS else ""


def _follow(scheduler: _Scheduler, messages: Path, conversation: Conversation, minutes: int) -> None:
    """Process the job's messages until its result arrives or it ends."""
    over, shown = False, ""
    try:
        with messages.open(encoding="utf-8") as stream:
            pending = ""
            while True:
                with suppress(OSError):  # for example a full disk, which may be fine at the next query
                    os.utime(messages.with_name("lease"))
                scheduler.look()
                over = scheduler.is_over()
                pending += stream.read()
                *lines, pending = pending.split("\n")
                for line in lines:
                    conversation.hear(line)
                if conversation.result is not None or over:
                    break
                reason = scheduler.why_waiting()
                if reason in _NEVER:
                    raise Refused(f"the job cannot start: Slurm says {reason}")
                if reason != shown:
                    shown = reason
                    name = f"job {scheduler.job.job_id}"
                    if reason:
                        conversation.waiting(f"{name} waits: Slurm says {reason}", logged=True)
                    elif scheduler.state:
                        conversation.waiting(f"{name} is {scheduler.state.lower()}")
                conversation.pause(_POLL_SECONDS)
        if conversation.result is None:
            # Query before cancelling, which would change the state.
            raise Refused(scheduler.how_it_ended(minutes, conversation))
    finally:
        if not over and conversation.result is None:
            scheduler.job.cancel(check=False)
        ends = time.monotonic() + _SECONDS_TO_CLEAN
        while not scheduler.is_over() and time.monotonic() < ends:
            time.sleep(_POLL_SECONDS / 2)
            scheduler.look()


def _last_line(problem: Exception) -> str:
    line = (str(problem).strip().splitlines() or [type(problem).__name__])[-1]
    return line.removeprefix("sbatch: error: ").removeprefix("Batch job submission failed: ")
