from kerascheck.api import Applies, Rule, Severity, Tally, data, fixes, wording

_TALLY = Tally("dataset without a final prefetch", repaired_since="2.11")


class MissingPrefetch(Rule):
    """A dataset without a final prefetch prepares a batch only when the step requests it.

    ## What it does

    Looks at training datasets whose last operation is neither `prefetch` nor an operation that runs ahead by itself.
    The finding is:

    - a warning if a `for` loop over the dataset is inside a `tf.function`;
    - a warning if the script disables the automatic rewrites or the autotuner, and for TensorFlow 2.10 and older;
    - an info for TensorFlow 2.10 and older if the whole pipeline only slices arrays in memory and rearranges the
      elements, or if it ends in a `cache` in memory;
    - reported only with `--pedantic` in a Python loop and in `fit`, because TensorFlow 2.11 and later add a prefetch
      there;
    - reported only with `--pedantic` if the chain ends in a `map` and a `batch` (every version) or in a stateless `map`
      (since 2.6).

    The pedantic findings name the rewrite that helps. `repeat`, `take`, `skip`, `shard`, `enumerate` and `with_options`
    do not undo an earlier prefetch, or an operation that runs ahead by itself.

    ## Why it costs

    Without a buffer, the step waits for the batch, and then the pipeline waits for the step. On 2 CPU cores (TensorFlow
    2.21, no GPU), the loop inside a `tf.function` was 1.6 times slower than with a prefetch. With the rewrite disabled,
    it was 1.5 times slower.

    ## What the runtime does by itself

    TensorFlow 2.11 and later append a prefetch when `fit`, a Python `for`, `iter` or a distribution strategy iterates
    over the dataset. If the chain ends in a stateless `map`, TensorFlow 2.6 and later make it parallel instead. If it
    ends in a `map` and a `batch`, the two become one operation. Both then run ahead by themselves. An explicit prefetch
    made no difference there (ratio 1.0). The popular claim that a missing prefetch starves every training run is
    therefore out of date. Inside a `tf.function`, the loop itself becomes part of the dataset. Nothing then separates
    the batch from the step.

    Two more pieces of advice are wrong. Prefetch belongs after `batch`, not before it, and `prefetch(1)` is as good as
    AUTOTUNE for a steady pipeline (ratio 0.99).

    ## When it stays silent

    - The chain ends in `prefetch`, or in a `map`, `interleave` or `batch` with parallel calls, or in a `batch` directly
      after such a `map`.
    - The chain ends in a `zip`, `concatenate`, `sample_from_datasets` or `choose_from_datasets`, and all their inputs
      end like this.
    - The dataset only slices arrays, perhaps with a `repeat`: there is nothing to prepare.
    - A prefetch comes earlier in the chain: see `prefetch-not-last`.
    - The dataset comes from a Keras utility or another source that prefetches, such as `image_dataset_from_directory`,
      `make_csv_dataset` or `tfds.load`.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.
    - A `take` limits the dataset to at most 32 elements. For batches, the elements inside them count.
    - The program creates a `tf.distribute` strategy and uses TensorFlow 2.10 or older. The strategy prefetches by
      itself, even in these versions.
    - The dataset goes through a function outside this file, or is returned to one.

    ## Use instead

    End the chain with `.prefetch(tf.data.AUTOTUNE)`.

    ## Fix safety

    Safe if tf.data appends a prefetch by itself: another one changes nothing. Also safe if the dataset reads only
    arrays in memory and its functions are stateless. Either condition is enough.

    Unsafe elsewhere, because the dataset then runs ahead of the training: in a compiled loop, with automatic rewrites
    disabled, or with an old TensorFlow. It would read a file, a generator or a `tf.Variable` before a step changes it.
    Also unsafe if the program prints the dataset, a notebook shows it, or unseen code receives it: the class of the
    dataset changes.

    The fix keeps a few more batches in memory. There is no fix if the dataset also goes through further operations,
    which would then follow the prefetch.

    ## References

    - TensorFlow API: `tf.data.Dataset.prefetch`, `tf.data.experimental.OptimizationOptions`
    - TensorFlow guide: "Better performance with the tf.data API"
    - TensorFlow source: `inject_prefetch.cc`
    """

    code = "KC102"
    name = "missing-prefetch"
    summary = "dataset does not end in prefetch"
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = ("Dataset", "_dataset", "tensorflow_datasets")
    proves = ("runtime-does-it", "known-consumers", "unchanged-sources")
    loss_tolerance = 1e-6

    def check(self, module):
        for last in module.pipelines.buffered():
            yield self.silence(last, f"{last.name.rpartition('.')[2]} already prepares elements ahead")
        for end in module.pipelines.unbuffered():
            if end.early is None:
                yield self.finding(
                    end.last,
                    f"This dataset feeds training without a final prefetch; append .prefetch({module.runtime.autotune}).",
                    because=wording.no_buffer(module, end),
                    severity=Severity.WARNING if end.costs else Severity.INFO,
                    tally=_TALLY if end.runtime.repairs else None,
                    # If the dataset has further operations, the prefetch would precede them.
                    fix=None if any(module.pipelines.downstream(end.last)) else fixes.append_prefetch(module, end.last),
                    reorder=data.ReorderRequest(data.ReorderKind.ADD_PREFETCH, end.last),
                )
