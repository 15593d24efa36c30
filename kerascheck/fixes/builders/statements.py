"""Statements move to where they take effect."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Fix
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import BOUND_BEFORE, NOTHING_BETWEEN, SAME_NUMBERS, SAME_OUTPUT
from kerascheck.interpreter.values import Call, Const, Scope
from kerascheck.syntax import edits
from kerascheck.syntax.tree import Tree


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
    return offer(
        "Move it below the imports",
        lambda: edits.move_statements(tree, moved, after_imports=True),
        [BOUND_BEFORE.unless("not proven"), NOTHING_BETWEEN.unless("not proven")],
    )


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
    return offer(
        "Move it before the layers are created",
        lambda: edits.move_statements(tree, [statement], before=target),
        [SAME_NUMBERS.unless("the layers are then created under the policy, and compute in its type")],
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
    return offer(
        "Move it above the import",
        lambda: edits.move_statements(tree, moved, before=anchor),
        [SAME_OUTPUT.unless("the variable then takes effect")],
    )


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
    return offer(
        "Move it before the loop",
        lambda: edits.move_statements(tree, [statement], before=loop.node),
        [SAME_NUMBERS.unless("it then runs once, and the optimizer keeps its state")],
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
