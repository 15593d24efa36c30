"""What statements do to the state of the interpreted program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState, Written
from kerascheck.interpreter.array_shapes import length_of, parts_of, shape_of, split_of
from kerascheck.interpreter.internal_values import Imported
from kerascheck.interpreter.joins import any_of, join
from kerascheck.interpreter.limits import MAX_OPTIONS
from kerascheck.interpreter.nodes import differentiated, dotted_name, literal_of, parameters_of, remembered
from kerascheck.interpreter.purity import derived, item_of_turn
from kerascheck.interpreter.value_kinds import is_array
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Compilation,
    Constant,
    Dataset,
    DatasetConsumer,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    Instance,
    IteratorValue,
    LoopVariable,
    Method,
    ModuleLike,
    ModuleValue,
    Partial,
    Scope,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
    constant,
    external,
    holds_tensor,
    largest,
    options_of,
)
from kerascheck.knowledge.callables import (
    COMPILERS,
    FUNCTION_COMPILED,
    PY_FUNCTIONS,
    TENSOR_BOOL,
    TENSOR_LIBRARIES,
    TRANSPARENT_DECORATOR_PREFIXES,
    TRANSPARENT_DECORATORS,
    VARIABLE,
)
from kerascheck.knowledge.classes import GRADIENT_TAPE, KERAS_TENSOR
from kerascheck.knowledge.datasets import OPTIONS
from kerascheck.knowledge.python import ENDS_THE_PROGRAM, METHOD_KINDS, item_of
from kerascheck.syntax.names import canonical
from kerascheck.syntax.tree import Tree, alike
from kerascheck.syntax.written import assignment, is_target, written_trips

_DEBUGGING = re.compile(r"debug", re.I)
Given = TypeVar("Given")

_AUGMENTED: dict[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
}


class Statements(AbstractState):
    """Runs statements: assignments, imports, branches, loops, definitions."""

    def _block(self, statements: Iterable[cst.CSTNode]) -> bool:
        """Run statements in order; True where the end of the block cannot be reached."""
        for statement in statements:
            if type(statement) is cst.SimpleStatementLine:
                if self._block(statement.body):
                    return True
            elif (handler := _STATEMENTS.get(type(statement))) and handler(self, statement):
                return True
        return False

    def _suite(self, suite: cst.BaseSuite) -> bool:
        return self._block(suite.body)

    def _expr(self, node: cst.Expr) -> bool:
        value = self.eval(node.value)
        if isinstance(node.value, cst.Call):
            for dataset in options_of(value):
                if isinstance(dataset, Dataset) and dataset.stage.node is node.value and not dataset.stage.is_source:
                    self.sink("discard", dataset, node.value)
            # In a notebook it ends a cell, or restarts the kernel for those that follow.
            goes_on = self.path.frame.function is None and self.module.source.cells is not None
            return isinstance(value, ExternalInstance) and value.name in ENDS_THE_PROGRAM and not goes_on
        return False

    def _assign(self, node: cst.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self._bind(target.target, value)

    def _ann_assign(self, node: cst.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.eval(node.value))

    def _aug_assign(self, node: cst.AugAssign) -> None:
        left, right = self.eval(node.target), self.eval(node.value)
        if isinstance(left, (SequenceValue, DictValue)):
            self.note_write(node.target, left, node)
        if (
            isinstance(left, SequenceValue)
            and isinstance(right, SequenceValue)
            and isinstance(node.operator, cst.AddAssign)
        ):
            self.extend(left, right.items, certain=not right.open)
        elif isinstance(left, DictValue):
            self.update(left, right)
        elif holds_tensor(left) or holds_tensor(right):
            self.use("arithmetic", node)
            self._bind(node.target, Tensor("result"))
        else:
            self._bind(node.target, self._timed(node, _AUGMENTED.get(type(node.operator)), left, right) or UNKNOWN)
        if isinstance(right, SequenceValue):
            self.collect(node, right.items)
        if self._is_side_effect(node.target):
            self.record(node, "builtins.object.__iadd__", "__iadd__", left, Arguments([right]))

    def _is_side_effect(self, target: cst.CSTNode) -> bool:
        """Whether compiled code writes to what outlives it. What is written to attributes is recorded as such, except in mapped functions."""
        traced = self.path.traced_by()
        base = target.value if isinstance(target, cst.Subscript) else target
        return traced is not None and (traced == "map" or isinstance(base, cst.Name)) and self._outlives(target)

    def _outlives(self, target: cst.CSTNode) -> bool:
        """Whether what is written to is certainly there before and after the call of the function at hand: a variable of
        the module, an attribute of an object made outside of compiled code, or an item of one of these."""
        item = isinstance(target, cst.Subscript)
        if isinstance(target, cst.Subscript):
            target = target.value
        if isinstance(target, cst.Name):
            home = self.scope.owner(target.value) if item else self.scope.redirected.get(target.value)
            return home is not None and home is self._envs.get(self.module)
        if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
            return False
        owner = self.scope.lookup(target.value.value)
        made = next((call for call in self.calls if call.attribute == "__init__" and call.receiver is owner), None)
        return made is not None and made.path.traced_by() is None and self._is_used_beyond(target)

    def _is_used_beyond(self, target: cst.Attribute) -> bool:
        """Whether an attribute is more than a local variable under another name: each function of the class that has it both assigns and reads it."""
        tree = self.module.tree
        around = next((outer for outer in tree.ancestors(target) if isinstance(outer, cst.ClassDef)), None)
        written: dict[cst.CSTNode | None, set[bool]] = {}
        for node in tree.descendants(around) if around is not None else ():
            if isinstance(node, cst.Attribute) and alike(node, target):
                home = next((outer for outer in tree.ancestors(node) if isinstance(outer, cst.FunctionDef)), None)
                written.setdefault(home, set()).add(
                    is_target(tree.parents[node], node) or isinstance(tree.parents[node], (cst.Element, cst.AugAssign))
                )
        return not all(kinds == {True, False} for kinds in written.values()) or not written

    def _bind(self, target: cst.CSTNode, value: Value) -> None:
        if holds_tensor(value) and self._is_side_effect(target):
            self.record(target, "builtins.object.__set__", "__set__", UNKNOWN, Arguments([value]))
        bind = _TARGETS.get(type(target))
        if bind is not None:
            bind(self, target, value)

    def _bind_variable(self, target: cst.Name, value: Value) -> None:
        if target.value in self.scope.redirected:
            self.note_write(target, UNKNOWN, target)
        self._bind_name(target.value, value)

    def _bind_attribute(self, target: cst.Attribute, value: Value) -> None:
        holder = self.eval(target.value)
        self.note_write(target.value, holder, target)
        self.set_attribute(target, holder, target.attr.value, value)

    def _bind_elements(self, target: cst.Tuple | cst.List, value: Value) -> None:
        self._unpack(target.elements, value)

    def _bind_starred(self, target: cst.StarredElement, value: Value) -> None:
        self._bind(target.value, UNKNOWN)

    def _bind_item(self, target: cst.Subscript, value: Value) -> None:
        base = self.eval(target.value)
        self.note_write(target.value, base, target)
        key = self._index(target)
        if not isinstance(constant(key), str):
            self.collect(target, [value])
        if isinstance(base, DictValue) and isinstance(key, Constant):
            self.store(base.items, key.value, value, base.born)
        elif base == External("os.environ"):
            self.record(target, "os.environ.__setitem__", "__setitem__", base, Arguments([key, value]))
        elif isinstance(base, DictValue):
            base.open, base.most = True, None
            for known in list(base.items):
                self.store(base.items, known, join(base.items[known], value), base.born)
            self.store(base.items, target, value, base.born)
        elif isinstance(base, SequenceValue):
            self.extend(base, [value], certain=False)
        elif isinstance(base, ExternalInstance) and is_array(base):
            # After a condition there may be one group of items for each way.
            groups = [
                option for option in options_of(base.attributes.get("stored")) if isinstance(option, SequenceValue)
            ]
            stored = [item for group in groups for item in group.items]
            self.store(base.attributes, "stored", SequenceValue("list", [*stored, value], open=True), base.born)

    def _bind_name(self, name: str, value: Value) -> None:
        if all(map(_may_be_tensor, options_of(value))) and self._is_differentiated(name):
            value = Tensor("result")
        home = self.scope.redirected.get(name)
        if home is None:
            self.scope.variables[name] = value
        else:
            self.store(home.variables, name, value)

    def _is_differentiated(self, name: str) -> bool:
        """Whether a name gets its value under a tape that the function at hand then asks for the gradients of it."""
        if not any(
            isinstance(manager.value, ExternalInstance) and manager.value.name == GRADIENT_TAPE
            for manager in self.path.managers(within="function")
        ):
            return False
        function = self.path.frame.function
        return name in remembered(
            self.module, function.node if function is not None else self.module.tree.root, differentiated
        )

    def set_attribute(self, node: cst.CSTNode, receiver: Value, name: str, value: Value) -> None:
        for option in options_of(receiver):
            if isinstance(option, (Instance, ExternalInstance)):
                if isinstance(option, ExternalInstance) and option.name.startswith(OPTIONS):
                    # Where it is not set, the default holds.
                    option.attributes.setdefault(name, UNKNOWN)
                self.store(option.attributes, name, value, option.born)
            owner = self.class_name(option)
            if owner is not None:
                self.record(node, f"{owner}.__setattr__", name, option, Arguments([Constant(name), value]))
            elif isinstance(option, External):
                if not option.name.startswith(TENSOR_LIBRARIES):
                    self.store(self.set_outside, f"{option.name}.{name}", value)
                self.record(node, f"{option.name}.__setattr__", name, option, Arguments([Constant(name), value]))
            elif isinstance(option, Instance) and isinstance(self.module.tree.parents.get(node), cst.AugAssign):
                self.record(node, "builtins.object.__setattr__", name, option, Arguments([Constant(name), value]))
            elif option is UNKNOWN or isinstance(option, Method):
                self.record(node, None, name, option, Arguments([Constant(name), value]))
            if isinstance(option, ModuleValue):
                self.store(self._run_module(option.module).variables, name, value)

    def _unpack(self, elements: Sequence[cst.BaseElement], value: Value) -> None:
        value = parts_of(value) or value
        for option in options_of(value):
            if isinstance(option, SequenceValue) and not option.open and len(option.items) == len(elements):
                for element, item in zip(elements, option.items):
                    self._bind(element.value if isinstance(element, cst.Element) else element, item)
                return
        if isinstance(value, Tensor) or (isinstance(value, Dataset) and value.stage.is_source):
            # Elements of a structure of tensors; tfds.load may return several datasets.
            each: Value = value
        elif isinstance(value, SequenceValue):
            each = any_of(value.items) if value.open else UNKNOWN
        elif (
            isinstance(value, ExternalInstance)
            and value.name == "sklearn.model_selection.train_test_split"
            and value.call is not None
        ):
            # Two parts of every array, in the order of the arguments.
            for index, element in enumerate(elements):
                given = value.call.arguments.get(index // 2, None) or UNKNOWN
                self._bind(
                    element.value if isinstance(element, cst.Element) else element,
                    split_of(given, value.call, index % 2 == 0)
                    if shape_of(given)
                    else derived(given)
                    if is_array(given)
                    else UNKNOWN,
                )
            return
        else:
            each = UNKNOWN
        for element in elements:
            self._bind(element.value if isinstance(element, cst.Element) else element, each)

    def _return(self, node: cst.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else Constant(None)
        if self._returns:
            self._returns[-1].append(value)
        return True

    def _ends(self, node: cst.Raise | cst.Break | cst.Continue) -> bool:
        if isinstance(node, cst.Raise) and node.exc is not None:
            self.eval(node.exc)
        return True

    def _evaluate_children(self, node: cst.Assert) -> None:
        for child in self.module.tree.children(node):
            if isinstance(child, cst.BaseExpression):
                self.eval(child)

    def _delete(self, node: cst.Del) -> None:
        targets = (
            [element.value for element in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        )
        for target in targets:
            if isinstance(target, cst.Name):
                self._bind_name(target.value, UNKNOWN)
            elif isinstance(target, (cst.Attribute, cst.Subscript)):
                self.note_write(target.value, self.eval(target.value), target)

    def _global(self, node: cst.Global) -> None:
        module_env = self._envs[self.module]
        for item in node.names:
            self.scope.redirected[item.name.value] = module_env

    def _nonlocal(self, node: cst.Nonlocal) -> None:
        for item in node.names:
            scope: Scope | None = self.scope.parent
            while scope is not None and item.name.value not in scope.variables:
                scope = scope.parent
            if scope is not None:
                self.scope.redirected[item.name.value] = scope

    def _import(self, node: cst.Import) -> None:
        for alias in node.names:
            dotted = dotted_name(alias.name)
            local = self.module.project.find(self.module, dotted, 0)
            bound = alias.evaluated_alias
            if bound is not None:
                value: Value = self._module_value(local) if local else external(dotted)
                self._bind_name(bound, value)
            else:
                first = dotted.partition(".")[0]
                if local is None:
                    self._bind_name(first, external(first))
                else:
                    self._bind_name(first, self._package(dotted, local))
            self.record(node, "builtins.import", dotted, UNKNOWN, Arguments([Constant(dotted)]))

    def _package(self, dotted: str, local: ModuleLike) -> Value:
        """What ``import a.b.c`` binds to ``a``."""
        first, _, rest = dotted.partition(".")
        found = self.module.project.find(self.module, first, 0)
        if found is not None:
            return self._module_value(found)
        # A folder without an __init__.py holds nothing but its modules.
        bound = self.scope.lookup(first)
        package = (
            bound
            if isinstance(bound, ExternalInstance) and bound.name == "builtins.module"
            else ExternalInstance("builtins.module")
        )
        inner = package
        *folders, last = rest.split(".")
        for folder in folders:
            held = inner.attributes.setdefault(folder, ExternalInstance("builtins.module"))
            if not isinstance(held, ExternalInstance):
                return UNKNOWN
            inner = held
        inner.attributes[last] = self._module_value(local)
        return package

    def _import_from(self, node: cst.ImportFrom) -> None:
        base = dotted_name(node.module) if node.module is not None else ""
        level = len(node.relative)
        local = self.module.project.find(self.module, base, level)
        if not level:
            self.record(node, "builtins.import", base, UNKNOWN, Arguments([Constant(base)]))
        if isinstance(node.names, cst.ImportStar):
            if local is not None:
                variables = self._run_module(local).variables
                listed = variables.get("__all__")
                public = {constant(item) for item in listed.items} if isinstance(listed, SequenceValue) else None
                for name, value in list(variables.items()):
                    if name in public if public is not None else not name.startswith("_"):
                        self._bind_name(name, value)
                if public is None:
                    # What the stars of that module brought there is handed on.
                    self._stars.setdefault(self.module, []).extend(self._stars.get(local, ()))
            elif not level:
                self._stars.setdefault(self.module, []).append(canonical(base))
            return
        for alias in node.names:
            name = alias.evaluated_name
            bound = alias.evaluated_alias or name
            if local is None and level:
                inner = self.module.project.find(self.module, f"{base}.{name}" if base else name, level)
                self._bind_name(bound, self._module_value(inner) if inner else UNKNOWN)
            elif local is None:
                inner = self.module.project.find(self.module, f"{base}.{name}", 0)
                self._bind_name(bound, self._module_value(inner) if inner else external(f"{base}.{name}"))
            else:
                if local.acts_on_import:
                    self._run_module(local)
                self._bind_name(bound, Imported(local, name))

    def _module_value(self, module: ModuleLike) -> Value:
        if module.acts_on_import:
            self._run_module(module)
        return ModuleValue(module)

    def _member_of(self, module: ModuleLike, name: str) -> Value:
        scope = self._run_module(module)
        if name in scope.variables:
            return self._resolved(scope, name, scope.variables[name])
        inner = module.project.find(module, name, 1) if module.is_package else None
        return self._module_value(inner) if inner else UNKNOWN

    def _resolved(self, scope: Scope, name: str, value: Value) -> Value:
        """``value``, or what it stands for if it is an import that was not followed yet."""
        if isinstance(value, Imported):
            # A cycle of imports meets itself here and stays unknown.
            scope.variables[name] = UNKNOWN
            value = scope.variables[name] = self._member_of(value.module, value.name)
        elif isinstance(value, UnionValue) and any(isinstance(option, Imported) for option in value.options):
            scope.variables[name] = UNKNOWN
            value = scope.variables[name] = any_of(
                self._member_of(option.module, option.name) if isinstance(option, Imported) else option
                for option in value.options
            )
        return value

    def _if(self, node: cst.If) -> bool:
        test = self.eval(node.test)
        self._asks(node.test, test)
        if self._is_main_guard(node.test):
            return self._suite(node.body) if self.module is self.entry else False
        decided = self._decided(node.test)
        if decided is True:
            return self._suite(node.body)
        if decided is False:
            return node.orelse is not None and self._orelse(node.orelse)
        self._forget_types(node.test)
        before, mark = self.scope.variables, len(self._undo_log)
        self.scope.variables = dict(before)
        with_branch = self._branch_path(node, "if")
        ended = self.inside(with_branch, self._suite, node.body)
        taken, written = self.scope.variables, self._rollback(mark)
        self.scope.variables = dict(before)
        ended_else = False
        if node.orelse is not None:
            ended_else = self.inside(self._branch_path(node, "else"), self._orelse, node.orelse)
        skipped = self.scope.variables
        self._merge_branches(written, self._rollback(mark))
        if ended and not ended_else:
            self.scope.variables = skipped
        elif ended_else and not ended:
            self.scope.variables = taken
        else:
            self.scope.variables = self._merge(taken, skipped)
        if holds_tensor(test):
            self.use("branch", node)
        return ended and ended_else

    def _asks(self, test: cst.BaseExpression, value: Value) -> None:
        """A tensor decides which way Python takes."""
        if isinstance(value, Tensor):
            self.record(test, TENSOR_BOOL, "__bool__", value, Arguments([value]))

    def _decided(self, test: cst.BaseExpression) -> bool | None:
        """The outcome of a test of literals, and of parameters that this call gives known values; else None.

        Settings of the module decide nothing: people switch them, and mean both ways. But what is
        switched off for debugging stays off.
        """
        decide = _TESTS.get(type(test))
        return None if decide is None else decide(self, test)

    def _decided_not(self, test: cst.UnaryOperation) -> bool | None:
        inner = self._decided(test.expression) if isinstance(test.operator, cst.Not) else None
        return None if inner is None else not inner

    def _decided_both(self, test: cst.BooleanOperation) -> bool | None:
        sides = self._decided(test.left), self._decided(test.right)
        deciding = isinstance(test.operator, cst.Or)
        return deciding if deciding in sides else None if None in sides else not deciding

    def _decided_value(self, test: cst.Name | cst.Integer) -> bool | None:
        literal = literal_of(test)
        if literal is not None or not isinstance(test, cst.Name):
            return None if literal is None else bool(literal.value)
        value = self._parameter(test)
        if value is None and _DEBUGGING.search(test.value) and constant(self.scope.lookup(test.value), True) is False:
            return False
        return (
            bool(value.value) if isinstance(value, Constant) else True if isinstance(value, (Function, Class)) else None
        )

    def _decided_comparison(self, test: cst.Comparison) -> bool | None:
        if len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
            return None
        operator, other = test.comparisons[0].operator, test.comparisons[0].comparator
        value, literal = self._parameter(test.left), literal_of(other)
        listed = isinstance(operator, (cst.In, cst.NotIn))
        if listed and isinstance(other, (cst.Tuple, cst.List, cst.Set)) and isinstance(value, Constant):
            among = [literal_of(element.value) for element in other.elements]
            return None if None in among else (value in among) is isinstance(operator, cst.In)
        if literal is None or value is None:
            return None
        if isinstance(value, Constant):
            same: bool = literal.value == value.value
        elif literal.value is None and isinstance(
            value, (Function, Class, Dataset, Instance, SequenceValue, DictValue)
        ):
            same = False
        else:
            return None
        if isinstance(operator, (cst.Equal, cst.Is)):
            return same
        return not same if isinstance(operator, (cst.NotEqual, cst.IsNot)) else None

    def _parameter(self, name: cst.Name) -> Value | None:
        """The value that this call gives a parameter; None for any other variable."""
        scope = self.scope.owner(name.value)
        return scope.variables[name.value] if scope is not None and name.value in scope.parameters else None

    def _forget_types(self, test: cst.BaseExpression) -> None:
        """A function that asks for the type of an argument handles other types than tensors, too."""
        for node in self.module.tree.descendants(test):
            if not isinstance(node, cst.Call) or not node.args or not isinstance(node.args[0].value, cst.Name):
                continue
            name = (
                node.func.attr.value
                if isinstance(node.func, cst.Attribute)
                else node.func.value
                if isinstance(node.func, cst.Name)
                else ""
            )
            if name in ("isinstance", "hasattr", "is_tensor", "is_keras_tensor", "is_numpy_array") and holds_tensor(
                self.scope.lookup(node.args[0].value.value)
            ):
                self._bind_name(node.args[0].value.value, UNKNOWN)

    def _orelse(self, node: cst.If | cst.Else) -> bool:
        return self._if(node) if isinstance(node, cst.If) else self._suite(node.body)

    def _branch_path(self, node: cst.CSTNode, label: str) -> ExecutionPath:
        return ExecutionPath("branch", self.path, self.module, node, label=label)

    def _is_main_guard(self, test: cst.BaseExpression) -> bool:
        return (
            isinstance(test, cst.Comparison)
            and len(test.comparisons) == 1
            and isinstance(test.comparisons[0].operator, cst.Equal)
            and any(
                isinstance(side, cst.Name) and side.value == "__name__"
                for side in (test.left, test.comparisons[0].comparator)
            )
        )

    def _merge(self, first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
        if first is second:
            return first
        merged = dict(second)
        for name, value in first.items():
            other = merged.get(name)
            if other is not value:
                merged[name] = value if other is None else join(value, other)
        return merged

    def _try(self, node: cst.Try | cst.TryStar) -> bool:
        before = dict(self.scope.variables)
        ended = self.inside(ExecutionPath("try", self.path, self.module, node), self._suite, node.body)
        after = self.scope.variables
        survivors = [] if ended else [after]
        mark = len(self._undo_log)
        written: list[Written] = []
        for handler in node.handlers:
            self.scope.variables = dict(self._merge(before, after))
            if handler.name is not None:
                self._bind(handler.name.name, UNKNOWN)
            path = ExecutionPath("handler", self.path, self.module, handler)
            if not self.inside(path, self._suite, handler.body):
                survivors.append(self.scope.variables)
            written.append(self._rollback(mark))
        self._merge_branches({}, *written)
        self.scope.variables = after
        if node.orelse is not None and not ended:
            if self._suite(node.orelse.body):
                survivors.remove(after)
            elif self.scope.variables is not after:
                survivors[0] = self.scope.variables
        if survivors:
            merged = survivors[0]
            for other in survivors[1:]:
                merged = self._merge(merged, other)
            self.scope.variables = merged
        finished = False
        if node.finalbody is not None:
            finished = self._suite(node.finalbody.body)
        return finished or not survivors

    def _with(self, node: cst.With) -> bool:
        path = self.path
        try:
            for item in node.items:
                value = self.eval(item.item)
                if item.asname is not None:
                    self._bind(item.asname.name, value)
                self.path = ExecutionPath("with", self.path, self.module, node, value=value)
            if any(_expects_error(item.item) for item in node.items):
                self._unrecorded(self._suite, node.body)
                return False
            return self._suite(node.body)
        finally:
            self.path = path

    def _unrecorded(self, action: Callable[[Given], object], argument: Given) -> None:
        """Do what shows an error on purpose: nobody else is seen to call what only that calls, and it does not count as run."""
        records: tuple[list[Any], ...] = (self.calls, self.sinks, self.stages, self.loops, self.entries, self.uses)
        lengths = [len(record) for record in records]
        habits, self._habits = self._habits, {}
        action(argument)
        self._habits = habits
        for record, length in zip(records, lengths):
            del record[length:]

    def _for(self, node: cst.For) -> bool:
        iterable = self.eval(node.iter)
        loop = self._loop(node, iterable, node.iter)
        turns = bool(loop.trips)
        if _ends_first_turn(node.body):
            loop.trips = 1 if loop.trips is None else min(loop.trips, 1)
        before, mark = dict(self.scope.variables), len(self._undo_log)
        # Functions of a literal list act one after the other; all else is gone round once, over what any item may be.
        apart = (
            iterable.items
            if isinstance(iterable, SequenceValue)
            and not iterable.open
            and 1 < len(iterable.items) <= MAX_OPTIONS
            and all(isinstance(item, (Function, Partial)) for item in iterable.items)
            else None
        )
        for item in [self._element(iterable, loop)] if apart is None else apart:
            self._bind(node.target, item)
            if loop.trips == 0 and isinstance(iterable, IteratorValue) and iterable.kind == "range":
                # Written to be off, as by range(0); its names may be used for all that.
                self._unrecorded(lambda body: self.inside(loop, self._suite, body), node.body)
            else:
                self.inside(loop, self._suite, node.body)
        if not turns:
            self._merge_branches({}, self._rollback(mark))
        if apart is None:
            self.scope.variables = self._merge(self.scope.variables, before)
        if node.orelse is not None:
            self._suite(node.orelse.body)
        return False

    def _while(self, node: cst.While) -> bool:
        self._asks(node.test, self.eval(node.test))
        loop = self._loop(node, UNKNOWN)
        if _ends_first_turn(node.body):
            loop.trips = 1
        before, mark = dict(self.scope.variables), len(self._undo_log)
        self.inside(loop, self._suite, node.body)
        self._merge_branches({}, self._rollback(mark))
        self.scope.variables = self._merge(self.scope.variables, before)
        if node.orelse is not None:
            self._suite(node.orelse.body)
        return False

    def _loop(self, node: cst.CSTNode, iterable: Value, written: cst.BaseExpression | None = None) -> ExecutionPath:
        trips = self._trips(iterable)
        if trips is None and written is not None:
            trips = written_trips(written)
        most, cut = _most(iterable), _broken_off_at(node) if isinstance(node, (cst.For, cst.While)) else None
        if cut is not None and cut < (trips if trips is not None else most if most is not None else cut + 1):
            trips, most = None, cut
        loop = ExecutionPath("loop", self.path, self.module, node, value=iterable, trips=trips, most=most)
        self.loops.append(loop)
        for dataset in self.iterated(iterable):
            self.sinks.append(DatasetConsumer("loop", dataset.stage, self.module, node, loop, loop=loop))
        return loop

    def _trips(self, iterable: Value) -> int | None:
        if isinstance(iterable, SequenceValue):
            return None if iterable.open else len(iterable.items)
        if isinstance(iterable, DictValue) and not iterable.open:
            return len(iterable.items)
        if isinstance(iterable, IteratorValue):
            if iterable.kind == "range":
                numbers = [constant(value) for value in iterable.over]
                if all(isinstance(number, int) for number in numbers) and 1 <= len(numbers) <= 3:
                    try:
                        return len(range(*numbers))
                    except (ValueError, OverflowError):
                        return None
                return None
            known = [trips for trips in map(self._trips, iterable.over) if trips is not None]
            return min(known) if known else None
        if isinstance(iterable, Dataset):
            return length_of(iterable.stage)
        shape = shape_of(iterable) if is_array(iterable) else None
        return shape[0] if shape else None

    def _element(self, iterable: Value, loop: ExecutionPath) -> Value:
        """What one turn of a loop over ``iterable`` gets."""
        return any_of(self._element_of(option, loop) for option in options_of(iterable))

    def _element_of(self, value: Value, loop: ExecutionPath) -> Value:
        if isinstance(value, (Dataset, Tensor)):
            return Tensor("element")
        if isinstance(value, SequenceValue) and value.items:
            return item_of_turn(value.items, loop)
        if isinstance(value, ExternalInstance) and (kind := item_of(value.name)) is not None:
            return LoopVariable(kind, loop=loop)
        return self._next_of(value, loop) if isinstance(value, IteratorValue) else UNKNOWN

    def _next_of(self, iterator: IteratorValue, loop: ExecutionPath) -> Value:
        """What one turn of a loop over an iterator gets."""
        inner = [self._element(value, loop) for value in iterator.over]
        if iterator.kind == "enumerate" and inner:
            return SequenceValue("tuple", [LoopVariable("builtins.int", loop=loop), inner[0]])
        if iterator.kind == "zip":
            return SequenceValue("tuple", inner)
        if iterator.kind == "items" and isinstance(iterator.over[0], DictValue):
            return SequenceValue("tuple", [UNKNOWN, any_of(iterator.over[0].items.values())])
        if iterator.kind == "range":
            return LoopVariable("builtins.int", loop=loop)
        return inner[0] if inner and iterator.kind != "as_numpy_iterator" else UNKNOWN

    def _function_def(self, node: cst.FunctionDef, owner: Class | None = None) -> None:
        function = Function(self.module, node, self.scope, node.name.value, owner=owner, defaults=self._defaults(node))
        self.functions.setdefault(node, function)
        value: Value = function
        for decorator in reversed(node.decorators):
            value = self._decorate(value, decorator.decorator, function)
        for option in options_of(value):
            if isinstance(option, Function) and option.node is node:
                self.functions[node] = option
        if owner is None:
            self._bind_name(node.name.value, value)
        elif not any(
            isinstance(each.decorator, cst.Attribute) and each.decorator.attr.value in ("setter", "deleter")
            for each in node.decorators
        ):
            # What is read by the name of a property is what its getter gives.
            owner.members[node.name.value] = value

    def _defaults(self, node: cst.FunctionDef | cst.Lambda) -> dict[str, Value]:
        return {p.name.value: self.eval(p.default) for p in parameters_of(node.params) if p.default is not None}

    def _decorate(self, value: Value, decorator: cst.BaseExpression, function: Function) -> Value:
        if isinstance(decorator, cst.Attribute) and decorator.attr.value in ("setter", "deleter", "getter", "register"):
            self.eval(decorator)
            return value
        maker = self.eval(decorator.func) if isinstance(decorator, cst.Call) else None
        if isinstance(maker, External) and maker.name in PY_FUNCTIONS:
            # TensorFlow calls it with arrays, wherever that is.
            return UNKNOWN
        wrapper = self.eval(decorator)
        name = wrapper.name if isinstance(wrapper, (External, ExternalInstance)) else None
        if name in METHOD_KINDS:
            # A decorator below, such as tf.function, has made another function of it.
            for each in (function, *(option for option in options_of(value) if isinstance(option, Function))):
                each.kind = METHOD_KINDS[name]
            return value
        if name in TRANSPARENT_DECORATORS or (name or "").startswith(TRANSPARENT_DECORATOR_PREFIXES):
            return value
        if name in COMPILERS:
            return self.compile(
                value, COMPILERS[name], wrapper.call if isinstance(wrapper, ExternalInstance) else None, function.node
            )
        result = self.call(wrapper, Arguments([value]), decorator)
        if any(isinstance(option, (Function, Partial)) for option in options_of(result)):
            return result
        if isinstance(value, Function):
            value.opaque = True
        return value

    def compile(self, value: Value, how: str, options: Call | None, node: cst.CSTNode) -> Value:
        """``value`` as tf.function (or another compiler) makes it at ``node``."""
        if isinstance(value, Partial):
            return Partial(self.compile(value.target, how, options, node), value.arguments)
        if isinstance(value, UnionValue):
            return UnionValue(tuple(self.compile(option, how, options, node) for option in value.options))
        if isinstance(value, Function):
            self.compiled.add(value.node)
            result: Function | ExternalInstance = Function(
                value.module,
                value.node,
                value.scope,
                value.name,
                value.receiver,
                value.owner,
                how,
                options,
                value.opaque,
                value.kind,
                value.defaults,
            )
        elif value is UNKNOWN or isinstance(value, (ExternalInstance, Instance, Method)):
            result = ExternalInstance(FUNCTION_COMPILED, options, {"target": value})
        else:
            return value
        self.compilations.append(Compilation(self.module, node, result, how, self.path))
        return result

    def _class_def(self, node: cst.ClassDef) -> None:
        bases = tuple(self.eval(base.value) for base in node.bases if not base.star)
        for decorator in node.decorators:
            self.eval(decorator.decorator)
        cls = Class(self.module, node, node.name.value, bases, {})
        scope = Scope(self.scope, cls.members)
        saved, self.scope = self.scope, scope
        try:
            for statement in node.body.body:
                if isinstance(statement, cst.FunctionDef):
                    # Methods see the scope around the class, not its members.
                    self.scope = saved
                    self._function_def(statement, cls)
                    self.scope = scope
                else:
                    self._block((statement,))
        finally:
            cls.members.update(scope.variables)
            self.scope = saved
        self._bind_name(node.name.value, cls)

    def _match(self, node: cst.Match) -> bool:
        self.eval(node.subject)
        before, mark = self.scope.variables, len(self._undo_log)
        survivors: list[dict[str, Value]] = []
        written: list[Written] = []
        exhaustive = False
        for case in node.cases:
            self.scope.variables = dict(before)
            self._bind_pattern(case.pattern)
            if case.guard is not None:
                self.eval(case.guard)
            if not self.inside(
                ExecutionPath("branch", self.path, self.module, node, label="case"), self._suite, case.body
            ):
                survivors.append(self.scope.variables)
            written.append(self._rollback(mark))
            exhaustive = exhaustive or (
                isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None and case.guard is None
            )
        if not exhaustive:
            survivors.append(before)
            written.append({})
        self._merge_branches(*written)
        self.scope.variables = survivors[0] if survivors else before
        for other in survivors[1:]:
            self.scope.variables = self._merge(self.scope.variables, other)
        return not survivors

    def _bind_pattern(self, pattern: cst.MatchPattern) -> None:
        for node in self.module.tree.descendants(pattern):
            name = (
                node.rest
                if isinstance(node, cst.MatchMapping)
                else node.name
                if isinstance(node, (cst.MatchAs, cst.MatchStar))
                else None
            )
            if name is not None:
                self._bind_name(name.value, UNKNOWN)


def _may_be_tensor(value: Value) -> bool:
    """Whether nothing, or nothing but the library that made it, is known of a value."""
    if isinstance(value, ExternalInstance):
        return not value.name.startswith("builtins.") and value.name not in (KERAS_TENSOR, VARIABLE)
    return value is UNKNOWN or isinstance(value, Method)


def _most(iterable: Value) -> int | None:
    """How many items a loop over something goes through at most; None where nothing tells."""
    if isinstance(iterable, (SequenceValue, DictValue)):
        return iterable.most if iterable.open else len(iterable.items)
    if isinstance(iterable, IteratorValue) and iterable.kind == "range":
        return largest(iterable.over[0]) if len(iterable.over) == 1 else None
    if isinstance(iterable, IteratorValue):
        return min((most for most in map(_most, iterable.over) if most is not None), default=None)
    return None


def _expects_error(manager: cst.BaseExpression) -> bool:
    """Whether a ``with`` statement enters ``pytest.raises``, ``self.assertRaises`` or the like."""
    function = manager.func if isinstance(manager, cst.Call) else manager
    return "raises" in dotted_name(function).rpartition(".")[2].lower()


def _broken_off_at(loop: cst.For | cst.While) -> int | None:
    """The iteration at which ``if len(kept) == 100: break`` or ``if count > 100: break`` leaves a loop, or ``continue``
    passes it over, for a list or a number that grows in each; None elsewhere."""
    body = loop.body
    statements = [
        each for line in body.body for each in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    ]
    lists, numbers = _growing_lists(statements), _growing_numbers(loop, statements)
    for each in statements:
        if not isinstance(each, cst.If):
            continue
        test = each.test
        if not isinstance(test, cst.Comparison):
            continue
        operator, limit = test.comparisons[0].operator, test.comparisons[0].comparator
        if not isinstance(operator, (cst.Equal, cst.GreaterThan, cst.GreaterThanEqual)):
            continue
        measured = _argument_of_len(test.left)
        counted = (
            isinstance(test.left, cst.Name)
            and test.left.value in numbers
            or isinstance(measured, cst.Name)
            and measured.value in lists
        )
        last: cst.CSTNode | None = each.body.body[-1] if each.body.body else None
        last = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
        # What follows is passed over from then on, too.
        leaves = isinstance(last, cst.Break) or isinstance(last, cst.Continue) and not isinstance(operator, cst.Equal)
        if counted and leaves and isinstance(limit, cst.Integer) and not _is_set_anew(test.left, body):
            return limit.evaluated_value + 1
    return None


def _growing_lists(statements: Sequence[cst.CSTNode]) -> set[str]:
    """The names to which statements of a loop append."""
    return {
        each.value.func.value.value
        for each in statements
        if isinstance(each, cst.Expr)
        and isinstance(each.value, cst.Call)
        and isinstance(each.value.func, cst.Attribute)
        and each.value.func.attr.value == "append"
        and isinstance(each.value.func.value, cst.Name)
    }


def _growing_numbers(loop: cst.For | cst.While, statements: Sequence[cst.CSTNode]) -> set[str]:
    """The names that count the iterations of a loop: ``count += 1``, or by ``enumerate``."""
    numbers = {
        each.target.value
        for each in statements
        if isinstance(each, cst.AugAssign)
        and isinstance(each.operator, cst.AddAssign)
        and isinstance(each.target, cst.Name)
        and isinstance(each.value, cst.Integer)
    }
    if (
        isinstance(loop, cst.For)
        and isinstance(loop.iter, cst.Call)
        and len(loop.iter.args) == 1
        and isinstance(loop.target, cst.Tuple)
    ):
        first = loop.target.elements[0].value
        if dotted_name(loop.iter.func) == "enumerate" and isinstance(first, cst.Name):
            numbers.add(first.value)
    return numbers


def _argument_of_len(expression: cst.BaseExpression) -> cst.BaseExpression | None:
    if (
        isinstance(expression, cst.Call)
        and isinstance(expression.func, cst.Name)
        and expression.func.value == "len"
        and len(expression.args) == 1
    ):
        return expression.args[0].value
    return None


def _is_set_anew(counted: cst.BaseExpression, body: cst.CSTNode) -> bool:
    """Whether a statement assigns to the number, or the list, of which a test speaks, as in ``if better: wait = 0``."""
    assigned = assignment(body)
    if assigned is not None:
        names = [target.value for target in assigned.targets if isinstance(target, cst.Name)]
        held = counted.args[0].value if isinstance(counted, cst.Call) else counted
        return isinstance(held, cst.Name) and held.value in names
    return not isinstance(body, (cst.BaseExpression, cst.FunctionDef, cst.ClassDef)) and any(
        _is_set_anew(counted, child) for child in Tree.children(body)
    )


def _ends_first_turn(body: cst.BaseSuite) -> bool:
    """Whether a loop is left at the end of its first turn, by a ``break``, ``return`` or ``raise`` under no condition and no ``continue`` before it."""
    for place, statement in enumerate(body.body):
        if isinstance(statement, cst.With):
            ends = _ends_first_turn(statement.body)
        else:
            line = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
            ends = any(isinstance(each, (cst.Break, cst.Return, cst.Raise)) for each in line)
        if ends:
            return not any(map(_may_continue, body.body[:place]))
    return False


def _may_continue(node: cst.CSTNode) -> bool:
    """Whether a statement may begin the next turn of the loop around it."""
    if isinstance(node, cst.Continue):
        return True
    if isinstance(node, (cst.For, cst.While)):
        # Its own body goes on with its own turns.
        return node.orelse is not None and _may_continue(node.orelse)
    return not isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.BaseExpression)) and any(
        map(_may_continue, Tree.children(node))
    )


# A handler gets nodes of the types that the table gives it.
_TARGETS: dict[type[cst.CSTNode], Callable[[Statements, Any, Value], None]] = {
    cst.Name: Statements._bind_variable,
    cst.Attribute: Statements._bind_attribute,
    cst.Tuple: Statements._bind_elements,
    cst.List: Statements._bind_elements,
    cst.Subscript: Statements._bind_item,
    cst.StarredElement: Statements._bind_starred,
}

_TESTS: dict[type[cst.CSTNode], Callable[[Statements, Any], bool | None]] = {
    cst.UnaryOperation: Statements._decided_not,
    cst.BooleanOperation: Statements._decided_both,
    cst.Name: Statements._decided_value,
    cst.Integer: Statements._decided_value,
    cst.Comparison: Statements._decided_comparison,
}

_STATEMENTS: dict[type[cst.CSTNode], Callable[[Statements, Any], bool | None]] = {
    cst.Expr: Statements._expr,
    cst.Assign: Statements._assign,
    cst.AnnAssign: Statements._ann_assign,
    cst.AugAssign: Statements._aug_assign,
    cst.Return: Statements._return,
    cst.Raise: Statements._ends,
    cst.Break: Statements._ends,
    cst.Continue: Statements._ends,
    cst.Assert: Statements._evaluate_children,
    cst.Del: Statements._delete,
    cst.Global: Statements._global,
    cst.Nonlocal: Statements._nonlocal,
    cst.Import: Statements._import,
    cst.ImportFrom: Statements._import_from,
    cst.If: Statements._if,
    cst.Try: Statements._try,
    cst.TryStar: Statements._try,
    cst.With: Statements._with,
    cst.For: Statements._for,
    cst.While: Statements._while,
    cst.FunctionDef: Statements._function_def,
    cst.ClassDef: Statements._class_def,
    cst.Match: Statements._match,
}
