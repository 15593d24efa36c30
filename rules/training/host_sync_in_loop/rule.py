from kerascheck.api import Applies, Rule, Severity, training

_SHORT = 50
_PLACES = 4


class HostSyncInLoop(Rule):
    """Every step of a training loop reads a result back to Python.

    ## What it does

    Reports the first line in a training loop that turns a tensor into a number or text in each iteration. If the loop
    also calls a function of another file that does so, the finding shows that line too. Examples are:

    - `loss.numpy()`, `float(loss)`, `print(loss)` or `f"{loss:.3f}"`;
    - a NumPy function such as `np.mean(loss)`;
    - `optimizer.iterations.numpy()`;
    - a tensor passed to a progress bar.

    If a `GradientTape` computes gradients of a loss, the rule treats the loss as a tensor, even if its function is not
    visible.

    ## Why it costs

    Python queues steps on an accelerator without waiting. To read a number, it waits until all queued steps are done.
    The accelerator then waits for Python to start the next step. The cost on a GPU is unmeasured here. On a CPU we
    found no cost. Loops with `float(loss)` or `print` in each step took 0.91 to 1.06 times as long as without (2 CPU
    cores, TensorFlow 2.21, no GPU). So this is an info.

    ## What the runtime does by itself

    Nothing. In Keras 3 on TensorFlow, even `fit` reads its logs back at every step.

    ## When it stays silent

    - The loop reads the number under a condition, such as once every hundred steps, or the program reads it after the
      loop.
    - The value is an element of the dataset, which is in the memory of the host anyway.
    - The loop trains nothing, or its step runs many steps in an inner loop and reads once for all of them.
    - An eager step acts in a game or a simulation that needs a number each time.
    - Python uses the result of a function that receives the numbers, as in `state = client.step(action.numpy())`.
    - The training is under `tf.device("cpu")`.
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
        for read in training.results_read_back(module, _SHORT):
            first = read.calls[0]
            yield self.finding(
                first,
                "Every step reads a result back to Python; keep it as a tensor and read it every few hundred steps.",
                because="Python waits for each step before it starts the next; what that costs on a GPU is unmeasured.",
                related=(
                    (read.update, "the step updates the weights here"),
                    (read.loop, "in this loop"),
                    *((call, "this reads a result, too") for call in read.calls if call.module is not first.module),
                )[:_PLACES],
            )
