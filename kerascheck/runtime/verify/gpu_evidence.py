"""The GPU column of the evidence table: every rule on the Keras backend that can use the GPU."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kerascheck.catalog.measured import Row
from kerascheck.catalog.registry import RuleSpec
from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.evidence import has_example, measure_example, measurement
from kerascheck.runtime.verify.machine_class import MachineClass, machine
from kerascheck.runtime.verify.verdict import Status

BACKENDS = ("tensorflow", "jax", "torch")
"""In order of preference: the examples are written for the first one."""
_NAMES = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
_TENSORFLOWS_OWN = ("GradientTape", "tf.function", "tf.distribute", "tf.config", "tf.Variable", "tf_keras", "tf.compat")
"""Parts of an example's text that run on TensorFlow, whichever backend Keras uses."""
_LOOK_SECONDS = 120.0


class NoGpu(Exception):
    """There is no GPU to measure on; ``str()`` gives the reason in one line."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The backend and the machine on which the examples run."""

    backend: str
    card: str
    driver: str | None
    versions: Mapping[str, str]
    """Versions of Keras and of the backend."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that make an example use this backend."""
        return {} if self.backend == BACKENDS[0] else {"KERAS_BACKEND": self.backend}

    @property
    def machine(self) -> MachineClass:
        """This machine with its card and driver, as the table describes it."""
        return replace(machine(), gpu=self.card, driver=self.driver or None)


def engine(python: str = sys.executable) -> Engine:
    """The first backend of the interpreter that sees a GPU; raises NoGpu."""
    from kerascheck.runtime.doctor.look import look_at
    from kerascheck.runtime.doctor.nvidia import nvidia

    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"):
        raise NoGpu("CUDA_VISIBLE_DEVICES hides every GPU: unset it")
    driver, cards = nvidia()
    if cards and not _can_watch():
        raise NoGpu("what else a GPU does must be watched, which needs nvidia-ml-py: pip install 'kerascheck[gpu]'")
    seen = []
    for backend in BACKENDS:
        looked, devices = look_at(python, _LOOK_SECONDS, {"KERAS_BACKEND": backend})
        framework = getattr(looked, backend)
        if framework is None or framework.version is None:
            continue
        if framework.gpus:
            card = devices[0].name if devices else None
            versions = {"keras": looked.keras.version if looked.keras else None, backend: framework.version}
            name = card or (cards[0].name if cards else "GPU")
            return Engine(
                backend,
                name,
                driver.version if driver else None,
                {key: value for key, value in versions.items() if value},
            )
        seen.append(f"{_NAMES[backend]} {framework.version}")
    if not cards:
        raise NoGpu("no GPU answers on this machine: 'kerascheck doctor' looks for the reason")
    fault = f"{' and '.join(seen)} cannot use it" if seen else "this environment has no TensorFlow, JAX or PyTorch"
    raise NoGpu(f"{cards[0].name} is there, but {fault}: 'kerascheck doctor' looks for the reason")


def _can_watch() -> bool:
    return importlib.util.find_spec("pynvml") is not None


def collect(
    specs: Sequence[RuleSpec],
    on: Engine,
    budget: Budget,
    progress: Progress,
    tell: Callable[[Row], None],
    measure: Callable[..., Comparison] = measure_example,
) -> Iterator[Row]:
    """Measure ``specs`` one after the other; ``tell`` is told every finished row."""
    for spec in specs:
        folder = example(spec)
        if folder is None:
            continue
        prefix, comparison = spec.rule.code, None
        reason = why_not((folder / "slow.py").read_text(encoding="utf-8"), on.backend)
        if reason is None:
            sized = replace(spec, folder=folder)
            comparison = measure(sized, budget, lambda text, left: progress(f"{prefix}: {text}", left), on.environment)
            reason = _missed(comparison, on)
        column = measurement(comparison if reason is None else None, on.machine, spec.measured)
        if reason is not None:
            column["reason"] = reason
        if folder != spec.folder:
            column["example"] = f"{folder.name}/slow.py"
        column["versions"] = {**on.versions, **column["versions"]}
        entry: Row = {"code": spec.rule.code, "name": spec.rule.name, "gpu": column}
        tell(entry)
        yield entry


def example(spec: RuleSpec) -> Path | None:
    """The folder of the example to measure: that of a size for a GPU if the rule has one, or the one that every test runs; None
    without any."""
    return next(filter(has_example, (spec.folder / "gpu", spec.folder)), None)


def why_not(text: str, backend: str) -> str | None:
    """Reason why an example cannot run on ``backend``, judging by its text; None if it may."""
    if backend == BACKENDS[0]:
        return None
    own = next((word for word in _TENSORFLOWS_OWN if word in text), None)
    if own is not None:
        return f"its example uses {own}, and TensorFlow has no GPU here"
    return None if "keras" in text else "its example does not train with Keras, and TensorFlow has no GPU here"


def _missed(comparison: Comparison, on: Engine) -> str | None:
    """Reason why a completed run says nothing about the GPU; None if it does, or if nothing ran."""
    facts = comparison.scout.facts
    if comparison.failure or comparison.scout.end is None:
        return None
    if not facts.gpus:
        return "its example did not use the GPU"
    backend = facts.backend or BACKENDS[0]
    if on.backend != BACKENDS[0] and backend != on.backend:
        return f"its example ran on {backend}, not on {_NAMES[on.backend]}"
    return None


def is_finished(code: str, rows: Sequence[Row], on: Engine) -> bool:
    """Whether a table has a GPU column for a rule that was measured on this very card, driver and versions."""
    column = next((entry.get("gpu") for entry in rows if entry["code"] == code), None)
    if column is None or column["status"] == Status.INCONCLUSIVE.value:
        return False
    where, versions = column["machine"], column["versions"]
    return (
        where.get("gpu") == on.card
        and (not on.driver or where.get("driver") == on.driver)
        and all(versions.get(key) == value for key, value in on.versions.items())
    )
