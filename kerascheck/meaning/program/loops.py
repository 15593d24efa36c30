"""Loops around a call site: their number of iterations, and the iterations that an expression depends on."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter.nodes import remembered
from kerascheck.interpreter.values import Call, ExecutionPath, Function, ModuleLike, constant
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.written import assignment

SHORT_LOOP = 100
"""Total iterations up to which compiling a loop does not pay off: tracing takes about as long."""

A_FEW_STEPS = 10
"""Total steps that take negligible time, compiled or not, with any input."""

Definition = cst.FunctionDef | cst.Lambda

_ADDING = frozenset({"add", "append", "appendleft", "extend", "insert", "update"})


def most_iterations(path: ExecutionPath) -> float:
    """The maximum iterations of an execution path, from literal lengths of its loops; infinite if one is unknown."""
    total = 1.0
    for loop in path.loops(within="program"):
        if loop.turns is None:
            return float("inf")
        total *= max(loop.turns, 1)
    return total


def makes_few_steps(training: Call) -> bool:
    """Whether literals limit a ``fit`` or a hand-written step to a handful of steps in total, as in a smoke test."""
    if training.attribute not in ("fit", "fit_generator"):
        return most_iterations(training.path) <= A_FEW_STEPS
    steps, epochs = constant(training.given("steps_per_epoch")), training.given("epochs")
    passes = 1 if epochs is None else constant(epochs)
    return (
        type(steps) is int
        and type(passes) is int
        and 0 < steps * passes <= A_FEW_STEPS
        and not any(training.path.loops(within="program"))
    )


def loop_that_changes(
    expression: cst.CSTNode, path: ExecutionPath, *, exactly: bool = False, beside: ExecutionPath | None = None
) -> ExecutionPath | None:
    """The innermost loop whose iteration an expression depends on; None if there is none.

    Follows the parameters of a function to the arguments at the call site in the loop. Other names of the function may
    depend on all of its arguments, also through objects. With ``exactly``, they depend only on the arguments in their
    assigned expressions. Ignores the loop ``beside``.
    """
    module = path.module
    names = set(_variables(module.tree, expression))
    for current in path.chain():
        if current.kind == "loop":
            if current is not beside and names & remembered(current.module, current.node, bound_in):
                return current
        elif current.kind == "call" and current.function is not None:
            function = current.function.node
            local = remembered(current.function.module, function, local_names)
            if exactly:
                names = _sources(current.function.module, function, names)
            if not names & local or current.parent is None or not isinstance(current.node, cst.Call):
                return None
            tree = current.module.tree
            given = arguments_for(names & local, current.function, current.node)
            names = {name for value in given for name in _variables(tree, value)}
    return None


def _sources(module: ModuleLike, function: Definition, names: set[str]) -> set[str]:
    """The origins of a function's names: parameters, outer names, and names bound by more than plain assignments."""
    assigned = remembered(module, function, _assigned)
    found, pending = set[str](), set(names)
    while pending:
        found |= pending
        pending = set[str]().union(*(assigned.get(name, set()) for name in pending)) - found
    parameters = (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params)
    return found - (assigned.keys() - {parameter.name.value for parameter in parameters})


def _assigned(module: ModuleLike, function: Definition) -> dict[str, set[str]]:
    """The names that a function assigns, each with the names in the assigned expressions."""
    tree = module.tree
    assigned: dict[str, set[str]] = {}
    for node in tree.descendants(function.body):
        found = assignment(node)
        if found is not None:
            for name in set[str]().union(*(_target_names(tree, target) for target in found.targets)):
                assigned.setdefault(name, set()).update(_variables(tree, found.value))
    return assigned


def arguments_for(names: set[str], function: Function, call: cst.Call) -> list[cst.BaseExpression]:
    """The arguments at a call site for some names of the function; all of them if one name is no plain parameter."""
    parameters = [
        parameter.name.value for parameter in (*function.node.params.posonly_params, *function.node.params.params)
    ]
    keywords = {*parameters, *(parameter.name.value for parameter in function.node.params.kwonly_params)}
    everything = [argument.value for argument in call.args]
    if not names <= keywords or any(argument.star for argument in call.args):
        return everything
    if parameters[:1] in (["self"], ["cls"]):
        parameters = parameters[1:]
    positional = dict(zip(parameters, (argument.value for argument in call.args if argument.keyword is None)))
    named = {argument.keyword.value: argument.value for argument in call.args if argument.keyword is not None}
    passed = positional | named
    return [passed[name] for name in names if name in passed]


def bound_in(module: ModuleLike, node: cst.CSTNode) -> set[str]:
    """Names that every iteration of a loop or comprehension rebinds."""
    tree = module.tree
    bound: set[str] = set()
    if isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)):
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            bound |= _target_names(tree, clause.target)
            clause = clause.inner_for_in
        return bound
    if isinstance(node, cst.For):
        bound |= _target_names(tree, node.target)
    for inner in tree.descendants(node.body) if isinstance(node, (cst.For, cst.While)) else ():
        if isinstance(inner, (cst.AssignTarget, cst.AnnAssign)) and isinstance(inner.target, cst.Subscript):
            bound |= _target_names(tree, inner.target.value)
        elif isinstance(inner, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For)):
            bound |= _target_names(tree, inner.target)
        elif (
            isinstance(inner, cst.Call)
            and isinstance(inner.func, cst.Attribute)
            and inner.func.attr.value in ("append", "extend", "insert", "update")
        ):
            bound |= _target_names(tree, inner.func.value)
    return bound


