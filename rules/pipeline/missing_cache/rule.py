from kerascheck.api import Applies, DatasetOp, Rule, Severity, data, display_name, fixes, proofs


class MissingCache(Rule):
    """Every epoch reads, decodes or parses files again, although the result is always the same.

    ## What it does

    Looks for a map in a training pipeline that does one of these:

    - it reads files, also in Python;
    - it decodes images, audio or video;
    - it parses records;
    - it splits texts in Python.

    The map must give the same result in every epoch, and the training must run several epochs. The chain has no `cache`
    and no `snapshot`. The finding is at the right position for the cache: at the last map or filter that always gives
    the same result.

    The severity is info. Whether a cache helps depends on the size of the data, which the code seldom shows. A cache in
    memory must hold all of the data.

    ## Why it costs

    On 2 CPU cores (TensorFlow 2.21, no GPU), five epochs over JPEG files were 2.3 times slower without `cache()` than
    with it. This holds if the training waits for its input. A cache in a file gave a speed-up of 1.2: it saves the
    decoding, but reads more bytes. The gain grows with the number of epochs, because the first one always does the
    work.

    ## What the runtime does by itself

    TensorFlow caches nothing by itself. `tensorflow_datasets` caches data sets under 250 MiB, but it keeps the content
    of the files and not the output of a map.

    "Always add cache()" is bad advice: decoded images take ten times the memory of their files, and data that do not
    fit end the program. Cast to float32 after the cache, not before it: bytes take a quarter of the space (with the
    cast after it, the speed-up was 2.6). Random operations also belong after the cache: see `random-before-cache`.

    ## When it stays silent

    - The training runs one epoch, or the number of epochs is not visible.
    - `steps_per_epoch` is set without a `repeat`: the epochs then share a single pass.
    - The function draws random numbers, or nothing proves that its result is the same in each epoch. Examples are a
      model, a variable and a function that is not visible. In Python, the rule knows only file access, JSON, texts,
      OpenCV, NumPy, pandas, PIL, SciPy, librosa, nibabel, pydicom and similar libraries.
    - The same holds for an earlier operation, or for the function of the enclosing `interleave` or `flat_map`.
    - Python already keeps the results: with `functools.lru_cache`, or under a key of a dictionary or an attribute.
    - A `repeat` precedes the map, or a later `take` limits batches with random draws: a cache would never be complete.
    - The chain has a `cache`, `snapshot` or `shuffle_and_repeat` anywhere, even one of the encoded files.
    - The epoch loop creates the dataset again in each iteration.
    - The chain starts in, or goes through, code outside this file.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.
    - A `take` limits the dataset to at most 32 elements.

    ## Use instead

    `.map(decode).cache().shuffle(n).map(augment).batch(n)`, if the data fit in memory.

    ## Fix safety

    Unsafe: the fix adds `.cache()` after the last operation that always gives the same result. The cache takes as much
    memory as all the elements there. The fix also moves an earlier `shuffle` after the cache, unless another one
    follows: otherwise, every epoch would keep the order of the first. If the `shuffle` cannot move, there is no fix.
    This happens if files are shuffled while they are listed, or if batches are made in between.

    If several rules want to reorder the same chain, one finding gives an order that satisfies them all, with one unsafe
    fix.

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
            # A cache inside an interleave would restart with every file.
            first = op.inside or op.stages[0]
            if (reason := _why_not(module, op, first)) is not None:
                yield self.silence(op, reason)
                continue
            last = data.last_deterministic(module, first)
            if last.node in reported:
                continue
            reported.add(last.node)
            request = data.ReorderRequest(data.ReorderKind.ADD_CACHE, last)
            shuffles = (
                []
                if op.followed_by(module.pipelines, "shuffle")
                else [stage for stage in first.upstream() if data.is_reshuffled(stage)]
            )
            # The shuffle of a source stays before the cache.
            plan = data.arrangement(module.pipelines, [request])
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
                    [request],
                    "Append .cache()" + " and shuffle after it" * bool(shuffles),
                    proofs.SAME_MEMORY.unless("memory then holds all elements"),
                ),
                reorder=None if frozen else request,
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
