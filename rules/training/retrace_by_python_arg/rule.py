from kerascheck.api import Applies, Rule, Severity, fixes, graph

_KINDS = {
    graph.TurnKind.NUMBER: "number",
    graph.TurnKind.STRING: "string",
    graph.TurnKind.VALUE: "value",
    graph.TurnKind.STRINGS: "list of strings",
    graph.TurnKind.VALUES: "list of values",
}


class RetraceByPythonArg(Rule):
    """A loop calls a `tf.function` with a changing Python number or string; each value causes a new trace.

    ## What it does

    Reports a call of a `tf.function` in a loop with an argument that is a different Python number or string in every
    iteration:

    - the variable of `range` or `enumerate`, a counter, or a number computed from them;
    - a draw from `random` or `numpy.random`;
    - a line of a file, a file name in a folder, an item of a list of strings, or text with such a number;
    - an item of the `tolist()` of an array or a table column.

    Lists, tuples and dictionaries with such values count as well. The finding is a warning if the innermost loop
    around the call changes the value. It is an info if an outer loop does, for example once per epoch. Items of
    `tolist()` are an info, because there may be few.

    ## Why it costs

    `tf.function` keeps one graph for each set of arguments, and it distinguishes Python numbers and strings by their
    value. For every new value, it runs the Python body again, builds another graph and never frees it. 200 calls with
    200 values took 93 times as long as calls with a tensor (2 CPU cores, TensorFlow 2.21, no GPU). Memory grows with
    each value.

    ## What the runtime does by itself

    TensorFlow prints a warning after the fifth trace and continues. `reduce_retracing=True` does not help: it relaxes
    shapes, not numbers and strings (five calls, five traces on 2.21). `input_signature` helps, because it turns them
    into tensors.

    `tf.function` treats NumPy numbers, such as `np.float32(x)` or an item of an array, as tensors and does not trace
    again. The same holds for arrays of strings, but not for their items: `np.str_` is a Python string.

    ## When it stays silent

    - The loop has at most 10 iterations, according to the literals, or the number comes from `%` or `//` and has few
      values.
    - `input_signature` is set, or may be.
    - The call wraps the value: `tf.constant(i)`, `tf.cast(i, ...)`, `np.float32(i)`, `np.array(names)`.
    - Booleans such as `training=True`, and numbers and strings that stay the same.
    - Items of unknown lists: they may be strings or arrays, few or many.
    - The function selects one of several objects with the parameter (`models[i]`), or uses it as the length of a
      Python loop. The parameter must be a Python number there.
    - The function uses the string in Python: it compares, joins or formats it, calls a method of it, or uses it as a
      name.
    - The call is under an `if` with `%`, and runs once in several steps.
    - The program runs functions eagerly; the code is a test.

    ## Use instead

    `step(batch, tf.constant(i))`. For a counter that only the function needs, use a `tf.Variable`, such as
    `optimizer.iterations`. If the number controls Python branches or loops in the function, one trace for each value
    is intended.

    ## Fix safety

    The fix wraps the argument in `tf.constant(...)`. Unsafe: inside the function it is then a tensor. `range(i)`, `if`
    and formatting behave differently, and a float becomes float32. There is no fix for a tuple, a dictionary, or a
    list that also holds other values.

    ## References

    - TensorFlow guide: "Better performance with tf.function", section "Passing Python arguments instead of tensors"
    """

    code = "KC404"
    name = "retrace-by-python-arg"
    summary = "Python value makes a tf.function trace again"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".function", "function(")
    proves = ("same-output",)
    loss_tolerance = 1e-5

    def check(self, module):
        for found in graph.changing_constants(module):
            often = found.call.path.innermost_loop(within="program") is found.loop
            kind = _KINDS[found.kind]
            yield self.finding(
                found.call,
                f"This tf.function gets another Python {kind} in every iteration{'' if often else ' of an outer loop'}; pass it as tf.constant(...).",
                because=f"tf.function traces again for every new Python {kind}, "
                + ("so each iteration builds a graph." if often else "here once for all iterations of the inner loop."),
                doubt="Only an outer loop changes it, so many calls share each graph."
                if not often
                else "How many different ones there are is not known here."
                if found.kind is graph.TurnKind.VALUE
                else None,
                fix=fixes.wrap_in_constant(found.call, found.arg) if found.is_constant else None,
                related=((found.loop, f"the loop that changes the {kind}"),),
            )
