"""Probes that detect the training at run time in all its forms, and report the ends of steps to the recorder.

Forms: ``Model.fit`` on any backend and on legacy tf.keras; ``train_on_batch`` loops; hand-written loops whose step is a
``tf.function``; eager loops with an optimizer; loops over a dataset inside a ``tf.function``; jitted JAX steps; PyTorch
optimizers; loops of ``predict``; bare loops over a dataset. A form inside another one, such as the optimizer inside
``fit``, does not count again.
"""

import functools
import sys
import traceback

from .. import batch_sizes, clock, cpu_peaks, diagnose, layer_trace, parts, step_costs
from ..hooks import AfterImport
from ..state import State
from . import jax, keras, scalars, tensorflow, torch


def install(run, recorder, patches=None):
    """Patch each framework as soon as the script has imported it.

    A passive plan also patches those that are imported already.

    Args:
        patches: collects the changes, see :class:`Patches`.

    Returns:
        The state of the probes.
    """
    state = State(run, recorder, patches)
    recorder.number = functools.partial(scalars.read, state)
    recorder.iterators_so_far = lambda: len(state.iterators)
    probes = {"keras": keras, "tf_keras": keras, "tensorflow": tensorflow, "torch": torch, "jax": jax}
    patchers = {name: _patcher(probe, state) for name, probe in probes.items()}
    recorder.at_end.append(functools.partial(diagnose.facts, state))
    clock.install(state)
    parts.install(state)
    diagnose.install(state)
    step_costs.install(state)
    cpu_peaks.install(state)
    layer_trace.install(state)
    parts.install_last(state)  # it compiles a step for another batch size, which may exceed the limit of a diagnostic
    batch_sizes.install(state)
    loaded = [name for name in patchers if name in sys.modules] if state.is_passive else []
    finder = AfterImport({name: [patcher] for name, patcher in patchers.items() if name not in loaded})
    sys.meta_path.insert(0, finder)
    state.patches.on_undo(finder.stop)
    for name in loaded:
        patchers[name](sys.modules[name])
    return state


def _patcher(probe, state):
    def patched(module):
        if state.is_passive and state.recorder.disabled:
            return
        try:
            probe.patch(module, state)
        except Exception as error:  # must not look like an error of the script
            place = traceback.extract_tb(error.__traceback__)[-1]
            state.recorder.fault(f"{probe.__name__}, line {place.lineno}: {type(error).__name__}: {error}")

    return patched
