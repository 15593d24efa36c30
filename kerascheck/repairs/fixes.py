"""The repairs that rules offer, each one call: from a semantic object to a fix, or None where no safe form exists."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst

from kerascheck.finding import Applicability, Edit, Fix
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.place import Place
from kerascheck.interpreter.values import (
    Call,
    Const,
    Function,
    Made,
    Mapping,
    Scope,
    SeenModule,
    Stage,
    holds_tensor,
    options_of,
    shows_tensor,
)
from kerascheck.knowledge import packages
from kerascheck.knowledge.callables import CONSTANT, FUNCTION, IO_FIXED_LEN_FEATURE, IO_PARSE_EXAMPLE, PRINT, having
from kerascheck.knowledge.datasets import AUTOTUNE
from kerascheck.knowledge.devices import GET_STRATEGY, LIST_PHYSICAL_DEVICES
from kerascheck.knowledge.layers import LAYERS, LOOKUP_LAYERS
from kerascheck.knowledge.namespaces import KERAS_OPS, OF_KERAS_MODEL, TENSORFLOW
from kerascheck.knowledge.symbols import Trait
from kerascheck.meaning.data.order import Added, Wish, arrangement
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.program.gpu_packages import newest_tensorflow
from kerascheck.source.requirements import Requirement
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit, call_at, make_fix
from kerascheck.syntax.tree import Tree

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE

# Functions that keras.ops has under NumPy's name, with NumPy's meaning of their first arguments.
_SAME_IN_OPS = frozenset(
    "abs absolute add all any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort ceil clip concatenate cos cosh "
    "cumprod cumsum divide dot einsum equal exp expand_dims expm1 flip floor floor_divide full_like greater greater_equal isfinite isinf "
    "isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or matmul max maximum mean median min minimum "
    "mod moveaxis multiply nan_to_num negative norm not_equal ones_like power prod reciprocal repeat reshape roll round sign sin sinh "
    "sort split sqrt square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile transpose true_divide var where zeros_like".split()
)
_IN_TENSORFLOW = {
    **{
        name: name
        for name in "abs acos acosh add argmax argmin asin asinh atan atan2 atanh cos cosh divide einsum equal exp expand_dims floor greater "
        "greater_equal less less_equal logical_and logical_not logical_or matmul maximum minimum multiply negative not_equal ones_like "
        "repeat reshape round sign sin sinh sqrt square squeeze stack subtract tan tanh tensordot tile transpose where zeros_like".split()
    },
    "absolute": "abs",
    "all": "reduce_all",
    "any": "reduce_any",
    "ceil": "math.ceil",
    "concatenate": "concat",
    "cumsum": "cumsum",
    "expm1": "math.expm1",
    "isnan": "math.is_nan",
    "log": "math.log",
    "log1p": "math.log1p",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "mod": "math.floormod",
    "power": "pow",
    "prod": "reduce_prod",
    "std": "math.reduce_std",
    "sum": "reduce_sum",
    "var": "math.reduce_variance",
}


def _autotune(module: SeenModule) -> tuple[str, edits.Edits]:
    text, imports = edits.spelling(module.tree, AUTOTUNE)
    if text.endswith("data.AUTOTUNE") and "experimental" in module.runtime.autotune:
        text = text.removesuffix("AUTOTUNE") + "experimental.AUTOTUNE"
    return text, imports


def _autotuned(op: Operation, keyword: str) -> edits.Edits:
    """Make AUTOTUNE of an argument, or add it as one."""
    text, imports = _autotune(op.module)
    written = op.call.written(keyword) if op.call is not None else None
    if written is not None:
        return (*imports, *edits.set_argument_value(op.module.tree, written, text))
    return (*imports, *edits.add_keyword(op.module.tree, call_at(op.node), keyword, text))


def parallel_calls(op: Operation) -> Fix | None:
    """Give an operation ``num_parallel_calls=tf.data.AUTOTUNE``; unsafe where random draws may come in another order, or not all of its
    function is in sight, and None where that writes what outlives its calls, whose order then counts."""
    if op.facts.written is not None:
        return None
    unsafe = op.facts.randomness is not None or op.name != "batch" and not op.facts.known
    return make_fix(
        UNSAFE if unsafe else SAFE,
        f"Add num_parallel_calls={op.module.runtime.autotune}",
        lambda: _autotuned(op, "num_parallel_calls"),
    )


def parallel_reads(op: Operation, *, reorders: bool) -> Fix | None:
    """Give a source ``num_parallel_reads=tf.data.AUTOTUNE``; unsafe where the order of the records matters."""
    return make_fix(
        UNSAFE if reorders else SAFE,
        f"Add num_parallel_reads={op.module.runtime.autotune}",
        lambda: _autotuned(op, "num_parallel_reads"),
    )


def append_prefetch(last: Stage) -> Fix | None:
    """End a dataset with a prefetch."""
    tree = last.module.tree

    def build() -> edits.Edits:
        if not isinstance(last.node, cst.Call):
            raise CannotEdit("no expression")
        text, imports = _autotune(last.module)
        return (*imports, *edits.append_method(tree, last.node, f".prefetch({text})"))

    return make_fix(SAFE, f"Append .prefetch({last.module.runtime.autotune})", build)


def rearranged(module: Module, wishes: Collection[Wish], message: str, *, safe: bool = False) -> Fix | None:
    """Give a chain the order that serves all wishes; None where there is none, or parts of the chain are used or made elsewhere."""
    plan = arrangement(module.once(Pipelines), wishes)
    if plan is None:
        return None
    changed = [
        place
        for place, stage in enumerate(plan.before)
        if stage is not [item for item in plan.after if isinstance(item, Stage)][place]
    ]
    slots: list[tuple[Stage, list[Added]]] = []
    for item in plan.after:
        if isinstance(item, Stage):
            slots.append((item, []))
        elif slots:
            slots[-1][1].append(item)
        else:
            return None
    changed += [place for place, (_, added) in enumerate(slots) if added]
    if not changed:
        return None
    run = slice(min(changed), max(changed) + 1)
    stages, wanted = plan.before[run], slots[run]
    tree = stages[0].module.tree
    if any(
        stage.module is not stages[0].module or stage.maybe or not isinstance(stage.node, cst.Call) for stage in stages
    ):
        return None
    if len({stage.node for stage in stages}) < len(stages) or any(map(module.once(Pipelines).is_shared, stages[:-1])):
        return None

    def build() -> edits.Edits:
        texts = {shuffle: _scaled_buffer(shuffle, batch) for shuffle, batch in plan.scaled}
        links = [call_at(stage.node) for stage in stages]
        moved = _single_move(links, [call_at(stage.node) for stage, _ in wanted])
        if not any(added for _, added in wanted) and moved is not None:
            return _with_texts(tree, _moved(tree, *moved), texts)
        autotune, imports = (
            _autotune(stages[0].module)
            if any(each.name == "prefetch" for _, added in wanted for each in added)
            else ("", ())
        )
        calls = {"cache": ".cache()", "prefetch": f".prefetch({autotune})"}
        placed = [
            edits.Slot(call_at(stage.node), texts.get(stage), tuple(calls[each.name] for each in added))
            for stage, added in wanted
        ]
        return (*imports, *edits.arrange_links(tree, links, placed))

    return make_fix(SAFE if safe else UNSAFE, message, build)


def _single_move(
    before: Sequence[cst.Call], after: Sequence[cst.Call]
) -> tuple[cst.Call, cst.BaseExpression, cst.Call | None] | None:
    """The one link whose move makes one order of the other, behind what it goes, and the link that it only changes places with, if it does."""
    for call in (before[-1], before[0]):
        if [each for each in before if each is not call] == [each for each in after if each is not call]:
            place = next(index for index, each in enumerate(after) if each is call)
            behind = (
                after[place - 1]
                if place
                else before[0].func.value
                if isinstance(before[0].func, cst.Attribute)
                else None
            )
            return (call, behind, before[0] if len(before) == 2 else None) if behind is not None else None
    return None


def _moved(tree: Tree, call: cst.Call, behind: cst.BaseExpression, neighbour: cst.Call | None) -> edits.Edits:
    if neighbour is not None:
        try:
            return edits.swap_calls(tree, neighbour, call)
        except CannotEdit:
            pass
    return edits.move_call(tree, call, behind)


def _with_texts(tree: Tree, moved: edits.Edits, texts: dict[Stage, str]) -> edits.Edits:
    """The same edits with links that are to be written otherwise."""
    for stage, new in texts.items():
        start, end = edits.link_range(tree, call_at(stage.node))
        old, moves = tree.text[start:end], any(edit.start < end and start < edit.end for edit in moved)
        if moves and sum(edit.content.count(old) for edit in moved) != 1:
            raise CannotEdit("the call does not move as a whole")
        if moves:
            moved = tuple(type(edit)(edit.start, edit.end, edit.content.replace(old, new)) for edit in moved)
        else:
            moved = tuple(sorted((*moved, Edit(start, end, new))))
    return moved


def _scaled_buffer(shuffle: Stage, batch: Stage) -> str:
    """The link of a shuffle of batches with a buffer for as many examples."""
    module = shuffle.module
    sizes = [
        written.value
        for stage, key in ((shuffle, "buffer_size"), (batch, "batch_size"))
        if stage.call is not None and (written := stage.call.written(key)) is not None
    ]
    if batch.module is not module or len(sizes) < 2:
        raise CannotEdit("sizes that are not written out")
    ranges = [module.tree.range_of(size) for size in sizes]
    buffer, examples = (module.text[slice(*each)] for each in ranges)
    if buffer.replace("_", "").isdigit() and examples.isdigit():
        product = str(int(buffer) * int(examples))
    elif all(isinstance(size, (cst.Name, cst.Attribute, cst.Integer)) for size in sizes):
        product = f"{buffer} * {examples}"
    else:
        raise CannotEdit("not a number or a name")
    start, end = edits.link_range(module.tree, call_at(shuffle.node))
    return module.text[start : ranges[0][0]] + product + module.text[ranges[0][1] : end]


# What these return for a batch has another shape than a batch of what they return, for some shapes of elements.
_SHAPE_DEPENDENT = having(Trait.SHAPE_MATTERS) | {f"{name}.__call__" for name in LOOKUP_LAYERS}


def swap_with_batch(op: Operation, batch: Stage) -> Fix | None:
    """Put a map behind the batch that directly follows it; unsafe where the shape of the elements matters."""
    if batch.module is not op.module or not any(
        batch.input is not None and batch.input.node is stage.node for stage in op.stages
    ):
        return None
    safety = UNSAFE if op.facts.call_of(*_SHAPE_DEPENDENT) is not None else SAFE
    return make_fix(
        safety,
        "Batch first, then map",
        lambda: edits.swap_calls(op.module.tree, call_at(op.node), call_at(batch.node)),
    )


def parse_batches(op: Operation, batch: Stage, parse: Call) -> Fix | None:
    """Batch serialized records and parse them with tf.io.parse_example."""
    module = op.module
    function = next((option for option in options_of(op.stages[0].function) if isinstance(option, Function)), None)
    if function is None or parse.module is not module or function.module is not module or batch.module is not module:
        return None
    if not any(batch.input is not None and batch.input.node is stage.node for stage in op.stages):
        return None
    body = function.node.body
    if isinstance(function.node, cst.FunctionDef):
        # The function must do nothing else, and serve nobody else.
        if module.name_counts[function.name] != 2 or not _returns_only(function.node, parse.node):
            return None
    elif body is not parse.node:
        return None
    spec = parse.given("features")
    kinds = [item.name for item in spec.items.values() if isinstance(item, Made)] if isinstance(spec, Mapping) else []
    if not kinds or any(kind != IO_FIXED_LEN_FEATURE for kind in kinds):
        return None
    proven = isinstance(spec, Mapping) and not spec.open and len(kinds) == len(spec.items)

    def build() -> edits.Edits:
        text, imports = edits.spelling(module.tree, IO_PARSE_EXAMPLE)
        swapped = edits.swap_calls(module.tree, call_at(op.node), call_at(batch.node))
        if isinstance(function.node, cst.Lambda):
            # The lambda moves with its map: it is renamed inside of the text that moves.
            return (*imports, *_renamed_inside(module, swapped, call_at(parse.node).func, text))
        return (*imports, *swapped, *edits.rename_callee(module.tree, call_at(parse.node), text))

    return make_fix(SAFE if proven else UNSAFE, "Batch the records and parse them with tf.io.parse_example", build)


def _returns_only(function: cst.FunctionDef, expression: cst.CSTNode) -> bool:
    statements = [
        small
        for line in function.body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
        if not (isinstance(small, cst.Expr) and isinstance(small.value, cst.BaseString))
    ]
    last = statements[-1] if statements else None
    return (
        isinstance(last, cst.Return)
        and last.value is expression
        and all(isinstance(s, cst.Assign) for s in statements[:-1])
    )


def _renamed_inside(module: SeenModule, swapped: edits.Edits, callee: cst.CSTNode, text: str) -> edits.Edits:
    old = module.text[slice(*module.tree.range_of(callee))]
    renamed, count = [], 0
    for edit in swapped:
        count += edit.content.count(old + "(")
        renamed.append(type(edit)(edit.start, edit.end, edit.content.replace(old + "(", text + "(")))
    if count != 1:
        raise CannotEdit("the call does not move as a whole")
    return tuple(renamed)


def move_after(call_node: cst.CSTNode, target: Stage, message: str, *, safe: bool = True) -> Fix | None:
    """Take a dataset operation out of its place and put it right behind another."""

    def build() -> edits.Edits:
        if not isinstance(target.node, cst.BaseExpression):
            raise CannotEdit("no expression")
        return edits.move_call(target.module.tree, call_at(call_node), target.node)

    return make_fix(SAFE if safe else UNSAFE, message, build)


def assign_back(module: Module, call: cst.CSTNode) -> Fix | None:
    """``ds.shuffle(10)`` as a statement becomes ``ds = ds.shuffle(10)``."""
    base: cst.CSTNode = call
    while isinstance(base, cst.Call) and isinstance(base.func, cst.Attribute):
        base = base.func.value
    owner = base
    while isinstance(owner, cst.Attribute):
        owner = owner.value
    if not isinstance(owner, cst.Name):
        return None
    name = module.text[slice(*module.tree.range_of(base))]
    return make_fix(
        UNSAFE,
        f"Assign the result to {name}",
        lambda: edits.assign_back(module.tree, module.tree.statement(call), name),
    )


def replace_numpy(call: Call, name: str, *, tensorflow: bool) -> Fix | None:
    """Call the function of keras.ops (or TensorFlow) of the same meaning; ``name`` is NumPy's."""
    new = f"{TENSORFLOW}{_IN_TENSORFLOW[name]}" if tensorflow and name in _IN_TENSORFLOW else None
    if not tensorflow and name in _SAME_IN_OPS:
        new = f"{KERAS_OPS}{name}"
    if new is None or {"dtype", "out", "where", "order"} & set(call.arguments.keywords):
        return None

    def build() -> edits.Edits:
        text, imports = edits.spelling(call.module.tree, new)
        return (*imports, *edits.rename_callee(call.module.tree, call_at(call.node), text))

    return make_fix(SAFE, f"Use {'tf' + new[10:] if tensorflow else new}", build)


