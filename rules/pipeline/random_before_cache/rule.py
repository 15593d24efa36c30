from kerascheck.api import Applies, Rule, Severity, conditions, data, fixes, proofs

_SILENT = {
    data.Unfrozen.NOTHING_RANDOM: "nothing random comes before it",
    data.Unfrozen.NOTHING_SEEN: "nothing random is seen before it, but a function or source before it is not visible",
    data.Unfrozen.BATCHES_SHUFFLED_LATER: "it keeps the examples of each batch, and a later shuffle mixes the batches",
    data.Unfrozen.SHUFFLED_LATER: "it freezes an order only, and a later shuffle changes that again",
    data.Unfrozen.FEW_ELEMENTS: "it keeps a few elements only",
    data.Unfrozen.HELD_OUT: "a later skip splits the examples, so their order must stay the same",
}


class RandomBeforeCache(Rule):
    """A cache after a random operation repeats the draws of the first epoch for ever.

    ## What it does

    Looks for `.cache()` in a training pipeline with one of these earlier in the same chain:

    - a map whose function draws random numbers: `tf.random.*`, `tf.image.random_*`, a `tf.random.Generator`, or a Keras
      `Random*` layer;
    - a `shuffle` intended to reshuffle in every epoch;
    - as an info, `image_dataset_from_directory` or a similar function, which shuffles by default. This requires a
      visible training.

    The finding is at the `cache`. It is an info if the cache is under a switch that is off by default.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    It costs accuracy rather than time. The first epoch fills the cache with finished elements, and every later epoch
    reads them back: the same flips, crops and noise, in the same order. In a probe (TensorFlow 2.21), the second epoch
    was equal to the first, both with a random map and with a shuffle. The training seems to use augmentation, but does
    not.

    ## What the runtime does by itself

    Nothing: it cannot know the intention. It gives no warning either.

    "Put cache last, so that as much as possible is saved" is wrong advice for augmented data. Put the cache after the
    last operation that always gives the same result.

    ## When it stays silent

    - A shuffle follows the cache, and only a shuffle precedes it.
    - A shuffle precedes the cache and a `skip` follows it: the skip holds examples out, so their order has to stay the
      same.
    - Only `list_files` shuffles before the cache.
    - A literal shows that the training runs one epoch, so nothing is read back.
    - A `take` of at most 32 elements precedes the cache, as in an inspection or a benchmark.
    - The function uses `tf.random.stateless_*` with fixed seeds, which request the same draws.
    - `shuffle(..., reshuffle_each_iteration=False)`, or `shuffle=False` for a folder, requests one fixed order.
    - The data are used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps, where equal epochs are welcome.
    - The code of the mapped function is not visible.

    ## Use instead

    `.map(decode).cache().shuffle(n).map(augment).batch(n)`.

    ## Fix safety

    Unsafe: the fix moves `cache()` before the first random map, and a shuffle after the cache. If the cache passes a
    `take`, the `take` moves with it, so that the cache is complete. The training then has different numbers in every
    epoch, as intended. Later epochs do more work, and the cache may hold larger elements, for example images before a
    crop.

    There is no fix after a folder that is shuffled while it is read: a person has to choose the number of batches to
    shuffle. There is also no fix if `take`, `skip` or `shard` splits the shuffled data, or if an `interleave` reads the
    shuffled files. With a shuffle only after the cache, each epoch would split the data differently.

    If several rules want to reorder the same chain, one finding gives an order that satisfies them all, with one unsafe
    fix.

    ## References

    - TensorFlow API: `tf.data.Dataset.cache`, `tf.data.Dataset.shuffle`
    - TensorFlow guide: "Better performance with the tf.data API", section on caching
    """

    code = "KC114"
    name = "random-before-cache"
    summary = "cache freezes random results of the first epoch"
    evidence_note = (
        "The rule is about accuracy: after the fix the random operations run in every epoch again, which takes time."
    )
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    speed = False
    triggers = (".cache(",)
    proves = ("same-numbers", "same-order")
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations("cache"):
            if not op.may_feed_training:
                continue
            if module.pipelines.passes(op) == 1:
                yield self.silence(op, "the training makes one epoch")
                continue
            for found in data.frozen_by(module, op):
                if isinstance(found, data.Unfrozen):
                    yield self.silence(op, _SILENT[found])
                    continue
                if not found.is_folder:
                    yield self._frozen_draws(module, op, found.cache, found.random)
                elif op.feeds_training:
                    yield self._frozen_folder(op, found.random)
                break

    def _frozen_draws(self, module, op, cache, random):
        what = "shuffle order" if random.name == "shuffle" else "random draws"
        request = data.ReorderRequest(data.ReorderKind.CACHE_EARLIER, cache)
        # A shuffle that distributes elements to several datasets, or to the files of an interleave, has to stay.
        stays = random.name == "shuffle" and data.arrangement(module.pipelines, [request]) is None
        remedy = (
            "shuffle again after it"
            if stays
            else f"move cache() before {random.name}()"
            if random.name != "shuffle" or cache.input is random
            else "move shuffle() after it"
        )
        return self.finding(
            op,
            f"cache() freezes the {what} of the first epoch; {remedy}.",
            because="Operations before a cache run in the first epoch only.",
            doubt="The cache is off by default." if conditions.is_off_by_default(cache) else None,
            fix=fixes.rearranged(
                module,
                [request],
                "Move the cache before the random operations",
                proofs.SAME_NUMBERS.unless("each epoch then draws anew"),
            ),
            reorder=None if stays else request,
            related=((random, f"the cache keeps the {what} of this {random.name}"),),
        )

    def _frozen_folder(self, op, folder):
        source = folder.name.rpartition(".")[2]
        return self.finding(
            op,
            f"cache() freezes the order of the first epoch that {source} shuffles; shuffle again after cache().",
            because=f"{source} shuffles again in each epoch by default, and operations before a cache run in the first epoch only.",
            doubt="No code here requests that order, so it may not matter.",
            related=((folder, "shuffled here"),),
        )
