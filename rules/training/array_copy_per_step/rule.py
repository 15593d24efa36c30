from kerascheck.api import Applies, Rule, Severity, display_name, training

_SHORT = 50
_NUMBERS = 1_000_000


class ArrayCopyPerStep(Rule):
    """Every step of a training loop copies the same large NumPy array into a tensor.

    ## What it does

    Reports `tf.constant(array)`, `tf.convert_to_tensor(array)` and `tf.gather(array, rows)` of a NumPy array that stays
    the same, if a training loop calls them in each step. The array has at least a million numbers, according to the
    visible code. A step is a weight update by an optimizer, or `train_on_batch`.

    ## Why it costs

    Each call copies the whole array, even if the step uses a few rows. The table shows one call for 784 columns (2 CPU
    cores, TensorFlow 2.21, no GPU):

    | rows | `tf.constant(array)` | `tf.gather(array, rows)` | `tf.gather(tensor, rows)` |
    |---|---|---|---|
    | 1,280 | 1.3 ms | 0.6 ms | 0.04 ms |
    | 12,800 | 22 ms | 5.9 ms | 0.05 ms |
    | 128,000 | 228 ms | 52 ms | 0.2 ms |

    On a GPU, the copy also crosses the bus to the device; that cost is unmeasured here.

    ## What the runtime does by itself

    Nothing. TensorFlow keeps no connection between an array and its copy, because the array may change.

    ## When it stays silent

    - The array has an unknown size, or less than a million numbers.
    - Each iteration makes or selects another array, such as `tf.constant(array[rows])`.
    - The program writes to the array, or something other than TensorFlow and NumPy gets it and may change it, such as a
      replay buffer.
    - A condition selects some of the steps, or the loops have at most 50 iterations in total.
    - The call is in compiled code, where it runs once per trace.

    ## Use instead

    Make the tensor once before the loop, or select the rows in NumPy: `tf.constant(array[rows])`. For batches of
    examples, use a `tf.data.Dataset`.

    ## Fix safety

    There is no fix: the tensor keeps its memory for the whole loop.

    ## References

    - TensorFlow API: `tf.constant`, `tf.convert_to_tensor` and `tf.gather`
    """

    code = "KC422"
    name = "array-copy-per-step"
    summary = "each step copies the same large array"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("constant(", "convert_to_tensor(", "gather(")
    loss_tolerance = 1e-5

    def check(self, module):
        for found in training.array_copies(module, _SHORT, _NUMBERS):
            yield self.finding(
                found.call,
                f"{display_name(found.call.name)} copies the same array in every step; make a tensor of it before the loop.",
                because="The array has at least a million numbers, and each step copies all of them.",
                related=((found.update, "a step trains here"), (found.loop, "in this loop")),
            )
