"""A profile that TensorFlow or JAX recorded, perhaps on another machine, explained without running anything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.analysis import Stage
from kerascheck.runtime.verify.messages import TrainingFacts
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.why.created import Created, created_by
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.explain import WhyResult
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.profile_facts import RecordedProfile
from kerascheck.runtime.why.profile_files import NoProfile, ProfileFile, find_profile
from kerascheck.runtime.why.profile_layers import LayerNames, trace_of
from kerascheck.runtime.why.step import Part, Step

if TYPE_CHECKING:
    from kerascheck.runtime.verify.findings import Linted

_CHILD = Path(__file__).parents[1] / "verify" / "child" / "__main__.py"
_LONGEST = 300.0
"""Seconds to read a file."""
_PARTS = {
    "waiting": Part.INPUT, "tracing": Part.TRACING, "compiling": Part.COMPILE, "computing": Part.COMPUTE,
    "inside": Part.UNEXPLAINED,
}  # fmt: skip
_SHOWN = 0.03
"""Minimum share of a step for a part to be explained in a remark."""
_EVERYWHERE = 1 << 30
"""A line number beyond every file."""


def read_profile(path: Path, python: str) -> RecordedProfile:
    """Read a profile in a process of an interpreter with TensorFlow or JAX; it executes nothing of the user.

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
        failure = _ended(ran.returncode)
    if failure == "no reader":
        raise NoProfile(
            f"{python} has neither TensorFlow nor JAX, which read profiles: pip install tensorflow there, or name "
            "another interpreter with --python"
        )
    hint = ""
    if failure == "it shows no steps":
        hint = ': record at least three, such as with TensorBoard(profile_batch=(10, 20)) or jax.profiler.start_trace("DIR")'
    raise NoProfile(f"{path}: {failure}{hint}")


def _ended(status: int) -> str:
    """Say how the reader ended without an answer."""
    if status >= 0:
        return f"its reader ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"its reader was ended by {name}, perhaps for lack of memory: record fewer steps, ten are enough"


def explain_profile(folder: str, python: str, lint: Callable[[], Linted]) -> WhyResult:
    """Explain the steps of the newest profile in ``folder``, with the findings in the script.

    Args:
        folder: of TensorBoard or ``jax.profiler``, or a file.
        python: an interpreter with TensorFlow or JAX, which read profiles.
        lint: returns the findings.

    Raises:
        NoProfile: there is none, or it cannot be read.
        OSError: no process can be started.
    """
    file = find_profile(folder)
    profile = read_profile(file.path, python)
    linted = lint()
    diagnosis = diagnose(step_of(profile, linted), linted.findings, Lines(linted.sources))
    return WhyResult(Run(), linted, replace(diagnosis, remarks=list(_remarks(file, profile))))


def _remarks(file: ProfileFile, profile: RecordedProfile) -> Iterator[str]:
    host = f"1 of {file.hosts} hosts: {file.host}" if file.hosts > 1 else file.host
    yield f"read from {profile.steps} steps of {host}, recorded {_day(file.path)}"
    if file.hosts > 1:
        yield "--profile FILE reads the profile of another host"
    if not file.searched_all:
        yield "the folder has more entries than are searched: --profile LOGDIR/plugins/profile/RUN names a recording"
    if profile.lacks_programs:
        yield (
            "JAX shows no compiled programs in a profile, so layers are unknown: "
            "--python names an interpreter that has TensorFlow"
        )
    least = _SHOWN * profile.seconds_per_step
    if profile.parts.get("between", 0.0) >= least and profile.fits and profile.backend != "jax":
        yield "the fixed cost is the time between compiled steps: Keras's own work, and callbacks"
    if profile.parts.get("inside", 0.0) >= least or profile.backend == "jax":
        yield "unexplained is time without an operation: inside the compiled step, or of the host"
    yield "lines are known where one line of the script creates layers of a class or a stage, or names a layer"


def _day(path: Path) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(path.stat().st_mtime))


def step_of(profile: RecordedProfile, linted: Linted) -> Step:
    """The step that the profile shows, with its layers where their names tell them."""
    # Functions of JAX return before they compute: their calls do not tell whose Python runs meanwhile.
    between = Part.UNEXPLAINED if profile.backend == "jax" else Part.OVERHEAD if profile.fits else Part.PYTHON
    created = created_by(linted)
    parts: dict[Part, float] = defaultdict(float)
    for name, part in {**_PARTS, "between": between}.items():
        if profile.parts.get(name, 0.0) > 0:
            parts[part] += profile.parts[name]
    facts = TrainingFacts(step_trace=trace_of(profile, LayerNames(created.layers)))
    used = [(path, 1, _EVERYWHERE) for path in linted.sources]
    return Step(
        "fit" if profile.fits else "training loop",
        profile.seconds_per_step,
        parts,
        None,
        used,
        _stages(profile, created),
        gpus=[f"GPU {each.number}" for each in profile.gpus],
        backend=profile.backend,
        facts=facts,
        recorded=True,
    )


def _stages(profile: RecordedProfile, created: Created) -> list[Stage]:
    """The stages that steps wait for, with their lines."""
    total = sum(seconds for _, seconds, _ in profile.stages)
    found = []
    for name, seconds, parallelism in profile.stages:
        place = created.stage_place(name, profile.stage_names)
        found.append(Stage(name, place, seconds, seconds / total, parallelism, near=place))
    return found
