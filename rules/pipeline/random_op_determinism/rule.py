from kerascheck.api import Applies, Rule, Severity, conditions, constant, names

_SETTERS = ("os.environ.__setitem__", "os.environ.setdefault", "os.putenv")


class RandomOpDeterminism(Rule):
    """A script that trains makes every operation deterministic.

    ## What it does

    Looks for `tf.config.experimental.enable_op_determinism()`, or the environment variable `TF_DETERMINISTIC_OPS` set
    to 1 or "true", in a script that trains. It is a warning if a map with random operations feeds the training, and an
    info elsewhere.

    ## Why it costs

    The random draws of a map must then happen in a fixed order, so tf.data runs one call at a time and ignores
    `num_parallel_calls`. On 2 CPU cores (TensorFlow 2.21, no GPU), a pipeline with random operations took 0.72 s
    instead of 0.41 s. More cores lose more: the TensorFlow documentation mentions several orders of magnitude. On a
    GPU, deterministic kernels are also slower. Their cost is unmeasured here.

    ## What the runtime does by itself

    Without the switch, `keras.utils.set_random_seed` already makes weights, shuffling and draws repeatable. Two
    differences remain: the last bits of sums on a GPU, and the assignment of draws to elements in a parallel random
    map. With the switch, Keras 3 does not use XLA either (`jit_compile="auto"`).

    `tf.random.stateless_*` and `tf.image.stateless_random_*` with a seed from the element's index give every element
    the same draw in any order. Such a map stays parallel and repeatable.

    ## When it stays silent

    - A condition controls the switch, such as a command-line flag.
    - Reported as info instead of a warning: no training uses a random map, or a `cache` keeps the draws of the map.
    - The code is a test.
    - The program sets the variable to 0 or to a value that is not a literal.

    ## Use instead

    Use `keras.utils.set_random_seed(seed)` for everyday runs, and determinism behind a flag for debugging runs. In the
    map, use stateless random operations.

    ## Fix safety

    There is no automatic fix: the code does not show whether bit-wise repeatable runs are worth the time.

    ## References

    - TensorFlow API: `tf.config.experimental.enable_op_determinism`
    - TensorFlow guide: "Random number generation"
    - Keras source: `backend/tensorflow/trainer.py` (`model_supports_jit`)
    """

    code = "KC124"
    name = "random-op-determinism"
    summary = "all operations are made deterministic"
    severity = Severity.WARNING
    applies = Applies(without_training=False)
    triggers = ("enable_op_determinism", "TF_DETERMINISTIC_OPS")
    loss_tolerance = None

    def check(self, module):
        switches = [
            call
            for call in module.run.calls
            if _asks(call)
            and not any(call.path.conditions(within="program"))
            and not _is_behind_flag(call)
            and module.program.is_executed(call.path)
        ]
        if not switches:
            return
        random = next(
            (
                op
                for op in module.pipelines.operations("map")
                if op.feeds_training
                and op.facts.randomness is not None
                and not op.followed_by(module.pipelines, "cache")
            ),
            None,
        )
        because = "Deterministic kernels are slower on a GPU, and Keras 3 then leaves XLA off; a seed needs neither."
        yield self.finding(
            switches[0],
            "This makes every operation deterministic; put it behind a flag and use keras.utils.set_random_seed by default.",
            because=because
            if random is None
            else "The random operations of this map must then draw in a fixed order, so its calls run one after the other.",
            doubt="How much slower they are depends on the layers." if random is None else None,
            related=((random, "the random map"),) if random is not None else (),
        )


def _is_behind_flag(call):
    """Whether a condition guards it in its own function, whatever its caller passes."""
    function = call.path.frame.function
    return function is not None and any(
        conditions.written_conditions(call.module.tree, call.node, within=function.node)
    )


def _asks(call):
    if call.name in _SETTERS:
        return constant(call.given("key")) == "TF_DETERMINISTIC_OPS" and str(constant(call.given("value"))).lower() in (
            "1",
            "true",
        )
    return call.name == names.devices.ENABLE_OP_DETERMINISM
