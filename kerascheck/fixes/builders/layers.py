"""Fixes that replace layers by faster equivalents."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Edit, Fix
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_NAMES, SAME_NUMBERS
from kerascheck.interpreter.values import Call, ExternalInstance
from kerascheck.knowledge.layers import LAYERS
from kerascheck.syntax import edits
from kerascheck.syntax.edits import CannotEdit


def recurrent_layer(call: Call, cell: ExternalInstance, layer: str) -> Fix | None:
    """Turn ``RNN(LSTMCell(u))`` into ``LSTM(u)``."""
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

    return offer(
        f"Use {layer}",
        build,
        [
            SAME_NUMBERS.unless("the kernels of cuDNN round in another order"),
            SAME_NAMES.unless("the layer and its weights get other names, which saved files hold"),
        ],
    )


def unwrap_layer(call: Call, inner: ExternalInstance) -> Fix | None:
    """Turn ``Wrapper(Layer(u), name="a")`` into ``Layer(u, name="a")``; unsafe: names and the summation order change."""
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
            # The range of an argument includes the parentheses of its value; the range of the value does not.
            name, _, rest = ", ".join(text[slice(*tree.range_of(arg))] for arg in others).partition("=")
            added = edits.add_keyword(tree, layer, name.rstrip(), rest.lstrip())
        return (Edit(outer[0], kept[0], ""), *added, Edit(kept[1], outer[1], ""))

    return offer(
        f"Write {inner.name.rpartition('.')[2]} alone",
        build,
        [
            SAME_NUMBERS.unless("the sums over time steps round in another order"),
            SAME_NAMES.unless("the layer and its weights get other names, which saved files hold"),
        ],
    )
