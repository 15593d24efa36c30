from kerascheck.api import Applies, Rule, Severity, constant, data, fixes

_ONE_BY_ONE = ("map", "batch", "padded_batch", "ragged_batch", "enumerate", "with_options")


class TakeAfterCache(Rule):
    """A take behind a cache keeps the cache from ever being complete, so nothing is read from it.

    ## What it does

    Looks for `.cache()` followed by `.take(k)` with a literal `k` on the way to training. Between
    them may stand maps, batches, `enumerate` and `with_options`. The finding is at the take.

    A dataset that leaves the file counts as training data too, unless a function, class or
    variable around it has a name that says validation or test, or a branch asks for those.

    ## Why it costs

    A cache is used from the second pass on, if the first one read the dataset to its end. Behind
    a take no pass does. What is kept is thrown away, and every epoch does the whole work again,
    and keeps it again. In a probe (TensorFlow 2.21) a map before `cache().take(3)` over six
    elements ran nine times in three epochs; with `take(3).cache()` it runs three times.

    ## What the runtime does by itself

    TensorFlow logs "The calling iterator did not fully read the dataset being cached", and that
    the partial contents are discarded. It does not reorder anything. When another part of the
    program reads the same cached dataset to its end, for example a `skip` for the validation
    data, then the cache is complete and serves both.

    ## When it stays silent

    - `take` stands before the cache.
    - The cached dataset is used in another way as well, which may read it to its end.
    - `take` stands under a condition that the cache does not stand under, such as a debug switch.
    - The literal is -1, which takes everything, or the number is not a literal: it may be the size
      of the data, and then the cache is complete.
    - A `repeat`, `shuffle`, `prefetch` or `skip` stands between: they read ahead, or take many passes.
    - The training makes one epoch, as a literal says.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps,
      or an earlier `take` has cut it to at most 32 elements.
    - An operation that this file does not show stands between.

    ## Use instead

    `.take(k).cache()`.

    ## Fix safety

    Safe where the cache gets the same elements in the same order in each epoch: the take is put before the cache,
    or the cache behind a take of batches.

    Unsafe where the elements may differ between epochs: a `shuffle`, random draws, a `tf.Variable`, a generator, a
    file that the program may write, or datasets that are sampled. Today each epoch computes them anew; a complete
    cache would repeat the first epoch. Unsafe with a file name, since the file may hold a cache that an earlier run
    has completed. Unsafe, too, where something else uses the cached dataset, prints it, or is not visible. There is
    no fix where two operations go on from a part of the chain.

    Where other rules ask for another order of the same chain, one finding names the order that serves all, and has
    one unsafe fix.

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
                wish = data.Wish(data.WishKind.TAKE_EARLIER, take)
                yield self.finding(
                    op,
                    "This take stops before the cache is complete, so every epoch recomputes it; move take before cache.",
                    because="A cache is used only after one pass has read its dataset to the end, and here none does.",
                    fix=fixes.take_before_cache(module, wish, cache, take),
                    wish=wish,
                    related=((cache, "never complete"),),
                )
                break
