from kerascheck.api import Applies, Rule, Severity, data, fixes, wording


class PrefetchNotLast(Rule):
    """A prefetch in the middle of a chain leaves the batches themselves without a buffer.

    ## What it does

    Looks for a `prefetch` on the way to training that is followed by `batch`, `map`, `shuffle`
    or another operation, with no prefetch at the end. The finding is at the prefetch. It is:

    - a warning where a `for` loop over the dataset stands inside a `tf.function`, where the
      script switches the automatic rewrites or the autotuner off, and for TensorFlow 2.10
      and older;
    - reported with `--pedantic` only in a Python loop and in `fit`, where it names the rewrite that repairs it.

    ## Why it costs

    The buffer holds single elements. What follows it is done while the step waits. How much
    that is depends on these operations: on 2 CPU cores (TensorFlow 2.21, no GPU, automatic
    rewrite off) prefetch before a cheap batch was 1.1 times slower than after it. Costly work
    after the prefetch costs as much as a missing prefetch.

    ## What the runtime does by itself

    TensorFlow 2.11 and later append a second prefetch at the end, except for a loop inside a
    `tf.function`. With it the order made no difference (ratio 1.04).

    A popular answer asks for prefetch before `batch`, so that batching does not happen in the
    main thread. That is the wrong way round: the last operation is the one that the step
    waits for.

    ## When it stays silent

    - The chain ends in a prefetch, or in a `map`, `interleave` or `batch` with parallel calls.
    - The prefetch ends a dataset of its own, which is trained on, looked at or branched from, and
      this one only goes on from there.
    - What follows is applied under a condition.
    - The dataset leaves the file under a name that does not say training data.
    - The prefetch ends one of several datasets that are put together by `zip`, `concatenate`, `sample_from_datasets`
      or `choose_from_datasets`.
    - Only `repeat`, `take`, `skip`, `shard`, `enumerate` or `with_options` follow.
    - As an info, not a warning, where a `cache` is the last operation: what it gives takes no time.
    - A second prefetch on purpose: one in the middle and one at the end.
    - The prefetch is inside a Keras utility, such as `timeseries_dataset_from_array`.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps,
      or a `take` has cut it to at most 32 elements.
    - The prefetch ends a dataset that another module makes, and this one adds to.
    - What follows is in a function that this file does not show.

    ## Use instead

    `.batch(n).prefetch(tf.data.AUTOTUNE)`.

    ## Fix safety

    The same elements come in the same order. The existing call is moved, with its argument.

    Safe for `AUTOTUNE`, whose buffer the runtime bounds, and for a number of elements that no `batch` or `map`
    makes larger. A fixed number would count batches afterwards, and take more memory.

    The dataset then runs ahead of the training at its end. That is safe where tf.data does so by itself, or where
    nothing that the dataset reads can change: one of both is enough. Unsafe, too, where the program prints the
    dataset or unseen code gets it, because its class changes.

    ## References

    - TensorFlow API: `tf.data.Dataset.prefetch`
    - TensorFlow guide: "Better performance with the tf.data API", section on prefetching
    - TensorFlow source: `inject_prefetch.cc`
    """

    code = "KC125"
    name = "prefetch-not-last"
    summary = "prefetch is not at the end of the dataset"
    evidence_note = "TensorFlow 2.11 and later add a prefetch at the end, so little is left to gain with this version."
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = (".prefetch(",)
    proves = ("same-memory", "runtime-does-it", "known-consumers", "unchanged-sources")
    loss_tolerance = 1e-6

    def check(self, module):
        for end in module.pipelines.unbuffered():
            # What another module makes ends in a prefetch for all that use it.
            if end.early is not None and end.early.module is end.last.module:
                yield self.finding(
                    end.early,
                    f"This prefetch comes before {end.last.name}, and the dataset ends without one; move it to the end.",
                    because=wording.no_buffer(module, end),
                    # What a cache in memory gives takes no time.
                    severity=Severity.WARNING if end.costs and end.last.name != "cache" else Severity.INFO,
                    pedantic=end.runtime.repairs,
                    fix=fixes.move_prefetch(module, end.early, end.last),
                    wish=data.Wish(data.WishKind.PREFETCH_LAST, end.early),
                    related=((end.last, "the last operation"),),
                )
