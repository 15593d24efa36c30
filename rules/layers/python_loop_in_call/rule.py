from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.traced import is_seen_compiled, unrolled_loops

_MANY = 16


class PythonLoopInCall(Rule):
    """A Python loop takes a tensor apart, position by position, in code that is compiled.

    ## What it does

    Reports `for i in range(...)` in `call`, `train_step`, losses and functions under `tf.function` where the body indexes a tensor
    with the loop's variable and the range has more than 16 iterations, or is the length of an axis (`x.shape[1]`, `self.timesteps`).
    Likewise a loop, or a comprehension, over `tf.unstack(x, axis=1)` or `tf.split(x, n, axis=1)`, which make a list of the steps.

    ## Why it costs

    Tracing runs the loop: every turn adds its operations to the graph. With 160 steps the first call took 12.8 times as long
    as with an operation over the whole axis; the steps after that 1.13 times (2 CPU cores, TensorFlow
    2.21, no GPU). So it costs mostly start-up, once per trace, and memory. On a GPU each operation is a launch of its
    own; that is unmeasured here.

    ## What the runtime does by itself

    AutoGraph converts a loop over `tf.range` in a `tf.function`; it unrolls one over `range` or a list. Keras 3 uses no AutoGraph in
    `call` at all. XLA compiles the unrolled graph, and takes longer for it.

    ## When it stays silent

    - At most 16 iterations, as a literal tells, and lengths of which nothing is known.
    - Loops over layers or other Python objects: a tensor must be indexed by the loop's variable.
    - Loops over the examples of a batch, `range(x.shape[0])` and `tf.unstack(x)`, and over the last axis, `tf.unstack(x, axis=-1)`.
    - Loops over `tf.range`, programs that run eagerly, and code that nothing compiles, such as the `call` of a layer whose objects
      the program calls on values and uses nowhere else.
    - As an info, not a warning, for as many turns as a `batch_size` says, of which not much is known.
    - As an info, not a warning, in a module that trains nothing, unless `tf.function` or a `train_step` is around it: who uses its layers may call them eagerly.

    ## Use instead

    Slices and reductions over the axis (`x[:, 1:] - x[:, :-1]`, `tf.einsum`, `tf.math.cumsum`). Where a step needs
    the one before: `keras.layers.RNN` with a cell of your own, `keras.ops.scan`, or a loop over `tf.range` in a
    `tf.function`.

    ## Fix safety

    There is no automatic fix: how the loop becomes one operation depends on its body.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Loops)
    - Keras documentation: "Working with RNNs", "keras.ops.scan"
    """

    code = "KC205"
    name = "python-loop-in-call"
    summary = "Python loop over a tensor is unrolled"
    evidence_note = "The unrolled loop costs time while tracing, hardly per step."
    severity = Severity.WARNING
    triggers = ("train_step", "call(", ".function", "function(", ".fit(")
    loss_tolerance = 1e-4

    def check(self, module):
        for loop in unrolled_loops(module):
            if loop.turns is not None and loop.turns <= _MANY:
                continue
            # A batch may hold an example or two.
            unsure = "; how many examples a batch has is not known here" if loop.may_be_short else "" if is_seen_compiled(module, loop.how) else "; whether anybody compiles it is not seen here"
            yield self.finding(
                loop,
                "This Python loop over the steps of a tensor is unrolled into the graph; work on the whole axis at once, or use keras.layers.RNN, keras.ops.scan or a loop over tf.range.",
                because=f"Each of its {loop.turns or 'iterations, as many as the axis is long,'}{' iterations' if loop.turns else ''} adds its operations to the graph, which takes that much longer to trace{unsure}.",
                severity=Severity.INFO if unsure else None,
            )
