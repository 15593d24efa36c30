from kerascheck.api import Rule, Severity, graph, names, wording

_MANY = 16


class PythonLoopInCall(Rule):
    """A Python loop in compiled code processes a tensor position by position.

    ## What it does

    Reports `for i in range(...)` in `call`, `train_step`, losses and functions under `tf.function` if the body indexes
    a tensor with the loop variable. The range must have more than 16 iterations, or be the length of an axis
    (`x.shape[1]`, `self.timesteps`). Also reports a loop or a comprehension over `tf.unstack(x, axis=1)` or
    `tf.split(x, n, axis=1)`, which build a list of the time steps.

    ## Why it costs

    Tracing runs the loop, and every iteration adds its operations to the graph. We compared such a loop over 160 time
    steps with one operation over the whole axis. The first call took 12.8 times as long, and later calls 1.13 times (2
    CPU cores, TensorFlow 2.21, no GPU). The loop mostly costs memory and start-up time, once per trace. On a GPU each
    operation is a separate launch; that is unmeasured here.

    ## What the runtime does by itself

    In a `tf.function`, AutoGraph converts a loop over `tf.range`, and unrolls one over `range` or a list. Keras 3 uses
    no AutoGraph in `call` at all. XLA compiles the unrolled graph, which takes longer.

    ## When it stays silent

    - The loop has at most 16 iterations, according to a literal, or an unknown number that is not the length of an
      axis.
    - The loop is over layers or other Python objects: the loop variable must index a tensor.
    - The loop is over the examples of a batch, `range(x.shape[0])` and `tf.unstack(x)`, or over the last axis,
      `tf.unstack(x, axis=-1)`.
    - The loop is over `tf.range`.
    - The program runs eagerly, or nothing compiles the code. An example is the `call` of a layer that the program only
      calls on values.

    The finding is an info, not a warning, if `batch_size` gives the number of iterations, because it may be small. It
    is also an info in a module that does not train, because users may call its layers eagerly. A loop in a
    `tf.function` or a `train_step` remains a warning there.

    ## Use instead

    Slices and reductions over the axis (`x[:, 1:] - x[:, :-1]`, `tf.einsum`, `tf.math.cumsum`). If a time step needs
    the previous one: `keras.layers.RNN` with a custom cell, `keras.ops.scan`, or a loop over `tf.range` in a
    `tf.function`.

    ## Fix safety

    There is no automatic fix: the replacement depends on the body of the loop.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Loops)
    - Keras documentation: "Working with RNNs", "keras.ops.scan"
    """

    code = "KC205"
    name = "python-loop-in-call"
    summary = "Python loop over a tensor is unrolled"
    measured = "first step"
    evidence_note = "The unrolled loop costs time while tracing, hardly per step."
    severity = Severity.WARNING
    triggers = ("train_step", "call(", ".function", "function(", ".fit(", "Lambda(", "jit(", "defun", "to_graph(")
    loss_tolerance = 1e-4

    def check(self, module):
        for loop in graph.unrolled_loops(module):
            if loop.turns is not None and loop.turns <= _MANY:
                continue
            # AutoGraph does not convert code that Keras 3 traces.
            instead = (
                "a loop over tf.range"
                if loop.how == "tf.function" or module.runtime.keras < 3
                else names.callables.OPS_SCAN
            )
            yield self.finding(
                loop,
                f"Tracing unrolls this Python loop over a tensor; use operations on the whole axis, or {instead}.",
                because=f"{f'Each of its {loop.turns} iterations' if loop.turns else 'Every iteration'} adds operations to the graph, so tracing takes longer.",
                # A batch may hold only an example or two.
                doubt="The batch size, which is the number of iterations, is unknown here."
                if loop.may_be_short
                else wording.not_seen_compiled(module, loop.how),
            )
