"""Fixes of device settings."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Edit, Fix
from kerascheck.fixes.device_proofs import earlier_start
from kerascheck.fixes.lines import line
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import NOTHING_BETWEEN, RAISES_NOW, SAME_NUMBERS, SAME_OUTPUT
from kerascheck.fixes.run_proofs import possible_handler
from kerascheck.interpreter.values import Call, constant
from kerascheck.knowledge.devices import DEVICE_SETTINGS, GET_STRATEGY, LIST_PHYSICAL_DEVICES
from kerascheck.meaning.module import Module
from kerascheck.meaning.program.device_start import initialises
from kerascheck.syntax import edits
from kerascheck.syntax.def_use import def_use
from kerascheck.syntax.edits import CannotEdit
from kerascheck.syntax.tree import Tree

_LOOP_VARIABLES = ("gpu", "device", "physical_device")


def set_memory_growth(module: Module) -> Fix | None:
    """Set memory growth on every GPU below the imports; None if TensorFlow has no name there."""
    tree = module.tree
    try:
        variable = edits.free_name(tree, _LOOP_VARIABLES)
        tf, imports, place = _tensorflow_below_imports(tree)
    except CannotEdit:
        return None
    text = (
        f'for {variable} in {tf}.config.list_physical_devices("GPU"):\n'
        f"{tree.indent}{tf}.config.experimental.set_memory_growth({variable}, True)"
    )
    return offer(
        "Set memory growth on every GPU",
        lambda: (*imports, *edits.insert_after_imports(tree, text)),
        [NOTHING_BETWEEN.unless(earlier_start(module, place)), SAME_OUTPUT.unless(_other_setting(module))],
    )


def _tensorflow_below_imports(tree: Tree) -> tuple[str, edits.Edits, cst.CSTNode | None]:
    """Return the spelling of TensorFlow below the imports, the edits of an import, and the next statement.

    If a later import binds it, the location is below that import.
    """
    body: list[cst.CSTNode] = list(tree.root.body)
    end = edits.end_of_imports(tree)
    for index in range(end, len(body)):
        previous = body[index - 1] if index else None
        if index == end or isinstance(previous, cst.SimpleStatementLine) and isinstance(previous.body[0], cst.Import):
            try:
                text, imports = edits.spelling(tree, "tensorflow", at=body[index])
            except CannotEdit:
                continue
            if index == end or edits.end_of_imports(tree, text) == index:
                return text, imports, body[index]
    raise CannotEdit("no name for TensorFlow")


def _other_setting(module: Module) -> str | None:
    """Return another device setting that may fail, or act differently, once memory growth is set."""
    for call in module.run.calls:
        if call.name in DEVICE_SETTINGS:
            return f"{line(call.module, call.node)} sets up devices, too"
    return None


def grow_every_device(call: Call) -> Fix | None:
    """Turn ``set_memory_growth(gpus[0], True)`` into a loop over ``gpus``.

    Returns None unless ``gpus`` is the result of ``list_physical_devices("GPU")``.
    """
    tree, module = call.module.tree, call.module
    argument = call.written("device")
    if (
        argument is None
        or not isinstance(argument.value, cst.Subscript)
        or not isinstance(argument.value.value, cst.Name)
        or not isinstance(tree.parents.get(call.node), cst.Expr)
        or constant(call.given("enable")) is not True
    ):
        return None
    line_of_call = tree.statement(call.node)
    if not isinstance(line_of_call, cst.SimpleStatementLine) or len(line_of_call.body) != 1:
        return None
    devices = argument.value.value.value
    if not _lists_gpus(call, devices):
        return None

    def build() -> edits.Edits:
        variable = edits.free_name(tree, _LOOP_VARIABLES)
        start, end = tree.range_of(call.node)
        inner_start, inner_end = tree.range_of(argument.value)
        text = module.text
        before = text[text.rfind("\n", 0, start) + 1 : start]
        step = "\t" if "\t" in before else tree.indent
        statement = text[start:inner_start] + variable + text[inner_end:end]
        if "\n" in statement:
            raise CannotEdit("the call spans lines")
        newline = "\r\n" if "\r\n" in text else "\n"
        return (Edit(start, end, f"for {variable} in {devices}:{newline}{before}{step}{statement}"),)

    return offer(
        f"Set memory growth on all of {devices}",
        build,
        [RAISES_NOW.unless(possible_handler(call) or _handler_of_initialisation(call))],
    )


def _lists_gpus(call: Call, name: str) -> bool:
    """Whether a name is bound once, to all GPUs, and nothing mutates the list."""
    tree = call.module.tree
    listing = {
        other.node
        for other in call.module.run.calls
        if other.name == LIST_PHYSICAL_DEVICES and constant(other.given("device_type")) == "GPU"
    }
    path = def_use(tree).scope_around(call.node)
    bindings = 0
    for node, parent in tree.parents.items():
        if not isinstance(node, cst.Name) or node.value != name:
            continue
        if isinstance(parent, cst.AssignTarget):
            assignment = tree.parents[parent]
            if not isinstance(assignment, cst.Assign) or assignment.value not in listing:
                return False
            if def_use(tree).scope_around(assignment) not in (path, tree.root):
                return False
            bindings += 1
        elif not _only_reads(tree, node, parent):
            return False
    return bindings == 1


def _only_reads(tree: Tree, name: cst.Name, parent: cst.CSTNode) -> bool:
    """Whether a use of a list only reads it: a test, an item, a length, a loop, or a conversion to text."""
    if isinstance(parent, cst.Arg):
        user = tree.parents[parent]
        return (
            isinstance(user, cst.Call)
            and isinstance(user.func, cst.Name)
            and user.func.value in ("len", "print", "bool", "enumerate", "list", "str")
        )
    if isinstance(parent, cst.Subscript):
        holder = tree.parents.get(parent)
        return parent.value is name and not isinstance(holder, (cst.AssignTarget, cst.Del, cst.AugAssign))
    if isinstance(parent, (cst.For, cst.CompFor)):
        return parent.iter is name
    return isinstance(
        parent,
        (cst.If, cst.IfExp, cst.UnaryOperation, cst.BooleanOperation, cst.FormattedStringExpression, cst.Comparison),
    )


def _handler_of_initialisation(call: Call) -> str | None:
    """Return the handler of the exception that two GPUs cause when the devices are initialised."""
    for other in call.module.run.calls:
        if other.order > call.order and initialises(other):
            found = possible_handler(other, frozenset({"ValueError"}))
            return None if found is None else f"with two GPUs {line(other.module, other.node)} raises, and {found}"
    return None


def only_for_several_gpus(call: Call) -> Fix | None:
    """Use ``MirroredStrategy()`` only for several GPUs, else the default strategy.

    Unsafe, because a test covers only one of them.
    """
    tree, module = call.module.tree, call.module

    def build() -> edits.Edits:
        start, end = tree.range_of(call.node)
        listed, imports = edits.spelling(tree, LIST_PHYSICAL_DEVICES, at=call.node)
        default, more = edits.spelling(tree, GET_STRATEGY, at=call.node)
        text = f'{module.text[start:end]} if len({listed}("GPU")) > 1 else {default}()'
        return (*dict.fromkeys((*imports, *more)), *edits.replace(tree, call.node, text))

    return offer(
        "Use the default strategy on a single device",
        build,
        [SAME_NUMBERS.unless("without the strategy, XLA may compile the step and round in another order")],
    )
