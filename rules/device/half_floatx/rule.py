import re

from kerascheck.api import Applies, Rule, Severity, constant, models, names

_LARGE = 20_000
_KERAS = (
    names.namespaces.OF_KERAS_OPTIMIZERS,
    names.namespaces.OF_KERAS_LOSSES,
    names.namespaces.OF_KERAS_MODEL,
    names.namespaces.OF_KERAS_OPTIMIZER,
)
_DIGITS = re.compile(
    r"\btfp\.(?:math|mcmc|optimizer|sts|experimental)|gpflow|deepxde|scipy\.(?:integrate|optimize)|odeint|physics|pinn\b|quantum|double precision",
    re.I,
)


class HalfFloatx(Rule):
    """The whole training, weights and optimizer included, runs in float16 or float64.

    ## What it does

    Reports `set_floatx("float16")` and `set_floatx("float64")` in a program that creates layers and trains.

    ## Why it costs

    `floatx` is the type of the weights, the gradients and the state of the optimizer. In float16 the squares of small
    gradients become 0, and Adam's epsilon almost does. Updates smaller than a thousandth of a weight are lost. We
    trained a network of three dense layers for 11 epochs (Keras 3.15, TensorFlow 2.21, 2 CPU cores). With Adam the
    loss was nan instead of 0.010 in float32. With RMSprop it was 0.270 instead of 0.204, and with SGD 0.027 instead of
    0.024. Epochs took 1.2 to 1.6 times as long as in float32, on a machine that was also busy with other work. The
    speed on a GPU is unmeasured here. Advice to save memory with float16 predates mixed precision.

    float64 doubles the bytes of every operation. Training took 2.2 times the processor time of float32 for three dense
    layers, and 3.2 times for two convolutions (same machine). On a GPU it is unmeasured here.

    ## What the runtime does by itself

    Nothing: there is no warning, no loss scaling and no float32 copy of the weights. The policy `mixed_float16` does
    all of this: it computes in 16 bits and keeps the weights in 32.

    ## When it stays silent

    - `set_floatx` is called with another type or with a variable.
    - "float64" in a file whose code mentions physics, or uses integrators or optimizers of SciPy, or parts of
      TensorFlow Probability that need the precision.
    - For "float64" the finding is an info for reinforcement learning, and if no trained model is known to have 20,000
      parameters. A step of a smaller model is mostly overhead. Eager steps of two dense layers of 64 units took 1.03 to
      1.09 times as long (same machine).
    - The call is under a condition, or the program sets the type back to "float32".
    - The program creates no layer after the call and, for "float16", does not use Keras at all.

    ## Use instead

    For float64, use the default float32. Keras casts NumPy arrays passed to a model. For float16, use

        keras.mixed_precision.set_global_policy("mixed_float16")

    and `dtype="float32"` on the last layer.

    ## Fix safety

    There is no automatic fix: the policy needs a last layer in float32. You also have to adapt data that the script
    casts to float16.

    ## References

    - Keras documentation: "Mixed precision policy API", "set_floatx"
    - TensorFlow guide: "Mixed precision"
    """

    code = "KC305"
    name = "half-floatx"
    summary = "floatx is float16 or float64"
    severity = Severity.WARNING
    applies = Applies(without_training=False)
    triggers = ("set_floatx",)
    evidence_note = "The rule is mainly about lost precision; the effect on speed depends on the type and the device."
    loss_tolerance = None

    def check(self, module):
        settings = list(module.program.calls(names.devices.BACKEND_SET_FLOATX, names.devices.CONFIG_SET_FLOATX))
        given = {_given(call) for call in settings}
        if given not in ({"float16"}, {"float64"}):
            return
        for call in settings:
            layer = next(
                (other for other in module.run.calls if models.makes_layer(other) and other.order > call.order), None
            )
            # All of the model may come from invisible code.
            elsewhere = not any(map(models.makes_layer, module.run.calls)) and any(
                other.order > call.order for other in module.calls.with_prefix(*_KERAS)
            )
            if any(call.path.conditions(within="program")) or layer is None and not elsewhere:
                continue
            if given == {"float16"}:
                yield self.finding(
                    call,
                    'Weights and optimizer state in float16 lose small updates; use the policy "mixed_float16" instead.',
                    because="floatx sets the type of every weight and variable that is created after it.",
                    related=((layer, "created in float16"),) if layer else (),
                )
            elif layer is not None and not module.mentions(_DIGITS):
                large = not module.program.reinforcement_learning and any(map(_is_large, module.models))
                yield self.finding(
                    call,
                    "float64 training takes longer than float32; keep float32, also in the input arrays."
                    if large
                    else "float64 doubles memory and slows large layers; keep float32, also in the input arrays.",
                    because="floatx sets the type of every weight created after it, and nothing here needs so many digits."
                    + (" Measured networks trained 2 to 3 times as long on a CPU." if large else ""),
                    severity=Severity.WARNING,
                    doubt=None
                    if large
                    else "No large model is visible here, and a step of a small one is mostly overhead: float64 then costs little.",
                    related=((layer, "created in float64"),),
                )


def _is_large(model):
    """Whether a trained model has enough weights for a step to be more than overhead."""
    return model.is_trained and model.most_parameters is not None and model.most_parameters >= _LARGE


def _given(call):
    return constant(call.given("value") or call.keyword("floatx"))
