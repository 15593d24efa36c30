from kerascheck.api import Applies, Rule, Severity, Tally, data, fixes, wording

_TALLY = Tally("prefetch before the end of a dataset", repaired_since="2.11")


class PrefetchNotLast(Rule):
    """A prefetch in the middle of a chain leaves the batches themselves without a buffer.

    ## What it does

    Looks for a `prefetch` in a training pipeline followed by `batch`, `map`, `shuffle` or another operation, without a
    prefetch at the end. The finding is at the prefetch. It is:

    - a warning if a `for` loop over the dataset is inside a `tf.function`;
    - a warning if the script disables the automatic rewrites or the autotuner, and for TensorFlow 2.10 and older;
    - an info for TensorFlow 2.10 and older if the whole pipeline only slices arrays in memory and rearranges the
      elements, or if the dataset leaves the file;
    - reported only with `--pedantic` in a Python loop and in `fit`, where it names the rewrite that repairs it.

    ## Why it costs

    The buffer holds single elements, and the step waits for all later operations. The cost depends on these operations.
    On 2 CPU cores (TensorFlow 2.21, no GPU, automatic rewrite off), prefetch before a cheap batch was 1.1 times slower
    than after it. Expensive work after the prefetch costs as much as a missing prefetch.

    ## What the runtime does by itself

    TensorFlow 2.11 and later append a second prefetch at the end, except for a loop inside a `tf.function`. With this
    prefetch, the order makes little difference (see "Evidence").

    A popular answer recommends prefetch before `batch`, so that batching does not happen in the main thread. This is
    the wrong way round: the step waits for the last operation.

    ## When it stays silent

    - The chain ends in a prefetch, or in a `map`, `interleave` or `batch` with parallel calls.
    - The prefetch ends a separate dataset that the program trains on, inspects or branches from, and this chain only
      continues it.
    - A condition decides whether the later operations are applied.
    - The dataset leaves the file under a name that does not suggest training data.
    - The prefetch ends one of several datasets combined by `zip`, `concatenate`, `sample_from_datasets` or
      `choose_from_datasets`.
    - Only `repeat`, `take`, `skip`, `shard`, `enumerate` or `with_options` follow.
    - Reported as info instead of a warning: the last operation is a `cache`, whose output takes no time.
    - The second prefetch is intentional: one in the middle and one at the end.
    - The prefetch is inside a Keras utility, such as `timeseries_dataset_from_array`.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.
    - A `take` limits the dataset to at most 32 elements.
    - The prefetch ends a dataset that another module creates and this one extends.
    - The later operations are in a function outside this file.
    - The program creates a `tf.distribute` strategy and uses TensorFlow 2.10 or older: the strategy prefetches by
      itself.

    ## Use instead

    `.batch(n).prefetch(tf.data.AUTOTUNE)`.

    ## Fix safety

    The fix moves the existing call with its argument. The same elements come in the same order.

    Safe for `AUTOTUNE`, because the runtime bounds its buffer. Also safe for a fixed number of elements that no `batch`
    or `map` makes larger. Otherwise, a fixed number would count batches after the fix, and take more memory.

    The end of the dataset then runs ahead of the training. This is safe if tf.data does so by itself, or if nothing
    that the dataset reads can change. Either condition is enough. The fix is also unsafe if the program prints the
    dataset or unseen code receives it, because its class changes.

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
            # The prefetch at the end of another module's dataset serves all its users.
            if end.early is not None and end.early.module is end.last.module:
                yield self.finding(
                    end.early,
                    f"This prefetch comes before {end.last.name}, and the dataset ends without one; move it to the end.",
                    because=wording.no_buffer(module, end),
                    # Reading an in-memory cache takes no time.
                    severity=Severity.WARNING if end.costs and end.last.name != "cache" else Severity.INFO,
                    tally=_TALLY if end.runtime.repairs else None,
                    fix=fixes.move_prefetch(module, end.early, end.last),
                    reorder=data.ReorderRequest(data.ReorderKind.PREFETCH_LAST, end.early),
                    related=((end.last, "the last operation"),),
                )
