from kerascheck.api import Applies, External, Rule, Severity, constant, fixes, names, proofs

# These switch XLA off for a model that contains them, or may not compile at all.
_UNSUPPORTED = (
    names.layers.RANDOM_LAYERS,
    names.layers.STRING_LOOKUP,
    names.layers.INTEGER_LOOKUP,
    names.layers.TEXT_VECTORIZATION,
    names.layers.HASHING_LAYERS,
    names.callables.PY_FUNCTION,
    names.callables.NUMPY_FUNCTION,
    names.namespaces.OF_IMAGE,
    names.callables.STRINGS,
)


class XlaDisabled(Rule):
    """A program switches XLA off, although Keras 3 decides this per machine and model.

    ## What it does

    Reports `compile(jit_compile=False)` for Keras 3 on TensorFlow, and `model.jit_compile = False`, in a program that
    trains.

    ## Why it costs

    On a GPU, Keras 3 compiles the training step with XLA if the layers of the model allow it. `jit_compile=False`
    prevents that. The effect of XLA depends on the model and is unmeasured here on a GPU, so the finding is an info.
    On a CPU the argument changes nothing.

    ## What the runtime does by itself

    The default is "auto". It means False on a machine without a GPU, under a distribution strategy, and if a layer of
    the model does not support XLA. Otherwise it means True (read in the source and tested, Keras 3.15). So a model
    rarely needs the argument to run. In tf.keras 2 the default is False. The rule does not report
    `tf.config.optimizer.set_jit(False)`, which is the default of TensorFlow.

    ## When it stays silent

    - The model or its steps use operations without XLA support: random layers, lookups, text or `tf.image`.
    - Some layers of the model are not visible, or an input contains strings.
    - The training is distributed, so XLA is off.
    - A condition or a variable decides, or the value is `jit_compile="auto"`.
    - The program trains other models and not this one.

    ## Use instead

    `compile` without `jit_compile`.

    ## Fix safety

    Unsafe: the fix removes the argument. On a GPU, XLA then rounds in another order. It compiles for some seconds at
    the start and again for every new shape. An assignment has no fix.

    ## References

    - Keras documentation: "Model training APIs" (`jit_compile`)
    - Keras source: `trainers/trainer.py` (`_resolve_auto_jit_compile`)
    """

    code = "KC310"
    name = "xla-disabled"
    summary = "compile switches XLA off"
    evidence_note = "On a CPU Keras leaves XLA off anyway; the gain needs a GPU."
    severity = Severity.INFO
    applies = Applies(keras=">=3", backends={"tensorflow"}, cpu_only=False, without_training=False)
    triggers = ("jit_compile",)
    proves = ("same-numbers",)
    loss_tolerance = 1e-3

    def check(self, module):
        program = module.program
        if program.distributes or module.calls.with_prefix(*_UNSUPPORTED):
            return
        settings = [call for call in program.model_calls("compile") if constant(call.given("jit_compile")) is False]
        settings += [
            call
            for call in program.calls(names.classes.MODEL_SETATTR)
            if call.attribute == "jit_compile" and constant(call.given("value")) is False
        ]
        # XLA does not compute with strings.
        if any(map(_takes_strings, program.calls(names.classes.INPUT))):
            return
        for call in settings:
            if call.attribute == "compile" and not _is_seen(module, call):
                continue
            if not program.is_optional(call.path):
                yield self.finding(
                    call,
                    "This switches XLA off; remove jit_compile and let Keras choose for the machine and the model.",
                    because="Without it, Keras compiles the step with XLA on a GPU; every layer here seems to allow that.",
                    fix=fixes.drop_argument(
                        call, "jit_compile", proofs.SAME_NUMBERS.unless("XLA rounds in another order")
                    )
                    if call.attribute == "compile"
                    else None,
                )


def _takes_strings(made):
    dtype = made.keyword("dtype")
    return constant(dtype) == "string" or isinstance(dtype, External) and dtype.name == names.callables.STRING


def _is_seen(module, call):
    """Whether all layers of a fitted model are certainly from Keras or the project."""
    models = [model for model in module.models if any(each.node is call.node for each in model.compiles)]
    if not any(model.fits for model in models) and any(model.fits for model in module.models):
        return False
    return bool(models) and all(model.closed or model.kind == "subclassed" and model.layers for model in models)
