from kerascheck.api import Applies, Rule, Severity, data, fixes, wording


class MissingPrefetch(Rule):
    """A dataset without a final prefetch prepares a batch only when the step asks for it.

    ## What it does

    Looks at datasets that are trained on and whose last operation is neither `prefetch` nor
    one that runs ahead by itself. The finding is:

    - a warning where a `for` loop over the dataset stands inside a `tf.function`, where the
      script switches the automatic rewrites or the autotuner off, and for TensorFlow 2.10
      and older;
    - an info for TensorFlow 2.10 and older where all of the pipeline slices arrays in memory and arranges what it gets;
    - reported with `--pedantic` only in a Python loop and in `fit`, because TensorFlow 2.11 and later repair it there, and
      in every version where the chain ends in a `map` and a `batch`, or since 2.6 in a `map` without
      state. It names the rewrite that does.

    `repeat`, `take`, `skip`, `shard`, `enumerate` and `with_options` behind a prefetch, or behind what runs ahead by itself, leave it in force.

    ## Why it costs

    Without a buffer the step waits for the batch, and then the pipeline waits for the step.
    On 2 CPU cores (TensorFlow 2.21, no GPU) the loop inside a `tf.function` was 1.6 times
    slower than with a prefetch; with the rewrite switched off, 1.5 times.

    ## What the runtime does by itself

    TensorFlow 2.11 and later append a prefetch when the dataset is iterated by `fit`, by a
    Python `for`, by `iter` or by a distribution strategy. Where the chain ends in a `map` without
    state, TensorFlow 2.6 and later make it parallel instead; where it ends in a `map` and a
    `batch`, the two become one operation. Both then run ahead by themselves. Written or not, a
    prefetch made no difference there (ratio 1.0), so the popular claim that a missing prefetch
    starves every training run is out of date. Inside a `tf.function` the loop itself becomes a
    part of the dataset, and nothing is put between the batch and the step.

    Two more pieces of advice are wrong: prefetch belongs after `batch`, not before it; and
    `prefetch(1)` is as good as AUTOTUNE for a steady pipeline (ratio 0.99).

    ## When it stays silent

    - The chain ends in `prefetch`; in a `map`, `interleave` or `batch` with parallel calls; or in
      a `batch` right behind such a `map`; or in a `zip`, `concatenate`, `sample_from_datasets` or `choose_from_datasets` of
      datasets that all do.
    - It consists of slices of arrays, and perhaps a `repeat`: there is nothing to prepare.
    - A prefetch stands further up: see `prefetch-not-last`.
    - The dataset comes from a Keras utility or from another source that prefetches, such as
      `image_dataset_from_directory`, `make_csv_dataset` or `tfds.load`.
    - It only feeds validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps, or a `take` has cut
      it to at most 32 elements; of batches the elements in them count.
    - A strategy of `tf.distribute` is made in the program: it prefetches by itself, in the versions too that append nothing else.
    - It goes through a function that this file does not show, or is returned to one.

    ## Use instead

    End the chain with `.prefetch(tf.data.AUTOTUNE)`.

    ## Fix safety

    Safe where tf.data appends a prefetch by itself: another one changes nothing. Safe also where the dataset reads
    arrays in memory only, and its functions are free of state. One of both is enough.

    Unsafe elsewhere, because the dataset then runs ahead of the training: in a compiled loop, with automatic
    rewrites switched off, or with an old TensorFlow. It would read a file, a generator or a `tf.Variable` before a
    step changes it. Unsafe, too, where the program prints the dataset, a notebook shows it, or unseen code gets it:
    its class changes.

    The fix holds a few more batches in memory. There is no fix where the dataset also goes through further
    operations, which would then follow the prefetch.

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
                    pedantic=end.runtime.repairs,
                    # Where the dataset also goes through more operations, the prefetch would stand before those.
                    fix=None if any(module.pipelines.downstream(end.last)) else fixes.append_prefetch(module, end.last),
                    wish=data.Wish(data.WishKind.ADD_PREFETCH, end.last),
                )
