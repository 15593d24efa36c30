from kerascheck.api import Applies, Constant, Rule, Severity, constant, data, fixes, proofs

_KEEPS_EPOCHS = (
    "map",
    "filter",
    "prefetch",
    "with_options",
    "enumerate",
    "ignore_errors",
    "batch",
    "padded_batch",
    "ragged_batch",
    "shuffle",
    "cache",
)


def _times(repeat):
    """The count of a repeat: -1 if endless, and 1 if not a literal."""
    count = repeat.given("count")
    if count in (None, Constant(None)):
        return -1
    return constant(count, 1)


class RepeatBeforeShuffle(Rule):
    """A shuffle or a cache after repeat does not know where an epoch ends.

    ## What it does

    Looks for `.repeat()`, or `.repeat(n)` with n above 1, followed by `shuffle` or `cache` in a training pipeline.
    Maps, filters and batches may be between them. The finding is at the shuffle or the cache.

    The rule is off by default: for a shuffle it concerns statistics, and some authors use this order on purpose.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    Between two epochs, the shuffle buffer holds elements of both, so some examples appear twice before others appear
    once. This costs no time.

    A cache after an endless repeat is never complete. Every epoch runs everything again and keeps each copy, until the
    memory is full. In a probe (TensorFlow 2.21), a map before `repeat().cache().take(12)` over six elements ran 36
    times in three passes. After `repeat(n)`, the cache holds everything n times.

    ## What the runtime does by itself

    It fuses `shuffle` directly followed by `repeat` into one operation, which keeps the epochs apart. It does not swap
    the two.

    "repeat before shuffle is faster, since the buffer is not filled again for each epoch" is true only for the moment
    between two epochs.

    ## When it stays silent

    - `repeat` comes last, is `repeat(1)`, or has a count that is not a literal.
    - A `take` limits the repeated data to at most 32 elements, as in a benchmark.
    - An `interleave` or `flat_map` follows: the shuffle mixes files, and another operation shuffles their examples.
    - An operation between them is not visible in this file, or regroups elements.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.

    ## Use instead

    `.cache().shuffle(n).repeat().batch(n)`.

    ## Fix safety

    Unsafe: the fix moves `repeat` after the last shuffle or cache. The examples then come in a different order, epoch
    by epoch, as intended. There is no fix if a `take` or `skip` is between the two.

    If several rules want to reorder the same chain, one finding gives an order that satisfies them all, with one unsafe
    fix.

    ## References

    - TensorFlow API: `tf.data.Dataset.repeat`, `tf.data.Dataset.shuffle`, `tf.data.Dataset.cache`
    - TensorFlow guide: "tf.data: Build TensorFlow input pipelines", section on randomly shuffling input data
    """

    code = "KC126"
    name = "repeat-before-shuffle"
    summary = "shuffle or cache comes after repeat"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    on_by_default = False
    proves = ("same-order",)
    triggers = (".shuffle(", ".cache(")
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations("shuffle", "cache"):
            if not op.may_feed_training or any(
                child.name in ("interleave", "flat_map")
                for stage in op.stages
                for child in module.pipelines.downstream(stage)
            ):
                continue
            for stage in op.stages:
                repeat = data.nearest_before(stage, "repeat", _KEEPS_EPOCHS)
                times = _times(repeat) if repeat is not None else 1
                if times == 1:
                    continue
                if op.name == "cache":
                    cost = (
                        "After an endless repeat the cache is never complete."
                        if times < 0
                        else "The cache stores every element once per repetition."
                    )
                else:
                    cost = "The buffer holds elements of two epochs, so some come twice before others come once."
                request = data.ReorderRequest(data.ReorderKind.REPEAT_LATER, repeat)
                yield self.finding(
                    op,
                    f"This {op.name} comes after repeat and cannot tell epochs apart; move repeat after it.",
                    because=cost,
                    fix=fixes.rearranged(
                        module,
                        [request],
                        f"Repeat after {op.name}",
                        proofs.SAME_ORDER.unless("the elements come in another order"),
                    ),
                    reorder=request,
                    related=((repeat, "repeated here"),),
                )
                break
