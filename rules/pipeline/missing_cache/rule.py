from kerascheck.api import Applies, DatasetOp, Rule, Severity, data, display_name, fixes, proofs


class MissingCache(Rule):
    """Files are read, decoded or parsed again in every epoch, though the result is always the same.

    ## What it does

    Looks for a map on the way to training that reads files, also by Python, decodes images, audio or video, parses
    records, or takes texts apart in Python, and gives the same result in every epoch, where the training makes
    several epochs and the chain has no `cache` and no `snapshot`. The finding is where the cache belongs: at the last
    map or filter that always gives the same.

    It is an info. Whether a cache helps depends on the size of the data, which the code seldom
    tells: in memory they must fit as a whole.

    ## Why it costs

    On 2 CPU cores (TensorFlow 2.21, no GPU) five epochs over JPEG files were 2.3 times slower
    without `cache()` than with it, when the input is what the training waits for. A cache in a
    file gained 1.2 times: it saves the decoding, but reads more bytes. The gain grows with the
    number of epochs; the first one always does the work.

    ## What the runtime does by itself

    TensorFlow caches nothing by itself. `tensorflow_datasets` does so for data sets under 250 MiB,
    but it keeps what is stored in its files, not what a map makes of it.

    "Always add cache()" is bad advice: decoded images take ten times the memory of their
    files, and what does not fit ends the program. Cast to float32 after the cache, not before:
    bytes take a quarter of the space (2.6 times with the cast behind it). And what is random
    belongs behind the cache: see `random-before-cache`.

    ## When it stays silent

    - The training makes one epoch, or how many cannot be seen; `steps_per_epoch` without a
      `repeat`, which is one pass that goes on.
    - The function draws random numbers, or does something that cannot be proven to be the same in each epoch: Python
      other than that of files, JSON, texts, OpenCV, NumPy, pandas, PIL, SciPy, librosa, nibabel, pydicom and their
      like, a model, a variable, a function that is not visible. So does an operation before it, or the function of
      the `interleave` or `flat_map` that it is in.
    - Python keeps what it has read: by `functools.lru_cache`, or under a key of a dictionary or an attribute.
    - A `repeat` stands before the map, or a `take` of batches that are drawn behind it: a cache would never be complete.
    - A `cache`, `snapshot` or `shuffle_and_repeat` anywhere in the chain, also one of the encoded files.
    - The dataset is made anew in each turn of the loop that makes the epochs.
    - The chain starts, or goes through, somewhere that this file does not show.
    - It only feeds validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps, or a
      `take` cuts it to at most 32 elements.

    ## Use instead

    `.map(decode).cache().shuffle(n).map(augment).batch(n)`, where the data fit in memory.

    ## Fix safety

    Unsafe: `.cache()` is put behind the last operation that always gives the same result, and
    takes as much memory as all the elements there. A `shuffle` that stands before it, with none behind, is moved behind
    it: the order of the first epoch would be kept. Where it cannot move, because files are shuffled as they are listed
    or batches are made in between, there is no fix.

    Where other rules ask for another order of the same chain, one finding names the order that serves all, and has one
    unsafe fix.

    ## References

    - TensorFlow API: `tf.data.Dataset.cache`
    - TensorFlow guide: "Better performance with the tf.data API", section on caching
    """

    code = "KC113"
    name = "missing-cache"
    summary = "files are processed again in every epoch"
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = (".map(",)
    proves = ("same-memory",)
    loss_tolerance = 1e-5

    def check(self, module):
        reported = set()
        for op in module.pipelines.operations("map"):
            reading = op.facts.reading
            if not op.feeds_training or reading is None:
                continue
            # A cache inside of an interleave would begin anew with every file.
            first = op.inside or op.stages[0]
            if (reason := _why_not(module, op, first)) is not None:
                yield self.silence(op, reason)
                continue
            last = data.last_deterministic(module, first)
            if last.node in reported:
                continue
            reported.add(last.node)
            wish = data.Wish(data.WishKind.ADD_CACHE, last)
            shuffles = (
                []
                if op.followed_by(module.pipelines, "shuffle")
                else [stage for stage in first.upstream() if data.is_reshuffled(stage)]
            )
            # What a source shuffles stays before the cache.
            plan = data.arrangement(module.pipelines, [wish])
            if plan is None and not shuffles:
                yield self.silence(op, "a later take would keep a cache from ever being complete")
                continue
            frozen = bool(shuffles) and (plan is None or any(stage.is_source for stage in shuffles))
            then = " and another shuffle" if frozen else ", with the shuffle after it," if shuffles else ""
            behind = f"this {last.name}" if plan is None or last.node in _ends(plan) else "the take"
            yield self.finding(
                last,
                f"{display_name(reading.name)} runs again for every element in every epoch; add .cache(){then} after {behind} if it fits in memory.",
                because="Its results are the same in each epoch, and TensorFlow does not keep them automatically.",
                fix=None
                if frozen
                else fixes.rearranged(
                    module,
                    [wish],
                    "Append .cache()" + " and shuffle after it" * bool(shuffles),
                    proofs.SAME_MEMORY.unless("memory then holds all elements"),
                ),
                wish=None if frozen else wish,
                related=((reading, "repeated in every epoch"),),
            )


def _why_not(module, op, first):
    """Why a cache is not missing behind a map that reads, which begins at ``first``; None where it is."""
    if not op.facts.deterministic:
        return "its function gives something else in every epoch, or may do so"
    if (module.pipelines.passes(op) or 1) < 2:
        return "the training is not seen to make more than one epoch"
    if any(map(data.is_random_before, (*op.stages, first))):
        return "what comes before it differs from epoch to epoch"
    if any(map(module.pipelines.hides_cache, (*op.stages, first))):
        return "its dataset is cached already, or repeated before, or handed to code that is not seen"
    return None


def _ends(plan):
    """Behind what a cache is added."""
    return {
        before.node
        for before, item in zip(plan.after, plan.after[1:])
        if isinstance(item, data.Added) and isinstance(before, DatasetOp)
    }
