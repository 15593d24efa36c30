from kerascheck.api import Applies, Rule, Severity, data, display_name

_A_FEW = 500
_SMALL = 64
_OFTEN = 10
_VERY_OFTEN = 50


class PythonImageLoop(Rule):
    """A Python loop reads every image into one array before training starts.

    ## What it does

    Looks for a loop or a comprehension that collects images one by one. It reads them (`cv2.imread`, `PIL.Image.open`,
    `load_img`, `imread` of other libraries), or decodes them eagerly (`tf.io.decode_jpeg` and similar functions outside
    of a map). The program passes the resulting array or tensor to `fit`, or trains on a dataset or an
    ImageDataGenerator made from it. The finding is at the call that reads. The severity is info, because the cost
    depends on the number of images.

    ## Why it costs

    Training waits until one core has read the last image, and all images stay in memory. A loop with PIL took 3.6 times
    as long as one `tf.data` pass over the same files (2 CPU cores, TensorFlow 2.21, no GPU). A loop with `load_img`
    took 1.7 times as long, and one with eager `tf.io` calls 3.1 times.

    This cost occurs once, not in every epoch. An array that fits in memory can well be faster if training runs for many
    epochs: `tf.data` decodes again in each, unless it caches. So change this only if the start takes long or the memory
    runs out, and not out of habit.

    ## What the runtime does by itself

    Nothing: the loop finishes before Keras sees the array.

    ## When it stays silent

    - Literals show at most 500 images.
    - The images are used for prediction, or displayed or saved, but not for training.
    - The item method of a `PyDataset`, a generator, a function called by `tf.data`, or a loop that also trains reads
      them. Training then does not wait for all images.
    - Images shrink to at most 64 x 64 during reading, and `fit` runs ten epochs or more. Decoding the files again in
      each epoch would take longer.
    - `fit` runs 50 epochs or more, so the time for reading once hardly matters.
    - The program saves the images as an array for its next run.
    - No loop repeats the reading.

    ## Use instead

    Use `keras.utils.image_dataset_from_directory`. Alternatively, use `tf.data.Dataset.from_tensor_slices(paths)` with
    a `map` that calls `tf.io.read_file`, `tf.io.decode_jpeg` and `tf.image.resize`. Add `cache()` if the images fit in
    memory. Keep a single array as `uint8`, and scale in the model.

    ## Fix safety

    There is no automatic fix: decoders and resizing methods differ in detail, and so do the colours (OpenCV reads blue,
    green, red).

    ## References

    - Keras API: `image_dataset_from_directory`
    - TensorFlow tutorial: "Load and preprocess images"
    """

    code = "KC112"
    name = "python-image-loop"
    summary = "Python loop reads all images before training"
    measured = "first step"
    evidence_note = (
        "The fix saves the wait before training and the memory; once an array is in memory, its steps are faster."
    )
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = (
        "imread",
        "load_img",
        ".open(",
        "decode_jpeg(",
        "decode_png(",
        "decode_image(",
        "decode_bmp(",
        "decode_gif(",
    )
    loss_tolerance = None

    def check(self, module):
        seen = set()
        for image in data.images_read_first(module):
            # Outside of loops, code runs once.
            if image.call.node in seen or image.count <= _A_FEW or _is_read_once(module, image):
                continue
            seen.add(image.call.node)
            yield self.finding(
                image.call,
                "Training waits until a Python loop has read every image; image_dataset_from_directory, or a map over the paths, reads while it trains.",
                because=f"{display_name(image.call.name)} is called once for each image, on one core, and all of them stay in memory.",
                related=((image.consumer, "trained on here"),),
            )


def _is_read_once(module, image):
    """Whether reading an image once and keeping it pays off against decoding it again in each epoch or run."""
    epochs = image.epochs or 0
    return epochs >= _VERY_OFTEN or epochs >= _OFTEN and image.side(module) <= _SMALL or image.is_saved(module)
