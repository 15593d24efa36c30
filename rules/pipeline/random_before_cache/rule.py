from kerascheck.api import Applies, Rule, Severity, conditions, data, fixes, proofs

_SILENT = {
    data.Unfrozen.NOTHING_RANDOM: "nothing random comes before it",
    data.Unfrozen.FEW_ELEMENTS: "it keeps a few elements only",
    data.Unfrozen.HELD_OUT: "a later skip splits the examples, so their order must stay the same",
}


class RandomBeforeCache(Rule):
    """A cache after a random operation repeats the draws of the first epoch for ever.

    ## What it does

    Looks for `.cache()` on the way to training with one of these before it in the same chain:

    - a map whose function draws random numbers: `tf.random.*`, `tf.image.random_*`, a
      `tf.random.Generator`, or a Keras `Random*` layer;
    - a `shuffle` that is meant to shuffle anew in every epoch;
    - as an info, `image_dataset_from_directory` or its kin, which shuffle by default.

    The finding is at the `cache`.
    A dataset that leaves the file counts as training data too, unless a function, class or
    variable around it has a name that says validation or test, or a branch asks for those.

    ## Why it costs

    It costs accuracy rather than time. The first epoch fills the cache with finished elements,
    and every later epoch reads them back: the same flips, the same crops, the same noise, the
    same order. In a probe (TensorFlow 2.21) the second epoch was equal to the first, with a
    random map as well as with a shuffle. The training seems to be augmented and is not.

    ## What the runtime does by itself

    Nothing, and it cannot know. It gives no warning either.

    "Put cache last, so that as much as possible is saved" is wrong advice for augmented data:
    put it after the last operation that always gives the same result.

    ## When it stays silent

    - Another shuffle follows the cache under no condition, and only a shuffle stands before it.
    - The training makes one epoch, as a literal says: nothing is read back.
    - A `take` of at most 32 elements stands before the cache: a look at the data, or a benchmark.
    - `tf.random.stateless_*` with fixed seeds: the same draws are asked for.
    - `shuffle(..., reshuffle_each_iteration=False)`, or `shuffle=False` for a folder: one fixed order is asked for.
    - The data feed only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps,
      where equal epochs are welcome.
    - What the mapped function does is not visible.

    ## Use instead

    `.map(decode).cache().shuffle(n).map(augment).batch(n)`.

    ## Fix safety

    Unsafe: `cache()` is moved in front of the first random map, and a shuffle behind it; a `take` that it passes goes
    with it, so that the cache is complete. The training then has other numbers in every epoch, as intended. Later epochs do more work, and the cache may hold larger elements, for example images
    before they are cropped. There is no fix behind a folder that is shuffled as it is read: how many batches to
    shuffle is for a person to say. Nor is there one where `take`, `skip` or `shard` deals out what was shuffled, or an
    `interleave` reads the files that were: shuffled behind the cache only, each epoch would deal anew.

    Where other rules ask for another order of the same chain, one finding names the order that serves all, and has one
    unsafe fix.

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
        # What a shuffle deals out to several datasets, or to the files of an interleave, must stay where it is.
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
