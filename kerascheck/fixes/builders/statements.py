"""Fixes that move statements to where they take effect."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import libcst as cst

from kerascheck.finding import Fix
from kerascheck.fixes.device_proofs import change_between, effect, only_sets_up_devices
from kerascheck.fixes.lines import line
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import BOUND_BEFORE, NOTHING_BETWEEN, RAISES_NOW, SAME_NUMBERS, SAME_OUTPUT, Proof
from kerascheck.fixes.run_proofs import possible_handler, statement_in_block, statement_of
from kerascheck.interpreter.values import Call, Constant, ExecutionPath
from kerascheck.knowledge.devices import SET_MEMORY_GROWTH
from kerascheck.meaning.module import Module
from kerascheck.syntax import edits
from kerascheck.syntax.def_use import def_use
from kerascheck.syntax.edits import CannotEdit
from kerascheck.syntax.moves import Objections, objections_to_move
from kerascheck.syntax.tree import Tree


def move_device_config(module: Module, call: Call, started: Call) -> Fix | None:
    """Move a top-level statement that configures devices below the imports, with the statements that bind its names.

    Returns None if the code would not run there, or the devices start above that place, or in another cell. Also None if it
    sets the growth of one GPU among several: the first operation would raise there too.
    """
    tree = module.tree
    device = call.written("device") if call.name == SET_MEMORY_GROWTH else None
    if device is not None and isinstance(device.value, cst.Subscript):
        return None
    statement = statement_in_block(module, call.node, tree.root)
    start = statement_of(started, module, tree.root)
    if statement is None or start is None or not only_sets_up_devices(module, statement):
        return None
    body: list[cst.CSTNode] = list(tree.root.body)
    moved = _with_sources(tree, body, statement)
    place = _statement_below_imports(tree, body, moved)
    if place is None or not _index(body, place) <= _index(body, start) < _index(body, moved[0]):
        return None
    cells = module.source.cells
    if cells is not None and len({module.source.cell_at(tree.range_of(each)[0]) for each in (place, *moved)}) > 1:
        return None
    against = objections_to_move(tree, moved, place, functools.partial(line, module))
    if against.unbound is not None:
        return None
    between = [each for each in body[_index(body, place) : _index(body, statement)] if each not in moved]
    disturbed = effect(module, moved) or against.between or change_between(call, module, between)
    return offer(
        "Move it below the imports",
        lambda: edits.move_statements(tree, moved, after_imports=True),
        [
            BOUND_BEFORE.unless(against.doubtful),
            NOTHING_BETWEEN.unless(disturbed),
            RAISES_NOW.unless(possible_handler(call)),
        ],
    )


def _index(body: Sequence[cst.CSTNode], statement: cst.CSTNode) -> int:
    return next(index for index, other in enumerate(body) if other is statement)


def _with_sources(tree: Tree, body: Sequence[cst.CSTNode], statement: cst.CSTNode) -> list[cst.CSTNode]:
    """Return a statement, preceded by the statements directly before it that bind its names."""
    analysis = def_use(tree)
    moved = [statement]
    index = _index(body, statement)
    needed = set(analysis.free_reads(statement))
    while index:
        before = body[index - 1]
        uses = analysis.uses(before)
        is_plain = isinstance(before, cst.SimpleStatementLine) and not any(map(_is_import, before.body))
        if not is_plain or uses.binds.isdisjoint(needed):
            break
        index -= 1
        moved.insert(0, before)
        needed |= uses.reads
    return moved


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.Import, cst.ImportFrom))


def _statement_below_imports(
    tree: Tree, body: Sequence[cst.CSTNode], moved: Sequence[cst.CSTNode]
) -> cst.CSTNode | None:
    """Return the statement above which moved statements go, below the imports; None if they cannot move there."""
    try:
        made = edits.move_statements(tree, moved, after_imports=True)
    except CannotEdit:
        return None
    start = next((edit.start for edit in made if edit.start == edit.end), None)
    if start is None:
        return None
    return next((each for each in body if tree.statement_range(each)[0] >= start), None)


def move_before_layers(call: Call, first: Call) -> Fix | None:
    """Move a statement that sets a policy before the statement of the same block that creates the first layer.

    Unsafe, because the layers then compute in another type; None if the code would not run there.
    """
    tree, module = call.module.tree, call.module
    statement = tree.statement(call.node)
    block = tree.parents.get(statement)
    anchor = _node_in_frame(first, call.path.frame)
    if anchor is None or block is None:
        return None
    target = statement_in_block(module, anchor, block)
    if target is None or target is statement:
        return None
    return _offer_move(
        "Move it before the layers are created",
        call,
        [statement],
        target,
        SAME_NUMBERS.unless("the layers are then created under the policy, and compute in its type"),
    )


def _node_in_frame(call: Call, frame: ExecutionPath) -> cst.CSTNode | None:
    """Return the node of a call in a frame, or of the call there that leads to it."""
    if call.path.frame is frame:
        return call.node
    return next(
        (
            path.node
            for path in call.path.chain()
            if path.kind == "call" and path.parent is not None and path.parent.frame is frame
        ),
        None,
    )


def _offer_move(message: str, call: Call, moved: Sequence[cst.CSTNode], place: cst.CSTNode, proof: Proof) -> Fix | None:
    """Offer a move that changes the behaviour of the program, as the missing proof says.

    Returns None if the code would not run there.
    """
    tree = call.module.tree
    try:
        against: Objections = objections_to_move(tree, moved, place, functools.partial(line, call.module))
    except (KeyError, StopIteration):
        return None
    if against.unbound is not None:
        return None
    return offer(
        message,
        lambda: edits.move_statements(tree, moved, before=place),
        [proof, BOUND_BEFORE.unless(against.doubtful), NOTHING_BETWEEN.unless(against.between)],
    )


def move_above_import(call: Call, first: Call) -> Fix | None:
    """Move a top-level statement that sets an environment variable to a literal above an import, with ``import os``.

    Unsafe, because the variable then takes effect; None if the code would not run there.
    """
    tree, module = call.module.tree, call.module
    statement = statement_in_block(module, call.node, tree.root)
    anchor = statement_in_block(module, first.node, tree.root) if first.module is module else None
    if statement is None or anchor is None or not isinstance(call.given("value"), Constant):
        return None
    body = list(tree.root.body)
    needed = def_use(tree).free_reads(statement)
    moved = [
        each
        for each in body[_index(body, anchor) : _index(body, statement)]
        if _imports_os(tree, each) and not def_use(tree).uses(each).binds.isdisjoint(needed)
    ]
    return _offer_move(
        "Move it above the import",
        call,
        [*moved, statement],
        anchor,
        SAME_OUTPUT.unless("the variable then takes effect"),
    )


def _imports_os(tree: Tree, statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and tree.code_of(statement).strip() in (
        "import os",
        "from os import environ",
    )


def move_before_loop(call: Call, loop: ExecutionPath) -> Fix | None:
    """Move a statement of a loop before the loop; unsafe, because it then runs once.

    Returns None if it needs names that the loop binds.
    """
    tree = call.module.tree
    statement = tree.statement(call.node)
    if (
        loop.module is not call.module
        or not isinstance(loop.node, (cst.For, cst.While))
        or tree.parents.get(statement) is not loop.node.body
        or len(loop.node.body.body) < 2
    ):
        return None
    return _offer_move(
        "Move it before the loop",
        call,
        [statement],
        loop.node,
        SAME_NUMBERS.unless("it then runs once, and the optimizer keeps its state"),
    )
