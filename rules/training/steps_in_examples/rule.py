from kerascheck.api import Applies, Rule, Severity, constant, training


class StepsInExamples(Rule):
    """The number of steps counts examples, or batches divided by the batch size again.

    ## What it does

    Looks at `steps_per_epoch` and `validation_steps` of `fit`, and at `steps` of `evaluate` and `predict`. It reports

    - the number of rows of an array, as `len(x)` or `x.shape[0]`, if the data is an endless `tf.data` dataset that
      slices this array and batches it by more than one;
    - a division by the batch size twice, as in `len(x) // batch_size // batch_size`;
    - `len(batches) // batch_size`, if `batches` is the data itself, a batched dataset or an iterator of an
      `ImageDataGenerator`.

    The finding is at the argument.

    ## Why it costs

    A step takes a whole batch. With the number of rows as the number of steps, each epoch passes over the data as often
    as a batch has examples. With 3,200 rows in batches of 32 and a small dense model, `steps_per_epoch=len(x)` took 29
    times as long as `len(x) // 32` (median of five alternating runs, Keras 3.15, TensorFlow 2.21, 2 busy CPU cores, no
    GPU). The reported epochs, learning rate schedules and early stopping then mean something else, too.

    After two divisions, an epoch sees only a small part of the data. The validation and the callbacks of each epoch
    take most of the time.

    ## What the runtime does by itself

    Nothing for endless data. Data that end stop the epoch with the warning "Your input ran out of data" (tested with
    Keras 3.15: datasets without `repeat()`, `PyDataset`, iterators of `ImageDataGenerator`, arrays). The rule does not
    report too many steps for these.

    ## When it stays silent

    - The steps are a literal number, or come from a computation that is not visible.
    - The link between the counted rows and the data is not visible: another array, a file, a generator function.
    - The dataset changes its number of rows, as `filter`, `take`, `flat_map` and `interleave` do.
    - The size of the batches is unknown, or one.
    - A name of the steps, or of the array, is bound more than once, and their numbers are unknown.

    ## Use instead

    Leave `repeat()` and `steps_per_epoch` out: `fit` then counts the batches itself. If the data have to repeat, use
    `steps_per_epoch=len(x) // batch_size`.

    ## Fix safety

    There is no fix: another number of steps changes the training, and its epochs have to be chosen again.

    ## References

    - Keras documentation: "Model training APIs" (`fit`, argument `steps_per_epoch`)
    - Keras source: `trainers/epoch_iterator.py`
    """

    code = "KC418"
    name = "steps-in-examples"
    summary = "steps count examples instead of batches"
    evidence_note = "A step takes equally long; the gain is that an epoch has fewer of them."
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("steps",)
    needs = (".batch(", "batch_size", "BATCH")
    loss_tolerance = None

    def check(self, module):
        for found in training.miscounted_steps(module):
            if found.miscount is training.Miscount.EXAMPLES:
                size = found.batch.size
                yield self.finding(
                    found.place,
                    f"{found.parameter} counts examples, but a step takes a batch of {size}; divide it by the batch size.",
                    because=f"Each epoch passes over the data {size} times.{_passes(found, size)}",
                    related=((found.batch.place, "batched here"),),
                )
            else:
                yield self.finding(
                    found.place,
                    f"{found.parameter} is divided by the batch size twice; divide the number of examples once.",
                    because="An epoch sees only a small part of the data, so its validation and callbacks dominate.",
                )


def _passes(found, size):
    """The passes of the whole training, if the number of epochs is a literal."""
    epochs = constant(found.call.given("epochs")) if found.parameter == "steps_per_epoch" else None
    return f" {epochs} epochs are {epochs * size} passes." if type(epochs) is int and epochs > 1 else ""