def add_keyword(call: Call, name: str, text: str, *, safe: bool) -> Fix | None:
    """Pass one more keyword argument."""
    if not isinstance(call.node, cst.Call):
        return None
    return make_fix(
        SAFE if safe else UNSAFE,
        f"Add {name}={text}",
        lambda: edits.add_keyword(call.module.tree, call_at(call.node), name, text),
    )


def drop_argument(call: Call, keyword: str, *, safe: bool) -> Fix | None:
    """Delete a keyword argument."""
    argument = call.arguments.nodes.get(keyword)
    if argument is None:
        return None
    return make_fix(
        SAFE if safe else UNSAFE,
        f"Remove {keyword}",
        lambda: edits.remove_argument(call.module.tree, call_at(call.node), argument),
    )


def delete_statement(call: Call, *, safe: bool = True) -> Fix | None:
    """Delete the statement that a call or assignment stands in, if it is nothing else."""
    tree = call.module.tree
    node = call.node
    parent = tree.parents.get(node)
    statement = tree.parents.get(parent) if isinstance(parent, cst.AssignTarget) else parent
    if isinstance(parent, cst.AssignTarget):
        alone = isinstance(statement, cst.Assign) and len(statement.targets) == 1
    else:
        alone = isinstance(statement, cst.Expr)
    if statement is None or not alone:
        return None
    return make_fix(SAFE if safe else UNSAFE, "Delete the statement", lambda: edits.delete_statement(tree, statement))


