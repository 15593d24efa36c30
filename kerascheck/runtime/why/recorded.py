"""A profile that TensorFlow or JAX recorded, perhaps on another machine, explained without running anything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kerascheck.knowledge.classes import OPTIMIZERS
from kerascheck.knowledge.layers import KNOWN_LAYERS, short_name
from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.gpu_view import GpuView
from kerascheck.runtime.verify.messages import Place, TrainingFacts
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.step_trace import OwnerTime, StepTrace
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.explain import WhyResult
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.step import Part, Step

if TYPE_CHECKING:
    from kerascheck.runtime.verify.findings import Linted

_CHILD = Path(__file__).parents[1] / "verify" / "child" / "__main__.py"
_SUFFIX = ".xplane.pb"
_LARGEST = 100 << 20
"""Bytes of a file: read as messages of Python, a real one takes 34 times as much memory, one of empty events 130 times."""
_LONGEST = 300.0
"""Seconds to read a file."""
_NUMBERED = re.compile(r"(?:_\d+)+$")
"""What Keras and TensorFlow append to names that repeat."""
_WORDS = re.compile(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")
"""Where Keras's default names have "_": "max_pooling2d" for MaxPooling2D (keras/src/utils/naming.py)."""
_ROLES = {"compile_loss": "loss", "compile_metrics": "metric"}
"""By the scopes that Keras 3 opens around them."""
_PARTS = {
    "waiting": Part.INPUT, "tracing": Part.TRACING, "compiling": Part.COMPILE, "computing": Part.COMPUTE,
    "inside": Part.UNEXPLAINED,
}  # fmt: skip
_EVERYWHERE = 1 << 30
"""A line number beyond every file."""


class NoProfile(Exception):
    """The profile cannot be read; ``str()`` says why and what to do, in one line."""


@dataclass(frozen=True, slots=True)
class RecordedProfile:
    """What the steps of a profile did; times are in seconds per step."""

    steps: int
    seconds_per_step: float
    backend: str
    """"tensorflow" or "jax"."""
    function: str | None
    """Name of the compiled function that makes the steps."""
    fits: bool
    """Whether Keras's ``fit`` compiles that function."""
    parts: dict[str, float]
    """"computing", "compiling", "tracing", "waiting" (for data), "inside" (the compiled step, without an operation) and
    "between" (the compiled steps)."""
    scopes: tuple[tuple[str, float, float], ...]
    """Names around operations, such as "model/dense", with the seconds of the forward and of the backward pass."""
    unattributed_seconds: float
    fused_seconds: float
    total_seconds: float
    gpus: tuple[GpuView, ...]


@dataclass(frozen=True, slots=True)
class Created:
    """Layers that a line of the script creates."""

    kind: str
    """Class."""
    place: Place
    name: str | None
    """The literal ``name``, if it is given."""


def find_profile(folder: str) -> Path:
    """The profile of the newest recording in a folder of TensorBoard, or the file itself.

    Raises:
        NoProfile: there is none, or it cannot be read.
    """
    given = Path(folder)
    if given.is_file():
        found = [given]
    elif given.is_dir():
        found = [path for path in given.rglob("*" + _SUFFIX) if path.is_file()]
    else:
        raise NoProfile(f"{folder}: there is no such folder")
    if not found:
        hint = (
            "; it has only a .trace.json.gz, which lacks the names of layers"
            if any(given.rglob("*.trace.json.gz"))
            else ""
        )
        raise NoProfile(f"{folder}: no {_SUFFIX} in it{hint}. TensorBoard keeps them in LOGDIR/plugins/profile/RUN")
    # The names of recordings are times; hosts of one recording lie side by side.
    newest = max(found, key=lambda path: (path.parent.stat().st_mtime, path.parent.name))
    path = min(each for each in found if each.parent == newest.parent)
    if path.stat().st_size > _LARGEST:
        raise NoProfile(f"{path}: larger than 100 MiB: record fewer steps, ten are enough")
    return path


def read_profile(path: Path, python: str) -> RecordedProfile:
    """Read a profile in a process of an interpreter with TensorFlow; it executes nothing of the user.

    Raises:
        NoProfile: it cannot be read.
        OSError: no process can be started.
    """
    command = [python, "-B", str(_CHILD), "--profile", str(path)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    try:
        ran = subprocess.run(command, capture_output=True, timeout=_LONGEST, env=environment)
    except subprocess.TimeoutExpired:
        raise NoProfile(f"{path}: reading it takes longer than {_LONGEST:.0f} s: record fewer steps") from None
    try:
        facts = json.loads(ran.stdout.splitlines()[-1])
        failure = facts.get("failure")
        if failure is None:
            return restored(RecordedProfile, facts, "the profile")  # type: ignore[no-any-return]
    except (ValueError, IndexError, AttributeError):
        failure = f"its reader ended with status {ran.returncode}"
    if failure == "no tensorflow":
        raise NoProfile(f"{python} has no TensorFlow, which reads profiles: pip install tensorflow there, or --python")
    hint = ""
    if failure == "it shows no steps":
        hint = ': record at least three, such as with TensorBoard(profile_batch=(10, 20)) or jax.profiler.start_trace("DIR")'
    raise NoProfile(f"{path}: {failure}{hint}")


def explain_profile(folder: str, python: str, lint: Callable[[], Linted]) -> WhyResult:
    """Explain the steps of the newest profile in ``folder``, with the findings in the script.

    Args:
        folder: of TensorBoard or ``jax.profiler``, or a file.
        python: an interpreter with TensorFlow, which reads profiles.
        lint: returns the findings.

    Raises:
        NoProfile: there is none, or it cannot be read.
        OSError: no process can be started.
    """
    path = find_profile(folder)
    profile = read_profile(path, python)
    linted = lint()
    diagnosis = diagnose(step_of(profile, linted), linted.findings, Lines(linted.sources))
    return WhyResult(Run(), linted, replace(diagnosis, remarks=list(_remarks(path, profile))))


def _remarks(path: Path, profile: RecordedProfile) -> Iterator[str]:
    yield f"read from {profile.steps} steps of {path.name.removesuffix(_SUFFIX)}, recorded {_day(path)}"
    if profile.fits:
        yield "the fixed cost is the time between compiled steps: Keras's own work, and callbacks"
    if profile.parts.get("inside") or profile.backend == "jax":
        yield "unexplained is time without an operation: inside the compiled step, or of the host"
    yield "lines are known where the script creates layers of a class on one line, or names them"


def _day(path: Path) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(path.stat().st_mtime))


