from kerascheck.api import DictValue, ExternalInstance, Rule, SequenceValue, Severity, graph, names, options_of


def _holds_array(value):
    for option in options_of(value):
        inner = (
            option.items
            if isinstance(option, SequenceValue)
            else option.items.values()
            if isinstance(option, DictValue)
            else ()
        )
        if (
            isinstance(option, ExternalInstance)
            and option.name.startswith(("numpy.", names.namespaces.OF_KERAS_DATASETS))
            or any(map(_holds_array, inner))
        ):
            return True
    return False


class DatasetInFunction(Rule):
    """A `tf.function` creates a dataset from NumPy arrays.

    ## What it does

    Reports `tf.data.Dataset.from_tensor_slices` and `from_tensors` with NumPy arrays in a function under `tf.function`.

    ## Why it costs

    The arrays become constants of the graph. Every trace copies them into the graph, serializes them and copies them
    again. Start-up took 15 times as long as with the dataset passed in, and 6 times the memory (2 CPU cores, TensorFlow
    2.21, no GPU). Above 2 GB, TensorFlow raises
    `ValueError: Cannot create a tensor proto whose content is larger than 2GB`. The steps themselves are no slower.

    ## What the runtime does by itself

    Nothing. Outside a `tf.function`, the arrays are eager tensors, and no graph holds them.

    ## When it stays silent

    - The dataset is created outside and passed in, or captured.
    - The dataset is made of tensors, numbers or files, or its arguments are unknown.
    - The code is not compiled, or Keras compiles it, as a `train_step`.

    ## Use instead

    Create the dataset outside and pass it to the function: `train_epoch(dataset)`.

    ## Fix safety

    There is no automatic fix: the function needs a new parameter, and its callers need a new argument.

    ## References

    - TensorFlow guide: "Better performance with tf.function"
    """

    code = "KC131"
    name = "dataset-in-function"
    summary = "dataset of arrays is made inside a tf.function"
    severity = Severity.WARNING
    triggers = ("from_tensor_slices(", "from_tensors(")
    evidence_note = "The gain is a shorter start and less memory; the steps take equally long."

    def check(self, module):
        for call, how in graph.traced_calls(module):
            if (
                call.name in (names.datasets.FROM_TENSOR_SLICES, names.datasets.FROM_TENSORS)
                and how == "tf.function"
                and _holds_array(call.given("tensors"))
            ):
                yield self.finding(
                    call,
                    "This dataset embeds its NumPy arrays in the graph of a tf.function; create it outside and pass it in.",
                    because="Every trace copies the arrays into the graph, which is limited to 2 GB.",
                )
