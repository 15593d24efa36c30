from kerascheck.api import Applies, ExternalInstance, Method, Rule, Severity, models, options_of, training


class MissingLossScaling(Rule):
    """Under mixed_float16, a step computes the gradients from an unscaled loss.

    ## What it does

    Reports updates of weights under the policy `mixed_float16` without a call of `scale_loss`:

    - in the `train_step` of a compiled Keras 3 model, and in a custom loop with a `LossScaleOptimizer`: an error;
    - in a custom loop with a plain optimizer: an info.

    ## Why it costs

    `compile` wraps the optimizer in a `LossScaleOptimizer`, which divides every gradient by its scale, initially
    32768. If the step does not multiply the loss by the scale first, the updates are 32768 times too small. We
    measured this with Keras 3.15 and TensorFlow 2.21 on a CPU. With SGD the loss went from 20.009 to 19.975, and with
    `scale_loss` to 0.077. Adam divides by the size of the gradients and hides the fault (0.31), until they are small
    compared with its epsilon. There is no error and no warning.

    A custom loop with a plain optimizer divides nothing, and mostly learns. Gradients below 6e-8 become 0 on their way
    through the 16-bit layers. The effect depends on the model.

    ## What the runtime does by itself

    `Model.train_step` of Keras 3 calls `self.optimizer.scale_loss(loss)`. Every optimizer has this method, and it
    changes nothing without a scale, so a custom step may always call it. In tf.keras 2 the wrapped optimizer does not
    divide. A `train_step` without `get_scaled_loss` learns there (measured on TensorFlow 2.12), so both cases are an
    info. `mixed_bfloat16` needs no scaling, and Keras applies none.

    ## When it stays silent

    - The step, or a function that it calls, calls `scale_loss` or `get_scaled_loss`.
    - The step calls `super().train_step(data)`, or updates the weights with `optimizer.minimize`.
    - The program calls `compile(auto_scale_loss=False)`, or the step uses its own optimizers, which `compile` does not
      wrap.
    - Another policy is active when the model is created, or the policy is unknown, because a condition decides or
      `clear_session()` drops it.
    - The model has its own `dtype`.
    - The program does not visibly create and compile the model, or the model overrides `compile`.
    - The gradients come from code that is not visible and may scale the loss. Also `optimizer.apply` of an unknown
      optimizer, and the `stateless_apply` of steps written for JAX.

    ## Use instead

        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            scaled = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, self.trainable_variables)

    In a custom loop do the same, with `optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())`.

    ## Fix safety

    There is no automatic fix: only the gradient needs the scaled loss, and the logged loss must stay as it is. The
    author has to identify both losses in a step.

    ## References

    - TensorFlow guide: "Mixed precision" ("Training the model with a custom training loop")
    - Keras documentation: "LossScaleOptimizer"
    - Keras source: `trainers/trainer.py`, `optimizers/loss_scale_optimizer.py`
    """

    code = "KC304"
    name = "missing-loss-scaling"
    summary = "loss is not scaled for float16"
    severity = Severity.ERROR
    applies = Applies(graph_code=False)
    speed = False
    triggers = ("mixed_float16",)
    loss_tolerance = None

    def check(self, module):
        divides = module.program.keras >= 3
        seen = set()
        for call in module.program.updates:
            # Invisible code that takes the gradients may scale the loss.
            if (
                call.attribute not in ("apply_gradients", "apply")
                or call.node in seen
                or models.scales_loss(call)
                or training.tape_of(module, call) is None
            ):
                continue
            step = models.train_step_of(call.path)
            if step is not None:
                compiled = [model for model in models.float16_models(module, step.owner) if _is_compiled(module, model)]
                if compiled and _is_own_optimizer(call):
                    seen.add(call.node)
                    yield self._found(
                        module,
                        call,
                        wrapped=divides,
                        related=((compiled[0], "created under mixed_float16: compile wraps its optimizer"),),
                    )
            elif models.policy_at(module, call) == "mixed_float16":
                names = {
                    option.name.rpartition(".")[2] if isinstance(option, ExternalInstance) else None
                    for option in options_of(call.receiver)
                }
                if None not in names and len(names) == 1:
                    seen.add(call.node)
                    yield self._found(module, call, wrapped=divides and names == {"LossScaleOptimizer"})

    def _found(self, module, call, *, wrapped, related=()):
        remedy = (
            "compute the gradients of optimizer.scale_loss(loss)"
            if module.program.keras >= 3
            else "use LossScaleOptimizer.get_scaled_loss(loss) and get_unscaled_gradients(gradients)"
        )
        return self.finding(
            call,
            f"The loss is not scaled for mixed_float16; {remedy}.",
            because="The LossScaleOptimizer divides these gradients by 32768, but nothing has multiplied the loss."
            if wrapped
            else "Small gradients become 0 in 16 bits.",
            doubt=None if wrapped else "How much that loses depends on the model.",
            related=related,
        )


def _is_own_optimizer(call):
    """Whether a step uses ``self.optimizer``, which ``compile`` sets, for its update."""
    return isinstance(call.receiver, Method) and call.receiver.name == "optimizer"


def _is_compiled(module, model):
    compiles = [call for call in module.program.model_calls("compile") if model.receiver in options_of(call.receiver)]
    return bool(compiles) and all(call.given("auto_scale_loss") is None for call in compiles)
