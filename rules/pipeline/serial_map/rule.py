from kerascheck.api import Applies, Rule, Severity, constant, data, fixes, wording

_MESSAGES = {
    True: "This map runs one call at a time; give it num_parallel_calls={}.",
    None: "This map runs one call at a time if its function holds state; num_parallel_calls={} makes it parallel.",
    False: "This map leaves parallel calls to the runtime; num_parallel_calls={} says so for every version.",
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

    Looks for `dataset.map(f)` on the way to training where `f` runs one call at a time:

    - `f` has state: random operations, a lookup table or a vocabulary layer, a variable or a
      layer or model with weights, `tf.print`, or a called `tf.function` that holds one of these;
    - the map stands inside the function given to `interleave` or `flat_map`;
    - it says `num_parallel_calls=1`;
    - the options of the dataset switch the automatic rewrites or the autotuner off;
    - it is meant for TensorFlow 2.5 or older.

    It is an info where the function is not visible. A map without state is reported with
    `--pedantic` only, because the runtime repairs it.

    A dataset that leaves the file counts as training data too, unless a function, class or
    variable around it has a name that says validation or test, or a branch asks for those.

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
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps;
      a `take` of at most 32 elements before the operation is inspection.
    - `f` is a `py_function` or `numpy_function`: it holds the GIL, and parallel calls
      did not help (ratio 1.0). See `py-function-in-map`.
    - `f` has no state, and the options of the dataset set `experimental_optimization.map_parallelization = True`,
      which older versions obey, too.
    - Two draws of `f` have one seed, as for an image and its mask: parallel calls would mix their numbers.
    - `f` changes state that outlives a call - it assigns a variable, updates a metric, appends to a list -, and
      reads, decodes or computes nothing beside that: the calls must come one after the other. Where it does more, the
      finding says to put that into a map of its own.
    - `f` is called at most 32 times, as a `take` says.
    - The map is in the function of an interleave that already runs in parallel.
    - Unless `--pedantic` is given, where nothing but picking, repacking, reshaping and changing types is done.
    - As an info, not a warning, where `tf.print` is all that is stateful, where a table
      is asked for a whole batch, where a `cache` keeps what comes out, and where no training with the dataset is seen.
    - The program requests determinism, by `enable_op_determinism` or `TF_DETERMINISTIC_OPS`.

    ## Use instead

    `dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)`.

    ## Fix safety

    Safe where all of `f` is visible and free of state: parallel calls then give the same elements in the same
    order.

    Unsafe where `f` draws, reads a `tf.Variable` or a file, calls a model or a layer with weights, or looks up a
    table that may change. A variable also counts where an object, a container, a default or a layer holds it. So
    does an unknown value that `f` takes from outside. Unsafe, too, where the dataset or its options give up the
    order, where the program prints the dataset, and where unseen code gets it: the class of the dataset changes.

    Parallel calls read further ahead. That is safe where tf.data already runs ahead of the training, or where
    nothing that the dataset reads can change: one of both is enough. A `take` or a `zip` behind the map keeps
    tf.data from running ahead: a generator before the map would then give more elements than the `take` asks for.

    There is no fix where `f` changes state that outlives a call, such as a counter in a `tf.Variable`: with
    parallel calls 1,018 of 4,000 elements got another number of such a counter (TensorFlow 2.21, 2 CPU cores).

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
            # There is nothing to do in parallel.
            trivial = is_serial is True and op.facts.is_trivial
            yield self.finding(
                op,
                (_MESSAGES[is_serial] if op.facts.written is None else _WRITES).format(module.runtime.autotune),
                because=_because(module, op, serial)
                + " The function does nothing that is worth more than one core, though." * trivial,
                severity=Severity.WARNING if is_serial and data.is_paid_in_each_epoch(module, op) else Severity.INFO,
                pedantic=is_serial is False or trivial,
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
    # Parallel calls wait for Python's lock: py-function-in-map speaks of those.
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
