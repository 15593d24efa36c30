from itertools import takewhile

import libcst as cst

from kerascheck.api import Applies, Made, Rule, Severity, constant, data, fixes

_ELEMENT_BY_ELEMENT = ("map", "filter", "prefetch", "with_options", "enumerate", "ignore_errors", "repeat")
_CUTTING = ("take", "skip")
_MANY_IMAGES = 500
_LARGE = 50_000_000
_SMALL_PICTURE = 64 * 64


def _decoding(stage, pixels=None, joined=False):
    """The last map up to a stage that decodes images, the pixels of each as a later literal says (None where none does), and whether other
    datasets are put beside its images behind it; None where no map decodes."""
    while stage is not None:
        if stage.name in data.COMBINING:
            each = (_decoding(part, pixels, True) for part in stage.inputs)
            return next(filter(None, each), None)
        taken = constant(stage.given("count")) if stage.name == "take" else None
        if stage.name not in _ELEMENT_BY_ELEMENT + _CUTTING or isinstance(taken, int) and taken < _MANY_IMAGES:
            return None
        if stage.name == "map" and (facts := data.facts_of(stage)) is not None:
            pixels = pixels or facts.pixels
            if facts.decodes_images:
                return stage, pixels, joined
        stage = stage.input
    return None


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
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations("shuffle", "shuffle_and_repeat"):
            buffer = constant(op.given("buffer_size"))
            written = op.call.written("buffer_size") if op.call is not None else None
            given = op.given("buffer_size")
            # Any other name for it is a number that somebody chose elsewhere.
            is_counted = isinstance(given, Made) and (
                given.name == "builtins.len" or given.name.rpartition(".cardinality")[1]
            )
            is_computed = buffer is None and (
                is_counted or written is not None and isinstance(written.value, (cst.Call, cst.BinaryOperation))
            )
            if not op.may_feed_training or not (isinstance(buffer, int) or is_computed):
                continue
            for stage in op.stages:
                found = _decoding(stage.input)
                if found is None:
                    continue
                decoding, pixels, joined = found
                # Before the cut a shuffle deals out other images.
                cut = any(
                    each.name in _CUTTING for each in takewhile(lambda each: each is not decoding, stage.upstream())
                )
                if buffer is None:
                    # How many are kept is not known; of small pictures it may be all.
                    if pixels is not None and pixels < _SMALL_PICTURE:
                        continue
                    size = f", each {pixels * 3:,} bytes or more" if pixels else ""
                elif buffer < _MANY_IMAGES if pixels is None else buffer * pixels * 3 < _LARGE:
                    continue
                else:
                    size = f", at least {buffer * pixels * 3 / 1e6:,.0f} MB with one byte per channel" if pixels else ""
                # Of one of several datasets alone the images would lose their labels.
                wish = (
                    None if joined or cut or op.name != "shuffle" else data.Wish(data.WishKind.SHUFFLE_EARLIER, stage)
                )
                yield self.finding(
                    op,
                    f"This shuffle buffers decoded images; {'join and shuffle the file names, then decode' if joined else 'move it before the map that decodes them'}.",
                    because=f"It holds {f'up to {buffer:,} images' if buffer is not None else 'a computed number of images'}{size}; encoded files are mostly much smaller, and file names smaller still.",
                    doubt=None if buffer is not None else "Their number is not known here.",
                    fix=fixes.rearranged(module, [wish], "Shuffle before decoding") if wish is not None else None,
                    wish=wish,
                    related=((decoding, "decoded here"),),
                )
                break
