from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.training import is_guarded, makes_layer
from kerascheck.semantics.values import constant


class HalfFloatx(Rule):
    """A model is trained with float16 as the type of everything, weights and optimizer included.

    ## What it does

    Reports `set_floatx("float16")` in a program that makes layers after it and trains.

    ## Why it costs

    `floatx` is the type of weights, gradients, and the numbers that the optimizer keeps. In float16 the squares of small
    gradients are 0 and so is Adam's epsilon, nearly; updates smaller than a thousandth of a weight are lost. Measured for a network
    of three dense layers, 11 epochs (Keras 3.15, TensorFlow 2.21, 2 CPU cores): the loss was nan with Adam where float32 ended at
    0.010, 0.270 instead of 0.204 with RMSprop, and 0.027 instead of 0.024 with SGD. Epochs took 1.2 to 1.6 times as long as in float32, on a machine that
    was busy with other things too; the speed on a GPU is unmeasured here. Advice to save memory this way predates mixed precision.

    ## What the runtime does by itself

    Nothing: no warning, no loss scaling, and no copy of the weights in float32. The policy `mixed_float16` does all that: it computes
    in 16 bits and keeps the weights in 32.

    ## When it stays silent

    - `set_floatx` with another type, also "float64", which is slower but asked for where digits count, or with a variable.
    - It stands under a condition, or is set back to "float32" in the program.
    - No layer is made after it, or nothing is trained, as where a trained model is shrunk.

    ## Use instead

        keras.mixed_precision.set_global_policy("mixed_float16")

    and a last layer with `dtype="float32"`.

    ## Fix safety

    There is no automatic fix: the policy needs a last layer in float32, and data that the script turned to float16 by hand has to follow.

    ## Precision

    Read on real code: no finding in 7,500 public files, 28 of which call `set_floatx`: with "float64", or in the tests of Keras.
    The ways to write it are in slow.py and its tests.

    ## References

    - Keras documentation: "Mixed precision policy API", "set_floatx"
    - TensorFlow guide: "Mixed precision"
    """

    code = "KC305"
    name = "half-floatx"
    severity = Severity.WARNING
    triggers = ("set_floatx",)
    loss_tolerance = None

    def check(self, module):
        settings = list(module.program.calls("keras.backend.set_floatx", "keras.config.set_floatx"))
        if not module.program.trains or any(_given(call) != "float16" for call in settings):
            return
        for call in settings:
            layer = next((other for other in module.run.calls if makes_layer(other) and other.order > call.order), None)
            if layer is not None and not is_guarded(call.scope):
                yield self.finding(
                    call,
                    'Weights and optimizer are kept in float16 too, where small updates are lost; use the policy "mixed_float16".',
                    because="floatx is the type of everything that is made from here on.",
                    related=((layer, "made in float16"),),
                )


def _given(call):
    return constant(call.argument(0, "value") or call.argument(None, "floatx"))
