"""One measured process in its own session: two pipes for messages and orders, and guaranteed termination.

POSIX only for now: freezing a process between its blocks needs ``SIGSTOP``.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kerascheck.runtime.plain import plain
from kerascheck.runtime.verify.messages import Message, parse

_CHILD = Path(__file__).parent / "child" / "__main__.py"
_MARK = "KERASCHECK_RUN"
_LOG_TAIL = 4000
_LAST_SECONDS = 5.0
"""Seconds that a process may take to end after its pipe is closed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Length and diagnostics of a run."""

    warmup_steps: int = 3
    warmup_seconds: float = 1.0
    """The warm-up lasts until both are reached."""
    warmup_limit: float = 15.0
    """Seconds after which two warm-up steps suffice."""
    block_steps: int = 0
    """Steps per block; 0: as many as fill ``block_seconds``."""
    block_seconds: float = 0.5
    blocks: int = 10
    seconds: float | None = None
    """Seconds of blocks after which two blocks suffice; None: never."""
    in_turn: bool = False
    """Wait for an order before every block; the parent then enforces ``seconds``."""
    kind: str | None = None
    """Kind of the bare loop to measure; None: any training."""
    training: int = 0
    """Number of the training or of the loop of this ``kind``, in the order of their first steps."""
    passes: int | None = None
    """Passes over ``tf.data`` iterators before the data restarts; None: it never does."""
    weak_after: float = 10.0
    """Seconds after which a bare loop counts as the training."""
    rows: bool = False
    """Count the samples of the first batches at the end."""
    diagnose: bool = False
    """Examine graphs, the model and the pipeline, which disturbs the steps slightly."""
    parts: bool = False
    """Time the parts of a step, and the step without its input, after the blocks."""
    known_peaks: tuple[str, ...] = ()
    """Frameworks such as "jax 0.10.0" whose peaks on this processor are known."""
    batch_sizes: bool = False
    """Time steps at other batch sizes, after all other diagnostics."""
    validation: bool = False
    """Run the validation of ``fit``, and include it in the blocks."""
    passive: bool = False
    """Measure hand-written loops in a process that goes on, see :mod:`kerascheck.runtime.live.loop_watch`.

    The probes change nothing: no seeds, no redirected files, no second pass over data, no late diagnostics. They leave
    ``fit`` alone, and at the end of the plan only the measurement ends. ``training`` and ``passes`` have no effect.
    """


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The input to replace by one cached batch, which shows the maximum gain of a faster input."""

    iterator: int | None
    """Index of the first ``tf.data`` iterator to replace, in order of creation; None: replace none."""
    loops: bool
    """Whether to replace the datasets of loops inside a ``tf.function``."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script with its arguments and environment.

    ``sources`` maps absolute paths to replacement texts for these files; it always contains the script itself.
    """

    path: str
    sources: Mapping[str, str]
    arguments: Sequence[str] = ()
    directory: str | None = None
    python: str = sys.executable
    environment: Mapping[str, str] = field(default_factory=dict)
    ceiling: Ceiling | None = None
    """None: leave the data unchanged."""


class Ended(Exception):
    """The process ended without a closing message; ``str()`` describes the end, for display."""


class TooLate(Exception):
    """The deadline passed before the next message."""


