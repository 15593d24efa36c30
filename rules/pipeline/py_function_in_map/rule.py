from kerascheck.api import Applies, Rule, Severity, data, display_name, names

# No TensorFlow operation replaces these libraries.
_WITHOUT_EQUAL = frozenset(
    {
        "librosa",
        "soundfile",
        "albumentations",
        "imgaug",
        "nibabel",
        "pydicom",
        "SimpleITK",
        "rasterio",
        "h5py",
        "scipy",
        "skimage",
        "tifffile",
        "pandas",
    }
)
# OpenCV functions with a TensorFlow equivalent.
_OPENCV = "cv2."
_WITH_EQUAL = frozenset({"cv2.imread", "cv2.imdecode", "cv2.resize", "cv2.cvtColor", "cv2.flip", "cv2.convertScaleAbs"})
# The results of these change from epoch to epoch.
_DRAWS = ("numpy.random.", "random.", "albumentations.", "imgaug.")


class PyFunctionInMap(Rule):
    """A mapped function leaves the graph and calls Python for every element.

    ## What it does

    Looks for `tf.py_function`, `tf.numpy_function` and `tf.compat.v1.py_func` in functions mapped over single elements
    of a training dataset. It is an info if the Python code needs an operation that TensorFlow lacks. Examples are
    libraries for sound, augmentation, medical images or HDF5, and OpenCV functions that draw, warp or filter.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    Each element goes from TensorFlow to Python and back, under the GIL. On 2 CPU cores (TensorFlow 2.21, no GPU),
    compared with the same work in TensorFlow operations:

    - TensorFlow operations inside a `py_function`: 8.3 times slower;
    - a cheap NumPy operation inside a `numpy_function`: 3.9 times slower;
    - decoding images with a Python library: 2.0 times slower;
    - reading JPEG files of 500x375 and resizing them, with `num_parallel_calls=AUTOTUNE` on both sides: with Pillow 2.9
      times slower, with OpenCV 1.2 to 2.3 times (OpenCV 5.0, Pillow 13.0).

    ## What the runtime does by itself

    Nothing. Both count as functions with state, so their map stays serial unless it requests parallel calls. The usual
    advice, `num_parallel_calls`, hardly helps: the calls wait for the same lock (ratio 1.0). NumPy is not slow in
    itself: a `numpy_function` on whole batches beat TensorFlow operations on single elements (ratio 0.43).

    ## When it stays silent

    - The map comes after `batch`, with one call per batch, or before a `batch(1)`, which has the same effect.
    - The elements come from code that is not visible, and no batch follows: they may be batches already.
    - An unconditional `cache()` follows, so the calls run once instead of once per epoch.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps. A `take` of at most 32 elements before the operation counts as inspection.
    - Nothing consumes the dataset, and its name is later reassigned to another one.
    - The `py_function` is outside of datasets, or in a function passed to `filter` or `interleave`.

    ## Use instead

    Use the TensorFlow operation: `tf.io.read_file` and a decoder, `tf.clip_by_value`, `tf.math.log1p`. Or batch first
    and call NumPy once per batch. Use a `keras.utils.PyDataset` if the work has to stay in Python. Work with the same
    result in every epoch can go before a `cache`.

    ## Fix safety

    There is no automatic fix. A person has to choose the operation that replaces a Python body, and its rounding, types
    and shapes.

    ## References

    - TensorFlow API: `tf.numpy_function`, `tf.py_function`
    - TensorFlow guides: "Better performance with tf.function", "Analyze tf.data performance"
    - TensorFlow source: `script_ops.py`
    """

    code = "KC107"
    name = "py-function-in-map"
    summary = "mapped function calls Python for every element"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("py_function", "numpy_function", "py_func")
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations("map"):
            call = op.facts.python_function
            batched = {data.is_batched(stage.input) for stage in op.stages}
            if call is None or not op.may_feed_training:
                continue
            # Unknown elements that are batched later are single ones.
            if True in batched or None in batched and not op.followed_by(module.pipelines, *names.datasets.BATCHING):
                yield self.silence(op, "it gets whole batches, or may get them")
                continue
            if op.followed_by(module.pipelines, "cache") or op.is_batched_by_one(module.pipelines):
                yield self.silence(
                    op,
                    "a cache after it keeps its results"
                    if op.followed_by(module.pipelines, "cache")
                    else "its batches hold one example each",
                )
                continue
            # Draws have to change in every epoch; missing-cache reports files and texts.
            told = op.facts.reading is not None and op.facts.deterministic
            repeated = (
                (module.pipelines.passes(op) or 1) > 1
                and not told
                and not any((inner.name or "").startswith(_DRAWS) for inner in op.facts.calls)
            )
            without_equal = any(_is_without_equal(inner.name or "") for inner in op.facts.calls)
            yield self.finding(
                op,
                f"{display_name(call.name)} runs Python for every element; use TensorFlow operations{',' if repeated else ' or'} apply it to batches{', or cache its result if it never changes' * repeated}.",
                because="The GIL lets one call at a time run Python code, whatever num_parallel_calls says.",
                doubt="However, TensorFlow has no operation that does the same." if without_equal else None,
                related=((call, "Python runs here"),),
            )


def _is_without_equal(name):
    return name.partition(".")[0] in _WITHOUT_EQUAL or name.startswith(_OPENCV) and name not in _WITH_EQUAL
