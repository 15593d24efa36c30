import libcst as cst

from kerascheck.api import Applies, Call, Rule, Scope, Severity, program, training

_STARTS_ANEW = frozenset({"set_weights", "load_weights"})
_SETTINGS = ("batch_size", "steps_per_epoch")


class ReusedModelBenchmark(Rule):
    """Settings are compared by fitting the same model with each of them in turn.

    ## What it does

    Reports `fit` in a loop over batch sizes, learning rates or other settings, of a model that was created before the
    loop, where the loop measures the time or stores the results of each setting.

    ## Why it costs

    It costs no time; it makes the comparison wrong. The second setting continues with the weights and the optimizer
    of the first, so later settings seem to reach a lower loss. The first setting also pays for tracing: a first `fit`
    of one epoch took 0.6 to 1.0 s where the next took 0.2 s; with XLA 2.2 s where the next took 0.14 s (2 CPU cores,
    TensorFlow 2.21, no GPU). Another batch size or another `compile` is traced again.

    ## What the runtime does by itself

    Nothing: `fit` continues where the last one stopped. `compile` creates a new optimizer and keeps the weights.

    ## When it stays silent

    - Each iteration creates a new model, or sets or loads weights.
    - The settings form a schedule: they change, but nothing is measured or compared.
    - The loop runs over data or epochs: the settings of `fit` and `compile` do not depend on the iteration.
    - `fit` of classes that are not Keras models; tests.

    ## Use instead

    Build and compile a model in each iteration, from the same seed, and fit it for a step before the clock starts. Or
    keep `start = model.get_weights()`, and begin each iteration with `model.set_weights(start)` and `compile`.

    ## Fix safety

    There is no automatic fix: the code that builds the model has to become a function.

    ## References

    - Keras documentation: "Model training APIs" (`fit`, `compile`)
    """

    code = "KC603"
    name = "reused-model-benchmark"
    summary = "benchmark trains one model for all settings"
    severity = Severity.INFO
    applies = Applies(graph_code=False, reinforcement_learning=False)
    speed = False
    triggers = (".fit(",)
    loss_tolerance = None

    def check(self, module):
        measured = list(program.measured_intervals(module))
        for each in training.repeated_calls(module, "fit"):
            call, loop = each.call, each.loop
            others = module.pipelines.calls_in(loop)
            if (
                not each.is_same
                or not _compares(call, loop, others)
                or any(other.attribute in _STARTS_ANEW for other in others)
            ):
                continue
            timed = any(
                interval.start.order < call.order < interval.end.order
                and loop in interval.start.scope.loops(within="program")
                for interval in measured
            )
            if not timed and not _keeps(loop):
                continue
            yield self.finding(
                call,
                "Every setting continues to train the same model; build a new model in each iteration to compare them.",
                because="Later settings start with trained weights, and the first one pays for tracing.",
                related=((loop, "in this loop"),),
            )


def _is_size(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Subscript)
        and isinstance(node.value, cst.Attribute)
        and node.value.attr.value == "shape"
        or (isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "len")
    )


def _compares(call: Call, loop: Scope, others: list[Call]) -> bool:
    """Whether the turn decides on a setting of the training."""
    settings = [node for name in _SETTINGS if (node := call.written(name)) is not None]
    # The size of what the turn trains on is no setting.
    if any(program.loop_that_changes(node.value, call.scope) is loop and not _is_size(node.value) for node in settings):
        return True
    for other in others:
        if (
            other.attribute == "compile"
            and other.receiver is call.receiver
            and any(program.loop_that_changes(arg.value, other.scope) is loop for arg in other.node.args)
        ):
            return True
        # model.optimizer.learning_rate = rate, or .assign(rate)
        if other.attribute in ("learning_rate", "lr") and isinstance(other.node, cst.Attribute):
            statement = other.module.tree.parents.get(other.module.tree.parents.get(other.node))
            if isinstance(statement, cst.Assign) and program.loop_that_changes(statement.value, other.scope) is loop:
                return True
    return False


def _keeps(loop: Scope) -> bool:
    """Whether the loop stores something under the setting of its turn."""
    for node in loop.module.tree.descendants(loop.node):
        if (
            isinstance(node, cst.AssignTarget)
            and isinstance(node.target, cst.Subscript)
            and program.loop_that_changes(node.target.slice[0], loop) is loop
        ):
            return True
    return False
