from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.traced import stale_globals


class GlobalInFunction(Rule):
    """A compiled function keeps the value that a global number had when it was traced.

    ## What it does

    Reports the read of a module-level Python number in a function under `tf.function`, where a loop or another function of the
    program changes that number.

    ## Why it costs

    It costs correctness. A Python number becomes a constant of the graph. A learning rate that is lowered
    in each epoch, a penalty that is switched on later: the compiled step goes on with the first value. Nothing warns.

    ## What the runtime does by itself

    Nothing: a changed global is no reason to trace again. A `tf.Variable` is read in every step.

    ## When it stays silent

    - Numbers that nothing changes: constants are what globals are for. (Other linters report every global.)
    - A second plain assignment further down: another section of a script or notebook.
    - Globals that are no numbers, parameters and local names of the same spelling, and what the function changes itself.
    - Code that nothing compiles.

    ## Use instead

    A `tf.Variable` with `assign`, an argument that is a tensor, or for learning rates a
    `keras.optimizers.schedules` object or `optimizer.learning_rate`.

    ## Fix safety

    There is no automatic fix: every place that changes the number has to change with it.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Depending on Python global and free variables)
    """

    code = "KC215"
    name = "global-in-function"
    summary = "tf.function keeps the old value of a global"
    severity = Severity.WARNING
    triggers = (".function", "function(")
    loss_tolerance = None

    def check(self, module):
        for use in stale_globals(module):
            yield self.finding(
                use.at,
                f"{use.name} is read while this tf.function is traced, and keeps that value though the program changes it; pass it as a tensor, or make it a tf.Variable.",
                because="A Python number becomes a constant of the graph.",
                related=((use.change, "changed here"),),
            )
