"""Traced and compiled code, and the effects that happen once per trace.

Example:
    >>> traced = graph.traced_calls(module("step = tf.function(lambda x: print(x)); step(tf.constant(1.0))"))
    >>> [(call.name, how) for call, how in traced]
    [('builtins.print', 'tf.function')]
"""

from __future__ import annotations

from kerascheck.meaning.graph.compiled_loops import (
    TurnKind,
    changing_constants,
    changing_shapes,
    compiled_in_iterations,
)
from kerascheck.meaning.graph.debug_switches import debug_switches
from kerascheck.meaning.graph.eager_loops import eager_caller
from kerascheck.meaning.graph.element_loops import element_loops
from kerascheck.meaning.graph.layer_uses import is_for_inference
from kerascheck.meaning.graph.python_in_maps import Once, PythonInMap, python_in_maps
from kerascheck.meaning.graph.recursive_calls import recursive_calls
from kerascheck.meaning.graph.shape_compilations import XlaBy, recompilations
from kerascheck.meaning.graph.side_effects import Effect, side_effects
from kerascheck.meaning.graph.stale_globals import stale_globals
from kerascheck.meaning.graph.traced_code import converts_branches, traced_calls, tracing_frame, trains_in
from kerascheck.meaning.graph.training_loops import calls_beside_training, rare_updates
from kerascheck.meaning.graph.unrolled_loops import unrolled_loops

__all__ = [
    "Effect",
    "Once",
    "PythonInMap",
    "TurnKind",
    "XlaBy",
    "calls_beside_training",
    "changing_constants",
    "changing_shapes",
    "compiled_in_iterations",
    "converts_branches",
    "debug_switches",
    "eager_caller",
    "element_loops",
    "is_for_inference",
    "python_in_maps",
    "rare_updates",
    "recompilations",
    "recursive_calls",
    "side_effects",
    "stale_globals",
    "traced_calls",
    "tracing_frame",
    "trains_in",
    "unrolled_loops",
]
