import libcst as cst

from kerascheck.api import (
    Applies,
    Call,
    Group,
    Module,
    Place,
    Rule,
    Scope,
    Severity,
    conditions,
    names,
    options_of,
    program,
    training,
)

_A_FEW = 5
_CLEARS = frozenset({names.devices.CLEAR_SESSION, "gc.collect"})


class ModelInLoop(Rule):
    """A new model is built and trained in every iteration of a long loop.

    ## What it does

    Reports the construction of a model, or the call of the function that builds it, in a `for` or `while` loop of more
    than 5 iterations that also trains it with `fit` or `train_on_batch`. Nested loops, `itertools.product` and
    `ParameterGrid` count as the number of their combinations, with three items for a list of unknown length. It is an
    info: there is often a good reason.

    ## Why it costs

    Each new model is traced again, and its memory is not freed. Building and fitting a small model took 9 times the
    processor time of reusing one with `set_weights` (0.83 s compared with 0.09 s), and left 6.1 to 7.5 MB behind (2 CPU
    cores, TensorFlow 2.21, no GPU). The iterations did not become slower as memory grew.

    ## What the runtime does by itself

    Nothing. The popular remedy is `keras.backend.clear_session()` in every iteration, with `del model` and
    `gc.collect()`. With Keras 3 on TensorFlow 2.21 it did not stop the growth: as much was left behind with it as
    without it. On TensorFlow 2.12 and Keras 2, 3.9 MB were left behind per model, and next to nothing with `del` and
    `gc.collect()`. On Keras 3 `clear_session` also resets the policy to float32.

    ## When it stays silent

    - The loop has at most 5 iterations, or ends in a `break`, also in the branch that creates the model.
    - A single loop is over something of unknown length, such as the folds of a splitter or a list of settings from
      elsewhere.
    - The models are kept in a list or a dictionary, as for an ensemble.
    - Each iteration runs in its own process, by `multiprocessing`.
    - The loop asks with `input` what to do.
    - The program uses Keras 2, with `clear_session` or `gc.collect` in the loop.
    - The loop only loads the model; or the code is a test.
    - Each iteration has a session and a graph.

    ## Use instead

    Where all iterations have the same model, build and compile it once, keep `start = model.get_weights()`, and begin
    each iteration with `model.set_weights(start)`. Compile again if the optimizer has to start again as well. Where the
    models differ, run each iteration in a separate process: its memory is freed when it ends.

    ## Fix safety

    There is no automatic fix: what has to start again in each iteration depends on the program.

    ## References

    - Keras documentation: "Model training APIs", "clear_session function"
    - Python documentation: `multiprocessing`, and `maxtasksperchild` of its `Pool`
    """

    code = "KC408"
    name = "model-in-loop"
    summary = "new model is built in every iteration"
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = (".fit(", ".fit_generator(", ".train_on_batch(")
    loss_tolerance = 1e-5

    def check(self, module):
        seen = set()
        for made, loop, trained in training.models_made_in_loop(module, "fit", "fit_generator", "train_on_batch"):
            times, known = program.least_iterations(made.scope)
            if (
                loop.node in seen
                or made.name == names.classes.LOAD_MODEL
                or conditions.in_session(made.scope)
                or times <= _A_FEW
            ):
                continue
            seen.add(loop.node)
            # What somebody asks for in each turn is no series of trainings.
            if any(other.name == "builtins.input" for other in module.pipelines.calls_in(loop)):
                continue
            clears = any(other.name in _CLEARS for other in module.pipelines.calls_in(loop))
            if clears and module.runtime.keras < 3 or _is_kept(module, trained, loop):
                continue
            node = program.place_in_loop(made, loop)
            place = Place(loop.module, node)
            layers = [
                other
                for other in module.pipelines.calls_in(loop)
                if other.attribute is None and (other.name or "").startswith(names.layers.LAYERS)
            ]
            # What goes into a functional model are its tensors, which are new ones anyway.
            is_functional = node is made.node and made.name == names.classes.MODEL
            differs = (
                isinstance(node, cst.Call)
                and not is_functional
                and any(program.loop_that_changes(arg.value, loop) is loop for arg in node.args)
                or any(
                    program.loop_that_changes(arg.value, layer.scope) is loop
                    for layer in layers
                    for arg in layer.arguments.nodes.values()
                )
            )
            yield self.finding(
                place,
                "Every iteration builds a new model; "
                + (
                    "run each iteration in a separate process."
                    if differs
                    else "build it once and restore its initial weights, or use a process per iteration."
                ),
                because="Each model is traced again and leaves several megabytes of memory behind"
                + (", which clear_session does not free on Keras 3" if clears else "")
                + ("." if known else "; how many there are is not known here."),
                related=((trained, "trained here"),),
            )


def _is_kept(module: Module, trained: Call, loop: Scope) -> bool:
    """Whether the loop puts its model into a list or a dictionary."""
    models = options_of(trained.receiver)
    for other in module.pipelines.calls_in(loop):
        held = [
            item
            for value in other.arguments.values()
            for item in (value.items if isinstance(value, Group) else [value])
        ]
        if other.attribute in ("append", "add", "put") and any(item is model for item in held for model in models):
            return True
    function = trained.node.func if isinstance(trained.node, cst.Call) else None
    return any(
        isinstance(node, cst.Assign)
        and isinstance(node.targets[0].target, cst.Subscript)
        and isinstance(function, cst.Attribute)
        and node.value.deep_equals(function.value)
        for node in loop.module.tree.descendants(loop.node)
    )
