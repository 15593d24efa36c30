"""Fixes of what a program sets for its devices."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Edit, Fix
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import NOTHING_BETWEEN, RAISES_NOW, SAME_NUMBERS
from kerascheck.interpreter.values import Call
from kerascheck.knowledge.devices import GET_STRATEGY, LIST_PHYSICAL_DEVICES
from kerascheck.meaning.module import Module
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit


def set_memory_growth(module: Module) -> Fix | None:
    """Set memory growth on every GPU below the imports."""

    def build() -> edits.Edits:
        tf, imports = edits.spelling(module.tree, "tensorflow")
        text = f'for gpu in {tf}.config.list_physical_devices("GPU"):\n    {tf}.config.experimental.set_memory_growth(gpu, True)'
        return (*imports, *edits.insert_after_imports(module.tree, text))

    return offer("Set memory growth on every GPU", build, [NOTHING_BETWEEN.unless("not proven")])


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

    return offer(f"Set memory growth on all of {devices}", build, [RAISES_NOW.unless("not proven")])


def only_for_several_gpus(call: Call) -> Fix | None:
    """``MirroredStrategy()`` where there are several GPUs, else the default strategy; unsafe, for only one of both is tried here."""
    tree, module = call.module.tree, call.module

    def build() -> edits.Edits:
        start, end = tree.range_of(call.node)
        listed, imports = edits.spelling(tree, LIST_PHYSICAL_DEVICES)
        default, more = edits.spelling(tree, GET_STRATEGY)
        text = f'{module.text[start:end]} if len({listed}("GPU")) > 1 else {default}()'
        return (*dict.fromkeys((*imports, *more)), *edits.replace(tree, call.node, text))

    return offer(
        "Use the default strategy on a single device",
        build,
        [SAME_NUMBERS.unless("without the strategy, XLA may compile the step and round in another order")],
    )
