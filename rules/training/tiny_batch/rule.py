from kerascheck.api import Rule, Severity, Tally, models, training, wording

_TINY = 16
_DEFAULT = 32
_MANY = 1000
_FEW = 8
_ENOUGH = 64
_WORTHWHILE = 500
_SMALL = 2_000_000
_MIDDLE_INPUT = 64 * 64 * 3
# 16 larger pictures are enough work.
_VERY_TINY = 4
_LARGE_INPUT = 128 * 128 * 3
_SMALL_INPUT = 32 * 32 * 3
_LONG_STEP = {
    models.LongStep.UNKNOWN_SIZE: "the number of parameters of the model is unknown",
    models.LongStep.MANY_PARAMETERS: "the model is large enough to keep the device busy ({})",
    models.LongStep.HEAVY_LAYERS: "the model has layers that may take long to compute",
}

_TALLY = Tally("batch too small for the model, in a training not seen to be long")


class TinyBatch(Rule):
    """A small model trains on a few examples at a time, so most of a step is overhead.

    ## What it does

    Reports the batch size of a model that has small inputs and at most two million parameters, not counting frozen
    embeddings:

    - `batch_size=` in `fit`, or the `.batch(n)` of the training dataset, with a literal of 16 or less;
    - arrays passed to `fit` without a batch size, if the model has only dense layers or small inputs. An input is
      small if it has no more numbers than a color image of 32 x 32 pixels.

    The finding is an info, because the batch size also affects how a model learns. It is a finding if the program
    shows that batches of 64 save 20,000 steps, which take some 20 seconds. Otherwise one line for the whole run counts
    it, and `--select KC411` shows it.

    ## Why it costs

    Every step spends about a millisecond on Python and on starting operations, even for a few examples. The table
    compares epoch times with those for batches of 64, on the same examples (Keras 3.15, TensorFlow 2.21, 2 CPU cores
    shared with other work, no GPU):

    | batch | dense, 1,800 parameters | dense, 118,000 | CNN, 28 x 28 pixels | LSTM, 50,000, 50 steps |
    |---|---|---|---|---|
    | 1 | 13 times | 26 times | 6.2 times | 13 times |
    | 4 | 4.3 | 12 | 2.4 | 5.6 |
    | 8 | 2.8 | 5.1 | 1.5 | 3.2 |
    | 16 | 2.4 | 3.7 | 1.3 | 2.0 |
    | 32 | 1.4 | 1.4 | 1.2 | 1.5 |
    | 128 | 1.2 | 1.7 | 0.9 | 0.8 |

    The next table compares the default of 32 with larger batches, for further models on the same machine (shortest of
    five alternating runs):

    | model | 32 : 64 | 32 : 128 |
    |---|---|---|
    | CNN, 666 parameters, 8 x 8 pixels | 1.6 | 2.5 |
    | CNN, 9,100 parameters, 28 x 28 | 1.4 | 1.8 |
    | CNN, 422,000 parameters, 28 x 28 | 1.3 | 1.4 |
    | CNN, 2.1 million parameters, 32 x 32 x 3 | 1.3 | 1.3 |
    | convolutions, 251,000 parameters, series of 187 | 1.3 | 1.4 |
    | two LSTMs, 9,000 parameters, 20 steps | 2.3 | 3.1 |
    | LSTM, 19,000 parameters, 50 steps | 1.3 | 1.7 |
    | LSTM, 71,000 parameters, 100 steps | 1.3 | 1.4 |

    Larger images give a step more work. We compared batches of 16, 4 and 1 with batches of 64 (median of three). A CNN
    of 67,800 parameters over 64 x 64 x 3 took 1.2, 3.6 and 7.1 times as long. One of 293,000 parameters over 128 x 128
    x 3 took 1.1, 1.5 and 3.2 times as long.

    Epochs of few steps gain nothing, because each epoch has an overhead of some 30 ms. 12 rows in batches of 6 took 0.9
    of the time of one batch. 100 rows in batches of 32 took 1.2 of the time of batches of 64, and 320 rows 1.0 (median
    of five alternating runs).

    Batches beyond 128 gain little more here. On a GPU, a step of few examples leaves most of the cores idle, so the
    smallest useful batch is larger. That is unmeasured here.

    ## What the runtime does by itself

    Nothing: the default of `fit` is 32, and a dataset keeps its batches.

    ## When it stays silent

    - The size is a literal of 17 or more, or not a literal, such as a size per replica.
    - The default size with `steps_per_epoch`, because Keras then divides the arrays by it.
    - The default size of a model with `Bidirectional`, or with convolutions or recurrent layers over inputs of unknown
      size or of more than 32 x 32 color pixels.
    - Batches of more than 4, if an input has more numbers than a color image of 64 x 64 pixels.
    - Inputs larger than a color image of 128 x 128 pixels, stateful recurrent layers, attention, large models, and
      models of unknown size. Memory may not allow larger batches, or a step has enough work.
    - If a model of dense layers only does not specify the width of its data, the rule assumes 784 columns. The same
      holds for models of the project that do little but call layers.
    - The optimizer has `gradient_accumulation_steps`.
    - According to the arrays, batches of 64 would save fewer than eight steps per epoch. For the default size, also
      arrays of fewer than a thousand examples, unless batches of 64 save 500 steps in all epochs.
    - A callback acts on batches, for example one that raises the learning rate after each batch.
    - Data of unknown length in a loop that plays a game: it may be a single row.
    - Validation and prediction; custom loops.

    ## Use instead

    32 to 256: the largest size that trains equally well. Updates become fewer and larger, so the learning rate may
    have to grow with the batch.

    ## Fix safety

    There is no fix: another batch size gives another trained model.

    ## References

    - TensorFlow guide: "Optimize TensorFlow GPU performance with the TensorFlow Profiler"
    - Keras documentation: "Model training APIs" (fit)
    """

    code = "KC411"
    name = "tiny-batch"
    summary = "batch size is small for this model"
    severity = Severity.INFO
    triggers = (".fit(", "fit_generator(", "GradientTape", "keras_tuner", "kerastuner")
    evidence_note = "The example trains with another batch size, so a step does not do the same work."
    loss_tolerance = None

    def check(self, module):
        seen = set()
        for model in module.models:
            if (reason := _why_not(model)) is not None:
                yield from (self.silence(fit, reason) for fit in model.fits)
                continue
            for fit in model.fits:
                batch = training.batches_of(fit)
                if batch is None:
                    yield self.silence(fit, "the batch size is unknown")
                elif batch.place.node not in seen and training.is_free_to_grow(module, fit, batch):
                    if (reason := _loses_little(model, fit, batch)) is not None:
                        yield self.silence(batch.place, reason)
                        continue
                    seen.add(batch.place.node)
                    yield self._report(model, fit, batch)

    def _report(self, model, fit, batch):
        count = training.trained_examples(fit)
        larger = (
            "64 or 128" if batch.is_default else "32 or 64" if count is None or count >= 64 else f"all {count} at once"
        )
        is_long = training.is_worth_acting(training.saved_steps(fit, batch, _ENOUGH), training.epochs_of(fit))
        return self.finding(
            batch.place,
            f"{'The default batch_size=' if batch.is_default else 'A batch size of '}{batch.size} is too small to keep this model busy; try {larger}.",
            because=f"In this {wording.model_size(model)}, the fixed cost of a step outweighs the work on so few examples.",
            tally=None if is_long else _TALLY,
            related=((model, "the model"), *([] if batch.is_default else [(fit, "trained here")])),
        )