def rename(place: Place, name: str) -> Fix | None:
    """Write the canonical ``name`` instead of an attribute."""

    def build() -> edits.Edits:
        text, imports = edits.spelling(place.module.tree, name)
        return (*imports, *edits.replace(place.module.tree, place.node, text))

    return make_fix(SAFE, f"Write {name}", build)


def replace_generator_method(call: Call, name: str) -> Fix | None:
    """``fit_generator(batches, ...)`` becomes ``fit(batches, ...)``, where no argument means something else there.

    Unsafe where it has to drop what Keras 3 takes in the constructor of a PyDataset only.
    """
    if len(call.arguments.positional) != 1 or {
        "generator",
        "samples_per_epoch",
        "nb_epoch",
        "val_samples",
        "nb_val_samples",
    } & set(call.arguments.keywords):
        return None
    dropped = tuple(
        keyword
        for keyword in ("workers", "use_multiprocessing", "max_queue_size")
        if keyword in call.arguments.keywords
    )
    return rename_method(call, name, safe=not dropped, without=dropped)


def drop_method(module: Module, node: cst.CSTNode, name: str, *, safe: bool) -> Fix | None:
    """``X.name()`` becomes ``X``; None where something else is written."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value != name:
        return None
    start, end = module.tree.range_of(node.func.value)
    return make_fix(
        SAFE if safe else UNSAFE, f"Remove .{name}()", lambda: edits.replace(module.tree, node, module.text[start:end])
    )


def rename_method(call: Call, name: str, *, safe: bool, without: tuple[str, ...] = ()) -> Fix | None:
    """Call another method of the same object, without some keyword arguments."""

    def build() -> edits.Edits:
        node = call_at(call.node)
        result = edits.rename_method(call.module.tree, node, name)
        for keyword in without:
            if keyword in call.arguments.nodes:
                result = (*result, *edits.remove_argument(call.module.tree, node, call.arguments.nodes[keyword]))
        return result

    return make_fix(SAFE if safe else UNSAFE, f"Call {name}", build)


def recurrent_layer(call: Call, cell: Made, layer: str) -> Fix | None:
    """``RNN(LSTMCell(u))`` becomes ``LSTM(u)``."""
    tree, node = call.module.tree, call.node
    argument = call.written("cell")
    if (
        argument is None
        or not isinstance(node, cst.Call)
        or not isinstance(argument.value, cst.Call)
        or cell.call is None
        or cell.call.node is not argument.value
    ):
        return None
    inner = argument.value
    given = {arg.keyword.value for arg in inner.args if arg.keyword} & set(call.arguments.keywords)
    if given or not inner.args or (len(node.args) > 1 and node.args[1].keyword is None):
        return None

    def build() -> edits.Edits:
        imports: edits.Edits = ()
        if isinstance(node.func, cst.Attribute):
            renamed = edits.replace(tree, node.func.attr, layer)
        else:
            text, imports = edits.spelling(tree, f"{LAYERS}{layer}")
            renamed = edits.replace(tree, node.func, text)
        start, end = tree.range_of(inner.args[0])[0], tree.range_of(inner.args[-1].value)[1]
        content = call.module.text[start:end]
        if "\n" in content or "#" in content:
            raise CannotEdit("the arguments span lines")
        outer = tree.range_of(argument)
        return (*imports, *renamed, Edit(outer[0], outer[1], content))

    return make_fix(SAFE, f"Use {layer}", build)


def unwrap_layer(call: Call, inner: Made, *, safe: bool) -> Fix | None:
    """``Wrapper(Layer(u), name="a")`` becomes ``Layer(u, name="a")``; unsafe where weights may be loaded, whose names change."""
    tree, text = call.module.tree, call.module.text
    node, argument = call.node, call.written("layer")
    if (
        argument is None
        or not isinstance(node, cst.Call)
        or not isinstance(argument.value, cst.Call)
        or inner.call is None
        or inner.call.node is not argument.value
    ):
        return None
    layer, others = argument.value, [arg for arg in node.args if arg is not argument]
    if any(arg.keyword is None or arg.keyword.value in inner.call.arguments.keywords for arg in others):
        return None

    def build() -> edits.Edits:
        outer, kept = tree.range_of(node), tree.range_of(layer)
        if "#" in text[outer[0] : kept[0]] + text[kept[1] : outer[1]]:
            raise CannotEdit("a comment would be lost")
        added: edits.Edits = ()
        if others:
            # The range of an argument has the parentheses of its value, that of the value has not.
            name, _, rest = ", ".join(text[slice(*tree.range_of(arg))] for arg in others).partition("=")
            added = edits.add_keyword(tree, layer, name.rstrip(), rest.lstrip())
        return (Edit(outer[0], kept[0], ""), *added, Edit(kept[1], outer[1], ""))

    loads = any(word in text for word in ("load_weights", "load_model", "from_pretrained"))
    return make_fix(SAFE if safe and not loads else UNSAFE, f"Write {inner.name.rpartition('.')[2]} alone", build)


def compile_step(module: Module, function: cst.CSTNode) -> Fix | None:
    """Decorate a step with @tf.function; unsafe, for Python in it then runs while tracing only. None where it would raise, or freeze a draw."""
    if not isinstance(function, cst.FunctionDef) or any(
        any(each.node is function for each in call.scope.functions())
        for call in module.run.calls
        if _ends_in_python(call)
    ):
        return None

    def build() -> edits.Edits:
        text, imports = edits.spelling(module.tree, FUNCTION)
        return (*imports, *edits.add_decorator(module.tree, function, f"@{text}"))

    return make_fix(UNSAFE, "Decorate with @tf.function", build)


_METHODS_IN_PYTHON = frozenset(
    "fit train_on_batch evaluate test_on_batch predict predict_on_batch get_weights set_weights load_weights save".split()
)


def _ends_in_python(call: Call) -> bool:
    """Whether a call reads a tensor back, trains or predicts by itself, or draws a number of Python or NumPy."""
    if call.attribute in _METHODS_IN_PYTHON and call.name == f"{OF_KERAS_MODEL}{call.attribute}":
        return True
    reads = (
        call.attribute == "numpy"
        or call.name in ("builtins.float", "builtins.int")
        and any(map(holds_tensor, call.arguments.values()))
    )
    return reads or (call.name or "").startswith(("numpy.random.", "random."))


def set_memory_growth(module: Module) -> Fix | None:
    """Set memory growth on every GPU below the imports."""

    def build() -> edits.Edits:
        tf, imports = edits.spelling(module.tree, "tensorflow")
        text = f'for gpu in {tf}.config.list_physical_devices("GPU"):\n    {tf}.config.experimental.set_memory_growth(gpu, True)'
        return (*imports, *edits.insert_after_imports(module.tree, text))

    return make_fix(SAFE, "Set memory growth on every GPU", build)


def grow_every_device(call: Call) -> Fix | None:
    """``set_memory_growth(gpus[0], True)`` becomes a loop over ``gpus``."""
    tree = call.module.tree
    argument = call.written("device")
    line = tree.statement(call.node)
    if (
        argument is None
        or not isinstance(argument.value, cst.Subscript)
        or not isinstance(argument.value.value, cst.Name)
    ):
        return None
    if (
        not isinstance(line, cst.SimpleStatementLine)
        or len(line.body) != 1
        or not isinstance(tree.parents.get(call.node), cst.Expr)
    ):
        return None
    devices = argument.value.value.value

    def build() -> edits.Edits:
        start, end = tree.range_of(call.node)
        inner_start, inner_end = tree.range_of(argument.value)
        text = call.module.text
        before = text[text.rfind("\n", 0, start) + 1 : start]
        step = "\t" if "\t" in before else tree.indent
        statement = text[start:inner_start] + "gpu" + text[inner_end:end]
        if "\n" in statement:
            raise CannotEdit("the call spans lines")
        newline = "\r\n" if "\r\n" in text else "\n"
        return (Edit(start, end, f"for gpu in {devices}:{newline}{before}{step}{statement}"),)

    return make_fix(SAFE, f"Set memory growth on all of {devices}", build)


def move_device_config(call: Call, started: Call) -> Fix | None:
    """Move a module-level statement that configures devices to below the imports, with the one that lists them.

    None in a notebook where an earlier cell holds ``started``, which initialises the devices: there are no imports before it in the cell.
    """
    tree, source = call.module.tree, call.module.source
    if (
        source.cells is not None
        and started.module is call.module
        and source.cell_at(tree.range_of(started.node)[0]) is not source.cell_at(tree.range_of(call.node)[0])
    ):
        return None
    statement = _in_block(tree, call.node, tree.root)
    if statement is None:
        return None
    block = list(tree.root.body)
    index = next(i for i, other in enumerate(block) if other is statement)
    moved, before = [statement], block[:index]
    used = {node.value for node in tree.descendants(statement) if isinstance(node, cst.Name)}
    if before and _assigns_any(tree, before[-1], used):
        moved.insert(0, before.pop())
    used |= {node.value for other in moved for node in tree.descendants(other) if isinstance(node, cst.Name)}
    if any(_assigns_any(tree, other, used) for other in before):
        return None
    return make_fix(SAFE, "Move it below the imports", lambda: edits.move_statements(tree, moved, after_imports=True))


def move_before_layers(call: Call, first: Call) -> Fix | None:
    """Move a statement that sets a policy to before the statement of the same block that makes the first layer."""
    tree = call.module.tree
    frame = call.scope.frame
    anchor = first.node if first.scope.frame is frame else None
    if anchor is None:
        anchor = next(
            (
                scope.node
                for scope in first.scope.chain()
                if scope.kind == "call" and scope.parent is not None and scope.parent.frame is frame
            ),
            None,
        )
    statement = tree.statement(call.node)
    block = tree.parents.get(statement)
    if anchor is None or block is None:
        return None
    target = _in_block(tree, anchor, block)
    if target is None or target is statement:
        return None
    return make_fix(
        SAFE, "Move it before the layers are created", lambda: edits.move_statements(tree, [statement], before=target)
    )


def move_above_import(call: Call, first: Call) -> Fix | None:
    """Move a module-level statement that sets an environment variable to a literal above an import, with ``import os``; unsafe, for the variable then counts."""
    tree = call.module.tree
    statement = _in_block(tree, call.node, tree.root)
    anchor = _in_block(tree, first.node, tree.root)
    if (
        statement is None
        or anchor is None
        or first.module is not call.module
        or not isinstance(call.given("value"), Const)
    ):
        return None
    moved = [statement]
    block = list(tree.root.body)
    index = {id(other): place for place, other in enumerate(block)}
    for other in block[index[id(anchor)] : index[id(statement)]]:
        if isinstance(other, cst.SimpleStatementLine) and tree.code_of(other).strip() in (
            "import os",
            "from os import environ",
        ):
            moved.insert(0, other)
    return make_fix(UNSAFE, "Move it above the import", lambda: edits.move_statements(tree, moved, before=anchor))


def move_before_loop(call: Call, loop: Scope) -> Fix | None:
    """Move a statement of a loop before the loop; unsafe, for it then runs once."""
    tree = call.module.tree
    statement = tree.statement(call.node)
    if (
        loop.module is not call.module
        or not isinstance(loop.node, (cst.For, cst.While))
        or tree.parents.get(statement) is not loop.node.body
        or len(loop.node.body.body) < 2
    ):
        return None
    return make_fix(
        UNSAFE, "Move it before the loop", lambda: edits.move_statements(tree, [statement], before=loop.node)
    )


def _in_block(tree: Tree, node: cst.CSTNode, block: cst.CSTNode) -> cst.CSTNode | None:
    """The statement of ``block`` that holds ``node``."""
    for ancestor in [node, *tree.ancestors(node)]:
        if tree.parents.get(ancestor) is block:
            return ancestor
        if isinstance(ancestor, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return None
    return None


def _assigns_any(tree: Tree, statement: cst.CSTNode, names: set[str]) -> bool:
    for node in tree.descendants(statement):
        if isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Name) and node.target.value in names:
            return True
        if isinstance(node, cst.For) and isinstance(node.target, cst.Name) and node.target.value in names:
            return True
    return False


def tensorflow_print(call: Call, *, safe: bool = True) -> Fix | None:
    """``print`` in traced code becomes ``tf.print``; None where that shows no numbers either, for Python puts the tensor into a text, or does not have one of the options."""
    if not set(call.arguments.keywords) <= {"sep", "end"} or any(
        shows_tensor(value) and not holds_tensor(value) for value in call.arguments.values()
    ):
        return None

    def build() -> edits.Edits:
        text, imports = edits.spelling(call.module.tree, PRINT)
        return (*imports, *edits.rename_callee(call.module.tree, call_at(call.node), text))

    return make_fix(SAFE if safe else UNSAFE, "Use tf.print", build)


def train_on_batch(call: Call) -> Fix | None:
    """``fit(x, y)`` of one batch becomes ``train_on_batch(x, y)``, where nobody uses the History; unsafe, for fit makes batches of 32."""
    tree, given = call.module.tree, call.arguments
    dropped = {"epochs", "batch_size", "verbose", "shuffle"}
    if call.attribute != "fit" or len(given.positional) > 2 or given.unknown_keywords or given.unknown_positional:
        return None
    if not set(given.keywords) <= dropped | {"x", "y", "sample_weight", "class_weight"} or not isinstance(
        tree.parents.get(call.node), cst.Expr
    ):
        return None

    def build() -> edits.Edits:
        node = call_at(call.node)
        kept = [arg for arg in node.args if arg.keyword is None or arg.keyword.value not in dropped]
        shorter = edits.keep_arguments(tree, node, kept) if len(kept) < len(node.args) else ()
        return (*edits.rename_method(tree, node, "train_on_batch"), *shorter)

    return make_fix(UNSAFE, "Call train_on_batch", build)


def wrap_in_constant(call: Call, arg: cst.Arg) -> Fix | None:
    """Wrap an argument in ``tf.constant``; unsafe, for the function then gets a tensor."""
    tree = call.module.tree

    def build() -> edits.Edits:
        text, imports = edits.spelling(tree, CONSTANT)
        start, end = tree.range_of(arg.value)
        return (*imports, *edits.replace(tree, arg.value, f"{text}({call.module.text[start:end]})"))

    return make_fix(UNSAFE, "Wrap the argument in tf.constant", build)


def only_for_several_gpus(call: Call) -> Fix | None:
    """``MirroredStrategy()`` where there are several GPUs, else the default strategy; unsafe, for only one of both is tried here."""
    tree, module = call.module.tree, call.module

    def build() -> edits.Edits:
        start, end = tree.range_of(call.node)
        listed, imports = edits.spelling(tree, LIST_PHYSICAL_DEVICES)
        default, more = edits.spelling(tree, GET_STRATEGY)
        text = f'{module.text[start:end]} if len({listed}("GPU")) > 1 else {default}()'
        return (*dict.fromkeys((*imports, *more)), *edits.replace(tree, call.node, text))

    return make_fix(UNSAFE, "Use the default strategy on a single device", build)


def install_with_cuda(requirement: Requirement) -> Fix | None:
    """Ask pip for ``tensorflow[and-cuda]`` instead; None where no release that the requirement allows has that, or extras are named."""
    newest = newest_tensorflow(requirement)
    if requirement.by != "pip" or requirement.extras or newest is None or newest < packages.CUDA_EXTRA_SINCE:
        return None
    name = f"{packages.TENSORFLOW}[{packages.CUDA_EXTRA}]"
    return Fix(UNSAFE, f"Install {name}", (Edit(requirement.start, requirement.name_end, name),))
