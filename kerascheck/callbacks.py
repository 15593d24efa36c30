"""Keras callbacks: where a training's time goes, measured in the process that trains.

>>> model.fit(dataset, epochs=10, callbacks=[kerascheck.callbacks.Why()])  # doctest: +SKIP
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kerascheck.runtime.live.code import TrainingCode
    from kerascheck.runtime.live.fit_watch import FitWatch
    from kerascheck.runtime.live.linting import Linting
    from kerascheck.runtime.live.report import Report
    from kerascheck.runtime.verify.findings import Linted

__all__ = ["ShareExceeded", "Why"]

_KERAS = ("keras", "tf_keras")
_MOST_SHORT = 3
"""Trainings without enough steps after which the callback stops trying."""
_MOST_REPORTS = 50
"""Trainings of one callback that are measured."""


class ShareExceeded(AssertionError):
    """A part of a step takes more than ``raise_above`` allows, or could not be measured."""


class Why:
    """A Keras callback that says where a step goes, and what to change first.

    It measures some of the first steps: about 5 s, in the first epoch as far as possible. Then it prints its report and
    removes itself from the training. It works with Keras 3 on TensorFlow, JAX and PyTorch, and with Keras 2. Results of
    the training stay the same, bit for bit: each batch is read once and trained on once, and no random number is drawn.
    The code is linted in another process.

    Args:
        after_seconds: report after this many seconds instead of at the end of the first epoch.
        replay: whether the callback may read a few batches itself and pass them on to the step. Without this, it cannot
            tell waiting from computing on TensorFlow.
        json: file for the report as JSON.
        html: file for the report as a page.
        log_dir: folder for the report as text in TensorBoard.
        layers: whether to record a few steps after the measurement with the profiler of TensorFlow or JAX, and to divide
            computing by layer. Reading the profile takes some seconds. Not on PyTorch.
        raise_above: largest share of a step, 0 to 1, by part, such as ``{"waiting for data": 0.5}``.
        verbose: 0 prints nothing.

    Raises:
        ValueError: ``raise_above`` names an unknown part, or a share outside of 0 to 1.
        ImportError: no Keras is installed.

    Attributes:
        report: the report of the newest measured ``fit``; None before the first one.
        options: the arguments.
        reports: the reports of all of them, for loops over folds or trials. Copies of the callback share this list.
    """

    async_safe = True  # it has no hook of batches, so Keras may call those of other callbacks in a thread
    _supports_tf_logs = True  # Keras 2 need not convert the logs for it

    def __new__(cls, *args: Any, **kwargs: Any) -> Why:
        """Make an object that is also a ``Callback`` of each Keras in use."""
        return object.__new__(cls if _is_callback(cls) else _with_keras(cls))

    def __init__(
        self,
        *,
        after_seconds: float | None = None,
        replay: bool = True,
        json: str | os.PathLike[str] | None = None,
        html: str | os.PathLike[str] | None = None,
        log_dir: str | os.PathLike[str] | None = None,
        layers: bool = False,
        raise_above: Mapping[str, float] | None = None,
        verbose: int = 1,
    ) -> None:
        super().__init__()
        _validate(raise_above)
        self.options: dict[str, Any] = {
            "after_seconds": after_seconds, "replay": replay, "json": json, "html": html, "log_dir": log_dir,
            "layers": layers, "raise_above": raise_above, "verbose": verbose,
        }  # fmt: skip
        self.reports: list[Report] = []
        self._fitted: Any = None
        self._watch: FitWatch | None = None
        self._linting: Linting | None = None
        self._linted: Linted | None = None
        self._code: TrainingCode | None = None
        self._short = 0
        self._began = 0.0

    def __deepcopy__(self, memo: dict[int, Any]) -> Why:
        """Copy for another trial, as Keras Tuner does."""
        copied = type(self)(**self.options)
        copied.reports = self.reports
        copied._linted = self._linted
        return copied

    @property
    def report(self) -> Report | None:
        return self.reports[-1] if self.reports else None

    def close(self) -> None:
        """Stop measuring, for instance after an interrupted ``fit``; may be called again."""
        self._release()

    # Hooks of Keras ---------------------------------------------------------------------------------------------

    def set_model(self, model: Any) -> None:
        super().set_model(model)  # type: ignore[misc]  # the class of Keras has it
        self._fitted = model

    def on_train_begin(self, logs: Any = None) -> None:
        from kerascheck.runtime.live import fit_frame

        frame = fit_frame.find("on_train_begin")
        if frame is None or frame.is_nested or self._short >= _MOST_SHORT or len(self.reports) >= _MOST_REPORTS:
            return
        self._attach(frame)

    def on_train_end(self, logs: Any = None) -> None:
        watch = self._watch
        if watch is None:
            return
        if watch.schedule is not None and watch.schedule.is_usable:
            self._finish()
            return
        self._release()
        self._short += 1
        if self._short == 1 and not self.reports:
            from kerascheck.runtime.live.report import failed

            self._publish(failed("it has too few steps to measure"))

    # The measurement --------------------------------------------------------------------------------------------

    def _attach(self, frame: Any) -> None:
        from kerascheck.runtime.live.code import code_of_training
        from kerascheck.runtime.live.fit_watch import FitWatch
        from kerascheck.runtime.live.linting import Linting

        self._release()
        watch = FitWatch(
            self._fitted, frame, _backend_of(self._fitted), splits=self.options["replay"], is_quiet=self._is_quiet
        )
        if self.options["layers"]:
            from kerascheck.runtime.live.profiled_steps import ProfiledSteps

            watch.profiled = ProfiledSteps(watch.backend, frame.callbacks.callbacks)
        watch.on_step, watch.on_epoch, watch.on_fault = self._step_ended, self._epoch_ended, self._failed
        watch.attach()
        self._watch, self._began = watch, time.perf_counter()
        self._code = code_of_training(watch.seen.stack)
        if self._linted is None and self._code.subject is not None:
            self._linting = Linting(self._code.subject)

    def _is_quiet(self) -> bool:
        return self._linting is None or self._linting.is_over

    def _release(self) -> None:
        if self._watch is not None:
            self._watch.detach()
            self._watch = None
        if self._linting is not None:
            self._linting.close()
            self._linting = None

    def _step_ended(self) -> None:
        after, watch = self.options["after_seconds"], self._watch
        if watch is None or after is None or time.perf_counter() - self._began < after:
            return
        if watch.schedule is not None and watch.schedule.is_usable and not watch.awaits_profile:
            self._finish(in_epoch=True)

    def _epoch_ended(self) -> None:
        watch = self._watch
        if watch is not None and watch.schedule is not None and watch.schedule.is_usable and not watch.awaits_profile:
            self._finish()

    def _finish(self, *, in_epoch: bool = False) -> None:
        """End the measurement and report it; raises :class:`ShareExceeded`."""
        from kerascheck.runtime.live.report import failed_by

        try:
            report = self._diagnosed()
        except Exception as problem:  # an error of ours must not end a training of hours
            report = failed_by(problem)
        self._release()
        self._publish(report, in_epoch=in_epoch)

    def _publish(self, report: Report, *, in_epoch: bool = False) -> None:
        """Keep and show a report; raises :class:`ShareExceeded`."""
        from kerascheck.runtime.live import outlet

        self.reports.append(report)
        try:
            outlet.publish(self.reports, self.options, in_epoch=in_epoch)
        except Exception as problem:
            print(f"kerascheck: the report could not be written: {problem}", flush=True)
        _check(report, self.options["raise_above"])

    def _failed(self, problem: Exception) -> None:
        """Give up after an error in the measurement."""
        from kerascheck.runtime.live.report import failed_by

        self._release()
        self._publish(failed_by(problem))

    def _diagnosed(self) -> Report:
        from kerascheck.runtime.live import report
        from kerascheck.runtime.live.account import account_of
        from kerascheck.runtime.live.profiled_steps import with_layers
        from kerascheck.runtime.why.diagnosis import diagnose
        from kerascheck.runtime.why.lines import Lines

        assert self._watch is not None and self._code is not None, "called while a watch is attached"
        linted, notes = self._take_findings()
        texts = {path: source.text for path, source in linted.sources.items()}
        step = account_of(self._fitted, self._watch, texts, self._code.translate, alone=not self.reports)
        if self._watch.profiled is not None:
            step, failure = with_layers(step, self._watch.profiled, self._fitted, linted)
            notes += [] if failure is None else [f"the layers of a step were not measured: {failure}"]
        return report.made(diagnose(step, linted.findings, Lines(linted.sources)), linted, notes)

    def _take_findings(self) -> tuple[Linted, list[str]]:
        from kerascheck.runtime.live.linting import NotLinted
        from kerascheck.runtime.verify.findings import Linted

        notes = []
        if self._linting is not None:
            try:
                self._linted = self._linting.result()
            except NotLinted as problem:
                notes.append(f"the code was not linted: {problem}")
            self._linting = None
        elif self._linted is None:
            notes.append("the code of this training is in no file, so no finding is shown")
        return self._linted or Linted("", {}, ()), notes


def _is_callback(cls: type) -> bool:
    return any(base.__name__ == "Callback" for base in cls.__mro__)


def _with_keras(cls: type) -> type:
    """Return ``cls`` with the ``Callback`` class of each imported Keras as a base; imports Keras if there is none."""
    if not any(name in sys.modules for name in _KERAS):
        import keras  # noqa: F401
    bases = [sys.modules[name].callbacks.Callback for name in _KERAS if hasattr(sys.modules.get(name), "callbacks")]
    key = (cls, *bases)
    if key not in _CLASSES:
        _CLASSES[key] = type(cls.__name__, key, {"__doc__": cls.__doc__, "__module__": cls.__module__})
    return _CLASSES[key]


_CLASSES: dict[tuple[type, ...], type] = {}


def _backend_of(model: Any) -> str:
    """The backend of the Keras that the model belongs to."""
    modules = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    keras = sys.modules.get("keras")
    # Keras 2 has backend.backend() too.
    return "tensorflow" if "tf_keras" in modules or keras is None else str(keras.backend.backend())


def _validate(raise_above: Mapping[str, float] | None) -> None:
    from kerascheck.runtime.why.step import Part

    known = [part.value for part in Part]
    for name, share in (raise_above or {}).items():
        if name not in known:
            raise ValueError(f"raise_above: there is no part {name!r}; the parts are {', '.join(known)}")
        if not 0 <= share <= 1:
            raise ValueError(f"raise_above: the share of {name!r} must be between 0 and 1, not {share}")


def _check(report: Report, raise_above: Mapping[str, float] | None) -> None:
    for name, most in (raise_above or {}).items():
        if report.diagnosis is None:
            raise ShareExceeded(f"{name} was not measured: {report.failure}")
        if report.diagnosis.step.unknown:
            raise ShareExceeded(f"{name} was not measured: {report.diagnosis.step.unknown[0]} is unknown")
        if (share := report.shares.get(name, 0.0)) > most:
            raise ShareExceeded(f"{name} takes {share:.0%} of a step, more than {most:.0%}\n{report.text}")
