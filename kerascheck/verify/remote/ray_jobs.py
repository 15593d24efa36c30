"""``--on ray``: a job of a Ray cluster, through its Jobs interface.

Ray unpacks the upload on a node; the run removes it there when it ends. What Ray itself keeps of a job, it removes
when the job is deleted, which happens as soon as its result is there.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kerascheck.verify.remote.pack import Upload
from kerascheck.verify.remote.slurm import unpack
from kerascheck.verify.remote.talk import Conversation, Refused
from kerascheck.verify.remote.target import Target

_POLL_SECONDS = 1.0
_SECONDS_TO_END = 30.0
_SECONDS_TO_CLEAN = 15.0
_LOOKS_AFTER_DELETE = 3
_OVER = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
_ADDRESSES = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS")
MISSING = "--on ray needs Ray: pip install 'kerascheck[ray]'"


def run(target: Target, python: str, upload: Upload, job: bytes, conversation: Conversation) -> None:
    """Run ``job`` on the cluster and hear what it says; raises Refused."""
    try:
        from ray.job_submission import JobSubmissionClient
    except ImportError:
        raise Refused(MISSING) from None
    logging.getLogger("ray").setLevel(logging.WARNING)
    client = _connected(JobSubmissionClient, target)
    with tempfile.TemporaryDirectory(prefix="kerascheck-") as folder:
        # "nonce": Ray keeps one copy of equal uploads, and this one removes itself.
        unpack(upload, {**json.loads(job), "clean": True, "nonce": uuid.uuid4().hex}, Path(folder))
        name = client.submit_job(
            entrypoint=f"{shlex.quote(python)} -B code/start.py .",
            runtime_env={"working_dir": folder},
            entrypoint_num_gpus=target.gpus,
            entrypoint_num_cpus=target.cpus,
        )
    try:
        conversation.waiting(f"waiting for {name} of {target.label} to start")
        _follow(client, name, conversation)
    finally:
        _remove(client, name, patience=_SECONDS_TO_CLEAN if conversation.result is not None else 0.0)


def _connected(connect: Any, target: Target) -> Any:
    address = f"http://{target.host}:{target.port}" if target.host else None
    try:
        with _without_addresses() if address else _as_it_is():
            return connect(address)
    except Exception as problem:  # of requests, of Ray, or of the operating system
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
    """Ray lets its environment variables win over the address that it is given."""
    kept = {name: os.environ.pop(name) for name in _ADDRESSES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


def _follow(client: Any, name: str, conversation: Conversation) -> None:
    heard = 0
    while True:
        status = _status(client, name)
        text = client.get_job_logs(name)
        complete = text.rfind("\n") + 1
        for line in text[heard:complete].splitlines():
            conversation.hear(line)
        heard = max(heard, complete)
        if conversation.result is not None:
            return
        if status is None or status in _OVER:
            last = f": {conversation.other_lines[-1]}" if conversation.other_lines else ""
            raise Refused(f"the job ended without a result ({status or 'deleted'}){last}")
        conversation.pause(_POLL_SECONDS)


def _remove(client: Any, name: str, patience: float) -> None:
    """End the job if it still runs after ``patience`` seconds, in which it may clean up, and let Ray forget it."""
    deadline = time.monotonic() + patience + _SECONDS_TO_END
    try:
        while _status(client, name) not in (None, *_OVER) and time.monotonic() < deadline - _SECONDS_TO_END:
            time.sleep(_POLL_SECONDS)
        if _status(client, name) not in (None, *_OVER):
            client.stop_job(name)
        # Who watches a job for Ray may write it down once more after it was deleted.
        missing = 0
        while missing < _LOOKS_AFTER_DELETE and time.monotonic() < deadline:
            status = _status(client, name)
            missing = missing + 1 if status is None else 0
            if status in _OVER:
                client.delete_job(name)
            time.sleep(_POLL_SECONDS)
    except Exception:  # of Ray or of requests: the cluster is gone, and the job with it
        pass


def _status(client: Any, name: str) -> str | None:
    """Of a job, in Ray's words; None if Ray knows of none."""
    try:
        return str(client.get_job_status(name).value)
    except RuntimeError:
        return None
