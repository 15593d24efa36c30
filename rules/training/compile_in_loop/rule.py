from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.fixes import hoist
from kerascheck.semantics.repetition import is_conditional, repetitions
from kerascheck.semantics.loops import turns, varies

_A_FEW = 3
_TRAINS = frozenset({"fit", "fit_generator", "train_on_batch"})
# Reasons to compile again: other weights are trained, or the training starts anew.
_REASONS = frozenset({"trainable", "set_weights", "load_weights"})
_KNOWN = ("keras.", "tensorflow.", "builtins.", "numpy.")


class CompileInLoop(Rule):
    """`model.compile` is called in every turn of a loop that trains the same model.

    ## What it does

    Reports `compile` of a model that was made before the loop, with the same arguments in every turn, in a `for` or
    `while` that also trains: in its body, or in a function that it calls.

    ## Why it costs

    `compile` throws away the compiled step, so that the next `fit` or `train_on_batch` traces it again, and
    with XLA compiles it again. It also makes a new optimizer: momentum and the moments of Adam start from zero,
    and so does a schedule of the learning rate. 20 turns of `compile` and `fit` for one epoch of 40 steps took 3.3 times as
    long as 20 turns of `fit`, 0.3 s more for each turn (2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing: a function that was traced for one `compile` is not used for the next, even if the arguments are the same.

    ## When it stays silent

    - A new model in each turn, or another one of several.
    - Arguments that depend on the turn, such as another loss.
    - `trainable` of a layer or model is set in the loop, as for GANs and fine-tuning: `compile` is what makes it count.
    - The weights are set or loaded in the loop: every turn starts anew, with a new optimizer.
    - The model is handed to a function that is not visible, which may do one of these.
    - `compile` under a condition; loops of at most 3 turns, and loops that do not train; tests.
    - `compile` of other things, as of regular expressions; the graphs of TensorFlow 1.

    ## Use instead

    Compile once, before the loop. To change the learning rate alone, `model.optimizer.learning_rate = 1e-4`.

    ## Fix safety

    The statement moves before the loop, where it is a statement of the loop itself. Unsafe: the optimizer then keeps its state
    from turn to turn, which changes the numbers of every optimizer but plain SGD. Elsewhere there is no fix.

    ## References

    - Keras documentation: "Model training APIs" (`compile`)
    - Keras guide: "Transfer learning & fine-tuning" (`trainable` and `compile`)
    - Keras source: `trainers/trainer.py`
    """

    code = "KC409"
    name = "compile-in-loop"
    summary = "model is compiled again in every iteration"
    severity = Severity.WARNING
    triggers = (".compile(",)
    loss_tolerance = 1e-5

    def check(self, module):
        for each in () if module.is_graph_code else repetitions(module, "compile"):
            call, loop = each.call, each.loop
            if not each.is_same or turns(call.scope) <= _A_FEW or is_conditional(call.scope, loop):
                continue
            if any(varies(each, call.scope) is loop for each in (call.node.func, *(arg.value for arg in call.node.args))):
                continue
            others = module.pipelines.calls_in(loop)
            if not any(other.attribute in _TRAINS for other in others) or any(other.attribute in _REASONS for other in others):
                continue
            if any(not (other.name or "").startswith(_KNOWN) and any(value is call.receiver for value in other.arguments.values()) for other in others):
                continue
            yield self.finding(
                call,
                "compile runs in every iteration of a loop that trains the same model; call it once, before the loop.",
                because="Every iteration traces the step again and resets the optimizer.",
                fix=hoist(call, loop),
                related=((loop, "in this loop"),),
            )
