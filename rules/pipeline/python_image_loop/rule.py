from kerascheck.api import Applies, Rule, Severity, data, display_name

_A_FEW = 500
_SMALL = 64
_OFTEN = 10
_VERY_OFTEN = 50


class PythonImageLoop(Rule):
    """A Python loop reads every image into one array before training starts.

    ## What it does

    Looks for a loop, or a comprehension, that reads images one by one (`cv2.imread`, `PIL.Image.open`, `load_img`,
    `imread` of other libraries), or decodes them eagerly (`tf.io.decode_jpeg` and its like outside of a map), and
    collects them, where the array or tensor made of them is given to `fit`, or to a dataset or an ImageDataGenerator
    that is trained on. The finding is at the call that reads. It is an info: whether it costs depends on the number
    of images.

    ## Why it costs

    Training waits until the last image is read, by one core, and all of them stay in memory. On
    2 CPU cores (TensorFlow 2.21, no GPU) a loop with PIL took 3.6 times as long as one pass of
    `tf.data` over the same files, a loop with `load_img` 1.7 times, and one that calls `tf.io` eagerly 3.1 times.

    That is paid once, not in every epoch. An array that fits in memory can well be faster
    where training runs for many epochs: `tf.data` decodes again in each, unless it caches. So
    change this where the start takes long, or where the memory runs out, and not out of habit.

    ## What the runtime does by itself

    Nothing: the loop is finished before Keras sees the array.

    ## When it stays silent

    - At most 500 images, according to the literals.
    - The images are used for prediction, shown or saved, not trained on.
    - The reading happens in the item of a `PyDataset`, in a generator, or in a function that
      `tf.data` calls, or in a loop that also trains: then training does not wait for all of it.
    - Images that become no larger than 64 x 64 while they are read, for a `fit` of ten epochs and more: to decode the
      files again in each would take longer.
    - A `fit` of 50 epochs and more, compared with which reading once takes little time; and images that the program
      saves as an array, for its next run.
    - Reading that no loop repeats.

    ## Use instead

    `keras.utils.image_dataset_from_directory`, or `tf.data.Dataset.from_tensor_slices(paths)` with
    a `map` that calls `tf.io.read_file`, `tf.io.decode_jpeg` and `tf.image.resize`, and `cache()`
    where the images fit in memory. Keep a single array as `uint8`, and scale in the model.

    ## Fix safety

    There is no automatic fix: decoders and resizing methods differ in detail, and so do the colours
    (OpenCV reads blue, green, red).

    ## References

    - Keras API: `image_dataset_from_directory`
    - TensorFlow tutorial: "Load and preprocess images"
    """

    code = "KC112"
    name = "python-image-loop"
    summary = "Python loop reads all images before training"
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
            # Outside of every loop, a place has one turn.
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
    """Whether it pays to read an image once and to keep it: to decode it again in each epoch, or run, takes longer."""
    epochs = image.epochs or 0
    return epochs >= _VERY_OFTEN or epochs >= _OFTEN and image.side(module) <= _SMALL or image.is_saved(module)
