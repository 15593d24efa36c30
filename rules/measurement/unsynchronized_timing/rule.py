from kerascheck.api import Applies, Rule, Severity, program


class UnsynchronizedTiming(Rule):
    """A program reads a clock before the measured work is certain to be done.

    ## What it does

    Reports two clock readings around calls of a `tf.function` or eager training steps if no code reads the result
    before the second reading. There are four cases:

    - The program uses the difference as a speed. It divides the difference by a number of examples, collects it with
      other readings, or calls it a latency, a throughput or similar. Readings that each iteration collects and
      `np.diff` subtracts also count.
    - A loop measures each pass over the data.
    - The program runs the same function directly before the clock starts, as a warm-up.
    - There are only eager calls of models and matrix products between the readings.

    ## Why it costs

    It costs no time; it makes the number wrong on a GPU. The call returns when the work is in the queue of the device,
    not when it is done. So the measurement shows how fast Python queues work. On a CPU the result is ready when the
    call returns, so the same program seems right until it runs on a GPU (unmeasured here). A pass over the data misses
    only the last steps.

    ## What the runtime does by itself

    Code that reads a value waits for it: `.numpy()`, `float(...)`, `print`. In Keras 3 on TensorFlow, `fit`,
    `evaluate`, `predict` and `train_on_batch` return numbers, and so wait.

    ## When it stays silent

    - Another call between the work and the second reading may read the result.
    - The work ends in strings, for example by `tf.strings.join`, which the CPU builds from the results.
    - The program selects boxes with `tf.image.non_max_suppression` or similar functions, which wait for the device.
    - `fit`, `evaluate`, `predict` and other methods that wait.
    - The difference is the duration of the program, as in "training took 30 s".
    - The program places the work on the CPU.
    - Eager code that also calls libraries other than TensorFlow.
    - Functions that the program itself does not call.
    - Tests.

    ## Use instead

    Read the result before the clock: `result.numpy()`. If there is no result, call
    `tf.test.experimental.sync_devices()`, in TensorFlow 2.12 and later.

    ## Fix safety

    There is no automatic fix: the result to read depends on the program.

    ## References

    - TensorFlow API: `tf.test.experimental.sync_devices`
    - TensorFlow guide: "Optimize TensorFlow GPU performance with the TensorFlow Profiler"
    """

    code = "KC602"
    name = "unsynchronized-timing"
    summary = "clock is read before the work is done"
    severity = Severity.INFO
    applies = Applies(graph_code=False, cpu_only=False)
    speed = False
    triggers = (".time(", "time(", "default_timer", "perf_counter", "monotonic", "process_time", "_ns(", ".now(")
    loss_tolerance = 1e-5

    def check(self, module):
        reported = set()
        for interval in () if module.program.suppresses_boxes else program.measured_intervals(module, again=True):
            calls = program.calls_between(module, interval)
            work, alone = program.unread_work(module, calls), program.eager_work(calls)
            if (work or alone) is None or interval.end.node in reported:
                continue
            around = set(interval.start.path.loops(within="program"))
            is_pass = work is not None and any(
                loop.trips != 1 for loop in work.path.loops(within="program") if loop not in around
            )
            if alone is None and not (
                is_pass
                and around
                or program.measures_speed(module, interval)
                or program.is_warmed_up(module, work, interval)
            ):
                continue
            if module.program.cpu_device((work or alone).path) is not None:
                continue
            reported.add(interval.end.node)
            yield self.finding(
                interval.end,
                "The timer stops before the last steps have finished; call .numpy() on one of their results first."
                if is_pass
                else "The timer stops before the accelerator has finished; call .numpy() on the result first.",
                because="On a GPU the call returns when the work is queued, not when it is done.",
                related=((interval.start, "started here"), (work or alone, "not waited for")),
            )
