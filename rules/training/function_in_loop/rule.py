from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.compiled import compiled_in_turns


class FunctionInLoop(Rule):
    """A `tf.function` is made anew, and traced anew, in every turn of a loop.

    ## What it does

    Reports `tf.function(f)` or a function decorated with `@tf.function` inside a loop, or in a function
    that the loop calls, where each turn calls the new function itself and no inner loop calls it again.

    ## Why it costs

    The graphs that a `tf.function` has traced belong to that one object. A new object starts with none:
    it runs the Python body to build the graph, optimises it, runs it once, and is thrown away. For a small dense
    training step a loop that wraps it in each turn took 67 times as long as one that wraps it
    before the loop, and a loop around a decorated `def` 72 times as long (2 CPU cores, TensorFlow
    2.21, no GPU). That is slower than no `tf.function` at all.

    ## What the runtime does by itself

    TensorFlow prints a warning after the fifth trace ("triggered tf.function retracing") and goes on. It
    keeps no graph for another object, also not where the wrapped Python function is the same.

    ## When it stays silent

    - The turn calls the function in an inner loop: the trace is then used many times, as where the outer
      loop is over folds, models or settings.
    - Loops of at most 10 turns in total, as literals tell.
    - The place stands under a condition inside the loop, or its result is stored in an attribute or an item, or the
      function that makes it is behind `lru_cache`: it may be made once and kept.
    - The function is handed on and not called in the loop, or only saved.
    - The place is inside compiled code, which is traced once itself; tests; `jax.jit` and `torch.compile`.

    ## Use instead

    Make it before the loop, at the level of the module or in `__init__`, and pass what changes from turn
    to turn as tensors. A function that must close over another model in each turn is better called
    eagerly, unless the turn calls it many times.

    ## Fix safety

    There is no fix: what the body takes from the turn has to become an argument first, and which of it
    may stay a Python value is for a person to say.

    ## References

    - TensorFlow guide: "Better performance with tf.function", section "Controlling retracing"
    - TensorFlow issues 34025 and 41347
    """

    code = "KC403"
    name = "function-in-loop"
    summary = "tf.function is made again in every iteration"
    severity = Severity.WARNING
    triggers = (".function", "function(")
    loss_tolerance = 1e-5

    def check(self, module):
        for made, loop, use in () if module.is_graph_code or module.program.runs_eagerly else compiled_in_turns(module):
            yield self.finding(
                made,
                "This tf.function is created again in every iteration; create it before the loop and pass changing values as tensors.",
                because="A new tf.function has no graph yet, so each iteration traces it and runs the graph once.",
                related=((use, "it is called here"), (loop, "in this loop")),
            )
