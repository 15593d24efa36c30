"""How a rule rewrites code; each is None where it cannot do so completely.

Example:
    >>> fixes.add_keyword(call("model.compile('adam')"), "jit_compile", "True", safe=True).message
    'Add jit_compile=True'
"""

from __future__ import annotations

from kerascheck.repairs.fixes import (
    add_keyword,
    append_prefetch,
    assign_back,
    compile_step,
    delete_statement,
    drop_argument,
    drop_method,
    grow_every_device,
    install_with_cuda,
    move_above_import,
    move_after,
    move_before_layers,
    move_before_loop,
    move_device_config,
    only_for_several_gpus,
    parallel_calls,
    parallel_reads,
    parse_batches,
    rearranged,
    recurrent_layer,
    rename,
    rename_method,
    replace_generator_method,
    replace_numpy,
    set_memory_growth,
    swap_with_batch,
    tensorflow_print,
    train_on_batch,
    unwrap_layer,
    wrap_in_constant,
)

__all__ = [
    "add_keyword",
    "append_prefetch",
    "assign_back",
    "compile_step",
    "delete_statement",
    "drop_argument",
    "drop_method",
    "grow_every_device",
    "install_with_cuda",
    "move_above_import",
    "move_after",
    "move_before_layers",
    "move_before_loop",
    "move_device_config",
    "only_for_several_gpus",
    "parallel_calls",
    "parallel_reads",
    "parse_batches",
    "rearranged",
    "recurrent_layer",
    "rename",
    "rename_method",
    "replace_generator_method",
    "replace_numpy",
    "set_memory_growth",
    "swap_with_batch",
    "tensorflow_print",
    "train_on_batch",
    "unwrap_layer",
    "wrap_in_constant",
]
