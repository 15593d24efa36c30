from kerascheck.api import Applies, Rule, Severity, program


class StrategyRunOutsideFunction(Rule):
    """A loop calls `strategy.run`, and nothing compiles the step.

    ## What it does

    Reports `strategy.run(step, ...)` in a loop that updates weights if neither the caller nor the step is a
    `tf.function`.

    ## Why it costs

    `MirroredStrategy` runs an eager step once for each replica. Python starts every operation of the step, and the
    threads of the replicas share the GIL. Eager steps of a small dense network on two logical devices took 5.7 times
    the processor time of compiled steps (2 CPU cores, TensorFlow 2.21, no GPU). The effect on real GPUs is unmeasured.

    ## What the runtime does by itself

    Nothing. In eager code each `run` starts a Python thread for every replica and passes control from one to the next
    at every synchronisation point. In a `tf.function` that happens once, at tracing time.

    ## When it stays silent

    - On some path, `strategy.run` is in a `tf.function`, or the step itself is one.
    - The step is not visible, or has an unknown decorator that may compile it.
    - `tf.distribute.get_strategy()` and `OneDeviceStrategy`: there `run` only calls the step.
    - The loop trains nothing, for example because it predicts.
    - The loops around it have at most 100 iterations in total, according to the literals, or there is no loop.
    - A switch makes all functions run eagerly.
    - Tests.

    ## Use instead

    A function around it:

        @tf.function
        def distributed_step(batch):
            losses = strategy.run(train_step, args=(batch,))
            return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    ## Fix safety

    There is no fix: the call has to move into a separate function. Python code of the step then runs only at tracing
    time.

    ## References

    - TensorFlow tutorial: "Custom training with tf.distribute.Strategy"
    - TensorFlow API: `tf.distribute.Strategy.run`
    """

    code = "KC503"
    name = "strategy-run-outside-function"
    summary = "strategy.run is called outside a tf.function"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".run(", ".experimental_run_v2(")
    evidence_note = "Real GPUs are unmeasured; the page has processor times of two logical devices."
    loss_tolerance = 1e-4

    def check(self, module):
        for call, loop in program.eager_strategy_runs(module):
            yield self.finding(
                call,
                "strategy.run runs this step eagerly on every replica; call it from a function decorated with @tf.function.",
                because="Nothing between the loop and the step is compiled, so Python starts every operation once for each replica.",
                related=((loop, "in this loop"),),
            )
