"""``--on slurm``: a job of a Slurm cluster, submitted from its login node by ``submitit``.

The nodes see the files of the login node: the project is unpacked below ``.kerascheck`` in its own folder, which the
job runs in, and what git ignores of the project is linked from where it lies. The job ends when that copy is gone.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from kerascheck.verify.remote.pack import Upload
from kerascheck.verify.remote.talk import Conversation, Refused
from kerascheck.verify.remote.target import Target

_POLL_SECONDS = 1.0
_SECONDS_TO_CLEAN = 20.0
MISSING = "--on slurm needs submitit: pip install 'kerascheck[slurm]'"


def run(
    target: Target, python: str, upload: Upload, job: bytes, conversation: Conversation, cluster: str = "slurm"
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
        unpack(upload, {**json.loads(job), "link_from": upload.root}, folder)
        messages = folder / "messages"
        messages.touch()
        try:
            executor = submitit.AutoExecutor(folder=folder / "log", cluster=cluster)
            executor.update_parameters(**parameters(target, json.loads(job)["minutes"], cluster))
            command = [os.path.expanduser(python), "-B", str(folder / "code" / "start.py"), str(folder), str(messages)]
            submitted = executor.submit(submitit.helpers.CommandFunction(command, verbose=False))
        except Exception as problem:  # whatever sbatch has against it
            raise Refused(f"slurm does not take the job: {_last_line(problem)}") from None
        conversation.waiting(f"waiting for job {submitted.job_id} of {target.label} to start")
        _follow(submitted, messages, conversation)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for empty in (base, base.parent):
            with suppress(OSError):  # another job is there, or evidence
                empty.rmdir()


def unpack(upload: Upload, job: dict[str, Any], folder: Path) -> None:
    """Lay ``upload`` out in ``folder``, as the other side expects it."""
    with io.BytesIO() as archive:
        upload.write(archive, json.dumps(job).encode())
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
    return asked


def _follow(submitted: Any, messages: Path, conversation: Conversation) -> None:
    """Hear the job until its result is there or it has ended."""
    done = False
    try:
        with messages.open(encoding="utf-8") as stream:
            pending = ""
            while True:
                ended = submitted.done()
                pending += stream.read()
                *lines, pending = pending.split("\n")
                for line in lines:
                    conversation.hear(line)
                if conversation.result is not None or ended:
                    break
                conversation.pause(_POLL_SECONDS)
        done = True
    finally:
        if not done or conversation.result is None:
            submitted.cancel(check=False)
        deadline = time.monotonic() + _SECONDS_TO_CLEAN
        while not submitted.done(force_check=True) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS / 2)
    if conversation.result is None:
        raise Refused(f"the job ended without a result ({submitted.state}){_complaint(submitted)}")


def _complaint(submitted: Any) -> str:
    lines = (submitted.stderr() or "").strip().splitlines()
    return f": {lines[-1].strip()}" if lines else ""


def _last_line(problem: Exception) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[-1]
