from kerascheck.api import Rule, Severity, graph


class GlobalInFunction(Rule):
    """A compiled function keeps the value that a global number had when it was traced.

    ## What it does

    Reports a function under `tf.function` that reads a module-level Python number which a loop or another function of
    the program changes.

    ## Why it costs

    It costs correctness. A Python number becomes a constant of the graph. If a learning rate is lowered in each
    epoch, or a penalty is switched on later, the compiled step continues with the first value. There is no warning.

    ## What the runtime does by itself

    Nothing: a changed global does not cause retracing. A `tf.Variable` is read in every step.

    ## When it stays silent

    - Numbers that never change: globals are fine for constants. (Other linters report every global.)
    - A second plain assignment further down: another section of a script or notebook.
    - Globals that are not numbers, parameters and local variables of the same name, and numbers that the function
      itself changes.
    - Code that is not compiled.

    ## Use instead

    A `tf.Variable` with `assign`, a tensor argument, or for learning rates a `keras.optimizers.schedules` object or
    `optimizer.learning_rate`.

    ## Fix safety

    There is no automatic fix: every place that changes the number has to change with it.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Depending on Python global and free variables)
    """

    code = "KC215"
    name = "global-in-function"
    summary = "tf.function keeps the old value of a global"
    severity = Severity.WARNING
    speed = False
    triggers = (".function", "function(")
    loss_tolerance = None

    def check(self, module):
        for use in graph.stale_globals(module):
            yield self.finding(
                use.at,
                f"This tf.function keeps the value that {use.name} had while tracing; pass it as a tensor or use a tf.Variable.",
                because="A Python number becomes a constant of the graph, and the program changes it later.",
                related=((use.change, "changed here"),),
            )
