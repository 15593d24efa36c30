from kerascheck.api import Rule, Severity, conditions, data, graph, program, wording


class StateCreatedInCall(Rule):
    """Compiled code creates a layer, variable or optimizer.

    ## What it does

    Reports `call`, `train_step`, losses, `Lambda` bodies and functions under `tf.function` that create state. State is
    a `tf.Variable(...)`, a Keras layer with weights or a random seed, or a Keras optimizer. The finding is an info if
    the program trains nothing and Keras would compile the code. A program that builds or converts a model calls such
    code once.

    ## Why it costs

    It is an error, not a slow line. `fit` raises `ValueError: tf.function only supports singleton tf.Variables created
    on the first call` (TensorFlow 2.21, Keras 3.15). In eager mode the line works and does something worse: every call
    has new random weights, and no optimizer ever updates them. An optimizer created in the step loses its momentum
    each time.

    ## What the runtime does by itself

    TensorFlow raises if a trace after the first creates a variable. In Keras 3 a new `Dropout` raises as well, because
    it keeps the seed of its generator in a variable. In Keras 2 it did not.

    ## When it stays silent

    - `__init__` and `build`, and functions that build a functional model.
    - A condition that creates the object once: `if self.dense is None:`, or `if layer is None:` for a parameter of the
      compiled function.
    - Functions with an unknown decorator: it may ensure that they run once.
    - Functions that the program calls only where it expects an error, as in `with pytest.raises(ValueError)`.
    - Layers without weights and seeds (`Flatten`, `Add`, `Concatenate`, `Activation`, pooling): they are only
      functions.
    - `RNN`: its variables belong to its cell, and the rule reports the creation of the cell.
    - `tf.init_scope`, programs that run eagerly, and the PyTorch backend.

    ## Use instead

    Create layers in `__init__` and weights with `self.add_weight` in `build`, and pass the optimizer to `compile`.

    ## Fix safety

    There is no automatic fix: the object needs a name and a place in `__init__`.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Creating tf.Variables)
    - Keras documentation: "Making new layers and models via subclassing"
    """

    code = "KC204"
    name = "state-created-in-call"
    summary = "state is created in compiled code"
    severity = Severity.ERROR
    speed = False
    triggers = (
        "Variable(",
        "train_step",
        "call(",
        ".function",
        ".fit(",
        "function(",
        "Lambda(",
        "jit(",
        "defun",
        "to_graph(",
    )
    loss_tolerance = 1e-4

    def check(self, module):
        seen = set()
        for call, how in graph.traced_calls(module):
            created = data.creates_state(call)
            # An unknown decorator may make a function run once.
            if (
                created is None
                or conditions.only_in_first_trace(call)
                or any(function.opaque for function in call.path.functions())
            ):
                continue
            place, cls = program.construction_of(call)
            if place.node in seen:
                continue
            seen.add(place.node)
            what = f"The object of {cls.name}" if cls is not None else wording.created(created, begins=True)
            yield self.finding(
                place,
                f"{what} is created again in every trace of this compiled code; create it once, in __init__ or outside the function.",
                because=f"{wording.runs_once(how)}; TensorFlow raises for variables that a later trace creates.",
                # A model that is only built, or converted, may be called once.
                doubt=wording.not_seen_compiled(module, how),
            )
