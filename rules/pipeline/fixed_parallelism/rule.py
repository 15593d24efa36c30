from kerascheck.api import Applies, Constant, ExternalInstance, Rule, Severity, fixes, names, written

_SMALL_MACHINE = 8
_CORE_COUNTS = ("os.cpu_count", "multiprocessing.cpu_count", "psutil.cpu_count")


def _fixed(parallelism):
    """How a number of parallel calls is fixed, as a sentence; None where it suits small machines, is AUTOTUNE or unknown."""
    if isinstance(parallelism, Constant) and isinstance(parallelism.value, int) and parallelism.value > _SMALL_MACHINE:
        return f"{parallelism.value} calls at a time are more than small machines have cores."
    if isinstance(parallelism, ExternalInstance) and parallelism.name in _CORE_COUNTS:
        return "The count of cores leaves none for the rest of the pipeline, and in a container it may be that of the whole host."
    return None


class FixedParallelism(Rule):
    """A fixed number of parallel calls suits one machine, but the runtime could choose it.

    ## What it does

    Looks for a `map` or `batch` in a training pipeline with a literal `num_parallel_calls` of more than 8. Also looks
    for the number of cores from `os.cpu_count()`, `multiprocessing` or `psutil`.

    The rule reports only with `--pedantic`: no measurement showed a cost of such a number, and the author may have
    chosen it by measuring.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    Mostly it costs nothing. Literals above the number of cores had no measurable cost on 2 CPU cores (TensorFlow 2.21,
    no GPU). For a tiny map, 64 parallel calls were even 3.3 times faster than AUTOTUNE. However, a fixed number cannot
    adapt to other machines. AUTOTUNE divides the cores among all operations of the pipeline while it runs.

    ## What the runtime does by itself

    It obeys the number. With `tf.data.AUTOTUNE` it starts with up to 16 calls and moves cores to the slowest operation.
    A literal `num_parallel_calls=1` is different: it disables the automatic parallelism of the runtime, see
    `serial-map`.

    The measurements do not support the advice "A literal must always become AUTOTUNE". The same holds for
    `prefetch(1)`, which was as good as AUTOTUNE (ratio 0.99). This rule does not check it.

    ## When it stays silent

    - The number is at most 8, is `tf.data.AUTOTUNE`, or is not visible.
    - The number comes from a parameter or an attribute of `self`: the caller chose it, and another caller may choose
      differently.
    - The operation is `prefetch`, `interleave` or a file read, where more calls than cores hide latency.
    - The function contains a `py_function` or `numpy_function`, or changes state that outlives a call. Only the program
      knows how many of these calls may run at once.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps. A `take` of at most 32 elements before the operation counts as inspection.

    ## Use instead

    Use `num_parallel_calls=tf.data.AUTOTUNE`, unless a measurement favours another number.

    ## Fix safety

    Safe if the whole function is visible and stateless: the elements and their order stay the same.

    Unsafe if the function draws random numbers, reads a `tf.Variable` or a file, or uses an unknown value from outside.
    Also unsafe if the pipeline is already non-deterministic, or if unseen code receives the dataset. AUTOTUNE may run
    more calls ahead than the fixed number. The fix is therefore unsafe if a `take` limits a generator, or if the
    training writes a file that the pipeline reads.

    ## References

    - TensorFlow API: `tf.data.Dataset.map`, `tf.data.AUTOTUNE`
    - TensorFlow guide: "Better performance with the tf.data API"
    """

    code = "KC116"
    name = "fixed-parallelism"
    summary = "number of parallel calls is fixed"
    evidence_note = "The map of the example is tiny and the machine has two cores; more cores are unmeasured."
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = ("num_parallel_calls", "cpu_count")
    proves = ("pure-function", "same-order", "runtime-does-it", "known-consumers", "unchanged-sources")
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations("map", "batch"):
            because = _fixed(op.parallelism)
            if (
                because is None
                or written.names_parameter(op.module.tree, op.written_parallelism)
                or not op.may_feed_training
                or op.facts.python_function is not None
                or op.facts.written is not None
                or op.facts.call_of(names.callables.READ_FILE) is not None
            ):
                continue
            yield self.finding(
                op,
                f"The number of parallel calls of this {op.name} is fixed; {module.runtime.autotune} adapts it to the machine.",
                because=because,
                pedantic=True,
                fix=fixes.parallel_calls(module, op),
            )
