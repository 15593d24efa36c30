from kerascheck.api import Applies, CodeLocation, Rule, Severity, data, datasets_in, fixes, training

_VERY_OFTEN = 50


class DatasetMaterialised(Rule):
    """A dataset is turned into Python objects where TensorFlow could have kept it.

    ## What it does

    Looks for `len(list(dataset))` and `len([... for x in dataset])`, also with `as_numpy_iterator()`, which read
    everything to count it. A warning in a script that trains; an info in one that only looks at data, and where
    TensorFlow cannot know the number.

    Looks also for `as_numpy_iterator()` that is given to `fit`, `evaluate` or `predict`: an error in Keras 3, which
    raises a ValueError, and an info in Keras 2. And for `list(dataset)`, made an array, that is given to `fit`: an
    info, since it depends on the size of the data.

    ## Why it costs

    `len(list(dataset))` runs the whole pipeline, with all decoding and augmentation, and holds every
    element in memory at once, to throw them away: it costs as much as the input of an epoch, and
    memory for all of it.

    An array made of `list(dataset)` is paid for once: training starts when everything is read, and needs memory for
    all of it.

    ## What the runtime does by itself

    TensorFlow knows the number of elements of most datasets without reading them: `len(dataset)`
    and `dataset.cardinality()` follow `batch`, `map`, `take`, `repeat` and the like. They do not
    know it behind `filter`, `flat_map`, a generator or a file of records: `len` then raises a
    TypeError, and `cardinality` says -2. `fit` finds the number of steps by itself, too.

    Keras 3 takes datasets, generators and arrays, and no iterators: `fit`, `evaluate` and `predict` raise `ValueError:
    Unrecognized data type` for `as_numpy_iterator()` (tried with Keras 3.15). Keras 2 goes through it once.

    ## When it stays silent

    - `take(k)` of a few elements (up to 32).
    - `list(dataset)` for other purposes: a vocabulary, the labels of a test set, data that are only kept; and for a
      `fit` of 50 epochs and more, compared with which reading once takes little time.
    - Models that this code does not show, whose `fit` may take iterators; branches on the version of Keras, and calls
      under an `except` of a ValueError, for `as_numpy_iterator()`.
    - Counting behind a question for the cardinality, where that is not known.
    - Lists of other things than datasets.
    - Tests.

    ## Use instead

    `len(dataset)`; where that is not known, count once and note it with
    `dataset.apply(tf.data.experimental.assert_cardinality(n))`. The dataset itself for `fit`, with `cache()` where it
    fits in memory.

    ## Fix safety

    Safe for `as_numpy_iterator()` in a call that Keras 3 refuses, where nothing can catch the exception: the
    program fails as it is. Unsafe in a `try`, a `with`, a thread, or a function whose callers or decorators are not
    visible: the program may go on without the training. Unsafe in Keras 2, which takes the iterator and ends the
    training with it.

    There is no fix for lists: `len(dataset)` raises where the number is not known, and an array is trained on in
    batches of its own.

    ## References

    - TensorFlow API: `tf.data.Dataset.cardinality`, `tf.data.experimental.assert_cardinality`
    """

    code = "KC122"
    name = "dataset-materialised"
    summary = "dataset is turned into Python objects"
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
        refuses = (
            module.runtime.keras >= 3 and not module.program.chooses_legacy_keras and not module.program.needs_old_keras
        )
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
            # Beside so many epochs, reading once takes little.
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
                    "len(dataset) or dataset.cardinality() tells without reading."
                    if known
                    else "count it once and note that with tf.data.experimental.assert_cardinality."
                ),
                because="Every element goes through the pipeline once more, as in an epoch of training.",
                doubt="Datasets of this kind do not know their length."
                if not known
                else None
                if trains
                else "No training is visible here that it would delay.",
            )
