"""Scopes in the names of operations that identify the layer, loss, metric or optimizer which creates them.

A scope is ``kerascheckNx``, where N is the position in ``state.owners``. The names of Keras would be ambiguous: TensorFlow
appends numbers to repeated ones.
"""

import contextlib
import functools
import re
import sys
import types

from .frames import is_user_code, is_user_frame, user_place
from .patches import Notes

_SCOPE = re.compile(r"kerascheck(\d+)x")
_FORWARD, _BACKWARD = 0, 1


class Owner:
    """A layer, loss, metric or optimizer, and the line of the script that creates it."""

    def __init__(self, role, name, kind, place, maker=None):
        self.role = role  # "layer", "loss", "metric" or "optimizer"
        self.name = name
        self.kind = kind  # class, or function of the script
        self.place = place  # (path, line) or None
        self.maker = maker  # such as "ResNet50", for the layers of a function of keras.applications


def owner_of(name):
    """(Position of the innermost owner, 1 if backward else 0) of an operation by its name; None without a scope."""
    found = owners_of(name)
    if not found:
        return None
    return found[-1], _BACKWARD if "gradient_tape/" in name or "transpose(" in name else _FORWARD


def owners_of(name):
    """Positions of the owners of an operation by its name, outermost first."""
    return [int(number) for number in _SCOPE.findall(name)]


def patch(keras, state):
    """Open a scope around each owner's operations while a step is traced (plans with ``parts``)."""
    known = Notes()
    scope = _scopes(keras)
    _patch_layers(keras, state, known)
    _patch_compile(keras, state)
    _patch_objects(keras, state, scope, known)
    if scope is not None:
        _patch_calls(keras, state, scope, known, state.patches)
    elif "torch" in sys.modules:
        # Its steps run Python, so scopes would lengthen those that are timed.
        scope = sys.modules["torch"].profiler.record_function
        state.open_scopes = functools.partial(_patch_calls, keras, state, scope, known)


def _patch_calls(keras, state, scope, known, patches):
    compile_loss, compile_metrics, patch_metrics = _compiled(keras)
    _within(keras.layers.Layer, "__call__", patches, known.get, scope)
    _within(keras.losses.Loss, "__call__", patches, known.get, scope)
    _within(compile_loss, "__call__", patches, lambda self: _known(known, self, state, _loss), scope)
    patch_metrics(compile_metrics, state, scope, known, patches)
    for cls in _optimizers(keras):
        method = "apply" if hasattr(cls, "apply") else "apply_gradients"
        _within(cls, method, patches, lambda self: _known(known, self, state, _optimizer), scope)


def _scopes(keras):
    """The function that opens a scope with a name, or does nothing outside of traced code; None if there is none."""
    backend = keras.backend.backend()
    if backend == "jax":
        return sys.modules["jax"].named_scope
    tf = sys.modules.get("tensorflow")
    if backend != "tensorflow" or tf is None:
        return None
    return lambda name: tf.name_scope(name) if tf.inside_function() else contextlib.nullcontext()


def _compiled(keras):
    """The classes that hold the loss and the metrics of a compiled model, and the patch of the latter."""
    if is_keras_3(keras):
        compiled = sys.modules["keras.src.trainers.compile_utils"]
        return compiled.CompileLoss, compiled.CompileMetrics, _patch_metrics
    compiled = sys.modules[f"{keras.__name__}.src.engine.compile_utils"]
    return compiled.LossesContainer, compiled.MetricsContainer, _patch_metrics_of_tf_keras


def _optimizers(keras):
    """The classes that apply gradients."""
    return [keras.optimizers.Optimizer, *([] if is_keras_3(keras) else [keras.optimizers.legacy.Optimizer])]


def is_keras_3(keras):
    """Whether a package is Keras 3, not tf-keras."""
    return hasattr(keras, "ops")


def _within(owner, method, patches, number, scope):
    original = vars(next(cls for cls in owner.__mro__ if method in vars(cls)))[method]

    @functools.wraps(original)
    def scoped(self, *args, **kwargs):
        at = number(self)
        if at is None:
            return original(self, *args, **kwargs)
        with scope(f"kerascheck{at}x"):
            return original(self, *args, **kwargs)

    patches.set(owner, method, scoped)


def _known(known, thing, state, described):
    """Position of the owner for ``thing``, which ``described`` creates at first."""
    at = known.get(thing)
    if at is None:
        state.owners.append(described(thing, state))
        at = len(state.owners) - 1
        known.set(thing, at)
    return at


def _patch_layers(keras, state, known):
    """Record each layer with the line of the script that creates it."""

    def created(layer, frame):
        made = None if isinstance(layer, keras.metrics.Metric) else _made(layer, keras, frame)
        if made is not None:
            state.owners.append(Owner("layer", layer.name, type(layer).__name__, *made))
            known.set(layer, len(state.owners) - 1)

    _after_creation(keras.layers.Layer, state.patches, created)


