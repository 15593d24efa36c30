from kerascheck.api import Applies, Rule, Severity, Tally, constant, data, fixes, wording

_MESSAGES = {
    True: "This map runs one call at a time; give it num_parallel_calls={}.",
    None: "This map runs one call at a time if its function holds state; num_parallel_calls={} makes it parallel.",
    False: "This map leaves parallel calls to the runtime; num_parallel_calls={} makes it parallel in every version.",
}
_WRITES = "This map changes state, so it runs one call at a time; move its other work to a separate map."
_BECAUSE = {
    data.Serial.INSIDE: "TensorFlow does not rewrite maps inside the function given to {op.inside.name}.",
    data.Serial.ASKED_FOR: "The literal 1 keeps TensorFlow from making the map parallel by itself.",
    data.Serial.OLD_VERSION: "TensorFlow {runtime.tensorflow_version} does not make maps parallel by itself.",
    data.Serial.SWITCHED_OFF: "The options of this dataset switch the automatic rewrite off.",
    data.Serial.STATELESS: "The function is stateless, so TensorFlow 2.6 and later make this map parallel themselves; older versions do not.",
    data.Serial.UNKNOWN: "If the function holds state (random draws, lookups, variables), TensorFlow leaves the map serial.",
}


class SerialMap(Rule):
    """A map that TensorFlow cannot make parallel by itself runs on one core.

    ## What it does

    Looks for `dataset.map(f)` in a training pipeline if `f` runs one call at a time, for one of these reasons:

    - `f` has state: random operations, a lookup table, a vocabulary layer, a variable, a layer or model with weights,
      `tf.print`, or a called `tf.function` with one of these;
    - the map is inside the function passed to `interleave` or `flat_map`;
    - the map sets `num_parallel_calls=1`;
    - the options of the dataset disable the automatic rewrites or the autotuner;
    - the program targets TensorFlow 2.5 or older.

    It is an info if the function is not visible. The rule reports a stateless map only with `--pedantic`, because the
    runtime makes it parallel.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    One core prepares the data while the other cores and the accelerator wait. On 2 CPU cores (TensorFlow 2.21, no GPU),
    the stateful map was 1.9 times slower than the parallel one. The map with the literal 1 was equally slow. Two cores
    cannot show a factor above 2. Inside an interleave function, the map was 1.7 times slower, in a noisy measurement.
    There is no loss if `f` is trivial.

    ## What the runtime does by itself

    Since TensorFlow 2.6, the runtime makes a stateless map parallel when the program iterates over the dataset. An
    explicit `num_parallel_calls` changed nothing there (ratio 1.0). The advice to put AUTOTUNE on every map is
    therefore out of date: only the state of the function matters. The runtime obeys a literal 1, so it is worse than no
    argument. It never rewrites functions inside `interleave` and `flat_map`.

    ## When it stays silent

    - The call passes an explicit `num_parallel_calls` other than 1, unknown keyword arguments, or `synchronous=True`.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps. A `take` of at most 32 elements before the operation counts as inspection.
    - `f` is a `py_function` or `numpy_function`: it holds the GIL, and parallel calls did not help (ratio 1.0). See
      `py-function-in-map`.
    - `f` is stateless, and the options of the dataset set `experimental_optimization.map_parallelization = True`. Older
      versions obey this option, too.
    - Two draws of `f` share one seed, as for an image and its mask: parallel calls would mix their numbers.
    - `f` only changes state that outlives a call, and does no reading, decoding or other computation. For example, it
      assigns a variable, updates a metric or appends to a list. The calls must run one after the other. If `f` does
      more, the finding recommends a separate map for the other work. Inside `interleave` and `flat_map`, and with
      `num_parallel_calls=1`, an `f` that changes such state is never reported.
    - A `take` limits `f` to at most 32 calls.
    - The map is in the function of an interleave that already runs in parallel.
    - `f` only selects, repacks, reshapes or casts, and the run is without `--pedantic`.
    - Reported as info instead of a warning: `tf.print` is the only state, or a table looks up a whole batch.
    - Reported as info instead of a warning: a `cache` keeps the output, or no training with the dataset is visible. For
      the second reason, the literal 1 and a map inside `interleave` or `flat_map` remain warnings.
    - The program requests determinism, by `enable_op_determinism` or `TF_DETERMINISTIC_OPS`.

    ## Use instead

    `dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)`.

    ## Fix safety

    Safe if all of `f` is visible and stateless: parallel calls then give the same elements in the same order.

    Unsafe if `f` draws random numbers, reads a `tf.Variable`, or calls a model or a layer with weights. A file that it
    reads makes the fix unsafe unless tf.data makes the map parallel by itself. Also unsafe if it uses a table that may
    change. A variable also counts if an object, a container, a default or a layer holds it. The same applies to an
    unknown value that `f` uses from outside. The fix is also unsafe if the dataset or its options give up the order. It
    changes the class of the dataset, so it is also unsafe if the program prints the dataset or passes it to unseen
    code.

    Parallel calls read further ahead. This is safe if tf.data already runs ahead of the training, or if nothing that
    the dataset reads can change. Either condition is enough. A `take` or a `zip` after the map keeps tf.data from
    running ahead: a generator before the map would then yield more elements than the `take` requests.

    There is no fix if `f` changes state that outlives a call, such as a counter in a `tf.Variable`. With parallel
    calls, 1,018 of 4,000 elements got a different counter value (TensorFlow 2.21, 2 CPU cores).

    ## References

    - TensorFlow API: `tf.data.Dataset.map`, `tf.data.experimental.OptimizationOptions`
    - TensorFlow guide: "Better performance with the tf.data API"
    - TensorFlow source: `map_parallelization.cc`, `function_utils.cc` (`IsFunctionStateful`)
    """

    code = "KC101"
    name = "serial-map"
    summary = "map runs one call at a time"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".map(",)
    proves = ("pure-function", "same-order", "runtime-does-it", "known-consumers", "unchanged-sources")
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations("map", "map_with_legacy_function"):
            if not op.may_feed_training:
                continue
            serial = data.serial(module, op)
            if (reason := _why_not(module, op, serial)) is not None:
                yield self.silence(op, reason)
                continue
            is_serial, state = serial.is_certain, op.facts.state
            # Parallel calls gain nothing.
            trivial = is_serial is True and op.facts.is_trivial
            yield self.finding(
                op,
                (_MESSAGES[is_serial] if op.facts.written is None else _WRITES).format(module.runtime.autotune),
                because=_because(module, op, serial)
                + " The function does nothing that is worth more than one core, though." * trivial,
                severity=Severity.WARNING if is_serial and data.is_paid_in_each_epoch(module, op) else Severity.INFO,
                pedantic=trivial,
                tally=Tally("map without parallel calls", repaired_since="2.6") if is_serial is False else None,
                fix=fixes.parallel_calls(module, op),
                related=((state.call, "this makes the function stateful"),) if serial is data.Serial.STATEFUL else (),
            )


