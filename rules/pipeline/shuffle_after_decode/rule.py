from kerascheck.api import Applies, Rule, Severity, data, fixes, proofs

_MANY_IMAGES = 500
_LARGE = 50_000_000
_SMALL_PICTURE = 64 * 64


class ShuffleAfterDecode(Rule):
    """A large shuffle buffer holds decoded images, although it could hold file names or encoded bytes.

    ## What it does

    Looks for a map that decodes images, followed by a `shuffle` or `shuffle_and_repeat` with a large literal buffer, in
    a training pipeline. Large means 500 images. If a literal gives the size after resizing, cropping or reshaping,
    large means 50 MB with one byte per channel (200 MB as float32). The rule also looks inside the inputs of `zip`,
    `concatenate`, `sample_from_datasets` and `choose_from_datasets`. The finding is at the shuffle.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    The buffer fills before the first batch comes out, and stays full. With 1,000 images of 256 x 256 x 3 bytes, it took
    293 MB and 0.14 s until the first batch. With the shuffle before the map, it took 29 MB and 0.02 s (2 CPU cores,
    TensorFlow 2.21, no GPU). After a cast to float32, the images take four times as much. Steady epochs are no slower.

    ## What the runtime does by itself

    Nothing: it moves no operation across a shuffle. It fills the buffer in the first step, and logs "Filling up shuffle
    buffer" if this takes long.

    ## When it stays silent

    - `shuffle` comes before the map that decodes.
    - A `cache` is between the two: the buffer does not copy data that are already in memory. But a random map after a
      `cache()` in memory makes copies, so the rule reports a shuffle of these.
    - The buffer is smaller, or a literal shows that the images are small. A computed buffer size, for example
      `len(paths)`, is an info.
    - The buffer size is an unknown name, such as a parameter.
    - A `take` before the shuffle leaves fewer than 500 images.
    - A `batch`, `unbatch`, `flat_map` or `interleave` is between the two, so the shuffled elements are no single
      images. For batches see `shuffle-after-batch`.
    - The code of the mapped function is not visible.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.
    - A `take` limits the dataset to at most 32 elements.

    ## Use instead

    Use `.shuffle(n).map(decode).batch(n)`. File names are so small that the buffer can hold all of them. If images and
    labels come from two datasets of file names, use `tf.data.Dataset.zip((images, labels)).shuffle(n)` before reading
    both.

    ## Fix safety

    Unsafe: the fix moves the shuffle before the map that decodes. The order stays equally random, but it is a different
    one, and random draws of the map apply to other images.

    There is no fix if the images come from one of several datasets that a later operation combines: if shuffled
    separately, they would lose their labels. There is also no fix after a `take` or `skip`, which would then select
    other images, and none for `shuffle_and_repeat`.

    If several rules want to reorder the same chain, one finding gives an order that satisfies them all, with one unsafe
    fix.

    ## References

    - TensorFlow API: `tf.data.Dataset.shuffle`
    - TensorFlow guide: "Better performance with the tf.data API", section on reducing memory footprint
    """

    code = "KC130"
    name = "shuffle-after-decode"
    summary = "shuffle buffer holds decoded images"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".shuffle(", "shuffle_and_repeat(")
    proves = ("same-order",)
    evidence_note = "The gain is less memory and an earlier first batch; steady epochs take equally long."
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations("shuffle", "shuffle_and_repeat"):
            found = next(filter(_is_large, data.shuffled_images(op, _MANY_IMAGES)), None)
            if not op.may_feed_training or found is None:
                continue
            # Moving the shuffle of one dataset alone would separate images from their labels.
            can_move = op.name == "shuffle" and not found.is_joined and not found.is_cut
            request = data.ReorderRequest(data.ReorderKind.SHUFFLE_EARLIER, found.shuffle) if can_move else None
            yield self.finding(
                op,
                _message(found),
                because=f"It holds {_size(found)}; "
                + (
                    "encoded files are mostly much smaller, and file names smaller still."
                    if found.augmenting is None
                    else "before that map it refers to images that the cache holds anyway."
                ),
                doubt=None if found.count is not None else "Their number is not known here.",
                fix=fixes.rearranged(
                    module,
                    [request],
                    "Shuffle before decoding" if found.augmenting is None else "Shuffle directly after the cache",
                    proofs.SAME_ORDER.unless("the elements come in another order"),
                )
                if request is not None
                else None,
                reorder=request,
                related=((found.decoding, "decoded here"),)
                if found.augmenting is None
                else ((found.augmenting, "copied here"),),
            )


def _message(found):
    if found.augmenting is not None:
        return "This shuffle buffers augmented copies of cached images; move it before the map that augments them."
    remedy = (
        "join and shuffle the file names, then decode"
        if found.is_joined
        else "move it before the map that decodes them"
    )
    return f"This shuffle buffers decoded images; {remedy}."


def _is_large(found):
    """Whether a buffer of images is large enough for a finding."""
    if found.count is None:
        # The number kept is unknown; for small pictures it may be all.
        return found.pixels is None or found.pixels >= _SMALL_PICTURE
    return found.count >= _MANY_IMAGES if found.pixels is None else found.count * found.pixels * 3 >= _LARGE


def _size(found):
    """The size of a buffer, with one byte per channel of a pixel."""
    if found.count is None:
        return "a computed number of images" + (f", each {found.pixels * 3:,} bytes or more" if found.pixels else "")
    megabytes = found.count * (found.pixels or 0) * 3 / 1e6
    return f"up to {found.count:,} images" + (
        f", at least {megabytes:,.0f} MB with one byte per channel" if found.pixels else ""
    )
