from kerascheck.api import Applies, Rule, Severity, data, fixes

_MANY = 100  # skipped elements


class SkipAfterMap(Rule):
    """A skip discards elements that an expensive map has just computed, in every epoch.

    ## What it does

    Looks for a `map` that reads or decodes files, parses records or calls Python, with a later `.skip(n)` in the same
    pipeline, for training or for validation. Either `n` is a literal that skips at least 100 elements, or `n` is
    unknown and the skip is half of a split: `.take(n)` of the same dataset takes the rest. Maps, batches, `filter`,
    `shuffle`, `take`, `enumerate`, `prefetch` and `with_options` may be between the map and the skip. The finding is at
    the skip.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    To skip an element, tf.data computes it and throws it away. A map before `skip(6)` over ten elements ran twenty
    times in two epochs, with a skip before the map eight times (TensorFlow 2.21; the same with parallel calls, and with
    batches in between). After a split of 80 to 20, each validation decodes the whole training data first.

    A `take` costs nothing: the map runs only for the elements that it takes.

    ## What the runtime does by itself

    Nothing: tf.data does not move a skip, because the function of the map might have side effects.

    ## When it stays silent

    - `skip` comes before the map, or a cache is between them or after the skip: then only the first epoch pays.
    - The map is cheap, or its code is not visible.
    - A literal `n` skips fewer than 100 elements, even in a split.
    - `n` is unknown and no `take` has the same argument. It may be zero, or the position to continue from.
    - A literal shows that the training runs one epoch.
    - The skip is under a condition that does not enclose the map.
    - A `repeat`, `flat_map`, `interleave`, `unbatch` or `apply` is between the two.
    - The dataset is used only for evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps.

    ## Use instead

    Split the file names or records, then map both parts: `files.skip(n).map(decode)` and `files.take(n).map(decode)`.
    After a `batch(b)`, skip `n * b` elements.

    ## Fix safety

    The fix moves the skip before the maps directly in front of it. Safe if their functions are pure and visible, if
    parallel calls keep the order, and if nothing else uses the datasets between them.

    There is no fix for a split, because both parts need a map of their own. There is also no fix after a batch, a
    shuffle or a filter, which change the number or the order of the elements.

    If several rules want to reorder the same chain, one finding gives an order that satisfies them all, with one unsafe
    fix.

    ## References

    - TensorFlow API: `tf.data.Dataset.skip`
    - TensorFlow source: `skip_dataset_op.cc`
    """

    code = "KC132"
    name = "skip-after-map"
    summary = "skip discards what a map has just decoded"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".skip(",)
    proves = ("pure-function", "same-order", "only-consumer", "known-consumers")
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations("skip"):
            found = data.skipped_work(module, op)
            if found is None or not (op.may_feed_training or "validation" in op.roles):
                continue
            is_large = found.count is not None and found.count >= _MANY
            if not is_large and (found.count is not None or not found.is_split):
                continue
            if "validation" not in op.roles and module.pipelines.passes(op) == 1:
                continue
            request = data.ReorderRequest(data.ReorderKind.SKIP_EARLIER, found.skip)
            fix = fixes.skip_before_map(module, request)
            yield self.finding(
                op,
                f"This skip discards what the map before it has computed; {'split' if found.is_split else 'skip'} first, then map.",
                because=f"The map runs for {_skipped(found)} in every epoch, and nothing uses the results.",
                fix=fix,
                reorder=request if fix is not None else None,
                related=((found.work, "computed here"),),
            )


def _skipped(found):
    """The skipped elements, by their number if it is known."""
    return "each skipped element" if found.count is None else f"{found.count:,} skipped elements"
