from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.precision import float16_models, scales_loss, train_step_of
from kerascheck.semantics.steps import tape_of
from kerascheck.semantics.values import Made, Method, options_of


class MissingLossScaling(Rule):
    """Gradients under mixed_float16 are computed from a loss that nobody has scaled.

    ## What it does

    Reports where weights are updated under the policy `mixed_float16` without `scale_loss` on the way:

    - in the `train_step` of a model of Keras 3 that is compiled, and in a hand-written loop with a `LossScaleOptimizer`: an error;
    - in a hand-written loop with a plain optimizer: an info.

    ## Why it costs

    `compile` wraps the optimizer in a `LossScaleOptimizer`, which divides every gradient by its scale, 32768 at first.
    If the loss was not multiplied by the scale before, the updates are 32768 times too small. Measured (Keras 3.15, TensorFlow
    2.21, CPU): with SGD the loss went from 20.009 to 19.975, with `scale_loss` to 0.077. Adam divides by the
    size of the gradients and hides it (0.31), until they are small enough for its epsilon. Nothing fails and nothing warns.

    A hand-written loop with a plain optimizer divides nothing, and mostly learns. Gradients below 6e-8 become 0
    on their way through the 16-bit layers; how much is lost depends on the model.

    ## What the runtime does by itself

    `Model.train_step` of Keras 3 calls `self.optimizer.scale_loss(loss)`, a method that every optimizer has and that changes nothing
    without a scale: own steps may always call it. In tf.keras 2 the wrapped optimizer does not divide by itself; there a
    `train_step` without `get_scaled_loss` learns (measured on TensorFlow 2.12), so that both cases are an info.
    `mixed_bfloat16` needs no scaling, and gets none.

    ## When it stays silent

    - `scale_loss` or `get_scaled_loss` is called in the step, or in a function that the step calls.
    - `super().train_step(data)` does the work.
    - `compile(auto_scale_loss=False)`; a step that updates by optimizers of its own, which `compile` does not wrap.
    - The policy is another one or not known when the model is made, set under a condition, or dropped by `clear_session()`;
      a model with a `dtype` of its own.
    - The model is not seen to be made and compiled in this program, or has a `compile` of its own.
    - Gradients that are taken out of sight: the loss may be scaled there. `optimizer.apply` of an optimizer that is not known, and the `stateless_apply` of steps written for JAX.

    ## Use instead

        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            scaled = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, self.trainable_variables)

    In a hand-written loop the same, with `optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())`.

    ## Fix safety

    There is no automatic fix: the scaled loss belongs into the gradient only, and the loss that is logged must stay as it
    is. Which of the losses of a step is which is for its author to say.

    ## References

    - TensorFlow guide: "Mixed precision" ("Training the model with a custom training loop")
    - Keras documentation: "LossScaleOptimizer"
    - Keras source: `trainers/trainer.py`, `optimizers/loss_scale_optimizer.py`
    """

    code = "KC304"
    name = "missing-loss-scaling"
    summary = "loss is not scaled for float16"
    severity = Severity.ERROR
    triggers = ("mixed_float16",)
    loss_tolerance = None

    def check(self, module):
        if module.is_graph_code:
            return
        divides = module.runtime.keras >= 3
        seen = set()
        for call in module.program.updates:
            # Where the gradients are taken out of sight, the loss may be scaled there.
            if call.attribute not in ("apply_gradients", "apply") or call.node in seen or scales_loss(call) or tape_of(module, call) is None:
                continue
            step = train_step_of(call.scope)
            if step is not None:
                models = [model for model in float16_models(module, step.owner) if _is_compiled(module, model)]
                if models and _is_own_optimizer(call):
                    seen.add(call.node)
                    yield self._found(module, call, wrapped=divides, related=((models[0], "made under mixed_float16, so that compile wraps the optimizer"),))
            elif module.program.policy_at(call) == "mixed_float16":
                names = {option.name.rpartition(".")[2] if isinstance(option, Made) else None for option in options_of(call.receiver)}
                if None not in names and len(names) == 1:
                    seen.add(call.node)
                    yield self._found(module, call, wrapped=divides and names == {"LossScaleOptimizer"})

    def _found(self, module, call, *, wrapped, related=()):
        remedy = (
            "take the gradients of optimizer.scale_loss(loss)"
            if module.runtime.keras >= 3
            else "take the gradients of get_scaled_loss(loss) of a LossScaleOptimizer, and apply its get_unscaled_gradients of them"
        )
        return self.finding(
            call,
            f"The loss is not scaled for mixed_float16; {remedy}.",
            because="The LossScaleOptimizer divides these gradients by 32768, although nothing has multiplied the loss."
            if wrapped
            else "Small gradients become 0 in 16 bits.",
            severity=None if wrapped else Severity.INFO,
            related=related,
        )


def _is_own_optimizer(call):
    """Whether a step updates by ``self.optimizer``, which ``compile`` sets."""
    return isinstance(call.receiver, Method) and call.receiver.name == "optimizer"


def _is_compiled(module, model):
    compiles = [call for call in module.program.model_calls("compile") if model.receiver in options_of(call.receiver)]
    return bool(compiles) and all(call.argument(None, "auto_scale_loss") is None for call in compiles)
