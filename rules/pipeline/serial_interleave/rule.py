from kerascheck.api import UNKNOWN, Applies, Rule, Severity, constant, fixes, names

_READERS = (*sorted(names.datasets.RECORD_READERS), names.datasets.FROM_GENERATOR)


class SerialInterleave(Rule):
    """An interleave without parallel calls mixes its files but opens and reads one at a time.

    ## What it does

    Looks on the way to training for `dataset.interleave(f)` that has no `num_parallel_calls`, or
    a literal 1, where `f` reads files or a generator or is not visible; and for
    `dataset.flat_map(f)` where `f` reads them.

    A dataset that leaves the file counts as training data too, unless a function, class or
    variable around it has a name that says validation or test, or a branch asks for those.

    ## Why it costs

    A serial interleave takes its elements from one file after the other, in one thread. While
    it waits for storage, or inflates, or runs a map inside `f`, nothing else is read.

    How much that is depends on the storage. On a local disk with 2 CPU cores (TensorFlow 2.21,
    no GPU) the serial form was 1.2 times slower, which is within the noise. Remote storage is
    where parallel reads are meant to help; that was not measured.

    ## What the runtime does by itself

    Nothing. The rewrite that makes maps parallel does not touch `interleave`, nor the
    functions given to it. The name is misleading: interleaving alone is not parallel.

    Parallel reads are not always a gain, as is often claimed. Reading cached files on a local
    disk was slightly faster in one thread (ratio 0.82), because there was no wait.

    ## When it stays silent

    - An explicit `num_parallel_calls` other than 1, or unknown keyword arguments.
    - `cycle_length=1`: only one file is open at a time.
    - `f` changes state that outlives a call, such as a counter: the calls must come one after the other.
    - `f` reads nothing: the interleave only mixes or expands what is in memory.
    - `flat_map` over anything but files or a generator, or over a function that is not visible.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps;
      a `take` of at most 32 elements before the operation is inspection.

    ## Use instead

    `files.interleave(f, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)`, with
    `deterministic=False` as well where the order of the records does not matter.

    ## Fix safety

    Unsafe where the function reads files or a generator, which is what this rule looks for. A parallel interleave
    opens up to three times `cycle_length` files at once, long before it reads them (TensorFlow 2.21). A program
    that writes its files while it trains would read old ones.

    Otherwise the lines keep their order, but only with a literal `cycle_length`: without one the cycle is as long
    as the machine has processors. A function that draws, `deterministic=False`, and options that are not visible
    keep the fix from being safe as well.

    The fix does not add `deterministic=False`, because that changes the order from run to run. There is no fix for
    `flat_map`: an `interleave` returns the records in another order.

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
            # Where it changes state, the order of its calls counts.
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
                    # It mixes what is in memory already.
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
