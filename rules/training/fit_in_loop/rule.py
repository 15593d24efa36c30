from kerascheck.api import Applies, Rule, Severity, fixes, program, training

_A_FEW = 10
_COST = (
    "Each fit builds a dataset and an iterator and starts the callbacks, which takes as long as dozens of small steps."
)
_IN_PARTS = " fit splits its data into steps of 32 examples; train_on_batch makes a single step."
_FITTED = {
    training.Portion.EXAMPLE: "a single example",
    training.Portion.BATCH: "one batch",
    training.Portion.TRANSITION: "one transition",
    training.Portion.FEW_STEPS: "a few steps",
}
_INSTEAD = {
    training.Portion.TRANSITION: "stack them, and call train_on_batch once.",
    training.Portion.FEW_STEPS: "call fit once for all of them.",
}


class FitInLoop(Rule):
    """A Python loop calls `model.fit` for one batch, or for one epoch, in every iteration.

    ## What it does

    Checks `fit` with one epoch, for a model created before the loop. The finding is a warning if each iteration
    certainly fits only a few steps:

    - `batch_size=len(batch)`, or `steps_per_epoch` of at most 16;
    - the data is an element of a `tf.data` dataset, or a slice of at most 512 rows, according to the step of `range`;
    - the expression shows a batch of one, such as `np.array([state])` or `x[None]`, here with up to 16 epochs;
    - the program learns in an environment such as gym, one batch of experience at a time;
    - the loop replays an agent's memory: it unpacks one transition, judging by a name such as `next_state`, and steps
      no environment. Here too, up to 16 epochs count.

    It is an info if each iteration fits the whole data for one epoch, as in `for epoch in range(50)`.

    ## Why it costs

    Each `fit` builds a data adapter, a dataset with an optimized graph, an iterator and a list of callbacks, and
    discards them again. For one batch of 32 rows that takes 165 ms, for a step of 2 ms. A loop of such fits took 53 to
    89 times as long as a loop of `train_on_batch`. We also compared a `fit` for each epoch with one `fit` of several
    epochs. It took 1.8 times as long with 40 steps per epoch and 1.03 times with 2,000, so this case is only an info
    (2 CPU cores, TensorFlow 2.21, no GPU, busy machine).

    A replay of 32 transitions for a network of three dense layers took 6,280 ms with `predict` and `fit` in its loop.
    The same loop with `predict_on_batch` and `train_on_batch` took 72 ms. With all transitions stacked, two
    `predict_on_batch` and one `train_on_batch` took 2.3 ms (medians, TensorFlow 2.21, Keras 3.15, same machine).

    ## What the runtime does by itself

    Keras keeps the compiled step between the calls, so it does not trace again. It also keeps the optimizer and its
    state. It rebuilds everything else each time.

    ## When it stays silent

    - Each iteration has a new model, as for folds or for a comparison of settings.
    - The data is a growing or sliding window over a series, so each iteration contains more than the new part.
    - An agent learns from the whole game at its end, for example under `if done`.
    - Each iteration runs several epochs on more than a single example, or a number of epochs that is not a literal.
    - The loop has at most 10 iterations.
    - Each iteration fits a whole dataset, or a chunk of unknown size, such as one of several files that do not fit into
      memory together.
    - Each iteration fits a whole epoch, and the loop also compiles the model, sets its weights or another attribute,
      or trains another model. Also whole epochs under a condition, or on data that the loop creates.
    - The object is not a Keras model, such as one of scikit-learn; or the code is a test.

    ## Use instead

    For a batch that the program has just created, `model.train_on_batch(x, y)`: it runs the same compiled step without
    the rest. For slices, one `fit` over the array with a `batch_size`. For epochs, `fit(..., epochs=50)`, with the
    rest of the loop in `on_epoch_end` of a callback. If the loop ends on a metric, use `EarlyStopping`.

    ## Fix safety

    The fix replaces `fit(x, y)` for one batch with `train_on_batch(x, y)` if nothing uses the returned History. Unsafe:
    `fit` splits its data into batches of 32, and `train_on_batch` runs one step on all of it. There is no fix for
    slices, few steps, several epochs and whole epochs.

    ## References

    - Keras documentation: "Model training APIs" (`fit`, `train_on_batch`)
    - Keras guide: "Writing your own callbacks"
    - Mnih et al., "Human-level control through deep reinforcement learning" (2015), algorithm 1
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC415"
    name = "fit-in-loop"
    summary = "fit gets one batch or one epoch at a time"
    evidence_note = (
        "The fix makes one fit of many, so a fit gets other data than before; the ratio compares their steps."
    )
    severity = Severity.WARNING
    applies = Applies(graph_code=False, multi_backend_keras=False)
    triggers = (".fit(", ".fit_generator(")
    proves = ("same-numbers",)
    loss_tolerance = 1e-5

    def check(self, module):
        for each in training.repeated_calls(module, "fit", "fit_generator"):
            call, loop = each.call, each.loop
            if not each.is_same or program.most_iterations(call.path) <= _A_FEW:
                continue
            if training.environment_loop(module, call.path) is loop and training.is_at_end_of_game(call.path, loop):
                continue
            portion, epochs = training.portion_of(module, call, loop), training.epochs_of(call)
            single = portion in (training.Portion.EXAMPLE, training.Portion.TRANSITION)
            # On a single example an epoch is a step.
            if epochs != 1 and not (single and epochs is not None and epochs <= training.SHORT_FIT):
                continue
            if portion is training.Portion.EPOCH:
                yield self.finding(
                    call,
                    "Every iteration calls fit for one epoch; call it once with epochs=... and move the rest into a callback.",
                    because=_COST,
                    doubt="An epoch of many steps takes much longer.",
                    related=((loop, "in this loop"),),
                )
            elif portion is not None:
                split = portion is training.Portion.BATCH and call.given("batch_size") is None
                yield self.finding(
                    call,
                    f"Every iteration calls fit for {_FITTED[portion]}; "
                    + _INSTEAD.get(portion, "call train_on_batch instead."),
                    because=_COST + _IN_PARTS * split,
                    fix=fixes.train_on_batch(call)
                    if portion is not training.Portion.FEW_STEPS and epochs == 1
                    else None,
                    related=((loop, "in this loop"),),
                )
