from kerascheck.api import Applies, Rule, Severity, training


class ReusedModelBenchmark(Rule):
    """A loop compares settings by fitting the same model with each of them in turn.

    ## What it does

    Reports `fit` in a loop over batch sizes, learning rates or other settings, for a model created before the loop.
    The loop must measure the time or store the results of each setting.

    ## Why it costs

    It costs no time; it makes the comparison wrong. The second setting continues with the weights and the optimizer of
    the first, so later settings seem to reach a lower loss. The first setting also includes the time for tracing. A
    first `fit` of one epoch took 0.6 to 1.0 s, and the next took 0.2 s. With XLA, the first took 2.2 s and the next
    0.14 s (2 CPU cores, TensorFlow 2.21, no GPU). Another batch size or another `compile` causes a new trace.

    ## What the runtime does by itself

    Nothing: `fit` continues where the last one stopped. `compile` creates a new optimizer and keeps the weights.

    ## When it stays silent

    - Each iteration creates a new model, or sets or loads weights.
    - The settings form a schedule: they change, but the program measures and compares nothing.
    - The loop runs over data or epochs: the settings of `fit` and `compile` do not depend on the iteration.
    - `fit` of classes that are not Keras models; tests.

    ## Use instead

    Build and compile a model in each iteration, from the same seed, and fit it for a step before the clock starts. Or
    keep `start = model.get_weights()`, and begin each iteration with `model.set_weights(start)` and `compile`.

    ## Fix safety

    There is no automatic fix: you have to move the code that builds the model into a function.

    ## References

    - Keras documentation: "Model training APIs" (`fit`, `compile`)
    """

    code = "KC603"
    name = "reused-model-benchmark"
    summary = "benchmark trains one model for all settings"
    severity = Severity.INFO
    applies = Applies(graph_code=False, reinforcement_learning=False)
    speed = False
    triggers = (".fit(",)
    loss_tolerance = None

    def check(self, module):
        for each in training.compared_fits(module):
            yield self.finding(
                each.call,
                "Every setting continues to train the same model; build a new model in each iteration to compare them.",
                because="Later settings start with trained weights, and the first one pays for tracing.",
                related=((each.loop, "in this loop"),),
            )
