from kerascheck.api import (
    Applies,
    Made,
    Method,
    Rule,
    Severity,
    Tensor,
    graph,
    holds_tensor,
    names,
    options_of,
    training,
)

_READERS = frozenset({"builtins.print", "builtins.format", "builtins.float", "builtins.int"})
# These ask the tensor, which knows without its numbers.
_OF_SHAPES = frozenset({"numpy.shape", "numpy.ndim", "numpy.size"})
_SHORT = 50
_PLACES = 4
_DISPLAYS = frozenset({"set_postfix", "set_description"})


class HostSyncInLoop(Rule):
    """Every step of a training loop reads a result back to Python.

    ## What it does

    Reports the first place in a loop with a training step where each iteration turns a tensor into a number or text.
    If the loop also calls a function of another file that does so, the finding names that place too:

    - `loss.numpy()`, `float(loss)`, `print(loss)` or `f"{loss:.3f}"`;
    - a NumPy function such as `np.mean(loss)`;
    - `optimizer.iterations.numpy()`;
    - a tensor that is passed to a progress bar.

    A loss that enters the gradients of a `GradientTape` is a tensor, whichever function computes it.

    ## Why it costs

    Python passes steps to an accelerator one after the other, without waiting. When it reads a number, it waits until
    all steps that it has passed are done. The accelerator then waits for Python to start the next step. How much that
    costs on a GPU is unmeasured here. On a CPU no cost could be shown: loops with `float(loss)` or `print` in each step
    took 0.91 to 1.06 times as long as without (2 CPU cores, TensorFlow 2.21, no GPU). So this is an info.

    ## What the runtime does by itself

    Nothing here. `fit` of Keras 3 on TensorFlow itself reads its logs back at every step.

    ## When it stays silent

    - The number is read under a condition, such as once every hundred steps, or after the loop.
    - The value is an element of the dataset, which is in the memory of the host anyway.
    - The loop trains nothing; or its step runs many steps in an inner loop and reads once for all of them.
    - An eager step acts in a game or a simulation, which needs a number each time.
    - Python uses what a function computes from the numbers, as in `state = client.step(action.numpy())`.
    - The training stands under `tf.device("cpu")`.
    - The loops around it have at most 50 iterations in total, according to the literals.
    - The program runs functions eagerly; the code is a test.

    ## Use instead

    Keep the tensors (`losses.append(loss)`) or a `keras.metrics.Mean` inside the step. Read them once per epoch or
    under `if step % 100 == 0`.

    ## Fix safety

    There is no fix: only the author knows when the number is needed.

    ## References

    - TensorFlow guide: "Optimize TensorFlow GPU performance with the TensorFlow Profiler"
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC402"
    name = "host-sync-in-loop"
    summary = "every step reads a result back to Python"
    evidence_note = "On a CPU the result is ready when Python reads it; the gain needs a GPU or another accelerator."
    severity = Severity.INFO
    applies = Applies(graph_code=False, cpu_only=False)
    triggers = ("GradientTape", ".function", "train_step(")
    loss_tolerance = 1e-6

    def check(self, module):
        reads = {}
        for call, loop, update in graph.calls_beside_training(module, least=_SHORT, eager=True):
            if not _reads_back(call) or module.program.cpu_device(update.scope) is not None:
                continue
            if not training.is_acted_on(module, call.module.tree, call.node):
                reads.setdefault(loop, (update, []))[1].append(call)
        for loop, (update, calls) in reads.items():
            # What a helper reads is read for the loop: its own file shows both.
            first = next((call for call in calls if call.module is loop.module), calls[0])
            yield self.finding(
                first,
                "Every step reads a result back to Python; keep it as a tensor and read it every few hundred steps.",
                because="Python waits for each step before it starts the next; what that costs on a GPU is unmeasured.",
                related=(
                    (update, "the step updates the weights here"),
                    (loop, "in this loop"),
                    *((call, "this reads a result, too") for call in calls if call.module is not first.module),
                )[:_PLACES],
            )


def _reads_back(call):
    if call.attribute == "numpy":
        return _is_on_device(call.receiver)
    name = call.name or ""
    reads = name in _READERS or name.startswith("numpy.") and name not in _OF_SHAPES or call.attribute in _DISPLAYS
    return reads and any(map(_is_on_device, call.arguments.values()))


def _is_on_device(value):
    # What a dataset gives is still in the memory of the host.
    element = isinstance(value, Tensor) and value.origin == "element"
    return (
        holds_tensor(value)
        and not element
        or any(
            isinstance(option, Made)
            and option.name == names.classes.METRIC_RESULT
            or isinstance(option, Method)
            and option.name == "iterations"
            and isinstance(option.receiver, Made)
            and names.classes.class_of(option.receiver.name) == names.classes.OPTIMIZER
            for option in options_of(value)
        )
    )
