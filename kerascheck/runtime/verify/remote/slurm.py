"""``--on slurm``: a job of a Slurm cluster, submitted from its login node by ``submitit``.

The nodes see the files of the login node: the project is unpacked below ``.kerascheck`` in its own folder, which the
job runs in, and what git ignores of the project is linked from where it lies. The job ends when that copy is gone.
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
"""Between questions to the scheduler, which serves many users."""
_SECONDS_TO_CLEAN = 20.0
_SQUEUE_SECONDS = 30.0
LEASE_SECONDS = 180.0
"""A job ends itself once this side has not touched its ``lease`` for so long: it was killed. Shared file systems show a
change within a minute."""
_NOT_A_REASON = ("srun:", "slurmstepd:", "submitit", "Traceback (", "The above exception", " ")
"""Beginnings of lines in the log of a job that say that something failed, but not what."""
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
"""How a job ended, for people, by its state (squeue(1), "JOB STATE CODES")."""
_GONE = "GONE"
"""State of a job that Slurm has forgotten: it ended more than ``MinJobAge`` ago."""
_WORDS = (
    ("DUE TO TIME LIMIT", "TIMEOUT"),
    ("Job has timed out", "TIMEOUT"),
    ("DUE TO PREEMPTION", "PREEMPTED"),
    ("DUE TO NODE FAILURE", "NODE_FAIL"),
    ("CANCELLED AT", "CANCELLED"),
)
"""Lines of slurmstepd and of submitit in the log of a job, and the state that they mean."""
_NEVER = frozenset({"BadConstraints", "PartitionNodeLimit", "PartitionTimeLimit"})
"""Reasons for which a job waits until somebody changes it or the partition (squeue(1), "JOB REASON CODES")."""
MISSING = "--on slurm needs submitit: pip install 'kerascheck[slurm]'"


def run(
    target: Target, python: str, upload: Upload, job: Job, conversation: Conversation, cluster: str = "slurm"
) -> None:
    """Run ``job`` on a node and hear what it says; raises Refused. ``cluster``: of submitit, "local" in tests."""
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
        except Exception as problem:  # whatever sbatch has against it
            raise Refused(f"slurm does not take the job: {_last_line(problem)}") from None
        # Without accounting, submitit warns at each question.
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
    """Lay ``upload`` out in ``folder``, as the other side expects it."""
    with io.BytesIO() as archive:
        upload.write(archive, job)
        archive.seek(0)
        with tarfile.open(fileobj=archive, mode="r:gz") as opened:
            if hasattr(tarfile, "data_filter"):
                opened.extractall(folder, filter="data")
            else:
                opened.extractall(folder)


def parameters(target: Target, minutes: int, cluster: str) -> dict[str, Any]:
    """Of submitit, for the job."""
    asked: dict[str, Any] = {"name": "kerascheck", "timeout_min": minutes}
    if target.gpus is not None:
        asked["gpus_per_node"] = target.gpus
    if target.cpus is not None:
        asked["cpus_per_task"] = target.cpus
    if target.partition and cluster == "slurm":
        asked["slurm_partition"] = target.partition
    if cluster == "slurm":
        # submitit has Slurm send a signal 90 seconds before the limit, for jobs that save their state. It ends ours, and at
        # once where the limit is a minute. 0: none is sent.
        asked["slurm_signal_delay_s"] = 0
        # A job that starts again later finds nobody who waits for it.
        asked["slurm_additional_parameters"] = {"no-requeue": True}
    return asked


class _Scheduler:
    """What Slurm says of a job, asked seldom."""

    def __init__(self, submitted: Any, cluster: str, python: str = "python") -> None:
        """``submitted``: the job of submitit. ``cluster``: of submitit; only "slurm" knows ``squeue``."""
        self.job = submitted
        self._python = python
        self.state, self.reason = "", ""
        """In the words of Slurm; empty for unknown."""
        self._has_squeue = cluster == "slurm" and shutil.which("squeue") is not None
        self._next = 0.0

    def look(self, *, at_once: bool = False) -> None:
        """Ask for the state, unless it was asked a moment ago or is final."""
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
        """Whether the last look showed a final state."""
        return self.state in _ENDS or self.state == _GONE

    def is_over(self) -> bool:
        """Whether nothing more comes of the job."""
        if not self._has_squeue:
            return bool(self.job.done())
        # submitit writes the result, or what went wrong, when it leaves the node.
        return self.has_ended() or self.job.paths.result_pickle.exists()

    def why_waiting(self) -> str:
        """Why the job has not started, in the words of Slurm; empty if it has, or if Slurm does not say."""
        return self.reason if self.state == "PENDING" and self.reason != "None" else ""

    def how_it_ended(self, minutes: int, conversation: Conversation) -> str:
        """How a job without a result ended, for people, in one line."""
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
        """The state by the accounting; empty where Slurm keeps none."""
        command = ["sacct", "--noheader", "--parsable2", "--allocations", "--format=State", f"--jobs={self.job.job_id}"]
        try:
            text, code = deadline.output_of(command, _SQUEUE_SECONDS)
        except (OSError, deadline.DidNotAnswer):
            return ""
        state = (text.split() or [""])[0].rstrip("+")
        return state if code == 0 and state in _ENDS else ""


def _follow(scheduler: _Scheduler, messages: Path, conversation: Conversation, minutes: int) -> None:
    """Hear the job until its result is there or it has ended."""
    over, shown = False, ""
    try:
        with messages.open(encoding="utf-8") as stream:
            pending = ""
            while True:
                with suppress(OSError):  # a full disk, say: the next look may find it well again
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
            # Before it is cancelled here, which would be its state then.
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
