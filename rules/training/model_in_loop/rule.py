from kerascheck.api import Applies, Rule, Severity, conditions, names, training

_A_FEW = 5


class ModelInLoop(Rule):
    """A new model is built and trained in every iteration of a long loop.

    ## What it does

    Reports the construction of a model, or the call of the function that builds it, in a `for` or `while` loop of more
    than 5 iterations that also trains it with `fit` or `train_on_batch`. Nested loops, `itertools.product` and
    `ParameterGrid` count as the number of their combinations, with three items for a list of unknown length. It is an
    info: there is often a good reason.

    ## Why it costs

    Each new model is traced again, and its memory is not freed. Building and fitting a small model took 9 times the
    processor time of reusing one with `set_weights` (0.83 s compared with 0.09 s), and left 6.1 to 7.5 MB behind (2 CPU
    cores, TensorFlow 2.21, no GPU). The iterations did not become slower as memory grew.

    ## What the runtime does by itself

    Nothing. The popular remedy is `keras.backend.clear_session()` in every iteration, with `del model` and
    `gc.collect()`. With Keras 3 on TensorFlow 2.21 it did not stop the growth: as much was left behind with it as
    without it. On TensorFlow 2.12 and Keras 2, 3.9 MB were left behind per model, and next to nothing with `del` and
    `gc.collect()`. On Keras 3 `clear_session` also resets the policy to float32.

    ## When it stays silent

    - The loop has at most 5 iterations, or ends in a `break`, also in the branch that creates the model.
    - A single loop is over something of unknown length, such as the folds of a splitter or a list of settings from
      elsewhere.
    - The models are kept in a list or a dictionary, as for an ensemble.
    - Each iteration runs in its own process, by `multiprocessing`.
    - The loop asks with `input` what to do.
    - The program uses Keras 2, with `clear_session` or `gc.collect` in the loop.
    - The loop only loads the model; or the code is a test.
    - Each iteration has a session and a graph.

    ## Use instead

    Where all iterations have the same model, build and compile it once, keep `start = model.get_weights()`, and begin
    each iteration with `model.set_weights(start)`. Compile again if the optimizer has to start again as well. Where the
    models differ, run each iteration in a separate process: its memory is freed when it ends.

    ## Fix safety

    There is no automatic fix: what has to start again in each iteration depends on the program.

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
