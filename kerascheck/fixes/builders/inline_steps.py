"""The fix of a training step that is written into a loop: it becomes a compiled function."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from kerascheck.finding import Fix
from kerascheck.fixes.builders.traced_code import ends_in_python
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_OUTPUT
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Dataset, IteratorValue, Value, holds_tensor, options_of
from kerascheck.knowledge.callables import FUNCTION
from kerascheck.syntax import edits
from kerascheck.syntax.def_use import DefUse, def_use
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.uses import target_names

_NAMES = ("train_step", "compiled_step", "compiled_train_step")
_IN_GRAPHS = frozenset({"update_state", "watch"})
"""Methods whose calls as statements do in a graph what they do eagerly."""
_OF_PYTHON = ("numpy.", "math.", "random.", "time.", "builtins.print", "builtins.open")
_NOT_MOVED = (cst.Yield, cst.Await, cst.NamedExpr, cst.Lambda, cst.Global, cst.Nonlocal)
_AROUND = (cst.IndentedBlock, cst.If, cst.Else, cst.With)
"""Nodes that may be around the loops of a step, within their function."""


def compile_inline_step(module: Module, tape: cst.CSTNode, update: Call) -> Fix | None:
    """Move a step of a loop into a compiled function before the loop.

    Returns None if the step does more than assign to names and update variables, or if it takes anything from the
    iteration that is not certainly a tensor.

    Args:
        module: the module of the loop.
        tape: the ``with`` statement of the step.
        update: the call that updates the weights.
    """
    step = _step(module, tape, update)
    if step is None or not step.is_plain(update) or any(map(_needs_python, step.calls(module, update))):
        return None
    taken, given = step.parameters(), step.results()
    if taken is None or given is None:
        return None
    if not all(_may_return(value, module) for value in step.assigned(given)):
        return None
    elements = step.elements(module)
    if not all(name in elements or _is_tensor(name, step.calls(module, update)) for name in taken):
        return None
    tree, outermost = step.tree, step.loops[-1]

    def build() -> edits.Edits:
        text, imports = edits.spelling(tree, FUNCTION)
        name = edits.free_name(tree, _NAMES)
        return (
            *imports,
            *edits.extract_function(
                tree, step.statements, name, before=outermost, decorator=f"@{text}", parameters=taken, results=given
            ),
        )

    return offer(
        "Move the step into a function with @tf.function",
        build,
        [SAME_OUTPUT.unless("Python in the step then runs only while it is traced")],
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """The statements of a step in a loop.

    Attributes:
        statements: adjacent statements, from the tape to the update.
        loops: the loops around them, innermost first.
    """

    tree: Tree
    statements: Sequence[cst.CSTNode]
    loops: Sequence[cst.For | cst.While]

    @property
    def _analysis(self) -> DefUse:
        return def_use(self.tree)

    @property
    def _bound(self) -> frozenset[str]:
        return frozenset().union(*(self._analysis.uses(each).binds for each in self.statements))

    def is_plain(self, update: Call) -> bool:
        """Whether the step only assigns to names and calls what a graph can run."""
        if any(isinstance(node, _NOT_MOVED) for each in self.statements for node in self.tree.descendants(each)):
            return False
        return all(_is_plain(each, update) for each in self.statements)

    def calls(self, module: Module, update: Call) -> Iterator[Call]:
        """The calls that the step makes, inside functions too."""
        inside = {id(node) for each in self.statements for node in self.tree.descendants(each)}
        own = [call for call in module.run.calls if id(call.node) in inside]
        first = min((call.order for call in own), default=update.order)
        last = max((call.order for call in own), default=update.order)
        return (call for call in module.run.calls if first <= call.order <= last)

    def elements(self, module: Module) -> set[str]:
        """The names that hold elements of a dataset when the step begins."""
        loop = self.loops[0]
        if not isinstance(loop, cst.For):
            return set()
        values = [option for each in module.run.loops if each.node is loop for option in options_of(each.value)]
        names = [set(_elements(loop.target, value)) for value in values] or [set()]
        before = itertools.takewhile(lambda each: each is not self.statements[0], loop.body.body)
        rebound = frozenset().union(*(self._analysis.uses(each).binds for each in before))
        return set.intersection(*names) - rebound

    def parameters(self) -> list[str] | None:
        """The names that the step takes from the iteration; None if one of them comes from the iteration before."""
        taken = self._taken()
        around = self._analysis.uses(self.loops[-1])
        fresh = self._analysis.bound_before(self.statements[0], since=self.loops[0])
        if taken & (around.changes | around.rebinds) or (taken & self._bound) - fresh:
            return None
        return self._in_order(taken & around.binds)

    def assigned(self, names: Sequence[str]) -> Iterator[cst.BaseExpression]:
        """The expressions that the step assigns to names."""
        for node in (node for each in self.statements for node in self.tree.descendants(each)):
            if isinstance(node, cst.Assign):
                bound = [name for target in node.targets for name in target_names(target.target)]
            elif isinstance(node, cst.AnnAssign):
                bound = list(target_names(node.target))
            else:
                continue
            if node.value is not None and any(name in names for name in bound):
                yield node.value

    def _taken(self) -> frozenset[str]:
        """The names that the step reads before it binds them."""
        bound: set[str] = set()
        taken: set[str] = set()
        for each in self.statements:
            uses = self._analysis.uses(each)
            taken |= (self._analysis.free_reads(each) | uses.later) - bound
            bound |= uses.binds
        return frozenset(taken)

    def results(self) -> list[str] | None:
        """The names that other code takes from the step; None if a function cannot return them all."""
        analysis, bound = self._analysis, self._bound
        scope = analysis.scope_around(self.loops[-1])
        tapes = {each for node in self.statements if isinstance(node, cst.With) for each in _named_by(node)}
        if isinstance(scope, cst.ClassDef) or bound & analysis.scope(scope).declared:
            return None
        needed = self._read_in_loops()
        following = self._following(scope)
        if needed is None or following is None:
            return None
        live = set(bound)
        for each in following:
            uses = analysis.uses(each)
            needed |= (analysis.free_reads(each) | uses.later) & live
            live -= uses.certain
        if scope is self.tree.root:
            # Functions above the loop may read what it binds.
            needed |= analysis.module.later & bound
        return None if needed & tapes else self._in_order(needed & bound)

    def _read_in_loops(self) -> set[str] | None:
        """The names that the rest of the loops reads; None if other statements than loops are around the step."""
        read: set[str] = set()
        inner: Sequence[cst.CSTNode] = self.statements
        for loop in self.loops:
            if loop.orelse is not None or not isinstance(loop.body, cst.IndentedBlock):
                return None
            if not all(any(each is other for other in loop.body.body) for each in inner):
                return None
            read |= self._analysis.header(loop).reads
            for each in loop.body.body:
                if not any(each is other for other in inner):
                    read |= self._analysis.uses(each).reads | self._analysis.uses(each).later
            inner = (loop,)
        return read

    def _following(self, scope: cst.CSTNode) -> list[cst.CSTNode] | None:
        """The statements after the loops in their function or module; None if other code may run between them."""
        found: list[cst.CSTNode] = []
        child: cst.CSTNode = self.loops[-1]
        for holder in self.tree.ancestors(child):
            if isinstance(holder, (cst.IndentedBlock, cst.Module)):
                body = list(holder.body)
                found += body[next(place for place, each in enumerate(body) if each is child) + 1 :]
            if holder is scope:
                return found
            if not isinstance(holder, _AROUND):
                return None
            child = holder
        return found

    def _in_order(self, names: frozenset[str] | set[str]) -> list[str]:
        """Names in the order of the step."""
        nodes = (node for each in self.statements for node in self.tree.descendants(each))
        return list(dict.fromkeys(node.value for node in nodes if isinstance(node, cst.Name) and node.value in names))


def _step(module: Module, tape: cst.CSTNode, update: Call) -> _Step | None:
    """The step with this tape, if it consists of statements of a ``for`` loop."""
    tree = module.tree
    block = tree.parents.get(tape)
    if update.module is not module or not isinstance(tape, cst.With) or not isinstance(block, cst.IndentedBlock):
        return None
    around = (update.node, *tree.ancestors(update.node))
    last = next((each for each in around if tree.parents.get(each) is block), None)
    loops: list[cst.For | cst.While] = []
    for holder in tree.ancestors(tape):
        if isinstance(holder, (cst.FunctionDef, cst.ClassDef)):
            break
        if isinstance(holder, (cst.For, cst.While)):
            loops.append(holder)
    if last is None or not loops or tree.parents.get(block) is not loops[0] or not isinstance(loops[0], cst.For):
        return None
    places = {id(each): place for place, each in enumerate(block.body)}
    return _Step(tree, block.body[places[id(tape)] : places[id(last)] + 1], loops)


def _is_plain(statement: cst.CSTNode, update: Call) -> bool:
    if isinstance(statement, cst.With):
        body = statement.body
        return isinstance(body, cst.IndentedBlock) and all(
            not isinstance(each, cst.With) and _is_plain(each, update) for each in body.body
        )
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    for small in statement.body:
        if isinstance(small, cst.Assign):
            if not all(_is_name(target.target) for target in small.targets):
                return False
        elif isinstance(small, cst.AnnAssign):
            if not _is_name(small.target) or small.value is None:
                return False
        elif not (isinstance(small, cst.Expr) and isinstance(small.value, cst.Call)):
            return False
        elif small.value is not update.node and _method(small.value) not in _IN_GRAPHS:
            return False
    return True


def _is_name(target: cst.BaseExpression) -> bool:
    if isinstance(target, (cst.Tuple, cst.List)):
        return all(isinstance(each, cst.Element) and _is_name(each.value) for each in target.elements)
    return isinstance(target, cst.Name)


def _method(call: cst.Call) -> str | None:
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else None


def _named_by(statement: cst.With) -> Iterator[str]:
    for item in statement.items:
        if item.asname is not None and isinstance(item.asname.name, cst.Name):
            yield item.asname.name.value


def _needs_python(call: Call) -> bool:
    return ends_in_python(call) or (call.name or "").startswith(_OF_PYTHON)


def _may_return(value: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression may be a tensor; a tf.function would turn a shape or a number into one."""
    if isinstance(value, cst.Call):
        return not any(call.node is value and (call.name or "").startswith("builtins.") for call in module.run.calls)
    return isinstance(value, (cst.BinaryOperation, cst.UnaryOperation))


def _elements(target: cst.BaseExpression, value: Value) -> Iterator[str]:
    """The names of a loop's target that hold elements of a dataset if the loop is over ``value``."""
    if isinstance(value, Dataset):
        yield from target_names(target)
    elif isinstance(value, IteratorValue) and value.kind == "enumerate" and isinstance(target, cst.Tuple):
        if len(target.elements) == 2 and isinstance(value.over[0], Dataset):
            yield from target_names(target.elements[1].value)


def _is_tensor(name: str, calls: Iterator[Call]) -> bool:
    """Whether a name certainly is a tensor wherever the calls receive it, and at least one does."""
    values = [value for call in calls for value in _given_as(name, call)]
    return bool(values) and all(map(holds_tensor, values))


def _given_as(name: str, call: Call) -> Iterator[Value | None]:
    for key, arg in call.arguments.nodes.items():
        if isinstance(arg.value, cst.Name) and arg.value.value == name:
            yield call.arguments.get(*((key, None) if isinstance(key, int) else (None, key)))
