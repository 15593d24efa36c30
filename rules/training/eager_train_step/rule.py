import re

import libcst as cst

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.fixes import compile_step
from kerascheck.semantics.loops import SHORT_LOOP
from kerascheck.semantics.steps import eager_steps
from kerascheck.semantics.traced import asks_for_mode

# Counted by literals, these are toys: 1,000 steps of a linear model take 3.9 s eagerly and 0.3 s compiled.
_A_FEW_SECONDS = 1000
_DECORATE = "decorate it with @tf.function"
_DECORATOR = re.compile(r"#\s*@\s*(?:tf\.)?function\b")


class EagerTrainStep(Rule):
    """A hand-written training step runs eagerly in a loop, one Python call for each operation.

    ## What it does

    Finds a function, method or loop body that records a `tf.GradientTape` and updates weights
    (`apply_gradients`, `apply`, `minimize`, or as an info `assign_sub`), is reached from a loop, and is compiled by nobody. The
    finding stands at the `def` of the step, or at the `with tf.GradientTape()` of a step written
    directly into the loop. Where a function of its own takes the gradients and the loop applies
    them, it stands at the call of that function.

    ## Why it costs

    Outside `tf.function` every operation of the forward pass, the backward pass and the optimizer is
    started from Python on its own. An accelerator finishes a small operation sooner than Python can
    start the next, and waits. Against the same step under `tf.function`, a small dense
    network took 29 times as long and a small CNN 5.9 times (2 CPU cores, TensorFlow 2.21, no GPU).
    The larger the single operations, the smaller the loss.
    Popular advice leaves `fit` for a hand-written loop to gain speed. `fit` compiles its step already,
    so an eager loop loses what was there.

    ## What the runtime does by itself

    Nothing. Keras compiles the `train_step` of a model that is trained by `fit`, but not a function of yours.

    ## When it stays silent

    - The step, a function around it, or a caller of it is a `tf.function`; the step is passed to
      `tf.function(step)`, or to `strategy.run` inside a `tf.function`.
    - The gradients are taken in another function, and a function with a tape that the same turn calls is compiled.
    - It overrides `train_step` of a Keras model.
    - No weights are updated: saliency maps, Grad-CAM, a few steps on the pixels of an image.
    - The tape spans the calls of a Python environment, as in reinforcement learning, or the step of such a program is written into its loop or
      calls `predict`, NumPy or `random`. A step in a function of its own, of nothing but TensorFlow, is reported there too.
    - The loop or function of the step calls any method of an `env`, or the code under the tape goes on with what Python makes
      of numbers that it read from a tensor, as in `actions = space.decode(chosen.numpy())`.
    - The step is not reached from a loop, or stands in a test; `fit` trains another model in the same turn, or every turn draws a picture
      for somebody who watches (`plt.pause`, `plt.show`).
    - The loops around it make at most 10 turns in total, as literals tell. Up to 1,000 it is an info, which takes seconds; up to 100 tracing takes about as long,
      and nothing is said of lessons that call neither a layer nor a model, nor anything that is not known.
    - It calls a model of `tf.saved_model.load` or `hub.load`, which is compiled already. Where it calls another `tf.function`, or the `call` of the model is one, it is an info.
    - The program switches compiled code off, as by `tf.config.run_functions_eagerly(True)`: an info.
    - It changes what goes into a model, as a picture that excites a neuron, and leaves the weights: an info, for most such loops are short.
    - A library that cannot be seen is handed the model or a function under the tape, as solvers of differential equations are: an info.
    - A function of the same name is compiled elsewhere in the file: the two are there to be compared. Not where it only takes the place
      of a compiled one that nothing has called.
    - As an info, not a warning, under a condition that asks how the code runs, as `if mode == "eager_tf"`, and for a function above which the
      decorator stands in a comment: somebody tried it. And for a step that stands in the file a second time, in a `tf.function`.
    - It has a decorator that cannot be read, which may compile it.
    - TensorFlow 1: sessions, placeholders, estimators, `disable_eager_execution`, and its eager mode.

    ## Use instead

    `@tf.function` above the step. Move a step that is written into the loop to a function of its own
    first. Create models, optimizers and metrics outside of it, and pass tensors, not Python numbers.

    ## Fix safety

    Unsafe: Python statements in the body would run while tracing only, so `print`, list appends and
    `.numpy()` change their meaning or fail. Look for such things before the fix is applied. For a step
    that is written into a loop there is a message but no fix, and none for one that makes a `tf.Variable` or a layer with weights
    each time: `tf.function` raises a ValueError for that, as it does where the step is handed a second optimizer, whose variables
    are not there yet (tried with TensorFlow 2.21). None either where a layer or loss gives tensors to NumPy, which raises while it is traced, or a `call` draws with it, which a trace does once. For a body of tensor operations the
    numbers stay the same up to rounding; random draws may come in another order.

    ## References

    - TensorFlow guides: "Better performance with tf.function", "Introduction to graphs and tf.function"
    - Keras guide: "Writing a training loop from scratch in TensorFlow"
    """

    code = "KC401"
    name = "eager-train-step"
    summary = "training step runs eagerly"
    severity = Severity.WARNING
    triggers = ("GradientTape",)
    loss_tolerance = 1e-5

    def check(self, module):
        for step in eager_steps(module):
            remedy = _remedy(step)
            yield self.finding(
                step,
                f"{'This training step runs' if step.is_function else 'This loop trains'} eagerly, operation by operation; {remedy}.",
                because=(
                    "A part of it is a tf.function, but Python dispatches the rest, with the gradients and the weight update, one by one."
                    if step.is_compiled_in_part
                    else "Nothing on the way from the loop to the weight update is compiled, so Python dispatches every operation of every step."
                )
                + (f" In {step.turns:.0f} steps that is about what tracing takes." if step.turns <= SHORT_LOOP else ""),
                # Whoever has a mode for it, or says why it is not compiled, knows that it is slow.
                severity=Severity.INFO if step.turns <= _A_FEW_SECONDS or module.program.runs_functions_eagerly or step.may_be_meant or step.is_compiled_in_part or asks_for_mode(step.update.scope) or _was_compiled(step) else Severity.WARNING,
                fix=compile_step(step.module, step.node) if remedy == _DECORATE else None,
                related=((step.update, "the weights are updated here"), (step.loop, "in this loop")),
            )


def _remedy(step):
    """What to write instead, in the imperative."""
    compiled = (
        "move the step into a function decorated with @tf.function"
        if not step.is_function
        else "make a tf.function of it for each optimizer"
        if step.takes_optimizers
        else "move what its tape records into a function decorated with @tf.function"
        if step.needs_python
        else _DECORATE
    )
    if step.makes:
        made = f"its {step.makes}" if step.makes.startswith("tf.") else step.makes[0].lower() + step.makes[1:]
        return f"make {made} once, outside of it, and {compiled}"
    return f"write {step.computes_outside} with operations of TensorFlow, and {compiled}" if step.computes_outside else compiled


def _was_compiled(step):
    """Whether the decorator of a step is there as a comment: somebody tried it."""
    lines = [*step.node.leading_lines, *step.node.lines_after_decorators] if isinstance(step.node, cst.FunctionDef) else []
    return any(line.comment is not None and _DECORATOR.search(line.comment.value) for line in lines)