class ScriptProcess:
    """A script that runs under probes. As a context manager it ends the whole process group on exit."""

    def __init__(self, script: Script, plan: Plan, *, seed: int = 1) -> None:
        """Start the process; raises OSError if the interpreter cannot be started."""
        self._buffer = b""
        self._frozen = False
        self._mark = uuid.uuid4().hex
        # Short, because multiprocessing creates sockets below it, and their paths are limited to about 100 bytes.
        self._scratch = tempfile.mkdtemp(prefix="kc-")
        events, child_events = os.pipe()
        child_orders, orders = os.pipe()
        self._events, self._orders = events, orders
        run = {
            "script": script.path,
            "sources": dict(script.sources),
            "argv": list(script.arguments),
            "plan": plain(plan),
            "seed": seed,
            "ceiling": plain(script.ceiling),
            "scratch": self._scratch,
            "events": child_events,
            "orders": child_orders,
            "parent": os.getpid(),
        }
        run_file = Path(self._scratch, "run.json")
        run_file.write_text(json.dumps(run), encoding="utf-8")
        environment = {"MPLBACKEND": "Agg", "PYTHONHASHSEED": "0", **os.environ, **script.environment}
        environment |= {"TMPDIR": self._scratch, _MARK: self._mark}
        self._log = Path(self._scratch, "output.txt").open("wb")
        try:
            # -B: avoid leaving bytecode files of the script's own modules.
            self._process = subprocess.Popen(
                [script.python, "-B", str(_CHILD), str(run_file)],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                cwd=script.directory,
                env=environment,
                pass_fds=(child_events, child_orders),
                start_new_session=True,
            )
        except BaseException:
            self._log.close()
            for descriptor in (events, orders):
                os.close(descriptor)
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise
        finally:
            os.close(child_events)
            os.close(child_orders)

    def __enter__(self) -> ScriptProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process (and process group) id."""
        return self._process.pid

    def next_message(self, deadline: float) -> Message:
        """Wait for the next message until ``deadline`` (``time.monotonic()``).

        Raises:
            TooLate: no message arrived in time.
            Ended: the process ended without sending one.
            InvalidMessage: the line is not a valid message.
        """
        while b"\n" not in self._buffer:
            wait = deadline - time.monotonic()
            if wait <= 0:
                raise TooLate
            # The pipe alone does not show the end: a process that the script forked may hold it open.
            readable, _, _ = select.select([self._events], [], [], min(wait, 0.2))
            if readable:
                data = os.read(self._events, 1 << 16)
                if not data:
                    raise Ended(self._how_it_ended())
                self._buffer += data
            elif self._process.poll() is not None and not select.select([self._events], [], [], 0)[0]:
                raise Ended(self._how_it_ended())
        line, self._buffer = self._buffer.split(b"\n", 1)
        return parse(line)

    def _how_it_ended(self) -> str:
        try:
            status = self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            return "the script replaced its process (os.exec) or closed all files: nothing can be seen of it any more"
        if status < 0:
            try:
                name = signal.Signals(-status).name
            except ValueError:
                name = f"signal {-status}"
            hint = " (out of memory?)" if -status == signal.SIGKILL else ""
            return f"the process was ended by {name}{hint}"
        return f"the process ended by itself with status {status}"

    def freeze(self) -> None:
        """Suspend all threads and child processes of the script."""
        self._signal(signal.SIGSTOP)
        self._frozen = True

    def go_on(self, *, enough: bool = False) -> None:
        """Resume a waiting process for its next block; if ``enough``, for its closing message."""
        os.write(self._orders, b"e" if enough else b"g")
        if self._frozen:
            self._signal(signal.SIGCONT)
            self._frozen = False

    def output(self) -> str:
        """The tail of the script's output."""
        self._log.flush()
        text = Path(self._scratch, "output.txt").read_bytes()[-_LOG_TAIL:]
        return text.decode("utf-8", "replace")

    def kill(self) -> None:
        """Kill the process, its group and all processes that it started."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        _kill_marked(self._mark)

    def close(self) -> None:
        """Kill the process like :meth:`kill`, and remove the scratch folder."""
        self.kill()
        self._log.close()
        for descriptor in (self._events, self._orders):
            os.close(descriptor)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass  # the group is empty


def _kill_marked(mark: str) -> None:
    """Kill processes that left the group (``setsid``, daemons), found by a mark in their environment (Linux only)."""
    needle = f"{_MARK}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if needle in entry.read_bytes().split(b"\0"):
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except (OSError, ValueError):
            continue
