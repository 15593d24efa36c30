"""``--on ssh://``: one connection of the user's own ``ssh``, with its settings, keys and prompts.

The connection is the lease of the run. Once it closes for any reason, the remote side ends the run and removes the
upload.
"""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO

from kerascheck.runtime.verify.remote.messages import Job
from kerascheck.runtime.verify.remote.pack import Upload
from kerascheck.runtime.verify.remote.talk import Conversation, Refused
from kerascheck.runtime.verify.remote.target import Target

_HOST = Path(__file__).with_name("ssh_host.py")
_START = "import sys,json;exec(json.loads(sys.stdin.buffer.readline()))"
_SECONDS_TO_CLEAN = 40.0
_NO_CONNECTION = 255
_BROKEN = re.compile(r"Broken pipe|closed by remote host|not responding|packet_write_wait|client_loop")
"""Messages of OpenSSH about a lost connection: "Connection to HOST closed by remote host."."""
_NOTICE = re.compile(r"Warning: Permanently added|\*\* ")
"""Harmless notices of OpenSSH: about a new host, and about its key exchange ("** WARNING: ...")."""


def run(target: Target, python: str, upload: Upload, job: Job, conversation: Conversation) -> None:
    """Run ``job`` on the remote machine and process its messages; raises Refused."""
    with tempfile.TemporaryFile() as archive, tempfile.TemporaryFile() as complaints:
        upload.write(archive, replace(job, clean=True, lease="stdin"))
        size = archive.tell()
        archive.seek(0)
        try:
            process = subprocess.Popen(
                command(target, python),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                # Ctrl-C is for kerascheck, which then closes the connection and waits for the cleanup of the remote
                # side.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
            )
        except FileNotFoundError:
            raise Refused("there is no ssh on this machine: install OpenSSH's client") from None
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        with process:
            try:
                _send(process.stdin, archive, size)
                for line in process.stdout:
                    conversation.hear(line.decode("utf-8", "replace"))
            finally:
                _let_go(process, process.stdin)
        if conversation.result is None:
            raise Refused(_why_nothing(target, python, process.returncode, complaints, conversation))


def command(target: Target, python: str) -> list[str]:
    """The ssh command that starts ``ssh_host.py`` on the remote machine."""
    there = python if python.startswith("~/") and shlex.quote(python[2:]) == python[2:] else shlex.quote(python)
    port = [] if target.port is None else ["-p", str(target.port)]
    name = f"{target.user}@{target.host}" if target.user else target.host
    return ["ssh", "-T", "-o", "ServerAliveInterval=15", *port, name, f"{there} -c {shlex.quote(_START)}"]


def _send(stream: IO[bytes], archive: IO[bytes], size: int) -> None:
    try:
        for line in (_HOST.read_text(encoding="utf-8"), {"size": size}):
            stream.write(json.dumps(line).encode() + b"\n")
        while chunk := archive.read(1 << 16):
            stream.write(chunk)
        stream.flush()
    except BrokenPipeError:
        pass  # it gave the reason, or ssh did


def _let_go(process: subprocess.Popen[bytes], stream: IO[bytes]) -> None:
    """Close the connection and wait for the cleanup of the remote side."""
    try:
        stream.close()
    except BrokenPipeError:
        pass
    try:
        process.wait(_SECONDS_TO_CLEAN)
    except subprocess.TimeoutExpired:
        process.kill()


def _why_nothing(target: Target, python: str, status: int, complaints: IO[bytes], conversation: Conversation) -> str:
    """One line that explains why there is no result."""
    complaints.seek(0)
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    lines = [line.strip() for line in lines if line.strip() and not _NOTICE.match(line)]
    last = f": {lines[-1]}" if lines else ""
    broken = next((line for line in reversed(lines) if _BROKEN.search(line)), None)
    if conversation.ended:
        return f"{conversation.ended} on {target.host}"
    if status < 0:
        return f"ssh was ended on this machine by {signal.Signals(-status).name}{last}"
    if broken:
        return f"the connection to {target.host} broke: {broken}"
    if status == _NO_CONNECTION and conversation.started:
        # OpenSSH exits silently with this status if a signal ends the remote command or ssh itself.
        return f"the run on {target.host} was killed, or ssh was ended on this machine{last}"
    if status == _NO_CONNECTION:
        return f"ssh cannot reach {target.host}{last}"
    if conversation.started:
        return f"the run ended without a result on {target.host}{last}"
    return f"{python} could not be started on {target.host} (name another one with --python){last}"
