from kerascheck.api import Rule, Severity, graph


class GlobalInFunction(Rule):
    """A compiled function keeps the value that a global number had at tracing time.

    ## What it does

    Reports a function under `tf.function` that reads a module-level Python number if a loop or another function of the
    program changes that number.

    ## Why it costs

    It costs correctness. A Python number becomes a constant of the graph. A program may lower a learning rate in each
    epoch, or switch on a penalty later. The compiled step then continues with the first value, without a warning.

    ## What the runtime does by itself

    Nothing: a changed global does not cause retracing. The graph reads a `tf.Variable` in every step.

    ## When it stays silent

    - Numbers that never change: globals are fine for constants. (Other linters report every global.)
    - A second plain assignment further down, in another section of a script or notebook.
    - Globals that are not numbers, parameters and local variables of the same name, and numbers that the function
      itself changes.
    - Code that is not compiled.

    ## Use instead

    A `tf.Variable` with `assign`, a tensor argument, or for learning rates a `keras.optimizers.schedules` object or
    `optimizer.learning_rate`.

    ## Fix safety

    There is no automatic fix: every place that changes the number would have to change as well.

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