def _why_not(model):
    """Why the batches of a model are no question; None where they are."""
    if (long := models.long_step(model, _SMALL, models.LAYERS_OF_SMALL_MODELS)) is not None:
        return _LONG_STEP[long].format(wording.model_size(model))
    if models.keeps_state(model):
        return "the model has stateful layers, which fix the batch size"
    if models.largest_array(model) > _LARGE_INPUT:
        return "the inputs of the model are large"
    return "the optimizer accumulates the gradients of several batches" if models.accumulates_gradients(model) else None


def _loses_little(model, fit, batch):
    """Why larger batches would save hardly any time of a training; None where they would."""
    count, saved = training.trained_examples(fit), training.saved_steps(fit, batch, _ENOUGH)
    # The code around an epoch takes longer.
    if saved is not None and (
        saved < _FEW or batch.is_default and count < _MANY and saved * (training.epochs_of(fit) or 1) < _WORTHWHILE
    ):
        return f"with {count} examples, larger batches would save too few steps"
    tiny = _DEFAULT if batch.is_default else _TINY if models.largest_array(model) <= _MIDDLE_INPUT else _VERY_TINY
    if batch.size > tiny or batch.is_default and not _is_quick(model):
        return f"batches of {batch.size} give this model enough work ({wording.model_size(model)})"
    return None


def _is_quick(model):
    """Whether a step on a few dozen examples takes hardly longer than the code around it.

    Such models have dense layers, or other layers over small inputs in one direction."""
    return not models.goes_both_ways(model) and (models.is_dense(model) or model.largest_input <= _SMALL_INPUT)
