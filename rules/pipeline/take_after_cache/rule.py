from kerascheck.api import Applies, Rule, Severity, constant, data, fixes

_ONE_BY_ONE = ("map", "batch", "padded_batch", "ragged_batch", "enumerate", "with_options")


class TakeAfterCache(Rule):
    """A take after a cache keeps the cache incomplete, so no epoch ever reads from it.

    ## What it does

    Looks for `.cache()` followed by `.take(k)` with a literal `k` in a training pipeline. Maps, batches, `enumerate`
    and `with_options` may be between them. The finding is at the take.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    The second pass uses a cache only if the first one read the dataset to its end. After a take, no pass does.
    TensorFlow discards the cached elements, and every epoch computes and caches them again. In a probe (TensorFlow
    2.21), a map before `cache().take(3)` over six elements ran nine times in three epochs. With `take(3).cache()` it
    runs three times.

    ## What the runtime does by itself

    TensorFlow logs "The calling iterator did not fully read the dataset being cached", and says that it discards the
    partial contents. It does not reorder anything. Another part of the program may read the same cached dataset to its
    end, for example a `skip` for the validation data. The cache is then complete and serves both.

    ## When it stays silent

    - `take` comes before the cache.
    - The program also uses the cached dataset in another way, which may read it to its end.
    - `take` is under a condition that does not enclose the cache, such as a debug switch.
    - The literal is -1, which takes everything.
    - The number is not a literal: it may be the size of the data, and then the cache is complete.
    - A `repeat`, `shuffle`, `prefetch` or `skip` is between the two: these read ahead, or make several passes.
    - A literal shows that the training runs one epoch.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.
    - An earlier `take` limits the dataset to at most 32 elements.
    - An operation outside this file is between the two.

    ## Use instead

    `.take(k).cache()`.

    ## Fix safety

    Safe if the cache receives the same elements in the same order in each epoch. The fix moves the take before the
    cache, or the cache after a take of batches.

    Unsafe if the elements may differ between epochs. The causes are a `shuffle`, random draws, a `tf.Variable`, a
    generator, a file that the program may write, or sampled datasets. Today each epoch computes the elements again; a
    complete cache would repeat the first epoch. Unsafe with a file name, since the file may hold a complete cache from
    an earlier run. Also unsafe if other code uses the cached dataset, prints it, or is not visible. There is no fix if
    two operations continue from a part of the chain.

    If several rules want to reorder the same chain, one finding gives an order that satisfies them all, with one unsafe
    fix.

    ## References

    - TensorFlow API: `tf.data.Dataset.cache`, `tf.data.Dataset.take`
    - TensorFlow source: `cache_dataset_ops.cc`
    """

    code = "KC129"
    name = "take-after-cache"
    summary = "take after cache leaves the cache incomplete"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".cache(",)
    proves = ("same-names", "same-every-epoch", "only-consumer", "known-consumers")
    loss_tolerance = 1e-6

    def check(self, module):
        pipelines = module.pipelines
        for op in pipelines.operations("take"):
            count = constant(op.given("count"))
            if not op.may_feed_training or not isinstance(count, int) or count < 0 or pipelines.passes(op) == 1:
                continue
            for take in op.stages:
                cache = data.nearest_before(take, "cache", _ONE_BY_ONE)
                if cache is None or any(take.path.conditions(within=cache.path)):
                    continue
                between = [stage for stage in take.upstream() if stage is not take and cache in stage.upstream()]
                if any(map(pipelines.is_shared, between)):
                    continue
                request = data.ReorderRequest(data.ReorderKind.TAKE_EARLIER, take)
                yield self.finding(
                    op,
                    "This take stops before the cache is complete, so every epoch recomputes it; move take before cache.",
                    because="A cache is used only after one pass has read its dataset to the end, and here none does.",
                    fix=fixes.take_before_cache(module, request, cache, take),
                    reorder=request,
                    related=((cache, "never complete"),),
                )
                break
