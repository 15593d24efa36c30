from kerascheck.api import Rule, Severity, Tensor, graph, names, options_of, wording

_METHODS = frozenset({"numpy", "item", "tolist"})
_CONVERSIONS = {"builtins.float": "float()", "builtins.int": "int()", "builtins.bool": "bool()"}
_CONVERTED = ("builtins.float", "builtins.int")


# A parameter may be a number or a structure, independently of its neighbours.
_UNSURE = frozenset({"parameter", "item", "element"})


def _is_computed(value):
    options = options_of(value)
    return bool(options) and all(isinstance(option, Tensor) and option.origin not in _UNSURE for option in options)


class HostSyncInCall(Rule):
    """Compiled code reads the value of a tensor.

    ## What it does

    Checks code that is traced into a graph, and the functions that it calls. Traced code is `Layer.call`,
    `Model.call`, `train_step`, `test_step`, `predict_step`, losses, metrics, `Lambda` bodies and functions under
    `tf.function`. The rule reports:

    - `.numpy()`, `.item()` and `.tolist()` of a tensor;
    - `float`, `int` and `bool` of a value computed from tensors;
    - `if` and `while` over such a value, unless AutoGraph converts them.

    It is a warning if the program does not train and calls the model on each batch of a dataset, outside of every
    compiled function: there the code runs, and the host waits for the device.

    Each of these is reported once per function, at its first occurrence. The finding lists the other occurrences, and
    a comment that suppresses it suppresses them too.

    ## Why it costs

    The code raises, because tensors have no values during tracing (TensorFlow 2.21, Keras 3.15):

    - `.numpy()` raises `AttributeError: 'SymbolicTensor' object has no attribute 'numpy'`;
    - `float(t)` raises `TypeError: float() argument must be a string or a real number, not 'SymbolicTensor'`;
    - `bool(t)` raises `OperatorNotAllowedInGraphError`.

    The same line works in eager mode, so it often survives until the first `fit`. The usual workaround,
    `run_eagerly=True`, runs the step operation by operation and makes it wait for the device.

    ## What the runtime does by itself

    In your own `tf.function`, AutoGraph converts `if tensor:`, `while tensor:`, `float(tensor)` and `int(tensor)`; the
    last two become casts. It does not convert `bool(tensor)`, and it converts nothing with `autograph=False`. Keras 3
    does not use AutoGraph in `call()`, `train_step`, losses and metrics (tested with 3.15), even if your `tf.function`
    calls the layer. Keras 2 did. The PyTorch backend traces nothing, so there the line only waits.

    ## When it stays silent

    - Shapes, settings and other Python numbers; `__init__` and `build`.
    - Parameters and their items passed to `float`, `int`, `bool` or `if`: they may hold numbers or structures. So may
      values computed from parameters of `call` after the first, unless their names or their use indicate tensors.
    - `if`, `while`, `float` and `int` in a function under `tf.function`, in a `call` decorated with it, and for Keras
      2: AutoGraph converts them.
    - `if` and `while` in a `Lambda`, which often runs eagerly.
    - Programs that run eagerly: `run_eagerly=True`, `run_functions_eagerly(True)` or the PyTorch backend. Also models
      that only a custom eager loop calls, and models whose own `fit` never calls the `fit` of Keras.
    - `tf.py_function`, `tf.init_scope`, and branches that test the execution mode (`if tf.executing_eagerly():`).
    - Helpers that compiled code calls, in a module that does not train: they may be meant for eager code.
    - Callbacks and plain functions, and metrics that no visible `compile` uses: some are for eager evaluation only.
    - In a module that does not train, the finding is an info, not an error: users may call its layers eagerly. It
      stays an error under `tf.function` or in a `train_step`.

    ## Use instead

    Tensor operations: `tf.where` or `keras.ops.cond` for decisions, `tf.debugging.assert_*` for checks, `tf.print` for
    inspection. Code that needs numbers belongs after the call of the compiled function or in a callback. A callback
    receives the values that `fit` reads anyway.

    ## Fix safety

    There is no automatic fix: the replacement depends on the purpose of the number.

    ## References

    - TensorFlow guide: "Better performance with tf.function"
    - Keras documentation: "Making new layers and models via subclassing", "Customizing what happens in fit()"
    """

    code = "KC202"
    name = "host-sync-in-call"
    summary = "value of a tensor is read in compiled code"
    severity = Severity.ERROR
    speed = False
    triggers = (
        ".numpy(",
        ".item(",
        ".tolist(",
        "train_step",
        "call(",
        ".function",
        "function(",
        ".fit(",
        "Lambda(",
        "jit(",
        "defun",
        "to_graph(",
    )

    def check(self, module):
        asked = {}
        for call, how in graph.traced_calls(module):
            what = _asking(call, how)
            caller = graph.eager_caller(module, call) if what is not None and how == "call" else None
            if caller is not None:
                yield self.finding(
                    call,
                    f"{what} waits for the device in each batch; use tensor operations.",
                    because="The loop calls the model eagerly, and the host waits until the tensor is computed.",
                    severity=Severity.WARNING,
                    related=((caller, "calls the model"),),
                )
                continue
            # A library helper does not show whether its callers run eagerly.
            helps = not module.program.trains and graph.tracing_frame(call.path) is not call.path.frame
            if what is not None and not helps:
                # The same mistake for several numbers of a function counts once.
                asked.setdefault((call.path.frame.function and call.path.frame.function.node, what), []).append(
                    (call, how)
                )
        for (_, what), places in asked.items():
            (first, how), *others = places
            yield self.finding(
                first,
                f"{what} reads the value of a tensor in compiled code, which raises; use tensor operations.",
                because=wording.no_values(how),
                doubt=wording.not_seen_compiled(module, how),
                related=[(other, "and here") for other, _ in others],
            )


def _asking(call, how):
    """How a call asks a tensor for its value where nothing converts that; None where it does not."""
    if call.name in _CONVERSIONS and len(call.arguments.positional) == 1 and _is_computed(call.arguments.positional[0]):
        return None if call.name in _CONVERTED and graph.converts_branches(call, how) else _CONVERSIONS[call.name]
    if call.name == f"{names.namespaces.OF_TENSOR}{call.attribute}" and call.attribute in _METHODS:
        return f".{call.attribute}()"
    if (
        call.name == names.callables.TENSOR_BOOL
        and how != "Lambda"
        and not graph.converts_branches(call, how)
        and _is_computed(call.receiver)
    ):
        return "This condition"
    return None
