"""``--on ray``: a job of a Ray cluster, through Ray's Jobs API.

Ray unpacks the upload on a node. The run removes it there at its end, and a second process does so if the run is
killed. Ray removes its own copy with the job, which is deleted as soon as its result arrives.
"""

from __future__ import annotations

import logging
import os
import shlex
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kerascheck.runtime.verify.remote.messages import MARK, Ended, Job, encode
from kerascheck.runtime.verify.remote.pack import Upload
from kerascheck.runtime.verify.remote.slurm import unpack
from kerascheck.runtime.verify.remote.talk import Conversation, Refused
from kerascheck.runtime.verify.remote.target import Target

_POLL_SECONDS = 1.0
_SECONDS_TO_END = 30.0
_SECONDS_TO_CLEAN = 15.0
_SECONDS_TO_START = 10.0
_LOOKS_AFTER_DELETE = 3
_SECONDS_TO_GROW = 300.0
"""Seconds to wait while no node is large enough, because an autoscaler may add one within minutes."""
_ENTRYPOINT_LINE = "Running entrypoint for job"
"""Part of the first line that Ray writes to a job's log."""
_OVER = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
_ADDRESSES = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS")
MISSING = "--on ray needs Ray: pip install 'kerascheck[ray]'"


def run(target: Target, python: str, upload: Upload, job: Job, conversation: Conversation) -> None:
    """Run ``job`` on the cluster and process its messages; raises Refused."""
    try:
        from ray.job_submission import JobSubmissionClient
    except ImportError:
        raise Refused(MISSING) from None
    client = _connected(JobSubmissionClient, target)
    for name in ("ray", "ray.dashboard.modules.dashboard_sdk", "ray.dashboard.modules.job.sdk"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # Choose the name here, because an interrupt may arrive before Ray answers.
    name = f"kerascheck_{uuid.uuid4().hex[:16]}"
    try:
        _submit(client, name, target, python, upload, job)
        conversation.waiting(f"waiting for {name} of {target.label} to start")
        try:
            _follow(client, name, conversation, target, python)
        except OSError as problem:  # includes the errors of requests
            raise Refused(f"the connection to the Ray cluster broke: {type(problem).__name__}") from None
    finally:
        patience = _SECONDS_TO_CLEAN if conversation.result is not None else 0.0
        if not _is_removed(client, name, target, patience):
            conversation.note(f"Ray stops no job that waits: {name} ends itself 15 minutes after its submission")


def _submit(client: Any, name: str, target: Target, python: str, upload: Upload, job: Job) -> None:
    with tempfile.TemporaryDirectory(prefix="kerascheck-") as folder:
        # "nonce": Ray shares one copy of equal uploads, and this one removes itself.
        unpack(upload, replace(job, clean=True, nonce=uuid.uuid4().hex), Path(folder))
        try:
            client.submit_job(
                submission_id=name,
                entrypoint=_entrypoint(python),
                runtime_env={"working_dir": folder},
                entrypoint_num_gpus=target.gpus,
                entrypoint_num_cpus=target.cpus,
            )
        except Exception as problem:  # raised by Ray, requests or the operating system
            raise Refused(f"Ray does not take the job: {_last_line(problem)}") from None


def _entrypoint(python: str) -> str:
    """The shell command of the job. It also removes the upload if ``python`` does not start.

    To stop a job, Ray also sends SIGTERM to the shell, which would skip the removal: ``trap`` lets the shell continue.
    A status of 137 means SIGKILL.
    """
    clean = "test -f job.json && test -f code/start.py && rm -rf code project job.json"
    killed = shlex.quote(encode(Ended("the run was killed (out of memory?)")))
    return (
        f"trap : TERM; {shlex.quote(python)} -B code/start.py .; status=$?; "
        f"{clean}; test $status -eq 137 && echo {killed}; exit $status"
    )


def _connected(connect: Any, target: Target) -> Any:
    address = f"http://{target.host}:{target.port}" if target.host else None
    try:
        with _without_addresses() if address else _as_it_is():
            return connect(address)
    except Exception as problem:  # raised by requests, Ray or the operating system
        hint = (
            " (the port is that of the dashboard, 8265 by default)"
            if address
            else "; 'ray start --head' starts one here"
        )
        raise Refused(
            f"no Ray cluster answers{f' at {address}' if address else ''}{hint}: {type(problem).__name__}"
        ) from None


@contextmanager
def _without_addresses() -> Iterator[None]:
    """Hide Ray's environment variables, which override the given address."""
    kept = {name: os.environ.pop(name) for name in _ADDRESSES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


def _follow(client: Any, name: str, conversation: Conversation, target: Target, python: str) -> None:
    heard, too_small, since = 0, None, time.monotonic()
    while True:
        status = _status(client, name)
        if status == "PENDING" and too_small is None:
            too_small = _why_too_small(client, target)
            if too_small:
                conversation.waiting(f"{too_small}: waiting for the cluster to grow", logged=True)
        if status == "PENDING" and too_small and time.monotonic() - since > _SECONDS_TO_GROW:
            raise Refused(f"the job cannot start: {too_small}")
        text = client.get_job_logs(name)
        complete = text.rfind("\n") + 1
        for line in text[heard:complete].splitlines():
            if _ENTRYPOINT_LINE not in line and "job_manager.py" not in line:
                conversation.hear(line)
        heard = max(heard, complete)
        if conversation.result is not None:
            return
        if status is None or status in _OVER:
            raise Refused(_how_it_ended(status, conversation, python, _message(client, name)))
        conversation.pause(_POLL_SECONDS)


def _how_it_ended(status: str | None, conversation: Conversation, python: str, message: str) -> str:
    """One line that describes the end of a job without a result, for display; ``message`` is Ray's own."""
    said = conversation.other_lines[-1:]
    if status in (None, "STOPPED"):
        return f"the job was {'stopped' if status else 'deleted'} on the cluster"
    if conversation.ended:
        return conversation.ended
    # Ray's message about a failed command ends with the last log lines, which were already received.
    ran = _ENTRYPOINT_LINE in message
    line = message.strip().splitlines()[-1:]
    last = "".join(f": {each}" for each in said or ([] if ran or MARK in message else line))
    if (said or ran) and not conversation.started:
        return f"{python} could not be started on the node (name another one with --python){last}"
    return f"the job ended without a result ({status}){last}"


def _is_removed(client: Any, name: str, target: Target, patience: float) -> bool:
    """Let the job clean up for ``patience`` seconds, then stop it and delete it from Ray.

    Returns False for a job that waits for a node. Ray stops such a job only once it starts, and drops it after 15
    minutes
    (``RAY_JOB_START_TIMEOUT_SECONDS``).
    """
    try:
        # A node may be unpacking the upload, and only a started job removes that.
        starts = time.monotonic() + (0.0 if _why_too_small(client, target) else _SECONDS_TO_START)
        while _status(client, name) == "PENDING" and time.monotonic() < starts:
            time.sleep(_POLL_SECONDS)
        deadline = time.monotonic() + patience
        while _status(client, name) not in (None, *_OVER) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        if _status(client, name) not in (None, *_OVER):
            client.stop_job(name)
        return _is_forgotten(client, name)
    except Exception:  # raised by Ray or requests: the cluster is gone, and the job with it
        return True


def _is_forgotten(client: Any, name: str) -> bool:
    """Delete a job that is ending; returns False if it waits for a node instead."""
    # Ray's job supervisor may record a job once more after it was deleted.
    missing = waiting = 0
    deadline = time.monotonic() + _SECONDS_TO_END
    while missing < _LOOKS_AFTER_DELETE and waiting < _LOOKS_AFTER_DELETE and time.monotonic() < deadline:
        status = _status(client, name)
        missing = missing + 1 if status is None else 0
        waiting = waiting + 1 if status == "PENDING" else 0
        if status in _OVER:
            client.delete_job(name)
        time.sleep(_POLL_SECONDS)
    return waiting == 0


def _why_too_small(client: Any, target: Target) -> str:
    """Reason why no node of the cluster can run the job, for display; empty if one can, or if unknown."""
    try:
        from ray.util.state import list_nodes

        nodes = [
            node.resources_total or {}
            for node in list_nodes(address=client.get_address(), limit=10_000)
            if node.state == "ALIVE"
        ]
    except Exception:  # an old Ray, or one without that API
        return ""
    asked = {name: number for name, number in (("GPU", target.gpus), ("CPU", target.cpus)) if number}
    if not nodes or any(all(node.get(name, 0) >= number for name, number in asked.items()) for node in nodes):
        return ""
    wanted = " and ".join(f"{number} {name}{'s' * (number != 1)}" for name, number in asked.items())
    return f"no node of the cluster has {wanted}"


def _message(client: Any, name: str) -> str:
    """Ray's message about the end of a job; empty if there is none."""
    try:
        return str(client.get_job_info(name).message or "")
    except (RuntimeError, AttributeError):
        return ""


def _last_line(problem: Exception) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[-1]


def _status(client: Any, name: str) -> str | None:
    """Status of a job in Ray's words; None if Ray does not know the job."""
    try:
        return str(client.get_job_status(name).value)
    except RuntimeError:
        return None
