import re

from kerascheck.api import Applies, Rule, Severity, data

_UNREADABLE = re.compile(r"""[.'"](?:tiff?|p[bgnp]m|dcm|nii)\b""", re.I)


class ImageDataGenerator(Rule):
    """ImageDataGenerator loads and augments images in Python, one after the other.

    ## What it does

    Looks for `ImageDataGenerator(...)` if the program trains with its `flow`, `flow_from_directory` or
    `flow_from_dataframe`. It trains if it passes the flow to `fit`, `fit_generator` or `train_on_batch` of any model,
    or iterates over it in a training loop.

    Also looks for a generator that augments and leaves the file through the `return` of a function without callers
    there. The function may return the generator or its images. The finding is at the constructor.

    ## Why it costs

    One Python thread does all reading, decoding and augmentation, with PIL and SciPy. On 2 CPU cores (TensorFlow 2.21,
    no GPU) it was 2.2 times slower than `image_dataset_from_directory` with a flip layer. With flip, rotation and zoom,
    it was 2.1 times slower. More cores widen the gap, because only the alternative can use them.

    ## What the runtime does by itself

    Keras prefetches the finished batches, but it does not make them faster. The usual advice, more workers, helps only
    if a thread waits for storage. On an older version (TensorFlow 2.12), `fit(workers=2)` was about three times slower
    on the same machine. Keras 3 has no such argument.

    The class is legacy: `tf.keras` still exports it, but it gets no new features.

    ## When it stays silent

    - The generator is used only for validation, evaluation, prediction or a single pass that extracts features.
    - The program only displays a few augmented images, fits the generator's statistics, or takes single batches with
      `next`.
    - A function without callers returns the generator, and its name says validation or test.
    - Reported as info instead of a warning: the generator gets arrays and no arguments, so it changes nothing.
    - The class has the same name but comes from elsewhere.
    - The file mentions `.tif`, `.ppm`, `.dcm` and similar formats, which TensorFlow does not read, and no generator in
      it gets arrays.
    - The script opens a `tf.Session`, or such a script imports the file.

    ## Use instead

    - For folders, use `keras.utils.image_dataset_from_directory`.
    - For arrays, pass them to `fit`.
    - For a table of files, map a function that reads and decodes over
      `tf.data.Dataset.from_tensor_slices((paths, labels))`.
    - For images with masks, map over the paths of both. With one seed, `tf.image.stateless_random_flip_left_right` and
      similar functions draw the same for both.
    - For `rescale`, use a `Rescaling` layer.
    - For augmentations, use `RandomFlip`, `RandomRotation` and `RandomZoom`.

    ## Fix safety

    There is no automatic fix. The order of the images, the resizing method, the label format and the random draws all
    differ, so the training results change. Check `class_mode` against `label_mode`: the defaults are not the same.

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
        # TensorFlow reads JPEG, PNG, GIF and BMP (keras/src/utils/image_dataset_utils.py).
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
