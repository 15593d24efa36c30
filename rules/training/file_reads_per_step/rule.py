from kerascheck.api import Applies, Rule, Severity, display_name, training

_SHORT = 50


class FileReadsPerStep(Rule):
    """A training loop in Python reads the files of each batch between its steps.

    ## What it does

    Looks for a hand-written training loop that reads files in every step, in its body or in functions that it calls.
    The batches may also come from a generator or a `PyDataset` that the loop iterates over, or that it advances with
    `next`. A step is `train_on_batch`, a `fit` of one epoch, or a weight update by an optimizer. The readers are those
    of images, such as `cv2.imread`, `PIL.Image.open`, `imageio.imread` and `load_img`, and others such as `np.load`.
    One finding for each loop shows the call in the loop, the call of the generator, or the loop over a `PyDataset`.

    It is a warning if each step reads its files in a loop of its own, and an info for a single read in each step.

    ## Why it costs

    The device waits until Python has read and decoded the whole batch on one core. Then Python waits for the device.
    The table shows the time of a step with 16 JPEG files of 512 x 512 pixels, resized to half of that, for two
    convolutions (medians of five, 2 CPU cores, TensorFlow 2.21, Keras 3.15, no GPU):

    | | ms |
    |---|---|
    | PIL in the training loop | 145 |
    | the same generator in `from_generator(...).prefetch(2)` | 128 |
    | `map` of `decode_jpeg` and `resize`, `prefetch` | 32 |
    | the step alone, with one batch in memory | 28 |

    A faster device shortens only the step, so the waiting takes a larger share there.

    ## What the runtime does by itself

    Nothing: TensorFlow sees only the finished arrays. A generator does not run ahead of the loop that consumes it.
    Keras starts the `workers` of a `PyDataset` only in `fit`, not in a loop over it.

    ## When it stays silent

    - Threads or processes read: the code takes batches from a queue, or passes the reading function to a pool or to
      another library.
    - The loop consumes a dataset, or an unknown object around the generator. Also a `PyDataset` inside `fit`.
    - A condition or an exception handler selects some of the steps, or a cache may skip the read. Any decorator of a
      function around the read counts as a cache.
    - The read is in an outer loop, such as once per epoch, or before the loop.
    - A generator reads everything before the loop that yields batches.
    - The loops around it have at most 50 iterations in total, according to the literals.
    - `fit` runs several epochs on the files, or an unknown number.

    ## Use instead

    ```python
    dataset = tf.data.Dataset.from_tensor_slices(paths)
    dataset = dataset.map(read, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(tf.data.AUTOTUNE)
    for images in dataset:
        model.train_on_batch(images, targets)
    ```

    `read` consists of `tf.io.read_file`, `tf.io.decode_image` and `tf.image.resize`. If the reading has to stay in
    Python, let a `ThreadPoolExecutor` read the next batch during the step, or pass a `PyDataset` with `workers` to
    `fit`. If all images fit in memory, read them once before the loop.

    ## Fix safety

    There is no fix: decoders and resizing methods differ in detail, and a generator may keep state of its own.

    ## References

    - TensorFlow guide: "Better performance with the tf.data API"
    - Keras API: `keras.utils.PyDataset`
    """

    code = "KC430"
    name = "file-reads-per-step"
    summary = "each step of a training loop reads its files"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("train_on_batch(", ".fit(", "apply_gradients(", ".minimize(", ".apply(")
    loss_tolerance = 1e-5

    def check(self, module):
        for found in training.serial_reads(module, _SHORT):
            yield self.finding(
                found.place,
                "Each step waits until Python has read its files; read them ahead, in a map of tf.data.",
                because=f"{display_name(found.call.name)} runs between the steps, on one core, and the device is idle meanwhile."
                + " A PyDataset reads ahead only in fit." * found.is_item,
                doubt=None if found.repeats else "A single file may take little time beside the step.",
                related=((found.call, "read here"), (found.update, "a step trains here"), (found.loop, "in this loop")),
            )
