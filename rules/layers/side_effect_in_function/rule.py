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
    """Python code that is meant for every step runs only once, at tracing time.

    ## What it does

    Checks `call`, `train_step`, losses, `Lambda` bodies and functions under `tf.function`, and the functions that they
    call. The rule reports:

    - `print` of a tensor, also inside a formatted string;
    - random numbers from `np.random` and `random`;
    - `time.time`, `time.sleep` and the like; `open` and `input`;
    - tensors that the code appends to an outer list, or stores in a variable or a dictionary of the module;
    - counters such as `self.steps += 1` and, with `global`, `steps += 1`.

    A `print` of plain text is an info: it may be meant to show when TensorFlow traces the code. The rule reports it in
    a `tf.function` or `train_step` that runs in a loop, or under a condition on a tensor.

    ## Why it costs

    It costs correctness. The Python code runs at tracing time, usually once. From then on only the graph runs. A
    random number becomes a constant, so every step and every example gets the same one. A counter stays at one, and a
    clock measures the trace. A list keeps a tensor without a value and, with it, the whole graph. `print` shows
    `Tensor("...")` once.

    ## What the runtime does by itself

    AutoGraph converts `if`, `for` and `while` over tensors, but none of these side effects. Each retrace runs the
    Python code once more, so it seems to run at random.

    ## When it stays silent

    - A `print` of shapes and settings, or one that mentions tracing in its text or names.
    - A `print` that shows only variables from outside the function: they have values during tracing.
    - A `print` of plain text in `call`, in losses, or in code that is not known to run repeatedly.
    - A `print` about building, calling, executing or debugging.
    - A `print` that formats a tensor as a number, with `f"{loss:.3f}"` or `"%d" % loss`: tracing raises TypeError.
    - A `print` under a flag that is false by default: a parameter of the function or an attribute of the object. Also
      a function that the program compiles only under such an attribute.
    - Lists that only exist during the trace, and lists of `tf.Variable`s that the first trace creates.
    - A counter that only numbers the traced objects, as in `name=f"copy_{self.made}"`, and one that the function resets
      first.
    - Generators with their own seed (`np.random.default_rng`), which programs create once on purpose, random numbers
      passed as `seed=`, and random numbers in a function that calls `np.random.seed` or `random.seed` itself.
    - Random numbers under a condition that its own branches change, such as a pool that draws once it is full. A trace
      may not reach them. The rule reports the counting instead.
    - Dataset functions, even if they also run under `tf.function`: `python-in-map` reports them.
    - Metrics, which may be meant for eager evaluation; callbacks, `__init__` and `build`; models that the program only
      calls on values.
    - `tf.py_function`, `tf.init_scope`, branches on the execution mode, and programs that run eagerly.

    In a module that does not train, the finding is an info, not a warning: users may call its layers eagerly. Code in
    a `tf.function` or a `train_step` remains a warning there.

    ## Use instead

    - for `print`: `tf.print`;
    - for random numbers: `tf.random` or a `keras.random.SeedGenerator`;
    - for counters: a `tf.Variable`, a metric or `optimizer.iterations`;
    - for values to keep: a `tf.TensorArray` or a returned value;
    - for clocks and files: a callback.

    ## Fix safety

    Never safe. The fix replaces `print` with `tf.print`. It writes to standard error instead of standard output, and
    in every step instead of once. XLA cannot compile `tf.print`.

    There is no automatic fix if Python formats the tensor into a string, because `tf.print` needs the tensor itself.
    Plain text has no fix because it would appear in every step. The other cases have none because a fix changes
    results.

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
            # python-in-map reports it, even if the function also runs elsewhere.
            if effect.node in told:
                continue
            # The caller that switches the prints on runs it eagerly.
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
