from kerascheck.api import Applies, Rule, Severity, program, training

_OTHER_TRAINING = frozenset({"fit", "fit_generator", "train_on_batch", "apply_gradients"})


class TrainOnBatchLoop(Rule):
    """Loops over epochs and batches around a single `train_on_batch` duplicate the work of `fit`.

    ## What it does

    Reports `train_on_batch` in a loop over batches within a loop over epochs if nothing else in these loops trains.
    The rule is off by default, and its findings are infos, because this is a matter of style.

    ## Why it costs

    It costs no time in itself, because `train_on_batch` runs the same compiled step. Such loops took 0.83 times as
    long as `fit` (2 CPU cores, TensorFlow 2.21, no GPU). The advice that `train_on_batch` is slow is wrong.

    Such a loop lacks the features of `fit`. `fit` prepares the next batch while the step runs, and it has validation,
    callbacks, checkpoints and a progress bar. The loop also returns the loss to Python after every step; the effect on
    a GPU is unmeasured here.

    ## What the runtime does by itself

    Keras traces the step once and keeps it, as in `fit`. The Python code of the loop prepares the batches between the
    steps.

    ## When it stays silent

    - One loop trains two models, or trains in two ways, as for GANs.
    - `train_on_batch` is conditional, or its data does not depend on the loops.
    - There is only one loop, for example over a stream, or each iteration has another model.
    - The code is a test.

    ## Use instead

    `model.fit(x, y, batch_size=..., epochs=...)`, or `fit` with a `tf.data.Dataset` or a `keras.utils.PyDataset` that
    creates the batches.

    ## Fix safety

    There is no automatic fix: you have to move the code between the batches into a callback or a dataset.

    ## References

    - Keras documentation: "Model training APIs" (`train_on_batch`, `fit`)
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC410"
    name = "train-on-batch-loop"
    summary = "hand-written loops do what fit does"
    severity = Severity.INFO
    applies = Applies(graph_code=False, reinforcement_learning=False)
    on_by_default = False
    triggers = (".train_on_batch(",)
    evidence_note = "The loop costs no time in itself: train_on_batch runs the same compiled step as fit."
    loss_tolerance = 1e-5

    def check(self, module):
        if module.program.adversarial:
            return
        for each in training.repeated_calls(module, "train_on_batch"):
            call = each.call
            loops = list(call.path.loops(within="program", comprehensions=False))
            data = call.written("x")
            if (
                not each.is_same
                or len(loops) < 2
                or data is None
                or program.loop_that_changes(data.value, call.path) is None
                or any(call.path.conditions(within=loops[1]))
            ):
                continue
            if any(
                other.attribute in _OTHER_TRAINING and other.node is not call.node
                for other in module.pipelines.calls_in(loops[1])
            ):
                continue
            yield self.finding(
                call,
                "These loops around train_on_batch do what fit does; fit also prepares the next batch in parallel.",
                because="The loops are not slower themselves; they lack prefetching, validation and callbacks.",
                related=((loops[1], "epochs"), (loops[0], "batches")),
            )
