from kerascheck.api import Constant, External, Rule, Severity, fixes, models, names, proofs

# Layers with an activation argument.
_ACTIVATION = frozenset(
    {names.layers.DENSE, names.layers.ACTIVATION, *names.layers.CONVOLUTIONS, names.layers.CONV_2D_TRANSPOSE}
)


class HalfPrecisionOutput(Rule):
    """Under mixed precision, the model returns its probabilities as 16-bit numbers.

    ## What it does

    Reports the last layer of a trained model if it ends in softmax or sigmoid, has no `dtype`, and is created under
    the policy `mixed_float16`. Under `mixed_bfloat16` the rule reports only a sigmoid, as an info.

    ## Why it costs

    float16 has no number between 0.9995 and 1, and none above 65504. We measured these effects with Keras 3.15 on
    TensorFlow 2.21:

    - A sigmoid that is wrong by a logit of 8 (of 6 in bfloat16) returns exactly 1. Its gradient is then 0, but 0.9997
      in float32. The model learns nothing from its worst mistakes.
    - The gradient of a probability p is 1/p times the loss scale, which overflows. We trained a classifier of 10
      classes with Adam for 512 steps. The loss scale fell from 32768 to 16, and the optimizer skipped 11 steps. With a
      sigmoid the scale fell to 64, and the optimizer skipped 9 steps. With `dtype="float32"` on the last layer it
      stayed at 32768, and the optimizer skipped no step. At a scale of 16, small gradients of earlier layers become 0,
      and the scale should prevent just that.
    - The final loss was 1 % (softmax) and 3 % (sigmoid, also in bfloat16) higher than with a float32 output.

    A softmax in bfloat16 and logits with `from_logits=True` made no difference, so the rule reports neither. The cast
    of a few numbers per example costs almost nothing.

    ## What the runtime does by itself

    The losses of Keras 3 cast their inputs to float32. That is too late for a number already rounded to 1. The cast
    also hides the sigmoid from the loss, which would otherwise use the stable formula on logits. In tf.keras 2 the
    loss does not cast and finds the logits itself. There the finding is an info; the effect is unmeasured.

    ## When it stays silent

    - The last layer has a `dtype=`, or an `Activation` or `Softmax` with a `dtype` follows it.
    - The last layer is linear, has another activation, or is a softmax under bfloat16.
    - The policy is float32 or unknown when the layer is created, because the program sets it under a condition, resets
      it, or drops it by `clear_session()`.
    - The last layer is unknown or depends on a condition.
    - The program does not train the model.

    ## Use instead

    `Dense(10, activation="softmax", dtype="float32")`, or the activation as a separate layer after `Dense(10)`:
    `Activation("softmax", dtype="float32")`. Or no activation, and a loss with `from_logits=True`.

    ## Fix safety

    Never safe: with `dtype="float32"` the outputs, the loss and the gradients are float32, so training gives other
    results. A custom loss that mixes them with float16 may raise. Weights, shapes and saved files stay the same.

    ## References

    - TensorFlow guide: "Mixed precision" ("The output layer should be float32")
    - Keras documentation: "Mixed precision policy API"
    - Keras source: `losses/loss.py`, `optimizers/loss_scale_optimizer.py`, `backend/tensorflow/nn.py`
    """

    code = "KC303"
    name = "half-precision-output"
    summary = "output layer computes in 16-bit floats"
    evidence_note = "The rule is about accuracy; casting the output costs next to nothing."
    severity = Severity.WARNING
    speed = False
    triggers = ("mixed_float16", "mixed_bfloat16")
    proves = ("same-numbers",)
    loss_tolerance = None

    def check(self, module):
        seen = set()
        for model in module.models:
            if not (model.compiles or model.fits or module.program.updates):
                continue
            for layer in model.outputs or ():
                activation, made = _activation(layer), layer.made
                if (
                    activation not in ("softmax", "sigmoid")
                    or not layer.certain
                    or made.given("dtype") is not None
                    or made.node in seen
                ):
                    continue
                policy = models.policy_at(module, made)
                if policy == "mixed_float16" or policy == "mixed_bfloat16" and activation == "sigmoid":
                    seen.add(made.node)
                    short = policy.removeprefix("mixed_")
                    yield self.finding(
                        made,
                        f'The last layer computes its {activation} in {short}; give it dtype="float32".',
                        because=f"Under {policy}, probabilities near 1 round to 1 and have no gradient"
                        + (", and gradients of small probabilities overflow." if short == "float16" else "."),
                        # 1 - 2**-9 is halfway between 1 and the number of bfloat16 before it.
                        doubt="tf.keras 2 recovers the logits itself; the effect there is unmeasured."
                        if module.program.keras < 3
                        else "That concerns only those above 0.998."
                        if short == "bfloat16"
                        else None,
                        fix=fixes.add_keyword(
                            made, "dtype", '"float32"', proofs.SAME_NUMBERS.unless("the outputs are then float32")
                        ),
                        related=((model, "the model"),),
                    )


def _activation(layer):
    """The name of a layer's activation function."""
    if layer.name == names.layers.SOFTMAX:
        return "softmax"
    value = layer.made.given("activation") if layer.name in _ACTIVATION else None
    return (
        value.value
        if isinstance(value, Constant)
        else value.name.rpartition(".")[2]
        if isinstance(value, External)
        else None
    )
