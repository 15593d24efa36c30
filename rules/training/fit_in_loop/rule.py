import re

import libcst as cst

from kerascheck.api import (
    Applies,
    Call,
    Iteration,
    Rule,
    Scope,
    Severity,
    constant,
    datasets_in,
    fixes,
    names,
    program,
    training,
    written,
)

_A_FEW = 10
_OVER = re.compile(r"\b(?:done|dones|terminal|terminated|truncated|game_over)\b")
_SHORT_FIT = 16
_SHORT_CHUNK = 512
# An epoch after which the model is changed cannot be one of several.
_CHANGES = frozenset({"compile", "set_weights", "load_weights", "__setattr__"})
_COST = (
    "Each fit builds a dataset and an iterator and starts the callbacks, which takes as long as dozens of small steps."
)
_IN_PARTS = " fit splits its data into steps of 32 examples; train_on_batch makes a single step."


class FitInLoop(Rule):
    """`model.fit` is called for one batch, or for one epoch, in every iteration of a Python loop.

    ## What it does

    Looks at `fit` with one epoch, of a model that was created before the loop. It is a warning where each iteration
    certainly fits only a few steps:

    - `batch_size=len(batch)`, or `steps_per_epoch` of at most 16;
    - the data of the iteration is an element of a `tf.data` dataset, or a slice of at most 512 rows, according to the
      step of `range`;
    - the data is written as a batch of one, such as `np.array([state])` or `x[None]`, here with up to 16 epochs;
    - the program learns in an environment such as gym, one batch of experience at a time.

    It is an info where each iteration fits the whole data for one epoch, as in `for epoch in range(50)`.

    ## Why it costs

    Each `fit` builds a data adapter, a dataset with an optimized graph, an iterator and a list of callbacks, and throws
    them away again. For one batch of 32 rows that takes 165 ms, for a step of 2 ms. A loop of such fits took 53 to 89
    times as long as a loop of `train_on_batch`. A `fit` for each epoch, compared with one `fit` of several epochs, took
    1.8 times as long with 40 steps per epoch and 1.03 times with 2,000. That is why it is only an info (2 CPU cores,
    TensorFlow 2.21, no GPU, busy machine).

    ## What the runtime does by itself

    The compiled step is kept between the calls, so nothing is traced again. The optimizer and its state are kept too.
    All the rest is built again each time.

    ## When it stays silent

    - Each iteration has a new model, as for folds or for settings that are compared.
    - The data is a window over a series that grows or slides: each iteration has more than the new part of it.
    - An agent learns from the whole game at its end, for example under `if done`.
    - Each iteration runs several epochs on more than a single example, or a number of epochs that is not a literal.
    - The loop has at most 10 iterations.
    - Each iteration fits a whole dataset, or a chunk of unknown size, such as one of several files that do not fit into
      memory together.
    - Whole epochs, where the loop also compiles the model, sets its weights or another of its attributes, or trains
      another model; where `fit` stands under a condition; or where the loop creates its data.
    - The object is not a Keras model, such as one of scikit-learn; or the code is a test.

    ## Use instead

    For a batch that the program has just created, `model.train_on_batch(x, y)`: the same compiled step without the
    rest. For slices, one `fit` over the array with a `batch_size`. For epochs, `fit(..., epochs=50)`, with the rest of
    the loop in `on_epoch_end` of a callback, or `EarlyStopping` where that ends the loop.

    ## Fix safety

    `fit(x, y)` for one batch becomes `train_on_batch(x, y)` where nothing uses the History that it returns. Unsafe:
    `fit` splits its data into batches of 32, and `train_on_batch` makes one step of it. There is no fix for slices, few
    steps and whole epochs.

    ## References

    - Keras documentation: "Model training APIs" (`fit`, `train_on_batch`)
    - Keras guide: "Writing your own callbacks"
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC415"
    name = "fit-in-loop"
    summary = "fit gets one batch or one epoch at a time"
    severity = Severity.WARNING
    applies = Applies(graph_code=False, multi_backend_keras=False)
    triggers = (".fit(", ".fit_generator(")
    loss_tolerance = 1e-5

    def check(self, module):
        for each in training.repeated_calls(module, "fit", "fit_generator"):
            call, loop = each.call, each.loop
            epochs = call.given("epochs")
            if training.environment_loop(module, call.scope) is loop and _is_at_the_end(call.scope, loop):
                continue
            single, steps = _is_single(call, loop), 1 if epochs is None else constant(epochs)
            # On a single example an epoch is a step.
            if (
                not each.is_same
                or steps != 1
                and not (single and type(steps) is int and steps <= _SHORT_FIT)
                or program.most_iterations(call.scope) <= _A_FEW
            ):
                continue
            batch, few = single or _is_batch(module, call, loop), _is_short(call, loop)
            if batch or few:
                yield self.finding(
                    call,
                    f"Every iteration calls fit for {'a single example' if single else 'one batch' if batch else 'a few steps'}; "
                    + ("call train_on_batch instead." if batch else "call fit once for all of them."),
                    because=_COST + (_IN_PARTS if batch and not single and call.given("batch_size") is None else ""),
                    fix=fixes.train_on_batch(call) if batch and steps == 1 else None,
                    related=((loop, "in this loop"),),
                )
            elif _is_epoch(module, call, loop):
                yield self.finding(
                    call,
                    "Every iteration calls fit for one epoch; call it once with epochs=... and move the rest into a callback.",
                    because=_COST,
                    doubt="An epoch of many steps takes much longer.",
                    related=((loop, "in this loop"),),
                )


def _is_at_the_end(scope: Scope, loop: Scope) -> bool:
    """Whether a place is reached at the end of a game only, where an agent learns from all of it."""
    return any(_OVER.search(condition.question) for condition in scope.conditions(within=loop))


def _is_batch(module, call: Call, loop: Scope) -> bool:
    """Whether each turn certainly fits one batch of its own."""
    if module.program.reinforcement_learning and not _is_epoch(module, call, loop):
        return True
    size, data = call.written("batch_size"), call.written("x")
    if (
        size is not None
        and isinstance(size.value, cst.Call)
        and isinstance(size.value.func, cst.Name)
        and size.value.func.value == "len"
    ):
        return True
    if data is None or next(datasets_in(call.given("x")), None) is not None:
        return False
    return next(datasets_in(loop.value), None) is not None and program.loop_that_changes(data.value, call.scope) is loop


def _is_single(call: Call, loop: Scope) -> bool:
    """Whether each turn fits an example of its own, written as a batch of one."""
    data = call.written("x")
    return (
        data is not None
        and written.is_one_item(call.module.tree, data.value, loop)
        and program.loop_that_changes(data.value, call.scope) is loop
    )


def _is_short(call: Call, loop: Scope) -> bool:
    """Whether each turn certainly fits a few steps only."""
    steps = constant(call.given("steps_per_epoch"))
    if isinstance(steps, int) and steps <= _SHORT_FIT:
        return True
    data, counted = call.written("x"), loop.value
    if data is None or not isinstance(counted, Iteration) or counted.kind != "range" or len(counted.over) < 3:
        return False
    rows = constant(counted.over[2])
    return isinstance(rows, int) and 1 < rows <= _SHORT_CHUNK and written.is_slice_by_iteration(data.value, loop)


def _is_epoch(module, call: Call, loop: Scope) -> bool:
    """Whether the turns of the loop are epochs over the same data, with nothing between them that changes the training."""
    given = [node.value for parameter in ("x", "y") if (node := call.written(parameter)) is not None]
    if (
        not given
        or loop not in call.scope.loops(within="function")
        or any(program.loop_that_changes(node, call.scope) is not None for node in given)
    ):
        return False
    if any(call.scope.conditions(within=loop)):
        return False
    for other in module.pipelines.calls_in(loop):
        if other.attribute in _CHANGES and (other.name or names.namespaces.OF_KERAS_MODEL).startswith(
            names.namespaces.OF_KERAS_MODEL
        ):
            return False
        if other.attribute in ("fit", "train_on_batch") and other.node is not call.node:
            return False
    return True
