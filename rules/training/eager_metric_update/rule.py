from kerascheck.api import Applies, ExternalInstance, Rule, Severity, graph, names


class EagerMetricUpdate(Rule):
    """A metric is updated eagerly at every step, outside the compiled training step.

    ## What it does

    Reports `metric.update_state(...)` and `metric(...)` of Keras metrics in a loop whose iterations run a compiled
    training step, where the metric itself is outside compiled code. It is a warning where all visible layers are dense
    ones, and an info with others: the larger the step, the less it matters.

    ## Why it costs

    One call starts the compiled step. An eager update of a metric starts a dozen operations from Python, one by one,
    and takes about as long as a small step. For a small dense network the loop took 2.1 times as long. For a small CNN
    no difference could be shown (1.04 times). In another run, with a network of 64 units, a `Mean` of the loss alone
    took 2.5 times the processor time of a loop that updates it in the step. With a `SparseCategoricalAccuracy` as well
    it took 5.1 times (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing. `fit` updates its metrics inside its own compiled step.

    ## When it stays silent

    - The metric is updated inside a `tf.function`, on any path that leads to it.
    - The update stands under a condition, such as once every hundred steps.
    - Its value is measured in Python, such as the seconds of a step: it cannot move into the step.
    - The training step is not compiled (see `eager-train-step`), or the loop trains nothing, as in validation.
    - The loops around it have at most 100 iterations in total, according to the literals.
    - The program runs functions eagerly; the code is a test.

    ## Use instead

    `metric.update_state(y, predictions)` inside the function that is decorated with `@tf.function`, and
    `metric.result()` after the loop. Metrics that are created at module level or in `__init__` keep their variables
    between calls.

    ## Fix safety

    There is no fix: the update moves into another function, which must receive the metric and the values it compares.

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
    return any(
        (other.name or "").startswith(("time.", "numpy.")) and other.node in inside for other in module.run.calls
    ) or any(
        isinstance(value, ExternalInstance) and value.name.startswith(("builtins.", "time."))
        for value in call.arguments.values()
    )
