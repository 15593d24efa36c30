import re

from kerascheck.api import Applies, Rule, Severity, data

_UNREADABLE = re.compile(r"""[.'"](?:tiff?|p[bgnp]m|dcm|nii)\b""", re.I)


class ImageDataGenerator(Rule):
    """ImageDataGenerator loads and augments images in Python, one after the other.

    ## What it does

    Looks for `ImageDataGenerator(...)` whose `flow`, `flow_from_directory` or
    `flow_from_dataframe` is given to `fit`, `fit_generator` or `train_on_batch`, whatever model that is, or is what a
    loop that trains runs over; and one that augments and leaves the file, itself or its images, by the `return`
    of a function that nothing there calls. The finding is at the constructor.

    ## Why it costs

    Reading, decoding and every augmentation happen in one Python thread, with PIL and SciPy.
    On 2 CPU cores (TensorFlow 2.21, no GPU) it was 2.2 times slower than
    `image_dataset_from_directory` with a flip layer, and 2.1 times with flip, rotation and
    zoom. More cores widen the gap, because only the other side can use them.

    ## What the runtime does by itself

    Keras prefetches the finished batches, but it makes them no faster. More workers, the
    usual advice, help only where a thread waits for storage: `fit(workers=2)` on an older
    version (TensorFlow 2.12) made it about three times slower on the same machine, and Keras 3
    has no such argument.

    The class is legacy: it is still importable through `tf.keras`, and gets no new features.

    ## When it stays silent

    - The generator feeds only validation, evaluation, prediction or one pass that extracts
      features.
    - It is used to look at a few augmented images, or to fit its statistics; its batches are
      taken one by one with `next`.
    - A function that nobody calls hands it out, and has a name that says validation or test.
    - As an info, not a warning, for arrays given to a generator without arguments, which changes nothing.
    - A class of that name from elsewhere; files that speak of `.tif`, `.ppm`, `.dcm` and the like, which TensorFlow
      does not read.
    - Scripts that open a `tf.Session`, and what they import.

    ## Use instead

    `keras.utils.image_dataset_from_directory` for folders, `fit` on the arrays for arrays, a map that reads and
    decodes over `tf.data.Dataset.from_tensor_slices((paths, labels))` for a table of files, and over the paths of
    both for images and their masks, where `tf.image.stateless_random_flip_left_right` and its like draw the same for
    both from one seed, a `Rescaling` layer for `rescale`, and `RandomFlip`, `RandomRotation`, `RandomZoom` for the
    augmentations.

    ## Fix safety

    There is no automatic fix. The order of the images, the resizing method, the form of the
    labels and the random draws all differ, so the training has other numbers. Check
    `class_mode` against `label_mode`: the defaults are not the same.

    ## References

    - Keras API: `image_dataset_from_directory`, "Image augmentation layers"
    - TensorFlow tutorial: "Load and preprocess images"
    - Keras source: `legacy/preprocessing/image.py`
    """

    code = "KC111"
    name = "image-data-generator"
    summary = "ImageDataGenerator prepares images in Python"
    severity = Severity.WARNING
    applies = Applies(tensorflow=">=2.3", multi_backend_keras=False)
    triggers = ("ImageDataGenerator",)
    loss_tolerance = None

    def check(self, module):
        if module.project.opens_session(module):
            return
        flows = module.image_flows
        trained = data.generators_of(flows)
        arrays = {id(call.receiver) for call in flows if call.attribute == "flow"}
        pairs = {id(call.receiver) for call, paired in flows.items() if paired}
        tables = {id(call.receiver) for call in flows if call.attribute == "flow_from_dataframe"}
        # The readers of TensorFlow know JPEG, PNG, GIF and BMP (keras/src/utils/image_dataset_utils.py).
        if not arrays and module.mentions(_UNREADABLE):
            return
        for call in dict.fromkeys((*trained, *data.handed_generators(module))):
            yield self.finding(
                call,
                "ImageDataGenerator augments one image at a time in Python; fit the arrays and augment with Keras layers."
                if id(call.result) in arrays
                else "ImageDataGenerator decodes one image at a time in Python; map over a tf.data.Dataset of path pairs instead."
                if id(call.result) in pairs
                else "ImageDataGenerator decodes one image at a time in Python; map over a tf.data.Dataset of the paths instead."
                if id(call.result) in tables
                else "ImageDataGenerator decodes one image at a time in Python; use image_dataset_from_directory and Keras layers.",
                because=f"{'A model trains on its images' if call in trained else 'It augments images for training'}, and its threads share the GIL.",
                doubt="This generator has no options and only copies arrays."
                if id(call.result) in arrays and not call.node.args
                else None,
            )
