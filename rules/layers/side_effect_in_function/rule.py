from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.fixes import tensorflow_print
from kerascheck.semantics.places import is_off_by_default
from kerascheck.semantics.traced import RUNS_ONCE, is_seen_compiled, side_effects


class SideEffectInFunction(Rule):
    """Python in compiled code that is meant for every step runs once, while the code is traced.

    ## What it does

    Looks at `call`, `train_step`, losses, `Lambda` bodies and functions under `tf.function`, with what they call, and reports:
    `print` of a tensor, also as part of a text; numbers drawn by `np.random` and `random`; `time.time`, `time.sleep` and their like; `open` and
    `input`; tensors appended to a list from outside, or put into a variable or a dictionary of the module; and counters such as
    `self.steps += 1` and, with `global`, `steps += 1`. As an info, a `print` of words alone, in a function under `tf.function` or a `train_step` that runs in
    a loop, or under a condition on a tensor: it may be meant to show when the code is traced.

    ## Why it costs

    It costs correctness. The Python runs when the code is traced, usually once; from then on only the
    graph runs. A random number becomes a constant, so every step and every example gets the same one; a
    counter stays at one; a clock measures the trace; a list keeps a tensor without a value, and
    with it the whole graph. `print` shows `Tensor("...")` once.

    ## What the runtime does by itself

    AutoGraph converts `if`, `for` and `while` over tensors, and nothing of this. Each retrace runs the Python once more,
    which makes such code look random.

    ## When it stays silent

    - A `print` of shapes and settings, or one that says itself, in its text or its names, that it is about tracing.
    - A `print` of words alone in `call`, in losses, or in what is not seen to run again and again, and one about building, calling, executing or debugging.
    - A `print` that formats a tensor as a number, by `f"{loss:.3f}"` or `"%d" % loss`: that raises TypeError in a trace.
    - A `print` under a parameter of the function, or an attribute of the object, that is false unless somebody asks for it.
    - A function that is only compiled under such an attribute.
    - Lists that live and die within the trace, and lists of `tf.Variable`s that are made in the first one.
    - A counter that only numbers what is traced, as in `name=f"copy_{self.made}"`.
    - Generators with a seed of their own (`np.random.default_rng`), which are set up once on purpose, and draws that are a `seed=`.
    - Draws behind a condition that its own branches change, as in a pool that draws once it is full: a trace may not reach them. The counting is reported.
    - Functions of datasets, of which `python-in-map` tells, also where they run under `tf.function` as well.
    - Metrics, which may be meant for eager evaluation; callbacks, `__init__` and `build`; models that the program only calls on values.
    - `tf.py_function`, `tf.init_scope`, branches that ask how the code runs, and programs that run eagerly.
    - As an info, not a warning, in a module that trains nothing, unless `tf.function` or a `train_step` is around it: who uses its layers may call them eagerly.

    ## Use instead

    `tf.print`; `tf.random` or a `keras.random.SeedGenerator`; a `tf.Variable`, a metric or `optimizer.iterations` for
    counting; a `tf.TensorArray` or a returned value for keeping; a callback for clocks and files.

    ## Fix safety

    `print` becomes `tf.print`: safe, it then prints in every step. A tensor that Python puts into a text has to be given to `tf.print` by itself: for that there is
    no automatic fix. Nor is there one for words, which would be printed in every step. The others have none either, since results change with the repair.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Executing Python side effects)
    """

    code = "KC207"
    name = "side-effect-in-function"
    summary = "Python side effect runs once, while tracing"
    severity = Severity.WARNING
    triggers = ("train_step", "call(", ".function", "function(", ".fit(", ".compile(")
    loss_tolerance = None

    def check(self, module):
        told = {call.node for op in module.pipelines.operations("map", "filter", "interleave", "flat_map") if not op.roles <= {"inspect"} for call in op.facts.calls}
        for effect in side_effects(module):
            # python-in-map tells of it, wherever else the function runs.
            if effect.node in told:
                continue
            # Whoever asks for the prints calls it eagerly.
            if effect.call is not None and effect.call.name == "builtins.print" and is_off_by_default(effect.call):
                continue
            seen = is_seen_compiled(module, effect.how)
            unsure = "; nothing here tells whether these words are meant for the trace" if not effect.is_certain else "" if seen else "; whether anybody compiles it is not seen here"
            yield self.finding(
                effect,
                f"{effect.what} {effect.when}; {effect.remedy}.",
                because=f"{RUNS_ONCE[effect.how]}{unsure}.",
                severity=Severity.INFO if unsure else None,
                fix=tensorflow_print(effect.call) if effect.is_certain and effect.call is not None and effect.call.name == "builtins.print" else None,
            )
