from kerascheck.api import UNKNOWN, Applies, Rule, Severity, constant, fixes, names

_READERS = (*sorted(names.datasets.RECORD_READERS), names.datasets.FROM_GENERATOR)


class SerialInterleave(Rule):
    """An interleave without parallel calls mixes its files but opens and reads one at a time.

    ## What it does

    Looks in training pipelines for `dataset.interleave(f)` without `num_parallel_calls`, or with a literal 1, if `f`
    reads files or a generator or is not visible. Also looks for `dataset.flat_map(f)` if `f` reads files or a
    generator.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    A serial interleave takes its elements from one file after the other, in one thread. While it waits for storage,
    decompresses, or runs a map inside `f`, it reads nothing else.

    The cost depends on the storage. On a local disk with 2 CPU cores (TensorFlow 2.21, no GPU), the serial form was 1.2
    times slower, within the noise. Parallel reads are meant to help with remote storage, which was not measured.

    ## What the runtime does by itself

    Nothing. The rewrite that makes maps parallel changes neither `interleave` nor the functions passed to it. The name
    is misleading: interleaving alone is not parallel.

    Parallel reads are not always a gain, although many texts claim it. Reading cached files on a local disk was
    slightly faster in one thread (ratio 0.82), because there was no wait.

    ## When it stays silent

    - The call passes an explicit `num_parallel_calls` other than 1, or unknown keyword arguments.
    - `cycle_length=1` keeps only one file open at a time.
    - `f` changes state that outlives a call, such as a counter: the calls must run one after the other.
    - `f` reads nothing: the interleave only mixes or expands data in memory.
    - `flat_map` reads neither files nor a generator, or its function is not visible.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps. A `take` of at most 32 elements before the operation counts as inspection.

    ## Use instead

    Use `files.interleave(f, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)`. Add `deterministic=False` if the
    order of the records does not matter.

    ## Fix safety

    Unsafe if the function reads files or a generator, which is the main case of this rule. A parallel interleave opens
    up to three times `cycle_length` files at once, long before it reads them (TensorFlow 2.21). A program that writes
    its files during training would read old ones.

    Otherwise the lines keep their order, but only with a literal `cycle_length`. Without one, the cycle is as long as
    the number of processors. The fix is also unsafe with a function that draws random numbers, `deterministic=False`,
    or options that are not visible.

    The fix does not add `deterministic=False`, because it changes the order from run to run. There is no fix for
    `flat_map`: an `interleave` returns the records in a different order.

    ## References

    - TensorFlow API: `tf.data.Dataset.interleave`
    - TensorFlow guide: "Better performance with the tf.data API", section on data extraction
    - TensorFlow source: `map_parallelization.cc`, `interleave_op.py`
    """

    code = "KC105"
    name = "serial-interleave"
    summary = "interleave reads one file at a time"
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = (".interleave(", ".flat_map(")
    proves = ("pure-function", "same-order", "unchanged-sources", "known-consumers")
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations("interleave", "flat_map"):
            # If it changes state, the order of its calls matters.
            if not op.may_feed_training or op.facts.written is not None:
                continue
            reads = op.facts.call_of(*_READERS)
            if op.name == "flat_map":
                if reads is None:
                    continue
                message = f"This flat_map reads one file after the other; use interleave with num_parallel_calls={module.runtime.autotune}."
                because = "TensorFlow opens the next file only at the end of the previous one, so nothing overlaps the wait for storage."
            else:
                given = op.parallelism
                if (
                    given is UNKNOWN
                    or (given is not None and constant(given) != 1)
                    or constant(op.given("cycle_length")) == 1
                ):
                    continue
                if reads is None and op.facts.known:
                    # It interleaves elements that are already in memory.
                    continue
                message = (
                    f"This interleave reads one input at a time; add num_parallel_calls={module.runtime.autotune}."
                )
                because = "TensorFlow does not parallelize interleave automatically; it costs time where storage or the inner pipeline is slow."
            yield self.finding(
                op,
                message,
                because=because,
                fix=fixes.parallel_calls(module, op) if op.name == "interleave" else None,
                related=((reads, "the files are read here"),) if reads else (),
            )
