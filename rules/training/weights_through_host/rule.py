from kerascheck.api import Applies, Rule, Severity, training

_SHORT = 50


class WeightsThroughHost(Rule):
    """Every step of a training loop copies all weights of a model through NumPy.

    ## What it does

    Reports `set_weights` or `get_weights` of a Keras model that a training loop calls in each step. An example is a
    target network, or a moving average of the weights, that NumPy mixes. A step is a weight update by an optimizer, or
    `train_on_batch`. One finding for each loop shows the first `set_weights`, or else the first `get_weights`.

    ## Why it costs

    `get_weights` copies each weight from the device into a NumPy array, and waits for the step to finish. NumPy then
    computes on one processor, and `set_weights` copies each array back. On a CPU, the loop of our example took 3.5
    times as long with NumPy as with `assign` in a `tf.function` (network with 0.8 million weights, batches of 16, 2 CPU
    cores, TensorFlow 2.21, no GPU). The cost on a GPU is unmeasured here.

    ## What the runtime does by itself

    Nothing. Both methods are made for saving and loading.

    ## When it stays silent

    - A condition selects some of the steps, such as `if step % 100 == 0`.
    - The loops around it have at most 50 iterations in total, according to the literals.
    - It is in an outer loop, such as once per epoch, or in a callback.
    - The object may be something else than a Keras model, or is a single layer.

    ## Use instead

    Update the variables in a `tf.function`:

    ```python
    @tf.function
    def update_target():
        for old, new in zip(target.variables, model.variables):
            old.assign(0.99 * old + 0.01 * new)
    ```

    For an average of the trained weights, Keras has `use_ema=True` of its optimizers. To copy all weights of a target
    network at once, do it once in many steps.

    ## Fix safety

    There is no fix: the computation in NumPy has to be rewritten.

    ## References

    - Keras source: `layers/layer.py`, `optimizers/base_optimizer.py`
    """

    code = "KC421"
    name = "weights-through-host"
    summary = "each step copies all weights through NumPy"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("set_weights(", "get_weights(")
    loss_tolerance = 1e-5

    def check(self, module):
        for found in training.weight_copies(module, _SHORT):
            yield self.finding(
                found.call,
                f"{found.call.attribute} copies all weights in every step; use `assign` in a tf.function instead.",
                because="The weights travel from the device to NumPy or back, and the step waits for them.",
                related=((found.update, "a step trains here"), (found.loop, "in this loop")),
            )
