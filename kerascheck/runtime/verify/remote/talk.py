"""The local side of the conversation with :mod:`kerascheck.runtime.verify.remote.far`."""

from __future__ import annotations

import ast
import base64
import json
import os
import sys
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.remote.messages import (
    MARK,
    Ended,
    Job,
    Message,
    Progressed,
    Refusal,
    ResultEnd,
    ResultPart,
    parse,
)
from kerascheck.runtime.verify.remote.pack import Upload
from kerascheck.runtime.verify.variants import Variant

_FRAMEWORKS = frozenset({"tensorflow", "keras", "tf_keras", "torch", "jax"})
_PASSED_ON = ("KERAS_BACKEND",)
"""Local environment variables that change the behaviour of the script."""


class Refused(Exception):
    """The remote side does not measure; ``str()`` gives the reason in one line."""


class Conversation:
    """Reader of the remote side's output."""

    def __init__(self, progress: Progress, stop: threading.Event | None = None, seconds: float = 0.0) -> None:
        """``stop``: set when nobody waits for the result. ``seconds``: estimated duration of the run."""
        self._progress = progress
        self._seconds = seconds
        self._stop = stop or threading.Event()
        self._parts: list[str] = []
        self.result: str | None = None
        """The result as JSON with local paths, once it has arrived."""
        self.other_lines: list[str] = []
        """The last lines that were not messages."""
        self.started = False
        """Whether the remote side has sent anything, which proves that its interpreter runs."""
        self.ended: str | None = None
        """Description of the end of the remote run, for display, if its own closing message is missing."""
        self._root = ""

    def expect(self, root: str) -> None:
        """``root``: the local project folder, with which paths of the result begin."""
        self._root = root

    def waiting(self, text: str, *, logged: bool = False) -> None:
        """Show what the run is waiting for. ``logged``: on a separate line if no terminal shows progress."""
        self._progress(text, self._seconds)
        if logged and not sys.stderr.isatty():
            print(text, file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Print a permanent line."""
        start = "\r\033[K" if sys.stderr.isatty() else ""
        print(f"{start}{text}", file=sys.stderr, flush=True)

    def pause(self, seconds: float) -> None:
        """Wait before the next read; raises Refused if nobody waits for the result."""
        if self._stop.wait(seconds):
            raise Refused("stopped")

    def hear(self, line: str) -> None:
        """Process one line; raises Refused."""
        _, mark, text = line.partition(MARK)
        if not mark:
            if line.strip():
                self.other_lines = [*self.other_lines[-4:], line.strip()]
            return
        self.started = True
        try:
            self._take(parse(text))
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as problem:
            raise Refused(f"what it says cannot be understood: {type(problem).__name__}: {problem}") from None

    def _take(self, message: Message) -> None:
        if isinstance(message, Progressed):
            self._progress(message.text, message.left)
        elif isinstance(message, Refusal):
            raise Refused(message.reason)
        elif isinstance(message, ResultPart):
            self._parts.append(message.data)
        elif isinstance(message, ResultEnd):
            self.result = self._put_together(message)
        elif isinstance(message, Ended):
            self.ended = message.how

    def _put_together(self, message: ResultEnd) -> str:
        data = "".join(self._parts)
        if len(data) != message.length:
            raise Refused(f"its result came incomplete: {len(data)} of {message.length} characters")
        text = zlib.decompress(base64.b64decode(data)).decode()
        there, here = (json.dumps(path)[1:-1] for path in (message.project, self._root))
        return text.replace(there, here)


def job(upload: Upload, script: Script, variants: Sequence[Variant], budget: Budget) -> Job:
    """``job.json``: the measurement to run, with paths relative to the project."""

    def inside(path: str) -> str:
        return os.path.relpath(os.path.realpath(path), upload.root)

    def moved(sources: Mapping[str, str]) -> dict[str, str]:
        # Do not send the text of a file that is not uploaded.
        return {name: text for path, text in sources.items() if (name := inside(path)) in upload.files}

    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    there = replace(
        script,
        path=inside(script.path),
        sources=moved(script.sources),
        directory=working_directory(upload, script),
        environment={**environment, **script.environment},
    )
    moved_variants = tuple(
        replace(
            v, sources=moved(v.sources), places=tuple((inside(path), first, last) for path, first, last in v.places)
        )
        for v in variants
    )
    if budget.training is not None and budget.training.path and os.path.isabs(budget.training.path):
        budget = replace(budget, training=replace(budget.training, path=inside(budget.training.path)))
    return Job(there, moved_variants, budget, tuple(sorted(needs(script.sources.values()))))


def working_directory(upload: Upload, script: Script) -> str:
    """Working directory, relative to the project: the current one if it is inside, else the folder of the script."""
    here = os.path.realpath(script.directory or os.getcwd())
    if here != upload.root and not here.startswith(upload.root + os.sep):
        here = os.path.dirname(os.path.realpath(script.path))
    return os.path.relpath(here, upload.root)


def needs(texts: Iterable[str]) -> set[str]:
    """Frameworks that the code imports."""
    found: set[str] = set()
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found & _FRAMEWORKS
