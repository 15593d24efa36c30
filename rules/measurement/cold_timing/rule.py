from kerascheck.api import Rule, Severity, constant, program

_A_FEW_EPOCHS = 3
_A_FEW_TURNS = 20


class ColdTiming(Rule):
    """A timer includes tracing and compilation in a measurement of speed.

    ## What it does

    Reports two clock readings around the first run of a `tf.function`, or of `predict`, `evaluate`, `train_on_batch`
    and similar methods of a model. The program must use the difference as a speed. It divides the difference by a
    number of examples, collects it with other readings, or calls it a latency, an inference time, a throughput or
    similar. `fit` counts with up to three epochs.

    ## Why it costs

    It costs no time; it makes the number wrong. The first run traces the Python code, builds the graph, and compiles
    it if XLA is on. A first `fit` of one epoch took 0.6 to 1.0 s, and the next took 0.2 s. With XLA, the first took
    2.2 s and the next 0.14 s (2 CPU cores, TensorFlow 2.21, no GPU). A single `predict` of one image measures little
    else. On a GPU the first run also loads libraries and tests algorithms; this is unmeasured here.

    ## What the runtime does by itself

    TensorFlow keeps the traced function for the next call with the same shapes and types. `fit`, `evaluate` and
    `predict` have one each, so running one of them does not warm up another. The exception is `fit` with
    `validation_data`, which also runs the step of `evaluate`.

    ## When it stays silent

    - The same code runs before the clock starts, or the program passes the model to code that may have run it.
    - The program only prints the difference as its own duration, as in "training took 30 s".
    - The program prints durations of its parts, and each reading ends one part and starts the next.
    - The code around it mentions the first run, warm-up, tracing, compilation or start-up, in a name or a text. The
      author measures these on purpose.
    - A loop repeats the measurement or runs over the data, so the first run hardly counts.
    - Several different operations are between the two readings, or the model comes from code that is not visible.
    - The program itself does not call the function or callback.
    - Tests.

    ## Use instead

    Run it once with the same shapes before the clock starts, and take the median of several runs.

    ## Fix safety

    There is no automatic fix: another run may change weights or write files.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (tracing)
    - Keras source: `backend/tensorflow/trainer.py` (`make_predict_function`)
    """

    code = "KC601"
    name = "cold-timing"
    summary = "timing includes tracing and compilation"
    severity = Severity.INFO
    speed = False
    triggers = (".time(", "time(", "default_timer", "perf_counter", "monotonic", "process_time", "_ns(", ".now(")
    loss_tolerance = 1e-5

    def check(self, module):
        for interval in program.measured_intervals(module):
            runs = list(program.compiled_runs(program.calls_between(module, interval)))
            if not runs or any(run.key != runs[0].key for run in runs) or program.is_warm(module, runs[0], interval):
                continue
            call = runs[0].call
            if interval.start.path.innermost_loop(within="program") is not None or any(
                loop.trips is None or loop.trips > _A_FEW_TURNS for loop in runs[0].path.loops(within="program")
            ):
                continue
            epochs = call.given("epochs") if call.attribute == "fit" else None
            if (
                epochs is not None
                and not constant(epochs, 99) <= _A_FEW_EPOCHS
                or not program.measures_speed(module, interval)
            ):
                continue
            yield self.finding(
                interval.end,
                "This time includes tracing and compilation; run the code once before you start the clock.",
                because="The same code has not run before, so most of the time goes into building the graph.",
                related=((interval.start, "started here"), (runs[0], "first run")),
            )
