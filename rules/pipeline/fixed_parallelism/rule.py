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
    """The number of parallel calls is fixed for one machine, where the runtime would choose it.

    ## What it does

    Looks for a `map` or `batch` on the way to training with a literal `num_parallel_calls` of more
    than 8, or with the count of cores: `os.cpu_count()` or that of `multiprocessing` or `psutil`.

    It is reported with `--pedantic` only: no cost of such a number could be measured, and it may have been found by
    measuring.

    ## Why it costs

    Mostly it does not. Literals above the count of cores had no measurable cost on 2 CPU cores
    (TensorFlow 2.21, no GPU), and 64 parallel calls of a tiny map were even 3.3 times faster than
    AUTOTUNE. What a fixed number loses is what AUTOTUNE does on other machines: it divides the
    cores among all operations of the pipeline while it runs.

    ## What the runtime does by itself

    It obeys the number. With `tf.data.AUTOTUNE` it starts with up to 16 calls and moves cores to the
    operation that the others wait for. A single literal call, `num_parallel_calls=1`, is another
    matter: it forbids what the runtime does by itself, see `serial-map`.

    "A literal must always become AUTOTUNE" is not what measurements say. Neither does
    `prefetch(1)` have to: it was as good as AUTOTUNE (ratio 0.99), and is not looked at here.

    ## When it stays silent

    - Up to 8 calls; `tf.data.AUTOTUNE`; a number that cannot be seen.
    - A number that comes through a parameter, or an attribute of `self`: the caller chose it, and another caller may
      choose otherwise.
    - `prefetch`, `interleave` and reads of files, where more calls than cores hide waiting.
    - The function holds a `py_function` or `numpy_function`, or changes state that outlives a call: only the program
      can know how many of these may run at a time.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps;
      a `take` of at most 32 elements before the operation is inspection.

    ## Use instead

    `num_parallel_calls=tf.data.AUTOTUNE`, unless a measurement says otherwise.

    ## Fix safety

    Safe where all of the function is visible and free of state: the elements and their order stay the same.

    Unsafe where the function draws, reads a `tf.Variable` or a file, or takes an unknown value from outside.
    Unsafe, too, where the order is given up already, and where unseen code gets the dataset. AUTOTUNE may run more
    calls ahead than the number did. A generator that a `take` holds back, or a file that the training writes, keeps
    the fix from being safe.

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
