from math import inf

from kerascheck.api import Applies, Rule, Severity, Tally, constant, fixes, models, proofs, training, wording

_FEW_TIME_STEPS = 10
_SMALL = 1_600_000
_WORK = 130_000_000
# Each step copies its inputs, which takes longer than the code around it.
_HANDED_OVER = 3_000_000
_LONG = 300
_FEW = 15
_LARGE_BATCH = 512
# Data with many steps per epoch is not trained on for a thousand epochs.
_OF_A_HANDFUL = 1000
_LONG_STEP = {
    models.LongStep.UNKNOWN_SIZE: "the number of parameters of the model is unknown",
    models.LongStep.MANY_PARAMETERS: "a step of this model takes longer than Keras's per-step overhead ({})",
    models.LongStep.HEAVY_LAYERS: "the model has layers that may take long to compute",
}

_TALLY = Tally("training of a small model in single steps, not seen to be long")


class MissingStepsPerExecution(Rule):
    """A very small model runs one training step per call, and Python takes as long as the step.

    ## What it does

    Reports, as an info, `compile(...)` without `steps_per_execution` if the model meets all of these conditions:

    - It consists of `Dense` layers and the like, or of recurrent layers over at most ten time steps.
    - It has at most 1.6 million parameters, not counting frozen embeddings.
    - Parameters times batch size stay below 130 million.
    - `fit` trains it for several epochs, or the program shows 300 steps.

    It is a finding if the program shows that the training saves 20,000 returns to Python, which take some 20 seconds.
    Otherwise one line for the whole run counts it, and `--select KC407` shows it.

    ## Why it costs

    Between two steps Keras 3 returns to Python, fetches the next batch, reads the losses back (also with `verbose=0`)
    and calls the callbacks. That takes about 0.7 to 1.5 ms. With `steps_per_execution=16` it happens once in 16 steps.
    The table shows the step time with 1 and with 16, for `fit` on arrays (Keras 3.15, TensorFlow 2.21, 2 CPU cores
    shared with other work, no GPU):

    | parameters | batch | 1 | 16 | ratio |
    |---|---|---|---|---|
    | 1,800 | 32 | 1.4 ms | 0.8 ms | 1.9 |
    | 26,000 | 32 | 1.8 ms | 0.8 ms | 2.3 |
    | 118,000 | 32 | 3.5 ms | 2.1 ms | 1.7 |
    | 118,000 | 128 | 3.3 ms | 2.4 ms | 1.4 |
    | 269,000 | 32 | 3.7 ms | 2.2 ms | 1.7 |
    | 670,000 | 32 | 9.0 ms | 6.9 ms | 1.3 |
    | 1,000,000 | 8 | 4.0 ms | 2.7 ms | 1.5 |
    | 1,000,000 | 32 | 5.5 ms | 4.4 ms | 1.5 |
    | 1,550,000 | 32 | 7.3 ms | 5.6 ms | 1.3 |
    | LSTM, 410, 5 time steps | 1 | 2.2 ms | 0.7 ms | 3.0 |
    | LSTM, 4,700, 10 time steps | 32 | 1.9 ms | 1.3 ms | 1.5 |
    | LSTM, 10,900, 30 time steps | 32 | 4.4 ms | 4.4 ms | 1.0 |

    For larger models we measured only the ratio, in seven alternating pairs on the same machine.

    - 818,000 parameters, batches of 128: 1.35 (0.6 to 2.1)
    - 1,004,000 parameters, batches of 128: 1.4 (1.0 to 2.1)
    - 1,864,000 parameters, batches of 64: 1.0 (0.7 to 1.7)

    Short epochs gain less, because each epoch has an overhead of some 30 ms. The ratio was 1.7 with 32 steps, 1.5 with
    22, 1.3 with 15, 1.1 with 10 and 0.9 with 6. These are medians of seven alternating runs with 1,400 parameters.

    Large batches gain less, because each step copies them. The ratio was 1.8 with 401,000 numbers in a batch (0.6 to
    3.3) and 1.9 with 1,024,000 (0.8 to 2.7). With 2,048,000 it was 1.6 (1.0 to 2.0), and with 5,120,000 it was 0.9
    (0.6 to 1.8). These are medians of five alternating runs with at most 160,000 parameters.

    In Keras 2 (tf-keras 2.21) the ratios were 2.3 with 300 parameters, 2.1 with 5,100 and 1.5 with 118,000. For a
    small CNN the ratio was 0.9: a step that itself takes milliseconds gains nothing. Steps are shorter on a GPU, so
    more models may gain there; this is unmeasured here.

    ## What the runtime does by itself

    Nothing: the default is 1. `steps_per_execution="auto"` raises a TypeError in Keras 3.15.

    ## When it stays silent

    - No `fit` of the model follows that `compile`.
    - The call has the argument or `run_eagerly`, or `**options` may contain it.
    - The model has convolutions, attention, or a `Lambda` that runs more than a few operations on each number.
    - The model has recurrent layers over more than ten or an unknown number of time steps.
    - A model or layer of the project creates weights itself, or does more than call layers and run elementwise
      operations.
    - The size of the model is unknown. If a model of dense layers only does not specify the width of its data, the
      rule assumes 784 columns.
    - A callback acts on batches (`TerminateOnNaN`, `on_train_batch_end`, `save_freq=100`, `update_freq="batch"`), or
      the callback is unknown.
    - An epoch has fewer than 15 steps, or all epochs together fewer than 300, according to arrays, batches and
      `steps_per_epoch`.
    - The batch size is unknown, or a batch has more than three million numbers.
    - The size of the data is unknown, and training runs for a single epoch or in batches of more than 512. A thousand
      epochs or more also count, because they suggest a handful of rows.

    ## Use instead

    `model.compile(..., steps_per_execution=16)`, or 8 if an epoch has fewer than 16 steps.

    ## Fix safety

    The fix adds the argument. Unsafe: callbacks and the progress bar see only every sixteenth batch, or every eighth.
    The trained weights are the same.

    ## References

    - Keras documentation: "Model training APIs" (compile)
    - Keras source: `backend/tensorflow/trainer.py`
    - keras-team/keras issue 20390 (epochs of fewer steps)
    """

    code = "KC407"
    name = "missing-steps-per-execution"
    summary = "step is shorter than Keras's per-step overhead"
    severity = Severity.INFO
    applies = Applies(graph_code=False, tensorflow=">=2.4", backends={"tensorflow"})
    triggers = (".compile(",)
    proves = ("same-output",)
    loss_tolerance = 1e-4

    def check(self, module):
        seen = set()
        for model in module.models:
            batches = [training.batches_of(fit) for fit in model.fits]
            if (reason := _why_not(model, batches)) is not None:
                yield from (self.silence(place, reason) for place in (*model.compiles, *model.fits))
                continue
            epochs = [training.steps_of_epoch(fit, batch.size) for fit, batch in zip(model.fits, batches)]
            at_once = 8 if any((steps or inf) < 16 for steps in epochs) else 16
            for call in model.compiles:
                if call.node in seen or not _takes_single_steps(model, call):
                    continue
                seen.add(call.node)
                saved = [None if steps is None else steps - steps // at_once for steps in epochs]
                is_long = any(map(training.is_worth_acting, saved, map(training.epochs_of, model.fits)))
                yield self.finding(
                    call,
                    f"A step of this {wording.model_size(model)} takes less time than Keras's per-step overhead; try steps_per_execution={at_once}.",
                    because=f"Keras returns to Python after every step; with {at_once} steps per execution it does so once in {at_once} steps.",
                    fix=fixes.add_keyword(
                        call,
                        "steps_per_execution",
                        str(at_once),
                        proofs.SAME_OUTPUT.unless("callbacks and the progress bar then see only some of the batches"),
                    ),
                    tally=None if is_long else _TALLY,
                    related=((model, "the model"),),
                )


def _takes_single_steps(model, compiled):
    """Whether a ``fit`` follows on a call of ``compile`` that leaves the steps of a compiled model single."""
    eager = compiled.given("run_eagerly")
    return (
        any(fit.order > compiled.order for fit in model.fits)
        and compiled.given("steps_per_execution") is None
        and (eager is None or constant(eager, True) is False)
    )


def _why_not(model, batches):
    """Why a model, whose fits have these batches, is not to make several steps at once; None where it is."""
    if (long := models.long_step(model, _SMALL, models.LIGHT_LAYERS)) is not None:
        return _LONG_STEP[long].format(wording.model_size(model))
    if models.recurrent_steps(model) > _FEW_TIME_STEPS:
        return _LONG_STEP[models.LongStep.HEAVY_LAYERS]
    if None in batches:
        return "the batch size is unknown"
    if any(
        model.most_parameters * batch.size > _WORK or batch.size * models.input_numbers(model) > _HANDED_OVER
        for batch in batches
    ):
        return "a step on a batch of this size takes longer than Keras's per-step overhead"
    if any(map(training.may_act_on_batches, model.fits)):
        return "a callback may act after each batch"
    return (
        None
        if any(_is_long(fit, batch) for fit, batch in zip(model.fits, batches))
        else "the training is not known to be long enough to gain from it"
    )


def _is_long(fit, batch):
    """Whether an epoch has steps enough to run several at once, and all take so many that a quarter of a second is saved, as far as is known."""
    steps, epochs = training.steps_of_epoch(fit, batch.size), training.epochs_of(fit)
    if epochs is None:
        epochs = _LONG
    if steps is None:
        return batch.size <= _LARGE_BATCH and 1 < epochs < _OF_A_HANDFUL
    return steps >= _FEW and steps * epochs >= _LONG
