from kerascheck.api import Applies, Rule, Severity, graph


class FunctionInLoop(Rule):
    """A loop creates and traces a new `tf.function` in every iteration.

    ## What it does

    Reports `tf.function(f)`, or a function decorated with `@tf.function`, inside a loop or in a function that the loop
    calls. Each iteration must call the new function itself, without an inner loop that calls it again.

    ## Why it costs

    The graphs that a `tf.function` has traced belong to that one object. A new object starts with none. It runs the
    Python body to build the graph, optimizes the graph and runs it once; then the program discards it. Wrapping a
    small dense training step in each iteration took 67 times as long as wrapping it before the loop. A loop around a
    decorated `def` took 72 times as long (2 CPU cores, TensorFlow 2.21, no GPU). That is slower than no `tf.function`
    at all.

    ## What the runtime does by itself

    TensorFlow prints a warning after the fifth trace ("triggered tf.function retracing") and continues. It shares no
    graph between objects, even if both wrap the same Python function.

    ## When it stays silent

    - The iteration calls the function in an inner loop, and so uses the trace many times. An example is an outer loop
      over folds, models or settings.
    - The loops have at most 10 iterations in total, according to the literals.
    - The program may create the function once and keep it. It is under a condition inside the loop, in an attribute or
      an item, or from a function with `lru_cache`.
    - The loop only saves the function, or passes it on without a call.
    - The function is inside compiled code, which is itself traced once.
    - Tests; `jax.jit` and `torch.compile`.

    ## Use instead

    Create it before the loop, at module level or in `__init__`, and pass changing values as tensors. If a function
    closes over a different model in each iteration, call it eagerly, unless the iteration calls it many times.

    ## Fix safety

    There is no fix: values that the body takes from the iteration have to become arguments first. Only the author
    knows which of them may stay Python values.

    ## References

    - TensorFlow guide: "Better performance with tf.function", section "Controlling retracing"
    - TensorFlow issues 34025 and 41347
    """

    code = "KC403"
    name = "function-in-loop"
    summary = "tf.function is made again in every iteration"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".function", "function(")
    loss_tolerance = 1e-5

    def check(self, module):
        for made, loop, use in () if module.program.runs_eagerly else graph.compiled_in_iterations(module):
            yield self.finding(
                made,
                "This tf.function is created again in every iteration; create it before the loop and pass changing values as tensors.",
                because="A new tf.function has no graph yet, so each iteration traces it and runs the graph once.",
                related=((use, "it is called here"), (loop, "in this loop")),
            )
