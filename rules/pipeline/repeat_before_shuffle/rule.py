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
    """The count of a repeat, -1 where it is endless, and 1 where it is not a literal."""
    count = repeat.given("count")
    if count in (None, Constant(None)):
        return -1
    return constant(count, 1)


class RepeatBeforeShuffle(Rule):
    """A shuffle or a cache after repeat does not know where an epoch ends.

    ## What it does

    Looks for `.repeat()`, or `.repeat(n)` with n above 1, followed by `shuffle` or `cache` on the
    way to training. Maps, filters and batches may stand between them. The finding is at
    the shuffle or the cache.

    The rule is off by default: for a shuffle this is about statistics, and some people
    do it on purpose.

    A dataset that leaves the file counts as training data too, unless a function, class or
    variable around it has a name that says validation or test, or a branch asks for those.

    ## Why it costs

    The buffer of the shuffle holds elements of two epochs at their border, so some examples come
    twice before others come once. That costs no time.

    A cache after an endless repeat is never complete. Every epoch runs everything again, and
    keeps each copy in memory, until the memory is full. In a probe (TensorFlow 2.21) a map before
    `repeat().cache().take(12)` over six elements ran 36 times in three passes. After
    `repeat(n)` the cache holds everything n times.

    ## What the runtime does by itself

    It fuses `shuffle` directly followed by `repeat` into one operation, which keeps the epochs
    apart. It does not swap the two.

    "repeat before shuffle is faster, since the buffer is not filled again for each epoch" is true
    of the moment between two epochs only.

    ## When it stays silent

    - `repeat` comes last; `repeat(1)`; a count that is not a literal.
    - Only a handful of elements is repeated, cut off by a `take` of at most 32: a benchmark.
    - An `interleave` or `flat_map` follows: the shuffle is over files, and their examples are
      shuffled elsewhere.
    - An operation between them is not visible in this file, or regroups elements.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps.

    ## Use instead

    `.cache().shuffle(n).repeat().batch(n)`.

    ## Fix safety

    Unsafe: `repeat` is put behind the last shuffle or cache. The examples then come in another order, epoch by epoch,
    as intended. There is no fix where a `take` or `skip` stands between the two.

    Where other rules ask for another order of the same chain, one finding names the order that serves all, and has one
    unsafe fix.

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
                wish = data.Wish(data.WishKind.REPEAT_LATER, repeat)
                yield self.finding(
                    op,
                    f"This {op.name} comes after repeat and cannot tell epochs apart; move repeat after it.",
                    because=cost,
                    fix=fixes.rearranged(
                        module,
                        [wish],
                        f"Repeat after {op.name}",
                        proofs.SAME_ORDER.unless("the elements come in another order"),
                    ),
                    wish=wish,
                    related=((repeat, "repeated here"),),
                )
                break
