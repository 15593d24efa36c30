"""A real kernel, as a front end drives it."""

from __future__ import annotations

import queue
import sys
from dataclasses import dataclass, field
from typing import Any

from jupyter_client import KernelManager

TIMEOUT = 60.0
"""Seconds to wait for a message of the kernel."""


@dataclass
class Ran:
    """What a cell showed."""

    text: str = ""
    html: str = ""
    error: str = ""
    payload: list[dict[str, Any]] = field(default_factory=list)

    @property
    def next_input(self) -> str:
        """The cell that the kernel asks the front end to add."""
        (added,) = (each for each in self.payload if each["source"] == "set_next_input")
        assert added["replace"] is False
        return added["text"]


class Kernel:
    """A kernel in a folder; ``run`` runs one cell."""

    def __init__(self, folder):
        self.manager = KernelManager()
        self.manager.kernel_spec.argv[0] = sys.executable
        self.manager.start_kernel(cwd=str(folder))
        self._client = self.manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=TIMEOUT)

    def send(self, code: str, cell_id: str | None = None) -> str:
        """Send a cell without waiting for its end; returns the identity of the message."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        message = self._client.session.msg("execute_request", content)
        message["metadata"] = {"cellId": cell_id} if cell_id else {}
        self._client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def wait(self, identity: str) -> Ran:
        """The output of a sent cell, after its end."""
        ran = Ran()
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=TIMEOUT)
            except queue.Empty:
                raise AssertionError(f"the kernel is silent; so far: {ran}") from None
            if message["parent_header"].get("msg_id") != identity:
                continue
            content = message["content"]
            if message["msg_type"] == "stream":
                ran.text += content["text"]
            elif message["msg_type"] in ("execute_result", "display_data"):
                ran.text += content["data"]["text/plain"]
                ran.html += content["data"].get("text/html", "")
            elif message["msg_type"] == "error":
                ran.error = content["ename"]
            elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                break
        while True:
            reply = self._client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == identity:
                ran.payload = reply["content"].get("payload", [])
                return ran

    def run(self, code: str, cell_id: str | None = None) -> Ran:
        return self.wait(self.send(code, cell_id))

    def close(self) -> None:
        self._client.stop_channels()
        self.manager.shutdown_kernel(now=True)
