import re

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.places import is_guarded
from kerascheck.semantics.training import makes_layer
from kerascheck.semantics.values import constant

_LARGE = 20_000
_KERAS = ("keras.optimizers.", "keras.losses.", "keras.Model.", "keras.Optimizer.")
_REASON = re.compile(r"float|precis|digit|numer|stab|nan|overflow", re.I)
_DIGITS = re.compile(r"\btfp\.(?:math|mcmc|optimizer|sts|experimental)|gpflow|deepxde|scipy\.(?:integrate|optimize)|odeint|physics|pinn\b|quantum|double precision", re.I)


class HalfFloatx(Rule):
    """A model is trained with float16 or float64 as the type of everything, weights and optimizer included.

    ## What it does

    Reports `set_floatx("float16")` and `set_floatx("float64")` in a program that makes layers and trains.

    ## Why it costs

    `floatx` is the type of weights, gradients, and the numbers that the optimizer keeps. In float16 the squares of small
    gradients are 0 and so is Adam's epsilon, nearly; updates smaller than a thousandth of a weight are lost. Measured for a network
    of three dense layers, 11 epochs (Keras 3.15, TensorFlow 2.21, 2 CPU cores): the loss was nan with Adam where float32 ended at
    0.010, 0.270 instead of 0.204 with RMSprop, and 0.027 instead of 0.024 with SGD. Epochs took 1.2 to 1.6 times as long as in float32, on a machine that
    was busy with other things too; the speed on a GPU is unmeasured here. Advice to save memory this way predates mixed precision.

    In float64 everything is computed with twice the bytes. Training took 2.2 times the processor time of float32 for three dense layers,
    and 3.2 times for two convolutions (same machine). On a GPU it is unmeasured here.

    ## What the runtime does by itself

    Nothing: no warning, no loss scaling, and no copy of the weights in float32. The policy `mixed_float16` does all that: it computes
    in 16 bits and keeps the weights in 32.

    ## When it stays silent

    - `set_floatx` with another type, or with a variable.
    - "float64" in a program that speaks of physics, of integrators or optimizers of SciPy, of what TensorFlow Probability has beside distributions and their like, or
      has a comment on the line, or on precision above it: there digits count.
    - An info in reinforcement learning, and where no model is seen to be trained that has 20,000 weights: a step of fewer is overhead. Eager steps of
      two dense layers of 64 took 1.03 to 1.09 times as long (same machine).
    - It stands under a condition, or is set back to "float32" in the program.
    - No layer is made after it and, for "float16", Keras is not used at all; nothing is trained, as where a trained model is shrunk.

    ## Use instead

    For float64 the default, float32; arrays of NumPy given to a model are cast to it. For float16

        keras.mixed_precision.set_global_policy("mixed_float16")

    and a last layer with `dtype="float32"`.

    ## Fix safety

    There is no automatic fix: the policy needs a last layer in float32, and data that the script turned to float16 by hand has to follow.

    ## References

    - Keras documentation: "Mixed precision policy API", "set_floatx"
    - TensorFlow guide: "Mixed precision"
    """

    code = "KC305"
    name = "half-floatx"
    summary = "floatx is float16 or float64"
    severity = Severity.WARNING
    triggers = ("set_floatx",)
    loss_tolerance = None

    def check(self, module):
        settings = list(module.program.calls("keras.backend.set_floatx", "keras.config.set_floatx"))
        given = {_given(call) for call in settings}
        if not module.program.trains or given not in ({"float16"}, {"float64"}):
            return
        for call in settings:
            layer = next((other for other in module.run.calls if makes_layer(other) and other.order > call.order), None)
            # All of the model may come from where it is not seen.
            elsewhere = not any(map(makes_layer, module.run.calls)) and any((other.name or "").startswith(_KERAS) and other.order > call.order for other in module.run.calls)
            if is_guarded(call.scope) or layer is None and not elsewhere:
                continue
            if given == {"float16"}:
                yield self.finding(
                    call,
                    'Weights and optimizer are kept in float16 too, where small updates are lost; use the policy "mixed_float16".',
                    because="floatx is the type of everything that is made from here on.",
                    related=((layer, "made in float16"),) if layer else (),
                )
            elif layer is not None and not module.mentions(_DIGITS) and not call.module.is_commented(call.node, _REASON):
                yield self.finding(
                    call,
                    "Everything is computed in float64, which takes two to three times as long where the numbers outweigh Python; leave it at float32, also in the arrays that it meets, unless digits count.",
                    because="floatx is the type of everything that is made from here on, and nothing here asks for so many digits.",
                    severity=Severity.WARNING if not module.program.reinforcement_learning and any(map(_is_large, module.models)) else Severity.INFO,
                    related=((layer, "made in float64"),),
                )


def _is_large(model):
    """Whether a model is trained that has so many weights that a step is more than overhead."""
    return model.is_trained and model.most_parameters is not None and model.most_parameters >= _LARGE


def _given(call):
    return constant(call.argument(0, "value") or call.argument(None, "floatx"))