def _because(module, op, serial):
    if serial is data.Serial.STATEFUL:
        return f"TensorFlow leaves stateful functions serial, and here {wording.stateful(op.facts.state)}."
    return _BECAUSE[serial].format(op=op, runtime=module.runtime)


def _why_not(module, op, serial):
    """Why a map is not to run its calls in parallel, or loses nothing by that; None where it does."""
    if module.program.is_deterministic:
        return "the program asks for deterministic operations"
    if data.says_parallelism(op):
        return "the call says how many run in parallel"
    if data.is_called_rarely(op):
        return "its function is called a few times only"
    # Parallel calls wait for Python's lock: py-function-in-map reports those.
    if op.facts.python_function is not None:
        return "its function calls Python, and parallel calls would wait for each other"
    around = op.inside.parallelism if op.inside is not None else None
    if around is not None and constant(around) != 1:
        return f"the {op.inside.name} around it runs in parallel"
    kept = serial in (data.Serial.INSIDE, data.Serial.ASKED_FOR, data.Serial.STATELESS)
    if op.facts.written is not None and (kept or not op.facts.works):
        return "its function changes state, which takes one call at a time"
    if op.facts.draws_alike:
        return "its function draws random numbers with one seed that must stay together"
    if op.parallelism is not None and op.facts.is_trivial:
        return "its function does next to nothing"
    return (
        "the options of the dataset make it parallel"
        if serial is data.Serial.STATELESS and op.rewrites.maps_on
        else None
    )
