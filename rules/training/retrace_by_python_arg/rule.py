from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.compiled import changing_numbers
from kerascheck.semantics.fixes import as_tensor


class RetraceByPythonArg(Rule):
    """A `tf.function` gets a Python number that changes, and is traced again for each value.

    ## What it does

    Reports a call of a `tf.function` in a loop with an argument that is a Python number and another one
    in every turn: the variable of `range` or `enumerate`, a counter, what is computed from them, or a
    draw from `random` or `numpy.random`. A warning where the innermost loop around the call changes it, an info where an outer
    loop does, once per epoch for example.

    ## Why it costs

    `tf.function` keeps one graph for each set of arguments, and tells Python numbers apart by their value.
    Every new value runs the Python body again to build another graph, which is kept for ever. 200
    calls with 200 values took 93 times as long as the calls with a tensor
    (2 CPU cores, TensorFlow 2.21, no GPU), and memory grows with each.

    ## What the runtime does by itself

    TensorFlow prints a warning after the fifth trace and goes on. `reduce_retracing=True` does not help: it relaxes
    shapes, not numbers (five calls, five traces on 2.21). `input_signature` does, for it turns numbers into
    tensors. NumPy numbers, such as `np.float32(x)` or an item of an array, are tensors to `tf.function` and cost no trace.

    ## When it stays silent

    - The loop makes at most 10 turns, as literals tell, or the number comes from `%` or `//`: a few values.
    - `input_signature` is given, or may be.
    - The number is wrapped: `tf.constant(i)`, `tf.cast(i, ...)`, `np.float32(i)`.
    - Booleans such as `training=True`, strings, and numbers that stay the same.
    - The parameter picks one of several objects (`models[i]`), or is the number of turns of a Python loop: it must be a Python number there.
    - The call stands under an `if` with `%`, as what is done once in so many steps.
    - Functions run eagerly by a switch; graph code of TensorFlow 1; tests.

    ## Use instead

    `step(batch, tf.constant(i))`. A counter that only the function needs is better a `tf.Variable`, such as
    `optimizer.iterations`. Where the number decides about Python control flow in the function, a trace for each value
    is what you ask for.

    ## Fix safety

    The argument becomes `tf.constant(...)`. Unsafe: inside the function it is then a tensor, so that
    `range(i)`, `if` and formatting mean something else, and a float becomes float32.

    ## References

    - TensorFlow guide: "Better performance with tf.function", section "Passing Python arguments instead of tensors"
    """

    code = "KC404"
    name = "retrace-by-python-arg"
    summary = "Python number makes a tf.function trace again"
    severity = Severity.WARNING
    triggers = (".function", "function(")
    loss_tolerance = 1e-5

    def check(self, module):
        for found in changing_numbers(module):
            often = next(found.call.scope.loops()) is found.loop
            yield self.finding(
                found.call,
                "This tf.function gets a Python number that changes from turn to turn; pass it as tf.constant(...).",
                because="tf.function traces again for every new Python number, "
                + ("so each turn builds a graph." if often else "here once in each turn of an outer loop."),
                severity=Severity.WARNING if often else Severity.INFO,
                fix=as_tensor(found.call, found.arg),
                related=((found.loop, "the loop that changes the number"),),
            )
