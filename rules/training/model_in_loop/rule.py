from kerascheck.api import Applies, Rule, Severity, conditions, names, training

_A_FEW = 5


class ModelInLoop(Rule):
    """A long loop builds and trains a new model in every iteration.

    ## What it does

    Reports the construction of a model, or the call of the function that builds it, in a `for` or `while` loop. The
    loop must have more than 5 iterations and train the model with `fit` or `train_on_batch`. Nested loops,
    `itertools.product` and `ParameterGrid` count as the number of their combinations. A list of unknown length counts
    as three items. The finding is an info, because there is often a good reason.

    ## Why it costs

    Keras traces each new model again and does not free its memory. Building and fitting a small model took 9 times the
    processor time of reusing one with `set_weights`: 0.83 s compared with 0.09 s. Each model left 6.1 to 7.5 MB behind
    (2 CPU cores, TensorFlow 2.21, no GPU). The iterations did not become slower as memory grew.

    ## What the runtime does by itself

    Nothing. The popular remedy is `keras.backend.clear_session()` in every iteration, with `del model` and
    `gc.collect()`. With Keras 3 on TensorFlow 2.21 it did not stop the growth: memory grew as much as without it. On
    TensorFlow 2.12 and Keras 2, each model left 3.9 MB behind, and almost nothing with `del` and `gc.collect()`. On
    Keras 3 `clear_session` also resets the policy to float32.

    ## When it stays silent

    - The loop has at most 5 iterations, or ends in a `break`, `return` or `raise`, also in the branch that creates the
      model.
    - A single loop of unknown length, for example over the folds of a splitter or a list of settings from elsewhere.
    - The program keeps the models in a list or a dictionary, as for an ensemble.
    - Each iteration runs in its own process, with `multiprocessing`.
    - The loop asks the user with `input`.
    - The program uses Keras 2, with `clear_session` or `gc.collect` in the loop.
    - The loop only loads the model; or the code is a test.
    - Each iteration has a session and a graph.

    ## Use instead

    If all iterations have the same model, build and compile it once and keep `start = model.get_weights()`. Begin each
    iteration with `model.set_weights(start)`. Compile again if the optimizer has to start over as well. If the models
    differ, run each iteration in a separate process, which frees its memory when it ends.

    ## Fix safety

    There is no automatic fix: only the author knows which state has to start over in each iteration.

    ## References

    - Keras documentation: "Model training APIs", "clear_session function"
    - Python documentation: `multiprocessing`, and `maxtasksperchild` of its `Pool`
    """

    code = "KC408"
    name = "model-in-loop"
    summary = "new model is built in every iteration"
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = (".fit(", ".fit_generator(", ".train_on_batch(")
    loss_tolerance = 1e-5

    def check(self, module):
        seen = set()
        for model in training.rebuilt_models(module, "fit", "fit_generator", "train_on_batch"):
            if (
                model.loop.node in seen
                or model.made.name == names.classes.LOAD_MODEL
                or conditions.in_session(model.made.path)
                or model.times <= _A_FEW
            ):
                continue
            seen.add(model.loop.node)
            clears = model.is_cleared(module)
            if model.is_asked_for(module) or clears and module.runtime.keras < 3 or model.is_kept(module):
                continue
            yield self.finding(
                model.place,
                "Every iteration builds a new model; "
                + (
                    "run each iteration in a separate process."
                    if model.differs(module)
                    else "build it once and restore its initial weights, or use a process per iteration."
                ),
                because="Each model is traced again and leaves several megabytes of memory behind"
                + (", which clear_session does not free on Keras 3" if clears else "")
                + ("." if model.times_known else "; how many there are is not known here."),
                related=((model.trained, "trained here"),),
            )
