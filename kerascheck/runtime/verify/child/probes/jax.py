"""Probes of JAX: jitted functions and gradients."""

import functools
import inspect
import time

from .. import clock
from ..frames import user_modules
from ..jax_steps import JaxStep
from .scalars import first_scalar
from .tracing_state import jax_is_idle


class Jitted:
    """A jitted function that reports to the recorder when it was a training step."""

    def __init__(self, compiled, key, state, is_earlier=False):
        """``is_earlier``: whether it may have been traced before the probes existed."""
        self._compiled = compiled
        self._key = key
        self._state = state
        self._is_unknown = is_earlier
        functools.update_wrapper(self, compiled)
        if state.is_passive:
            state.wrappers.add(self)

    def call(self, *args, **kwargs):
        state, recorder = self._state, self._state.recorder
        if recorder.disabled or not state.counts_here() or (state.is_passive and not jax_is_idle()):
            return self._compiled(*args, **kwargs)
        step = state.jax_steps.get(self._key)
        if step is not None:
            step.before(self._compiled, (args, kwargs))
        before, start = state.updates, time.perf_counter()
        with recorder.inside:
            result = self._compiled(*args, **kwargs)
        if state.parts.waits:
            recorder.sync(result)
        state.parts.called(time.perf_counter() - start)
        if self._key not in state.calls and state.updates == before and not self._has_traced_gradients(args, kwargs):
            return result
        state.calls.setdefault(self._key, [])
        if step is None and state.keeps_jax_steps:
            state.jax_steps[self._key] = JaxStep(result)
        key = ("function", self._key)
        loss = first_scalar(result) if recorder.wants_loss(key) else None
        recorder.tick(key, "function loop", getattr(self, "__name__", ""), value=result, loss=loss, framework="jax")
        return result

    def _has_traced_gradients(self, args, kwargs):
        """Whether a function that was traced before the probes existed computes gradients; looks only once."""
        if not self._is_unknown:
            return False
        self._is_unknown = False
        try:
            # The call above has traced it, so the function of the script does not run again.
            return _has_gradients(self._compiled.trace(*args, **kwargs).jaxpr)
        except Exception:  # another version of JAX
            self._state.unknown_functions.append(getattr(self, "__name__", "?"))
            return False

    __call__ = call  # the sampler looks past frames named "__call__" but counts "call" as executing

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name):
        return getattr(self._compiled, name)


def patch(jax, state):
    """Watch jitted functions, and record which of them trace gradients."""
    recorder = state.recorder
    recorder.found_version("jax", jax.__version__)
    if state.run["plan"]["parts"]:
        clock.patch_jax(jax, state)
    previous = recorder.sync
    recorder.sync = lambda value: (previous(value), jax.block_until_ready(_arrays(jax, value)))
    jit = jax.jit

    @functools.wraps(jit)
    def wrapped_jit(*args, **kwargs):
        if not args:
            return lambda function: wrapped_jit(function, **kwargs)
        return Jitted(jit(*args, **kwargs), _key_of(args[0]), state)

    _replace(jax, "jit", wrapped_jit, state)
    for name in ("grad", "value_and_grad"):
        _patch_gradient(jax, name, state)
    if state.is_passive:
        _wrap_earlier_functions(type(jit(lambda: None)), state)


def _key_of(function):
    """Key of a jitted function, equal for all functions with the same code."""
    return getattr(inspect.unwrap(function), "__code__", None) or id(function)


def _wrap_earlier_functions(kind, state):
    """Wrap the jitted functions, of the class ``kind``, in the variables of the script's modules."""
    for module in user_modules():
        for name, value in list(vars(module).items()):
            if type(value) is kind:
                _replace_variable(module, name, Jitted(value, _key_of(value), state, is_earlier=True), state)


def _has_gradients(jaxpr):
    """Whether a program of JAX has operations that come from a gradient."""
    pending = [jaxpr]
    while pending:
        program = pending.pop()
        for equation in getattr(program, "jaxpr", program).eqns:
            if "transpose(" in str(equation.source_info.name_stack):
                return True
            pending += _inner_programs(list(equation.params.values()))
    return False


def _inner_programs(value):
    if isinstance(value, (list, tuple)):
        return [inner for each in value for inner in _inner_programs(each)]
    return [value] if hasattr(value, "eqns") or hasattr(value, "jaxpr") else []


def _patch_gradient(jax, name, state):
    """Count gradients. In a jitted function they mark it as a training step; elsewhere they are an eager step."""
    original = getattr(jax, name)
    recorder = state.recorder

    @functools.wraps(original)
    def gradient_of(*args, **kwargs):
        made = original(*args, **kwargs)

        @functools.wraps(made)
        def gradient(*args, **kwargs):
            state.updates += 1
            if recorder.disabled or not state.counts_here() or not jax_is_idle():
                return made(*args, **kwargs)
            with recorder.inside:
                result = made(*args, **kwargs)
            recorder.tick(("gradient",), "gradient loop", "", value=result, framework="jax")
            return result

        if state.is_passive:
            state.wrappers.add(gradient)
        return gradient

    _replace(jax, name, gradient_of, state)


def _replace(jax, name, wrapper, state):
    """Replace a function of JAX; in the process of a notebook also under the names to which a script imported it."""
    original = getattr(jax, name)
    state.patches.set(jax, name, wrapper)
    if not state.is_passive:
        return
    for module in user_modules():
        for own_name, value in list(vars(module).items()):
            if value is original:
                _replace_variable(module, own_name, wrapper, state)


def _replace_variable(module, name, wrapper, state):
    """Replace a variable of the script until the probes end, or the script assigns to it."""
    original = vars(module)[name]

    def restore():
        if vars(module).get(name) is wrapper:
            setattr(module, name, original)

    state.patches.on_undo(restore)
    setattr(module, name, wrapper)


def _arrays(jax, value):
    return [leaf for leaf in jax.tree_util.tree_leaves(value) if isinstance(leaf, jax.Array)]
