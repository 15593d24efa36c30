from kerascheck.api import Applies, CodeLocation, Rule, Severity, data, datasets_in, fixes, training

_VERY_OFTEN = 50


class DatasetMaterialised(Rule):
    """A dataset is converted to Python objects although TensorFlow could use it directly.

    ## What it does

    Looks for `len(list(dataset))` and `len([... for x in dataset])`, also with `as_numpy_iterator()`. They read all
    elements just to count them. This is a warning in a script that trains. It is an info in a script that only looks at
    data, and where TensorFlow cannot know the number.

    Also looks for `as_numpy_iterator()` passed to `fit`, `evaluate` or `predict`, also as validation data. This is an
    error in Keras 3, which raises a ValueError, and an info in Keras 2.

    Also looks for `list(dataset)` or `tuple(dataset)` converted to an array and passed to `fit`. This is an info,
    because the cost depends on the size of the data.

    ## Why it costs

    `len(list(dataset))` runs the whole pipeline, including all decoding and augmentation. It holds every element in
    memory at once, only to discard them. This costs as much as the input of one epoch, plus memory for all elements.

    An array made from `list(dataset)` costs time only once. Training starts after everything has been read, and all of
    it must fit in memory.

    ## What the runtime does by itself

    TensorFlow knows the number of elements of most datasets without reading them: `len(dataset)` and
    `dataset.cardinality()` work after `batch`, `map`, `take`, `repeat` and similar operations. The number is unknown
    after `filter`, `flat_map`, a generator or a record file: `len` then raises a TypeError, and `cardinality` returns
    -2. `fit` also finds the number of steps by itself.

    Keras 3 accepts datasets, generators and arrays, but no iterators. For `as_numpy_iterator()`, `fit`, `evaluate` and
    `predict` raise `ValueError: Unrecognized data type` (tested with Keras 3.15). Keras 2 iterates over it once.

    ## When it stays silent

    - For lists: `take(k)` limits the dataset to a few elements (up to 32).
    - `list(dataset)` serves another purpose: a vocabulary, the labels of a test set, or data that are only stored.
    - For a list passed to `fit`: it runs for 50 epochs or more, so the time for reading once hardly matters.
    - For `as_numpy_iterator()`: the code does not show the model, whose `fit` may accept iterators.
    - For `as_numpy_iterator()`: the code branches on the Keras version, or an `except` catches the ValueError.
    - The program checks the cardinality first and counts only if it is unknown.
    - The list does not come from a dataset.
    - The code is a test.

    ## Use instead

    Use `len(dataset)`. If the number is unknown, count once and declare the result with
    `dataset.apply(tf.data.experimental.assert_cardinality(n))`. Pass the dataset itself to `fit`, with `cache()` if it
    fits in memory.

    ## Fix safety

    Safe for `as_numpy_iterator()` in a call that Keras 3 rejects, if nothing can catch the exception: the program
    already fails. Unsafe in a `try`, a `with`, a thread, or a function whose callers or decorators are not visible: the
    program may continue without the training. Unsafe in Keras 2, which accepts the iterator and ends the training when
    it is exhausted.

    There is no fix for lists: `len(dataset)` raises if the number is unknown, and `fit` divides an array into batches
    of its own. There is also no fix if another statement creates the iterator.

    ## References

    - TensorFlow API: `tf.data.Dataset.cardinality`, `tf.data.experimental.assert_cardinality`
    """

    code = "KC122"
    name = "dataset-materialised"
    summary = "dataset is turned into Python objects"
    measured = "first step"
    evidence_note = "The cost is one pass over the data before training; the steps stay the same."
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("as_numpy_iterator", "Dataset", "_dataset", "tensorflow_datasets", "from_tensor_slices", "list_files")
    proves = ("raises-now",)
    loss_tolerance = 1e-6

    def check(self, module):
        yield from self._given_as_iterator(module)
        yield from self._given_as_array(module)
        yield from self._counted(module)

    def _given_as_iterator(self, module):
        refuses = module.program.keras >= 3
        for call, argument in data.iterators_given(module, ("fit", "evaluate", "predict")):
            yield self.finding(
                CodeLocation(call.module, argument),
                f"{call.attribute}() does not take a NumPy iterator in Keras 3; pass the dataset itself."
                if refuses
                else "Each batch is copied to NumPy and back; pass the dataset itself.",
                because="Keras 3 raises a ValueError for it." if refuses else "An iterator also ends after one epoch.",
                severity=Severity.ERROR,
                doubt=None if refuses else "How long the copies take depends on the batches.",
                fix=fixes.pass_dataset(call, argument.value, "as_numpy_iterator", refuses),
            )

    def _given_as_array(self, module):
        for made, fit in data.lists_trained_on(module):
            # Reading once takes little time beside many epochs.
            if (training.epochs_of(fit) or 0) >= _VERY_OFTEN:
                continue
            yield self.finding(
                made,
                "This list keeps the whole dataset in memory before training starts; pass the dataset itself to fit().",
                because="Training waits until every element has gone through the pipeline once.",
                doubt="The size of the dataset is not known here.",
                related=((fit, "trained on here"),),
            )

    def _counted(self, module):
        trains = module.program.first_training is not None
        for place, given in data.counted_lists(module):
            known = all(map(data.knows_length, datasets_in(given)))
            yield self.finding(
                place,
                "The whole dataset is read and kept in memory to be counted; "
                + (
                    "len(dataset) or dataset.cardinality() gives the number without reading."
                    if known
                    else "count it once and declare the number with tf.data.experimental.assert_cardinality."
                ),
                because="Every element goes through the pipeline once more, as in an epoch of training.",
                doubt="Datasets of this kind do not know their length."
                if not known
                else None
                if trains
                else "No training is visible here that it would delay.",
            )
