from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.traced import recursive_calls


class RecursiveFunction(Rule):
    """A function under `tf.function` calls itself.

    ## What it does

    Reports functions and methods that `tf.function` compiles and that call themselves by their own name.

    ## Why it costs

    Tracing follows the call. Where a tensor decides when to stop, both ways are traced and there is no end: it raises
    `RecursionError`. Where a Python number decides, each depth is a graph of its own that is traced and
    kept.

    ## What the runtime does by itself

    AutoGraph turns loops into graph operations, not recursion.

    ## When it stays silent

    - Recursion in plain Python, and methods of the same name on other objects.
    - Calls from an inner function, which may run later.

    ## Use instead

    A loop: over `tf.range` or `while` with tensors, which AutoGraph converts, or in plain Python where the depth is
    fixed, inside one compiled function.

    ## Fix safety

    There is no automatic fix: a loop has to be written.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Recursive tf.functions are not supported)
    """

    code = "KC214"
    name = "recursive-function"
    summary = "tf.function calls itself"
    severity = Severity.WARNING
    triggers = (".function", "function(")
    loss_tolerance = 1e-4

    def check(self, module):
        for recursion in recursive_calls(module):
            yield self.finding(
                recursion.at,
                f"{recursion.name} is compiled by tf.function and calls itself; write it as a loop (tf.while_loop, or while over tensors).",
                because="Tracing follows the call: with tensors it has no end, with Python numbers each depth is a graph of its own.",
                related=((recursion.call, "calls itself here"),),
            )
