from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.timing import between, eager_work, intervals, is_warmed_up, measures_speed, unread_work


class UnsynchronizedTiming(Rule):
    """A clock is read before the work that it measures is certain to be done.

    ## What it does

    Reports two readings of a clock around calls of a `tf.function` or steps that train eagerly, where nothing reads the result before the
    second reading and the difference is used as a speed: divided by a number of items, collected with others, or called a latency,
    a throughput and the like; around a pass over the data that a loop measures each time; and around nothing but eager calls of models and matrix products.

    ## Why it costs

    It costs no time, it makes the number wrong on a GPU: the call returns when the work is handed to the device, not when
    it is done. The measurement then shows how fast Python hands out work. On a CPU the result is there when the
    call returns, and so the same program seems right until it runs on a GPU (unmeasured here). Of a pass over the data only
    the last steps are missing.

    ## What the runtime does by itself

    Reading a value waits for it: `.numpy()`, `float(...)`, `print`. `fit`, `evaluate`, `predict` and
    `train_on_batch` of Keras 3 on TensorFlow return numbers, and so wait.

    ## When it stays silent

    - Something is called between the work and the second reading: it may read the result.
    - What ends in strings, as by `tf.strings.join`, which are made on the CPU from the results.
    - Programs that pick boxes by `tf.image.non_max_suppression` and its like: these wait for the device.
    - `fit`, `evaluate`, `predict` and the other methods that wait by themselves.
    - How long the program took, as in "training took 30 s".
    - The script hides the GPUs from itself, as by `CUDA_VISIBLE_DEVICES`, or places the work on the CPU.
    - Eager code among which anything else is called than TensorFlow; code for the graphs of TensorFlow 1; functions that the program itself does not call; tests.

    ## Use instead

    Read the result before the clock: `result.numpy()`. Where there is no result,
    `tf.test.experimental.sync_devices()`, in TensorFlow 2.12 and later.

    ## Fix safety

    There is no automatic fix: which of several results has to be read depends on the program.

    ## References

    - TensorFlow API: `tf.test.experimental.sync_devices`
    - TensorFlow guide: "Optimize TensorFlow GPU performance with the TensorFlow Profiler"
    """

    code = "KC602"
    name = "unsynchronized-timing"
    summary = "clock is read before the work is done"
    severity = Severity.INFO
    triggers = (".time(", "time(", "default_timer", "perf_counter", "monotonic", "process_time", "_ns(", ".now(")
    loss_tolerance = 1e-5

    def check(self, module):
        reported = set()
        for interval in () if module.program.pins_cpu or module.is_graph_code or module.program.suppresses_boxes else intervals(module, again=True):
            calls = between(module, interval)
            work, alone = unread_work(module, calls), eager_work(calls)
            if (work or alone) is None or interval.end.node in reported:
                continue
            around = set(interval.start.scope.loops())
            is_pass = work is not None and any(loop.trips != 1 for loop in work.scope.loops() if loop not in around)
            if alone is None and not (is_pass and around or measures_speed(module, interval) or is_warmed_up(module, work, interval)):
                continue
            if module.program.cpu_device((work or alone).scope) is not None:
                continue
            reported.add(interval.end.node)
            yield self.finding(
                interval.end,
                "The clock is read before the last steps are done; read one of their results first, as by .numpy()."
                if is_pass
                else "The clock is read before the result is; read the result first, as by .numpy().",
                because="On a GPU the call returns when the work is handed over, not when it is done.",
                related=((interval.start, "started here"), (work or alone, "not waited for")),
            )
