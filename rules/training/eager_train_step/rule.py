from kerascheck.api import Applies, Rule, Severity, data, fixes, program, training, wording

# By their literals, these are toys: 1,000 steps of a linear model take 3.9 s eagerly and 0.3 s compiled.
_A_FEW_SECONDS = 1000
_DECORATE = "decorate it with @tf.function"
_MOVE = "move the step into a function decorated with @tf.function"


class EagerTrainStep(Rule):
    """A custom training step runs eagerly in a loop, with one Python call for each operation.

    ## What it does

    Finds an uncompiled function, method or loop body that records a `tf.GradientTape`, updates weights and runs in a
    loop. Updates are `apply_gradients`, `apply` and `minimize`, and as an info `assign_sub`.

    The finding is at the `def` of the step, or at the `with tf.GradientTape()` of a step written directly into the
    loop. If a function computes the gradients and the loop applies them, it is at the call of that function. If the
    loop passes them to another function that applies them, it is at the tape.

    ## Why it costs

    Outside `tf.function`, Python starts every operation of the forward pass, the backward pass and the optimizer
    separately. An accelerator finishes a small operation before Python can start the next one, and waits. An eager step
    of a small dense network took 29 times as long as under `tf.function`. For a small CNN it was 5.9 times, and for the
    gradients of a small critic alone at least 9 times (2 CPU cores, TensorFlow 2.21, no GPU). The larger the single
    operations, the smaller the loss.

    Popular advice replaces `fit` by a custom loop for speed. But `fit` compiles its step, and an eager loop does not.

    ## What the runtime does by itself

    Nothing. Keras compiles the `train_step` of a model trained by `fit`, but not your own functions.

    ## When it stays silent

    - The step, an enclosing function, or a caller is a `tf.function`.
    - The program passes the step to `tf.function(step)`, or to `strategy.run` inside a `tf.function`.
    - The loop applies gradients, the names do not show from which function, and the same iteration calls a compiled
      function with a tape.
    - The step overrides `train_step` of a Keras model.
    - The code updates no weights: saliency maps, Grad-CAM, a few steps on the pixels of an image. Gradients that a
      function returns count only if an update of the same iteration receives them, judging by the names.
    - A function computes its gradients in a loop of its own, or under another tape of the same iteration.
    - The tape spans calls of a Python environment, as in reinforcement learning. In such a program, also a step
      written into the loop, or one that calls `predict`, NumPy or `random`. A step in a separate function that only
      uses TensorFlow is still reported.
    - The loop or function of the step calls any method of an `env`.
    - The code under the tape uses Python results computed from tensor values, as in `actions =
      space.decode(chosen.numpy())`.
    - No loop reaches the step, or the step is in a test.
    - In the same iteration, `fit` trains another model, `clone_model` copies one, or `plt.pause` or `plt.show`
      displays a plot.
    - The loops around the step have at most 10 iterations in total, according to the literals. The limit is 100 if the
      step calls only known operations, but no layer and no model.
    - The step calls a model from `tf.saved_model.load` or `hub.load`, which is compiled already.
    - The file also compiles a function of the same name, so the program can compare both. The step is reported if it
      only replaces a compiled function that nothing has called.
    - The step has an unknown decorator, which may compile it.

    The finding is an info, not a warning:

    - for up to 1,000 iterations, which take seconds; up to 100, tracing takes about as long as the steps;
    - if the step calls another `tf.function`, or the `call` of the model is one;
    - if the program turns compilation off, for example by `tf.config.run_functions_eagerly(True)`;
    - if the step changes the input of a model and not its weights, such as an image that excites a neuron, because
      most such loops are short;
    - if, under the tape, an external library receives the model or a function, such as a solver of differential
      equations;
    - under a condition on the execution mode, such as `if mode == "eager_tf"`, or if the function name mentions it,
      such as `train_step_eager`;
    - if the file contains the same step again in a `tf.function`;
    - if each iteration calls `optimizer._set_hyper`, because a trace would keep its value.

    ## Use instead

    `@tf.function` above the step. Move a step in the loop body to a function first, before the loops. Create models,
    optimizers and metrics outside it, and pass tensors, not Python numbers.

    ## Fix safety

    The fix adds the decorator. Unsafe: Python statements in the body then run only at tracing time, so `print`, list
    appends and `.numpy()` change their meaning or fail. Look for them before you apply the fix. For a body of tensor
    operations, the numbers stay the same up to rounding; the order of random draws may change.

    A step written into a `for` loop first becomes a function before the loop. It takes the names that the iteration
    binds, and returns those that other code reads.

    There is no fix:

    - for a step in a loop body that does more than assign to names and update weights and metrics, or that takes
      something from the iteration which is not certainly a tensor, such as the number of the epoch;
    - if the step creates a `tf.Variable` or a layer with weights each time, because `tf.function` then raises a
      ValueError;
    - if the program calls the step with a second optimizer, whose variables do not exist yet (also a ValueError;
      tested with TensorFlow 2.21);
    - if the step, or code that it calls, passes tensors to NumPy or calls `.numpy()`, because tracing raises; the
      finding shows the line;
    - if a `call` draws random numbers with NumPy, because a trace draws them once;
    - if the function itself needs Python: it draws random numbers with NumPy or `random`, or sets attributes.

    ## References

    - TensorFlow guides: "Better performance with tf.function", "Introduction to graphs and tf.function"
    - Keras guide: "Writing a training loop from scratch in TensorFlow"
    """

    code = "KC401"
    name = "eager-train-step"
    summary = "training step runs eagerly"
    severity = Severity.WARNING
    applies = Applies(graph_code=False, tensorflow=">=2")
    triggers = ("GradientTape",)
    proves = ("same-output",)
    loss_tolerance = 1e-5

    def check(self, module):
        for step in training.eager_steps(module):
            remedy = _remedy(step)
            because = _because(step)
            yield self.finding(
                step.lending or step,
                f"{_subject(step)} eagerly, operation by operation; {remedy}.",
                because=because
                if step.reads is None
                else f"{because} Inside a tf.function, .numpy() and NumPy functions of tensors raise.",
                doubt=_doubt(module, step),
                fix=_fix(step, remedy),
                related=(
                    (step.update, "the weights are updated here"),
                    (step.loop, "in this loop"),
                    *(
                        ((step.reads, "this reads values, which raises in a tf.function"),)
                        if step.reads is not None
                        else ()
                    ),
                ),
            )