def _patch_objects(keras, state, scope, known):
    """Record each loss, metric and optimizer that the script itself creates, with the line."""

    def record(described, thing, frame):
        place = _created_at(thing, frame)
        return None if place is None else _known(known, thing, state, functools.partial(described, place=place))

    def metric(created, frame):
        at = None if scope is None else record(_metric, created, frame)
        if at is not None:
            _open_in_updates(created, scope, at)

    _after_creation(keras.losses.Loss, state.patches, functools.partial(record, _loss))
    _after_creation(keras.metrics.Metric, state.patches, metric)
    for cls in _optimizers(keras):
        _after_creation(cls, state.patches, functools.partial(record, _optimizer))


def _after_creation(cls, patches, created):
    """Call ``created`` with each new instance and the frame that calls its ``__init__``."""
    original = cls.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        # An unusual object: its operations belong to the owner around it.
        with contextlib.suppress(Exception):
            created(self, sys._getframe(1))

    patches.set(cls, "__init__", init)


def _created_at(thing, frame: types.FrameType | None):
    """(path, line) of the script that calls the class of ``thing``; None if a library calls it.

    ``frame`` calls its ``__init__``.
    """
    while frame is not None and _first(frame) is thing:
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None and is_user_frame(frame) else None


def _made(layer, keras, frame: types.FrameType | None):
    """Line of the script that creates ``layer``, and the function of keras.applications that it calls.

    None for a layer that a layer of a library creates: its operations belong to that one.
    """
    maker = None
    while frame is not None and not (is_user_frame(frame) and _first(frame) is not layer):
        first = _first(frame)
        if not is_user_frame(frame):
            if first is not layer and isinstance(first, keras.layers.Layer) and not isinstance(first, keras.Model):
                return None
            if "applications" in frame.f_code.co_filename:
                maker = frame.f_code.co_name
        frame = frame.f_back
    return (None if frame is None else (frame.f_code.co_filename, frame.f_lineno)), maker


def _first(frame):
    """The first argument of a frame's function."""
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None


def _patch_compile(keras, state):
    """Record the line that compiles the model: it creates the loss, the metrics and the optimizer."""
    owner = next(cls for cls in keras.Model.__mro__ if "compile" in vars(cls))
    original = owner.compile

    @functools.wraps(original)
    def compile(self, *args, **kwargs):
        state.compiled_at = user_place()
        return original(self, *args, **kwargs)

    state.patches.set(owner, "compile", compile)


def _patch_metrics(owner, state, scope, known, patches):
    """Open the scopes of the metrics that Keras creates from names and functions, while they are updated."""
    original = owner.update_state

    @functools.wraps(original)
    def update_state(self, *args, **kwargs):
        replaced = []
        for each in _flat(self):
            if not hasattr(each.update_state, "is_scoped"):
                replaced.append((each, vars(each).get("update_state")))
                _open_in_updates(each, scope, _known(known, each, state, _metric))
        try:
            return original(self, *args, **kwargs)
        finally:
            for each, before in replaced:
                if before is None:
                    vars(each).pop("update_state", None)
                else:
                    vars(each).update(update_state=before)

    patches.set(owner, "update_state", update_state)


def _open_in_updates(metric, scope, at):
    update = metric.update_state

    @functools.wraps(update)
    def scoped(*args, **kwargs):
        with scope(f"kerascheck{at}x"):
            return update(*args, **kwargs)

    scoped.is_scoped = True  # type: ignore[attr-defined]
    vars(metric).update(update_state=scoped)  # Keras tracks what is assigned to a metric


def _patch_metrics_of_tf_keras(owner, state, scope, known, patches):
    """Like :func:`_patch_metrics`; tf-keras creates its metrics while it traces the first step."""
    original = owner.build

    @functools.wraps(original)
    def build(self, *args, **kwargs):
        original(self, *args, **kwargs)
        for each in self.metrics:
            if not hasattr(each.update_state, "is_scoped"):
                _open_in_updates(each, scope, _known(known, each, state, _metric))

    patches.set(owner, "build", build)


def _flat(metric):
    """The metrics inside the containers of Keras."""
    inner = [each for each in getattr(metric, "metrics", ()) if each is not metric]
    return [leaf for each in inner for leaf in _flat(each)] if inner else [metric]


def _optimizer(optimizer, state, place=None):
    return Owner("optimizer", optimizer.name, type(optimizer).__name__, place or state.compiled_at)


def _loss(loss, state, place=None):
    """A loss that the script creates, or the whole loss of a compiled model."""
    given = getattr(loss, "_user_loss", None) or getattr(loss, "_user_losses", None)
    own = _of_script(given) or _of_script(getattr(loss, "fn", None)) or _of_script(loss)
    kind = "" if place is None else type(loss).__name__
    return Owner("loss", "loss", *(own or (kind, place or state.compiled_at)))


def _metric(metric, state, place=None):
    own = _of_script(getattr(metric, "_fn", None)) or _of_script(metric)
    return Owner("metric", metric.name, *(own or (type(metric).__name__, place or state.compiled_at)))


def _of_script(thing):
    """Name and place of a function of the script, or of the method of a class of the script that computes."""
    if isinstance(thing, types.FunctionType):
        code = thing.__code__
        return (thing.__name__, (code.co_filename, code.co_firstlineno)) if is_user_code(code) else None
    for method in ("update_state", "call"):
        defined = getattr(getattr(type(thing), method, None), "__code__", None)
        if defined is not None and is_user_code(defined):
            return type(thing).__name__, (defined.co_filename, defined.co_firstlineno)
    return None
