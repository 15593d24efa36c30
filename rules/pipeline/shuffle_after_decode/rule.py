from kerascheck.api import Applies, Rule, Severity, data, fixes, proofs

_MANY_IMAGES = 500
_LARGE = 50_000_000
_SMALL_PICTURE = 64 * 64


class ShuffleAfterDecode(Rule):
    """A large shuffle buffer holds decoded images, where it could hold file names or encoded bytes.

    ## What it does

    Looks for a map that decodes images, followed by a `shuffle` with a large literal buffer, on
    the way to training. Large means 500 images, or, where a literal tells the size they are
    resized, cropped or reshaped to, 50 MB with one byte for each channel (200 MB as float32). It is also looked for in
    what `zip`, `concatenate`, `sample_from_datasets` and `choose_from_datasets` put together. The finding is at
    the shuffle.

    A dataset that leaves the file counts as training data too, unless a function, class or
    variable around it has a name that says validation or test, or a branch asks for those.

    ## Why it costs

    The buffer is filled before the first batch comes out, and stays filled. With 1,000 images of
    256 x 256 x 3 bytes it took 293 MB and 0.14 s until the first batch, and 29 MB and 0.02 s with
    the shuffle before the map (2 CPU cores, TensorFlow 2.21, no GPU). After a cast to float32
    the images take four times as much. Steady epochs are no slower.

    ## What the runtime does by itself

    Nothing: it moves no operation across a shuffle. It fills the buffer in the first step, and
    logs "Filling up shuffle buffer" if that takes long.

    ## When it stays silent

    - `shuffle` stands before the map that decodes.
    - A `cache` stands between: what is in memory anyway is not copied by the buffer.
    - The buffer is smaller, or a literal says that the images are small. A buffer whose size is computed, as by
      `len(paths)`, is an info.
    - A `batch`, `unbatch`, `flat_map` or `interleave` stands between: what is shuffled there
      is something else. For batches see `shuffle-after-batch`.
    - What the mapped function does is not visible.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps,
      or a `take` has cut it to at most 32 elements.

    ## Use instead

    `.shuffle(n).map(decode).batch(n)`. File names are so small that the buffer can hold all of them. Where images and
    labels come out of two datasets of file names, `tf.data.Dataset.zip((images, labels)).shuffle(n)` before both are
    read.

    ## Fix safety

    Unsafe: the shuffle is moved in front of the map that decodes. The order stays as random as it was, but it is
    another one, and random draws of the map meet other images. Where the images come out of one of several datasets
    that are put together behind it, there is no fix: shuffled by themselves they would lose their labels. Nor behind
    a `take` or `skip`, which would deal out other images.

    Where other rules ask for another order of the same chain, one finding names the order that serves all, and has one
    unsafe fix.

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
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations("shuffle", "shuffle_and_repeat"):
            found = next(filter(_is_large, data.shuffled_images(op, _MANY_IMAGES)), None)
            if not op.may_feed_training or found is None:
                continue
            # Of one of several datasets alone the images would lose their labels.
            can_move = op.name == "shuffle" and not found.is_joined and not found.is_cut
            request = data.ReorderRequest(data.ReorderKind.SHUFFLE_EARLIER, found.shuffle) if can_move else None
            yield self.finding(
                op,
                f"This shuffle buffers decoded images; {'join and shuffle the file names, then decode' if found.is_joined else 'move it before the map that decodes them'}.",
                because=f"It holds {_size(found)}; encoded files are mostly much smaller, and file names smaller still.",
                doubt=None if found.count is not None else "Their number is not known here.",
                fix=fixes.rearranged(
                    module,
                    [request],
                    "Shuffle before decoding",
                    proofs.SAME_ORDER.unless("the elements come in another order"),
                )
                if request is not None
                else None,
                reorder=request,
                related=((found.decoding, "decoded here"),),
            )


def _is_large(found):
    """Whether a buffer of images is worth a word."""
    if found.count is None:
        # How many are kept is not known; of small pictures it may be all.
        return found.pixels is None or found.pixels >= _SMALL_PICTURE
    return found.count >= _MANY_IMAGES if found.pixels is None else found.count * found.pixels * 3 >= _LARGE


def _size(found):
    """What a buffer holds, with one byte per channel of a pixel."""
    if found.count is None:
        return "a computed number of images" + (f", each {found.pixels * 3:,} bytes or more" if found.pixels else "")
    megabytes = found.count * (found.pixels or 0) * 3 / 1e6
    return f"up to {found.count:,} images" + (
        f", at least {megabytes:,.0f} MB with one byte per channel" if found.pixels else ""
    )