def feeds_back(loop: ExecutionPath, call: cst.Call) -> bool:
    """Whether a call in a loop receives its own result of the previous iteration, as in word-by-word text generation.

    Follows the names in the body of the loop: assignments, writes into objects, and appends.
    """
    tree = loop.module.tree
    if not isinstance(loop.node, (cst.For, cst.While)) or loop.node not in tree.ancestors(call):
        return False
    flows = list(_flows(tree, loop.node.body))
    around = {call, *tree.ancestors(call)}
    # A value set in the iteration before the call carries nothing over from the previous iteration.
    fresh: set[str] = set()
    for statement in loop.node.body.body:
        if statement in around:
            break
        for node in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            assigned = assignment(node)
            if assigned is not None and all(isinstance(each, (cst.Name, cst.Tuple)) for each in assigned.targets):
                fresh |= set().union(*(_written(tree, each) for each in assigned.targets)) - _read(tree, assigned.value)
    last = next((at for at, (_, _, value) in enumerate(flows) if value in around), len(flows))
    given = set().union(*(_read(tree, argument.value) for argument in call.args))
    needed = _reached(
        given, [(targets if at < last else targets - fresh, sources) for at, (targets, sources, _) in enumerate(flows)]
    )
    results = set().union(*(targets for targets, _, value in flows if value in around))
    return bool((needed - fresh) & _reached(results, [(sources, targets) for targets, sources, _ in flows]))


def value_reaches(tree: Tree, code: cst.CSTNode, value: cst.CSTNode, end: cst.CSTNode) -> bool:
    """Whether names of some code carry the value of one of its expressions to another; ignores the order of lines."""
    around = {value, *tree.ancestors(value)}
    if end in around:
        return True
    flows = list(_flows(tree, code))
    results = set[str]().union(*(targets for targets, _, source in flows if source in around))
    return bool(_read(tree, end) & _reached(results, [(sources, targets) for targets, sources, _ in flows]))


def _flows(tree: Tree, body: cst.CSTNode) -> Iterator[tuple[set[str], set[str], cst.CSTNode]]:
    """Names that a piece of code gives a value, each with the names in the value, and the value."""
    for node in tree.descendants(body):
        assigned = assignment(node)
        if assigned is not None:
            places = [index for each in assigned.targets if isinstance(each, cst.Subscript) for index in each.slice]
            yield (
                set().union(*(_written(tree, each) for each in assigned.targets)),
                set().union(*(_read(tree, each) for each in (assigned.value, *places))),
                assigned.value,
            )
        elif isinstance(node, cst.AugAssign):
            yield _written(tree, node.target), _read(tree, node.value), node.value
        elif isinstance(node, cst.For):
            yield _written(tree, node.target), _read(tree, node.iter), node.iter
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _ADDING:
            for argument in node.args:
                yield _written(tree, node.func.value), _read(tree, argument.value), argument.value


def _reached(names: set[str], flows: list[tuple[set[str], set[str]]]) -> set[str]:
    """The names, and all names that the flows reach from them, transitively."""
    found, before = set(names), None
    while found != before:
        before = set(found)
        for start, end in flows:
            if start & found:
                found |= end
    return found


def _written(tree: Tree, target: cst.CSTNode) -> set[str]:
    """The names, or attributes of ``self``, that an assignment to a target changes."""
    while isinstance(target, cst.Subscript):
        target = target.value
    if isinstance(target, (cst.Tuple, cst.List)):
        return set[str]().union(*(_written(tree, element.value) for element in target.elements))
    return {tree.code_of(target)} if isinstance(target, (cst.Name, cst.Attribute)) else set()


def _read(tree: Tree, value: cst.CSTNode) -> set[str]:
    """The names and attributes of ``self`` that an expression reads, without those of modules."""
    attributes = {
        tree.code_of(node)
        for node in tree.descendants(value)
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name)
    }
    return attributes | set(_variables(tree, value)) - tree.imported_names - {"self"}


def _variables(tree: Tree, expression: cst.CSTNode) -> Iterator[str]:
    """The names in an expression that are variables, not attributes or keywords."""
    for node in tree.descendants(expression):
        if isinstance(node, cst.Name):
            holder = tree.parents.get(node)
            if not (
                isinstance(holder, cst.Attribute)
                and holder.attr is node
                or isinstance(holder, cst.Arg)
                and holder.keyword is node
            ):
                yield node.value


def _target_names(tree: Tree, target: cst.CSTNode) -> set[str]:
    if isinstance(target, (cst.Attribute, cst.Subscript)):
        return set()
    return {node.value for node in tree.descendants(target) if isinstance(node, cst.Name)}


def local_names(module: ModuleLike, function: Definition) -> set[str]:
    """Names that are local to a function, except self and cls."""
    tree = module.tree
    names = set()
    parameters = function.params
    for parameter in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params):
        names.add(parameter.name.value)
    names -= {"self", "cls"}
    for node in tree.descendants(function.body):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.For)):
            names |= _target_names(tree, node.target)
    return names
