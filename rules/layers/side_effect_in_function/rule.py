from kerascheck.api import Rule, Severity, conditions, fixes, graph, wording

_SAID = {
    graph.Effect.PRINTS_TENSOR: "{} runs once, while tracing, and shows no numbers; use tf.print or remove it.",
    graph.Effect.PRINTS_PARTS: "{} runs once, while tracing, and shows no numbers; pass the tensor itself to tf.print or remove it.",
    graph.Effect.PRINTS_WORDS: "{} runs once, while tracing; use tf.print or remove it.",
    graph.Effect.DRAWS: "{}() runs once, while tracing, so every step gets the same result; use tf.random or keras.random.",
    graph.Effect.ASKS_TIME: "{}() runs once, while tracing; move it around the call of the compiled function.",
    graph.Effect.USES_FILE: "{}() runs once, while tracing; move it outside the compiled code.",
    graph.Effect.APPENDS: "{} runs once, while tracing, and keeps a tensor without a value; return the tensor, or use a metric or tf.TensorArray.",
    graph.Effect.ASSIGNS: "This assignment runs once, while tracing, and keeps a tensor without a value; return the tensor or use a tf.Variable.",
    graph.Effect.COUNTS: "This counter counts traces, not steps; use a tf.Variable or a metric.",
    graph.Effect.COUNTS_ATTRIBUTE: "{} += ... counts traces, not steps; use a tf.Variable, a metric or optimizer.iterations.",
}


class SideEffectInFunction(Rule):
    """Python code that is meant for every step runs once, while compiled code is traced.

    ## What it does

    Checks `call`, `train_step`, losses, `Lambda` bodies and functions under `tf.function`, and the functions that they
    call. It reports:

    - `print` of a tensor, also inside a text;
    - numbers drawn by `np.random` and `random`;
    - `time.time`, `time.sleep` and the like; `open` and `input`;
    - tensors that are appended to a list from outside, or stored in a variable or a dictionary of the module;
    - counters such as `self.steps += 1` and, with `global`, `steps += 1`.

    As an info it reports a `print` of words alone, in a function under `tf.function` or a `train_step` that runs in a
    loop, or under a condition on a tensor. It may be meant to show when the code is traced.

    ## Why it costs

    It costs correctness. The Python code runs while tracing, usually once. From then on only the graph runs. A random
    number becomes a constant, so every step and every example gets the same one. A counter stays at one, and a clock
    measures the trace. A list keeps a tensor without a value, and the whole graph with it. `print` shows
    `Tensor("...")` once.

    ## What the runtime does by itself

    AutoGraph converts `if`, `for` and `while` over tensors, and nothing of this. Each retrace runs the Python code once
    more, so it seems to run at random.

    ## When it stays silent

    - A `print` of shapes and settings, or one that mentions tracing in its text or names.
    - A `print` of words alone in `call`, in losses, or in code that is not known to run repeatedly; or one about
      building, calling, executing or debugging.
    - A `print` that formats a tensor as a number, with `f"{loss:.3f}"` or `"%d" % loss`: it raises TypeError while
      tracing.
    - A `print` under a parameter of the function, or an attribute of the object, that is false by default; also a
      function that is only compiled under such an attribute.
    - Lists that only exist during the trace, and lists of `tf.Variable`s that the first trace creates.
    - A counter that only numbers what is traced, as in `name=f"copy_{self.made}"`.
    - Generators with their own seed (`np.random.default_rng`), which are created once on purpose, and draws that are
      passed as `seed=`.
    - Draws under a condition that its own branches change, as in a pool that draws once it is full: a trace may not
      reach them. The counting is reported.
    - Functions of datasets, which `python-in-map` reports, also where they run under `tf.function` as well.
    - Metrics, which may be meant for eager evaluation; callbacks, `__init__` and `build`; models that the program only
      calls on values.
    - `tf.py_function`, `tf.init_scope`, branches on how the code runs, and programs that run eagerly.

    It is an info, not a warning, in a module that does not train, unless the code is in a `tf.function` or a
    `train_step`: users of its layers may call them eagerly.

    ## Use instead

    - for `print`: `tf.print`;
    - for random numbers: `tf.random` or a `keras.random.SeedGenerator`;
    - for counters: a `tf.Variable`, a metric or `optimizer.iterations`;
    - for values to keep: a `tf.TensorArray` or a returned value;
    - for clocks and files: a callback.

    ## Fix safety

    Never safe: `print` becomes `tf.print`, which writes to standard error instead of standard output, and in every
    step instead of once. XLA compiles no `tf.print`.

    There is no automatic fix where Python puts the tensor into a text, because `tf.print` needs the tensor itself.
    Nor is there one for words, which would be printed in every step, or for the other cases, because the repair
    changes results.

    ## References

    - TensorFlow guide: "Better performance with tf.function" (Executing Python side effects)
    """

    code = "KC207"
    name = "side-effect-in-function"
    summary = "Python side effect runs once, while tracing"
    severity = Severity.WARNING
    speed = False
    triggers = (
        "train_step",
        "call(",
        ".function",
        "function(",
        ".fit(",
        ".compile(",
        "Lambda(",
        "jit(",
        "defun",
        "to_graph(",
    )
    proves = ("same-output",)
    loss_tolerance = None

    def check(self, module):
        told = {
            call.node
            for op in module.pipelines.operations("map", "filter", "interleave", "flat_map")
            if not op.roles <= {"inspect"}
            for call in op.facts.calls
        }
        for effect in graph.side_effects(module):
            # python-in-map tells of it, wherever else the function runs.
            if effect.node in told:
                continue
            # Whoever asks for the prints calls it eagerly.
            if (
                effect.call is not None
                and effect.call.name == "builtins.print"
                and conditions.is_off_by_default(effect.call)
            ):
                continue
            is_certain = effect.effect is not graph.Effect.PRINTS_WORDS
            yield self.finding(
                effect,
                _SAID[effect.effect].format(effect.what),
                because=f"{wording.runs_once(effect.how)}.",
                doubt=wording.not_seen_compiled(module, effect.how)
                if is_certain
                else "The text may be meant to show when the code is traced.",
                fix=fixes.tensorflow_print(effect.call)
                if is_certain and effect.call is not None and effect.call.name == "builtins.print"
                else None,
            )
