from kerascheck.api import Applies, Rule, Severity, data, display_name

_LEAST_RATIO = 2  # pixels before the cut for each pixel after it
_SMALL = 128 * 128  # pixels; a map over smaller images takes longer to start than to change their colors


class ColorBeforeCrop(Rule):
    """The colors of an image change before a crop or resize that throws most of its pixels away.

    ## What it does

    Follows an image through the function of a `map` (or `map_and_batch`) of training data. Reports `random_hue`,
    `random_saturation`, `random_contrast`, `random_brightness`, their `adjust_...` and their `stateless_...` forms if

    - a literal size before them is known, for example of `tf.image.resize`;
    - a later `random_crop`, `crop_to_bounding_box` or `resize` to a literal size keeps at most half of the pixels;
    - nothing else uses the large image.

    Arithmetic, casts, flips, `tf.cond`, `tf.case` and helper functions may be between them. The finding is at the first
    change of the colors, and points at the crop. It is an info if only the brightness changes, which is an addition.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    These functions compute every pixel. The table has ms per image of 512 x 512 x 3 floats in a `map` without parallel
    calls (best of three runs, busy machine with 2 CPU cores, TensorFlow 2.21, no GPU):

    | | ms |
    |---|---|
    | `tf.io.decode_jpeg` of a smooth image, for comparison | 0.6 |
    | `random_brightness` | 0.3 |
    | `random_contrast` | 0.7 |
    | `random_hue` | 0.9 |
    | `random_saturation` | 1.6 |

    All four on 800 x 1600 pixels and then a crop of 512 x 512 took 104 ms per image, after the crop 23 ms. Decoding a
    PNG of 1024 x 2048 pixels took 49 ms there.

    ## What the runtime does by itself

    Nothing: tf.data does not reorder the operations inside of a function.

    ## When it stays silent

    - The size before or after is unknown, as after `decode_jpeg` alone, or for a crop to a computed size.
    - The image has fewer than 128 x 128 pixels before the crop.
    - The function also returns the large image, perhaps in another branch, or makes several crops of it.
    - `per_image_standardization` and other functions of the whole image are in between.
    - The crop is in another `map`, or is a slice such as `image[:256, :256]`, or a preprocessing layer.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.

    ## Use instead

    Crop or resize first, then change the colors: `image = tf.image.random_crop(image, (512, 512, 3))`, and
    `tf.image.random_hue(image, 0.2)` below it.

    ## Fix safety

    There is no automatic fix, because the crop often cuts a mask too, and moves over several lines.

    Hue, saturation and brightness change each pixel alone: with a crop, both orders give the same distribution of
    images. `random_contrast` scales around the mean of the image, which is that of the crop afterwards. A resize
    averages pixels, so hue and saturation differ slightly after it.

    ## References

    - TensorFlow API: `tf.image.random_hue`, `tf.image.random_contrast`
    - TensorFlow source: `python/ops/image_ops_impl.py`
    """

    code = "KC133"
    name = "color-before-crop"
    summary = "colors change before a crop of the image"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("_brightness(", "_contrast(", "_hue(", "_saturation(")
    loss_tolerance = None

    def check(self, module):
        for each in data.wasted_pixels(module, _LEAST_RATIO):
            if each.before < _SMALL:
                continue
            first, many = each.colors[-1], len(each.colors)
            cut = "resize" if each.cut.name.endswith(".resize") else "crop"
            changes = f"This and {many - 1} more change" if many > 1 else "This changes"
            yield self.finding(
                first,
                f"{changes} the colors of pixels that a {cut} throws away; {cut} first.",
                because=f"{display_name(first.name)} computes {each.before:,} pixels, of which {each.after:,} remain."
                + (" The contrast then refers to the mean of the crop." if _has_contrast(each.colors) else ""),
                doubt="A change of the brightness alone is cheap." if each.is_cheap else None,
                related=((each.cut, "thrown away here"),),
            )


def _has_contrast(colors):
    return any(call.name.endswith("contrast") for call in colors)
