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
    """Open a scope around each owner's operations while a step is traced (Keras 3, plans with ``parts``)."""
    known = Notes()
    _patch_creation(keras, state, known)
    _patch_compile(keras, state)
    if keras.backend.backend() == "torch":
        # Its steps run Python, so scopes would lengthen those that are timed.
        scope = sys.modules["torch"].profiler.record_function
        state.open_scopes = lambda patches: _patch_calls(keras, state, scope, known, patches)
        return
    scope = _scopes(keras.backend.backend())
    if scope is not None:
        _patch_calls(keras, state, scope, known, state.patches)


def _patch_calls(keras, state, scope, known, patches):
    _within(keras.Layer, "__call__", patches, known.get, scope)
    optimizer, compiled = keras.optimizers.Optimizer, sys.modules["keras.src.trainers.compile_utils"]
    _within(optimizer, "apply", patches, lambda self: _known(known, self, state, _optimizer), scope)
    _within(compiled.CompileLoss, "__call__", patches, lambda self: _known(known, self, state, _loss), scope)
    _patch_metrics(compiled.CompileMetrics, state, scope, known, patches)


def _scopes(backend):
    """The function that opens a scope with a name, or does nothing outside of traced code; None for other backends."""
    if backend == "jax":
        return sys.modules["jax"].named_scope
    tf = sys.modules.get("tensorflow")
    if backend != "tensorflow" or tf is None:
        return None
    return lambda name: tf.name_scope(name) if tf.inside_function() else contextlib.nullcontext()


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


def _patch_creation(keras, state, known):
    """Record each layer with the line of the script that creates it."""
    original = keras.Layer.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        try:
            made = _made(self, keras, sys._getframe(1))
            if made is not None:
                state.owners.append(Owner("layer", self.name, type(self).__name__, *made))
                known.set(self, len(state.owners) - 1)
        except Exception:  # an unusual layer: its operations belong to the layer around it
            return

    state.patches.set(keras.Layer, "__init__", init)


def _made(layer, keras, frame: types.FrameType | None):
    """Line of the script that creates ``layer``, and the function of keras.applications that it calls.

    None for a layer that a layer of a library creates: its operations belong to that one.
    """
    maker = None
    while frame is not None and not (is_user_frame(frame) and _first(frame) is not layer):
        first = _first(frame)
        if not is_user_frame(frame):
            if first is not layer and isinstance(first, keras.Layer) and not isinstance(first, keras.Model):
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
    original = owner.update_state

    @functools.wraps(original)
    def update_state(self, *args, **kwargs):
        metrics = [each for each in _flat(self) if "update_state" not in vars(each)]
        for each in metrics:
            at = _known(known, each, state, _metric)
            # Keras tracks what is assigned to a metric.
            vars(each).update(update_state=_scoped(each.update_state, scope, at))
        try:
            return original(self, *args, **kwargs)
        finally:
            for each in metrics:
                vars(each).pop("update_state", None)

    patches.set(owner, "update_state", update_state)


def _scoped(function, scope, at):
    @functools.wraps(function)
    def scoped(*args, **kwargs):
        with scope(f"kerascheck{at}x"):
            return function(*args, **kwargs)

    return scoped


def _flat(metric):
    """The metrics inside the containers of Keras."""
    inner = [each for each in getattr(metric, "metrics", ()) if each is not metric]
    return [leaf for each in inner for leaf in _flat(each)] if inner else [metric]


def _optimizer(optimizer, state):
    return Owner("optimizer", optimizer.name, type(optimizer).__name__, state.compiled_at)


def _loss(loss, state):
    kind, place = _of_script(getattr(loss, "_user_loss", None)) or ("", state.compiled_at)
    return Owner("loss", "loss", kind, place)


def _metric(metric, state):
    kind = type(metric).__name__
    own = _of_script(getattr(metric, "_fn", None)) or _of_script(metric)
    return Owner("metric", metric.name, *(own or (kind, state.compiled_at)))


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
