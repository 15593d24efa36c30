from kerascheck.api import Rule, Severity, graph


class RecursiveFunction(Rule):
    """A function under `tf.function` calls itself.

    ## What it does

    Reports functions and methods that `tf.function` compiles and that call themselves by their own name.

    ## Why it costs

    Tracing follows the call. If a tensor decides when to stop, TensorFlow traces both branches without end and raises
    `RecursionError`. If a Python number decides, TensorFlow traces and keeps a separate graph for each depth.

    ## What the runtime does by itself

    AutoGraph converts loops to graph operations, but not recursion.

    ## When it stays silent

    - Recursion in plain Python, and methods of the same name on other objects.
    - Calls from an inner function, which may run later.

    ## Use instead

    A loop inside one compiled function. AutoGraph converts loops over `tf.range` and `while` loops with tensors. If
    the depth is fixed, a plain Python loop works too.

    ## Fix safety

    There is no automatic fix: you have to rewrite the recursion as a loop.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Recursive tf.functions are not supported)
    """

    code = "KC214"
    name = "recursive-function"
    summary = "tf.function calls itself"
    severity = Severity.WARNING
    triggers = (".function", "function(")
    evidence_note = "The cost is a trace for each depth, or a RecursionError, not slower steps."
    loss_tolerance = 1e-4

    def check(self, module):
        for recursion in graph.recursive_calls(module):
            yield self.finding(
                recursion.at,
                f"{recursion.name} is a tf.function that calls itself; write a loop instead (tf.while_loop, or while over tensors).",
                because="Tracing follows the call: with tensors it never ends, with Python numbers each depth becomes a separate graph.",
                related=((recursion.call, "calls itself here"),),
            )