def _fix(step, remedy):
    if remedy == _DECORATE:
        return fixes.compile_step(step.module, step.node)
    if remedy == _MOVE and step.lending is None:
        return fixes.compile_inline_step(step.module, step.node, step.update)
    return None


def _because(step):
    """The part of the step that Python runs, as a sentence."""
    if step.is_compiled_in_part:
        rest = "the gradients" if step.lending is not None else "the gradients and the weight update"
        return f"Part of it is a tf.function, but Python dispatches the rest one by one, including {rest}."
    end = "the gradients" if step.lending is not None else "the weight update"
    return f"Nothing on the way from the loop to {end} is compiled, so Python dispatches every operation of every step."


def _subject(step):
    """The code that runs eagerly, with its verb."""
    if step.lending is not None:
        return "This function computes gradients"
    return "This training step runs" if step.is_function else "This loop trains"


def _doubt(module, step):
    """A doubt about the cost of an eager step; None if it costs time in a long training."""
    if step.turns <= program.SHORT_LOOP:
        return f"For {step.turns:.0f} steps, tracing takes about as long."
    if step.turns <= _A_FEW_SECONDS:
        return f"The loop has at most {step.turns:.0f} steps, which take a few seconds."
    if step.is_compiled_in_part:
        return "It is unknown how much of its time the compiled part takes."
    # An author with a mode for it, or an explanation, knows that it is slow.
    if module.program.runs_functions_eagerly or step.may_be_meant:
        return "Other code here suggests that it is meant to run eagerly."
    return None


def _remedy(step):
    """The replacement, as an imperative."""
    compiled = (
        _MOVE
        if not step.is_function
        else "wrap it in one tf.function per optimizer"
        if step.takes_optimizers
        else "move the code under its tape into a function decorated with @tf.function"
        if step.needs_python
        else _DECORATE
    )
    if step.makes is not None:
        made = wording.created(step.makes)
        made = f"its {made}" if step.makes.kind is data.Creates.VARIABLE else made
        return f"create {made} once, outside it, and {compiled}"
    return (
        f"replace {step.computes_outside} by TensorFlow operations, and {compiled}"
        if step.computes_outside
        else compiled
    )
