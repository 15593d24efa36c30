from kerascheck.api import Applies, Rule, Severity, data, training

_MANY_IMAGES = 500
_LARGE = 50_000_000  # bytes of a shuffle buffer, with one byte per channel
# A training step computes forwards and backwards, a validation step only forwards.
_AS_LONG_AS_TRAINING = 3
_HELD_OUT = {"validation", "evaluate"}


class CostlyValidation(Rule):
    """The validation takes longer than it has to, or never ends.

    ## What it does

    Reports

    - an endless dataset, made by `repeat()`, as `validation_data` without `validation_steps`, or in `evaluate` or
      `predict` without `steps`: an error;
    - a `fit` that certainly validates on more examples than it trains on, often because two names are swapped. It is an
      info below three times as many;
    - a large shuffle after the decoding of images, in a dataset that is only used for validation. Large means what
      `shuffle-after-decode` says;
    - as an info, `evaluate` on the training data after a `fit` of one epoch with these data, in the same iteration of a
      loop.

    ## Why it costs

    The validation runs in each epoch, and each of its steps computes the model forwards. A training step also computes
    backwards. For two convolutions over 64 x 64 x 3 pixels, a validation on 1,536 images took 1.2 times as long as an
    epoch of training on 512 (median of five alternating runs, Keras 3.15, TensorFlow 2.21, 2 busy CPU cores, no GPU).

    An order makes no difference to an average over all examples. But the shuffle decodes a whole buffer of images
    before the first batch, again in each epoch, and holds them in memory (`shuffle-after-decode` has figures).

    `fit` returns the loss and the metrics of the training data. A separate `evaluate` on these data computes all
    of them forwards again. With the same model it added 36 % to an epoch.

    ## What the runtime does by itself

    Keras 2 raises `ValueError` for an endless dataset without steps. Keras 3 continues forever without a message
    (tested with Keras 3.15).

    ## When it stays silent

    - `validation_steps`, `validation_freq` or `steps_per_epoch` limits the examples of a validation or an epoch.
    - The number of rows of one of the two is unknown, for example that of a file.
    - The condition of an `if` decides on the `repeat`, or on the `evaluate`.
    - A `take` follows the `repeat`.
    - The shuffled dataset also trains, or something else looks at it.
    - The buffer size of the shuffle is not a literal.

    ## Use instead

    Leave `repeat()` and `shuffle()` out of a validation dataset. Pass the smaller part as `validation_data`, or
    `validation_freq=5` to validate in every fifth epoch. Read the training loss in `history.history["loss"]`.

    ## Fix safety

    There is no fix: other examples, or fewer, give other validation results, which callbacks may depend on.

    ## References

    - Keras documentation: "Model training APIs" (`fit`, arguments `validation_data` and `validation_freq`)
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC419"
    name = "costly-validation"
    summary = "validation takes too long or never ends"
    evidence_note = "A training step takes equally long; the gain is a shorter validation."
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("validation_data", ".evaluate(", ".predict(", ".fit(", ".shuffle(")
    loss_tolerance = None

    def check(self, module):
        ends = "never ends" if module.runtime.keras >= 3 else "raises a ValueError"
        for call, parameter in training.endless_evaluations(module):
            yield self.finding(
                call,
                f"This call gets an endless dataset and no number of steps; leave repeat() out or pass {parameter}.",
                because=f"Without {parameter}, Keras {module.runtime.keras} has no end of the data here: the call {ends}.",
                severity=Severity.ERROR,
            )
        for each in training.large_validations(module):
            times = each.validated / each.trained
            yield self.finding(
                each.fit,
                f"This validates on {each.validated:,} examples, but trains on {each.trained:,}; swap or reduce them.",
                because=f"Every epoch computes {times:.1f} times as many examples for its validation as for its training.",
                doubt=None
                if times >= _AS_LONG_AS_TRAINING
                else "A validation step takes about a third of a training step.",
            )
        for op in module.pipelines.operations("shuffle"):
            if op.roles and op.roles <= _HELD_OUT:
                found = next(filter(_is_large, data.shuffled_images(op, _MANY_IMAGES)), None)
                if found is not None:
                    yield self.finding(
                        op,
                        "This shuffles decoded images that are only used for validation; leave the shuffle out.",
                        because="Each validation fills the buffer before its first batch, and no order changes its result.",
                        related=((found.decoding, "decoded here"),),
                    )
        for call, fit in training.evaluations_of_training(module):
            yield self.finding(
                call,
                "This evaluates the training data after every epoch; use the metrics that fit returns.",
                because="It computes all of them forwards once more, which adds about a third to an epoch.",
                doubt="The metrics of fit are averages over the epoch, with dropout.",
                related=((fit, "trained here"),),
            )


def _is_large(found):
    """Whether a buffer of a known number of images is large."""
    if found.count is None:
        return False
    return found.count >= _MANY_IMAGES if found.pixels is None else found.count * found.pixels * 3 >= _LARGE
