"""Fixes that rewrite code; each builder returns None if it cannot rewrite the code completely.

Example:
    >>> fixes.add_keyword(call("model.compile('adam')"), "jit_compile", "True", proofs.SAME_NUMBERS.unless("XLA rounds")).message
    'Add jit_compile=True'
"""

from __future__ import annotations

from kerascheck.fixes.builders.calls import (
    add_keyword,
    assign_back,
    delete_statement,
    drop_argument,
    rename,
    rename_keyword,
    rename_method,
    replace_generator_method,
)
from kerascheck.fixes.builders.chains import rearranged, skip_before_map, take_before_cache
from kerascheck.fixes.builders.datasets import (
    append_prefetch,
    move_prefetch,
    parallel_calls,
    parallel_reads,
    parse_batches,
    pass_dataset,
    swap_with_batch,
)
from kerascheck.fixes.builders.devices import grow_every_device, only_for_several_gpus, set_memory_growth
from kerascheck.fixes.builders.inline_steps import compile_inline_step
from kerascheck.fixes.builders.layers import recurrent_layer, unwrap_layer
from kerascheck.fixes.builders.numpy_calls import replace_numpy
from kerascheck.fixes.builders.packages import install_with_cuda
from kerascheck.fixes.builders.statements import (
    move_above_import,
    move_before_layers,
    move_before_loop,
    move_device_config,
)
from kerascheck.fixes.builders.traced_code import compile_step, tensorflow_print, train_on_batch, wrap_in_constant

__all__ = [
    "add_keyword",
    "append_prefetch",
    "assign_back",
    "compile_inline_step",
    "compile_step",
    "delete_statement",
    "drop_argument",
    "grow_every_device",
    "install_with_cuda",
    "move_above_import",
    "move_before_layers",
    "move_before_loop",
    "move_device_config",
    "move_prefetch",
    "only_for_several_gpus",
    "parallel_calls",
    "parallel_reads",
    "parse_batches",
    "pass_dataset",
    "rearranged",
    "recurrent_layer",
    "rename",
    "rename_keyword",
    "rename_method",
    "replace_generator_method",
    "replace_numpy",
    "set_memory_growth",
    "skip_before_map",
    "swap_with_batch",
    "take_before_cache",
    "tensorflow_print",
    "train_on_batch",
    "unwrap_layer",
    "wrap_in_constant",
]
