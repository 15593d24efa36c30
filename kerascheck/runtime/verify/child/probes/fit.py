"""Probes of the methods of a Keras model: ``fit``, ``evaluate``, ``predict`` and similar ones."""

import ast
import functools
import inspect
import linecache
import sys
import time
import types

from .. import clock, diagnose, redirect
from ..frames import is_user_frame, user_place
from ..recorder import PREDICTION
from .scalars import first_scalar, number, scalar

_ENDLESS = 10**9  # epochs


def patch_fit(owner, state):
    """Count the steps of ``fit``, and extend or shorten it as the plan says."""
    original = owner.fit
    signature = inspect.signature(original)
    recorder = state.recorder

    # The sampler looks past frames of this name: the code inside them determines the kind of a sample.
    @functools.wraps(original)
    def fit(self, *args, **kwargs):
        if recorder.disabled or recorder.depth:
            return original(self, *args, **kwargs)
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError:
            return original(self, *args, **kwargs)  # raises the error for invalid arguments
        in_loop, is_meant = _prepare(self, bound.arguments, state)
        start = time.perf_counter()
        with recorder.inside:
            result = original(*bound.args, **bound.kwargs)
        if in_loop:
            state.parts.add("fit", time.perf_counter() - start)
        if is_meant and state.fit_key in recorder.series:
            recorder.finish(reason="trained", detail="fit ended by itself")
        return result

    state.patches.set(owner, "fit", fit)


def _prepare(model, arguments, state):
    """Change the arguments of a ``fit`` call as the plan says.

    Returns:
        Whether the call is in a loop of the script, and whether the plan measures this call.
    """
    recorder = state.recorder
    place = _called_in_loop()
    in_loop = place is not None and not _is_new_training(model, state)
    if state.clock is not None and (in_loop or recorder.is_next()):
        state.clock.fit_called(arguments, in_loop)
    state.fit_key = ("fit", place) if in_loop else ("fit", state.fits)
    is_meant = not in_loop and recorder.is_next()
    if in_loop:
        recorder.note(
            "fit is called in a loop of the script: its calls are measured together, with what happens between them"
        )
    elif is_meant and not clock.gives_its_data_once(arguments.get("x")):
        arguments["epochs"] = _ENDLESS
        recorder.note("fit was continued beyond its epochs where the measurement needed more steps")
        redirect.no_early_stop(arguments.get("callbacks"), state)
    state.cuts_fit = recorder.is_on_the_way() or recorder.comes_before(state.fit_key)
    if state.cuts_fit:
        recorder.note("fit was stopped after its first steps: what comes after it was measured")
        arguments["epochs"] = arguments.get("initial_epoch", 0) + 1
    if arguments.get("validation_data") is not None or arguments.get("validation_split"):
        _note_validation(arguments, is_meant, state)
    redirect.callbacks(arguments.get("callbacks"), state)
    # Set-up between the calls of a loop recurs at every call; set-up before the first call belongs to start-up.
    state.between_fits = in_loop and state.fits > 0
    state.fits += 1
    if in_loop or is_meant:
        recorder.facts["feeder"] = clock.feeder(arguments.get("x"))
        state.peeked = None
    state.fit_model = model
    return in_loop, is_meant


def _note_validation(arguments, is_meant, state):
    if not state.run["plan"]["validation"]:
        state.recorder.note("validation was skipped (callbacks were shown the training metrics as val_ metrics)")
    if is_meant and hasattr(arguments.get("validation_data"), "_inputs"):
        state.recorder.facts["validation_places"] = diagnose.lines_of(
            arguments["validation_data"], state.dataset_places
        )


def _is_new_training(model, state):
    """Whether a ``fit`` call in a loop trains a new model, and the plan measures a later training."""
    is_new = model not in state.fitted_models
    state.fitted_models.add(model)
    return is_new and state.run["plan"]["training"] > 0 and state.run["plan"]["kind"] is None


def _called_in_loop():
    """Path and line of the script's innermost frame inside a ``for`` or ``while``; None if there is none."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if is_user_frame(frame) and _line_in_loop(frame.f_code.co_filename, frame.f_lineno):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


@functools.cache
def _loops(path):
    """First and last lines of the loop bodies and the functions in a file of the script."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return (), ()
    loops = [(n.body[0].lineno, n.body[-1].end_lineno) for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))]
    functions = [
        (n.lineno, n.end_lineno)
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    ]
    return tuple(loops), tuple(functions)


def _line_in_loop(path, line):
    loops, functions = _loops(path)
    inside = [f for f in functions if f[0] <= line <= f[1]]
    start = max((f[0] for f in inside), default=0)
    return any(begin <= line <= end and begin > start for begin, end in loops)


def patch_evaluate(owner, state):
    """Skip the validation of ``fit``, or time one validation, unless the plan includes validation."""
    original = owner.evaluate

    @functools.wraps(original)
    def evaluate(self, *args, **kwargs):
        skips = state.recorder.depth and not state.recorder.disabled and not state.run["plan"]["validation"]
        if kwargs.get("_use_cached_eval_dataset") and skips:
            if state.validation is not None:
                state.validation.called(self, functools.partial(original, self, *args, **kwargs), kwargs)
            return {name: number(value) for name, value in state.last_logs.items()}
        with state.recorder.inside:
            return original(self, *args, **kwargs)

    state.patches.set(owner, "evaluate", evaluate)


def patch_other(owner, name, state):
    """Exclude the method called ``name`` from the training, such as evaluations of single batches."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self, *args, **kwargs):
        with state.recorder.inside:
            return original(self, *args, **kwargs)

    state.patches.set(owner, name, method)


def patch_predict(owner, name, state):
    """Count loops of ``predict``, or of the method called ``name``."""
    original = getattr(owner, name)
    recorder = state.recorder

    @functools.wraps(original)
    def predict(self, *args, **kwargs):
        start = time.perf_counter()
        with recorder.inside:
            result = original(self, *args, **kwargs)
        if state.counts_here():
            state.parts.predicted(user_place(), time.perf_counter() - start)
            # A fix may replace predict by predict_on_batch, so both share a key.
            key = (PREDICTION, user_place())
            loss = scalar(result) if recorder.wants_loss(key) else None
            recorder.tick(key, PREDICTION, self.name, value=result, loss=loss, epoch=False)
        return result

    state.patches.set(owner, name, predict)


def patch_train_on_batch(owner, state):
    """Count the steps of ``train_on_batch`` loops."""
    original = owner.train_on_batch
    recorder = state.recorder

    @functools.wraps(original)
    def train_on_batch(self, *args, **kwargs):
        if recorder.depth:
            return original(self, *args, **kwargs)
        start = time.perf_counter()
        with recorder.inside:
            result = original(self, *args, **kwargs)
        state.parts.called(time.perf_counter() - start)
        key = ("train_on_batch", id(self))
        loss = first_scalar(result) if recorder.wants_loss(key) else None
        state.fit_model = state.fit_model or self
        recorder.tick(key, "train_on_batch loop", self.name, value=result, loss=loss)
        return result

    state.patches.set(owner, "train_on_batch", train_on_batch)