def step_of(profile: RecordedProfile, linted: Linted) -> Step:
    """The step that the profile shows, with its layers where their names tell them."""
    # Functions of JAX return before they compute: their calls do not tell whose Python runs meanwhile.
    between = Part.OVERHEAD if profile.fits else Part.UNEXPLAINED if profile.backend == "jax" else Part.PYTHON
    parts: dict[Part, float] = defaultdict(float)
    for name, part in {**_PARTS, "between": between}.items():
        if profile.parts.get(name, 0.0) > 0:
            parts[part] += profile.parts[name]
    facts = TrainingFacts(step_trace=_trace(profile, _Names(list(created_layers(linted)))))
    used = [(path, 1, _EVERYWHERE) for path in linted.sources]
    return Step(
        "fit" if profile.fits else "training loop",
        profile.seconds_per_step,
        parts,
        None,
        used,
        gpus=[f"GPU {each.number}" for each in profile.gpus],
        backend=profile.backend,
        facts=facts,
    )


def created_layers(linted: Linted) -> Iterator[Created]:
    """The calls in the script and its own modules that create layers of Keras."""
    from kerascheck.interpreter.values import constant
    from kerascheck.lint.analyze_file import Analysis, FileResult, with_large_stack
    from kerascheck.project.config import Configuration

    def look() -> list[Created]:
        found, configuration = [], Configuration()
        for path, source in linted.sources.items():
            module = Analysis([source]).load(source, configuration.for_file(path), FileResult(path))
            for call in module.run.calls if module is not None else ():
                if call.module is module and call.name in KNOWN_LAYERS:
                    name = constant(call.keyword("name"))
                    line = source.locate(*module.range_of(call.node)).line
                    found.append(Created(short_name(call.name), (path, line), name if isinstance(name, str) else None))
        return found

    yield from with_large_stack(look)


def _trace(profile: RecordedProfile, names: _Names) -> StepTrace:
    rows: dict[tuple[str, str, Place | None], list[float]] = defaultdict(lambda: [0.0, 0.0])
    members: dict[tuple[str, str, Place | None], set[str]] = defaultdict(set)
    for scope, forward, backward in profile.scopes:
        role, kind, name, place = names.owner(scope.split("/"))
        members[role, kind, place].add(name)
        rows[role, kind, place][0] += forward
        rows[role, kind, place][1] += backward
    found = [
        OwnerTime(
            role, min(members[role, kind, place]), kind, len(members[role, kind, place]), seconds[0], seconds[1], place
        )
        for (role, kind, place), seconds in rows.items()
    ]
    return StepTrace(
        tuple(sorted(found, key=lambda row: -row.seconds)),
        profile.unattributed_seconds,
        profile.fused_seconds,
        profile.total_seconds,
        profile.steps,
        profile.seconds_per_step,
        gpus=profile.gpus,
    )


class _Names:
    """The names that Keras gives operations: those of the script, or classes in snake case with a number."""

    def __init__(self, created: list[Created]) -> None:
        kinds = {short_name(name) for name in KNOWN_LAYERS} | {each.kind for each in created}
        self._kinds = {_WORDS.sub("_", kind).lower(): kind for kind in kinds}
        self._optimizers = {kind.lower(): kind for kind in OPTIMIZERS}
        self._named = {each.name: each for each in created if each.name is not None}
        self._places: dict[str, set[Place]] = defaultdict(set)
        for each in created:
            if each.name is None:
                self._places[each.kind].add(each.place)

    def owner(self, scopes: list[str]) -> tuple[str, str, str, Place | None]:
        """(Role, class, name, line) of what the innermost known name belongs to; an unknown one is its own class.

        Several lines that create layers of a class leave the line unknown.
        """
        for scope in scopes:
            plain = _NUMBERED.sub("", scope)
            if plain.lower() in self._optimizers:
                return "optimizer", self._optimizers[plain.lower()], plain, None
            if plain in _ROLES:
                return _ROLES[plain], "", plain, None
        for scope in reversed(scopes):
            plain = _NUMBERED.sub("", scope)
            given = self._named.get(scope) or self._named.get(plain)
            if given is not None:
                return "layer", given.kind, scope, given.place
            if plain in self._kinds:
                places = self._places[self._kinds[plain]]
                return "layer", self._kinds[plain], scope, min(places) if len(places) == 1 else None
        return "layer", scopes[0], scopes[0], None
