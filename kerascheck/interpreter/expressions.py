"""What expressions are worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from kerascheck.interpreter import array_shapes
from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.internal_values import Imported, SuperValue
from kerascheck.interpreter.joins import any_of, join
from kerascheck.interpreter.layer_shapes import product
from kerascheck.interpreter.limits import MAX_ITEMS, MAX_OPTIONS, MAX_TEXT
from kerascheck.interpreter.nodes import SINGLETONS, number, text_of
from kerascheck.interpreter.purity import computed, derived
from kerascheck.interpreter.value_kinds import is_array, is_number, is_symbolic, is_text, reading_of
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Constant,
    Dataset,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    Instance,
    IteratorValue,
    LoopVariable,
    Method,
    ModuleValue,
    Scope,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
    constant,
    datasets_in,
    external,
    holds_tensor,
    is_beyond,
    options_of,
)
from kerascheck.knowledge.callables import COMPILED_LOADERS, LOOKUP, VARIABLE, VARIABLE_GET
from kerascheck.knowledge.classes import KERAS_TENSOR, METRIC_RESULT, star_exports
from kerascheck.knowledge.datasets import OPTIONS
from kerascheck.knowledge.devices import LIST_PHYSICAL_DEVICES, PHYSICAL_DEVICE
from kerascheck.knowledge.python import BUILTINS, item_of

_UNITS_OF_TIME = (60, 3600, 1000, 1_000_000, 1_000_000_000)
# No tensor, array or time is among them.
_PLAIN = frozenset({type(UNKNOWN), Constant})
_OF_TIMES = frozenset({cst.Add, cst.Subtract, cst.Multiply, cst.Divide})
_MAY_BE_TIMES = (ExternalInstance, SequenceValue, UnionValue)
_GROUPS: dict[type[cst.CSTNode], str] = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}
_UFUNCS: dict[type[cst.CSTNode], str] = {
    cst.Add: "numpy.add",
    cst.Subtract: "numpy.subtract",
    cst.Multiply: "numpy.multiply",
    cst.Divide: "numpy.divide",
}
_BINARY: dict[type[cst.CSTNode], Callable[[Any, Any], Any]] = {
    cst.Add: lambda a, b: a + b,
    cst.Subtract: lambda a, b: a - b,
    cst.Multiply: lambda a, b: a * b,
    cst.FloorDivide: lambda a, b: a // b,
    cst.Divide: lambda a, b: a / b,
    cst.Modulo: lambda a, b: a % b,
}


# What may stand for an import that was not followed yet.
_MAY_BE_IMPORTED = frozenset({Imported, UnionValue})


class Expressions(AbstractState):
    """Evaluates expressions."""

    def eval(self, node: cst.CSTNode) -> Value:
        """The abstract value of an expression; records the calls in it."""
        handler = _EXPRESSIONS.get(type(node))
        return handler(self, node) if handler else UNKNOWN

    def _name(self, node: cst.Name) -> Value:
        name = node.value
        scope = self.scope
        value = scope.variables.get(name)
        if value is None or scope.redirected:
            owner = scope.owner(name)
            value = None if owner is None else owner.variables[name]
            scope = owner or scope
        if value is not None and type(value) in _MAY_BE_IMPORTED:
            value = self._resolved(scope, name, value)
        if value is None:
            if name in SINGLETONS:
                return SINGLETONS[name]
            for base in self._stars.get(self.module, ()):
                if star_exports(base, name):
                    return external(f"{base}.{name}")
            return external(f"builtins.{name}") if name in BUILTINS else UNKNOWN
        if isinstance(value, ExternalInstance) and value.name == VARIABLE and self.path.traced_by():
            self.record(node, VARIABLE_GET, "__get__", value, Arguments())
        return value

    def _attribute(self, node: cst.Attribute) -> Value:
        return self.get_attribute(self.eval(node.value), node.attr.value, node)

    def get_attribute(self, value: Value, name: str, node: cst.CSTNode) -> Value:
        """The attribute ``name`` of a value, which is read at ``node``."""
        handler = _ATTRIBUTES.get(type(value))
        return self._method(value, name) if handler is None else handler(self, value, name, node)

    def _of_external(self, value: External, name: str, node: cst.CSTNode) -> Value:
        dotted = f"{value.name}.{name}"
        return self.set_outside[dotted] if dotted in self.set_outside else external(dotted)

    def _of_instance(self, value: Instance, name: str, node: cst.CSTNode) -> Value:
        found = value.attributes.get(name)
        if found is not None:
            return found
        member = value.cls.member(name)
        if isinstance(member, Function):
            bound = self.bound(member, value)
            return self.inline(bound, Arguments(), node) if member.kind == "property" else bound
        return Method(value, name) if member is None else member

    def _of_class(self, value: Class, name: str, node: cst.CSTNode) -> Value:
        member = value.member(name)
        if isinstance(member, Function) and member.kind == "classmethod":
            return self.bound(member, value)
        if member is not None:
            return member
        bases = sorted(value.external_bases())
        return External(f"{bases[0]}.{name}") if bases else UNKNOWN

    def _of_made(self, value: ExternalInstance, name: str, node: cst.CSTNode) -> Value:
        if name in value.attributes:
            return value.attributes[name]
        if value.name in COMPILED_LOADERS:
            return value
        if value.name.startswith(OPTIONS):
            inner = ExternalInstance(f"{value.name}.{name}", value.call)
            value.attributes[name] = inner
            return inner
        return self._method(value, name)

    def _of_module(self, value: ModuleValue, name: str, node: cst.CSTNode) -> Value:
        return self._member_of(value.module, name)

    def _of_tensor(self, value: Tensor, name: str, node: cst.CSTNode) -> Value:
        if name not in ("shape", "_keras_shape", "dtype", "ndim", "name", "device", "graph"):
            return Method(value, name)
        if name.endswith("shape"):
            self.use("shape", node)
        return UNKNOWN

    def _of_base(self, value: SuperValue, name: str, node: cst.CSTNode) -> Value:
        """``super().name``."""
        passed = False
        for base in value.cls.ancestry():
            if passed and isinstance(base, Class) and name in base.members:
                member = base.members[name]
                return self.bound(member, value.instance) if isinstance(member, Function) else member
            passed = passed or base is value.cls
        return Method(value, name)

    def _of_one(self, value: UnionValue, name: str, node: cst.CSTNode) -> Value:
        return any_of(self.get_attribute(option, name, node) for option in value.options)

    def _method(self, value: Value, name: str) -> Value:
        if name == "T" and is_array(value):
            return array_shapes.transposed(value)
        shape = array_shapes.shape_of(value) if name == "shape" else None
        return Method(value, name) if shape is None else array_shapes.as_group(shape)

    def _call(self, node: cst.Call) -> Value:
        function = self.eval(node.func)
        arguments = Arguments()
        for arg in node.args:
            value = self.eval(arg.value)
            if arg.star == "*":
                if isinstance(value, SequenceValue) and not value.open and not arguments.unknown_positional:
                    arguments.positional.extend(value.items)
                else:
                    arguments.unknown_positional = True
            elif arg.star == "**":
                if isinstance(value, DictValue) and not value.open and all(isinstance(key, str) for key in value.items):
                    arguments.keywords.update(value.items)
                else:
                    arguments.unknown_keywords = True
            elif arg.keyword is not None:
                arguments.keywords[arg.keyword.value] = value
                arguments.nodes[arg.keyword.value] = arg
            else:
                if not arguments.unknown_positional:
                    arguments.nodes[len(arguments.positional)] = arg
                    arguments.positional.append(value)
                else:
                    for dataset in datasets_in(value):
                        self.sink("escape", dataset, node)
        return self.call(function, arguments, node)

    def _binary(self, node: cst.BinaryOperation) -> Value:
        # Long chains lean to the left: walk down the spine instead of recursing.
        spine = []
        left: cst.CSTNode = node
        while isinstance(left, cst.BinaryOperation):
            spine.append(left)
            left = left.left
        value = self.eval(left)
        for operation in reversed(spine):
            value = self._combine(operation, value, self.eval(operation.right))
        return value

    def _combine(self, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
        if isinstance(node.operator, cst.Modulo) and isinstance(constant(left), str):
            return self._text(node, [right])
        if type(left) in _PLAIN and type(right) in _PLAIN:
            return _of_python(node.operator, left, right)
        if holds_tensor(left) or holds_tensor(right):
            both = holds_tensor(left) and holds_tensor(right)
            scalar = is_number(right if holds_tensor(left) else left)
            self.use("tensors" if both else "arithmetic" if scalar else "arithmetic-unknown", node)
            return self.computed_tensor(self._origin(left, right), left, right)
        if is_symbolic(left) or is_symbolic(right):
            return ExternalInstance(KERAS_TENSOR, None, {"operands": SequenceValue("tuple", [left, right])})
        timed = self._timed(node, type(node.operator), left, right)
        if timed is not None:
            return timed
        # What is computed from the result of a metric is on the device as that is.
        result = next(
            (side for side in (left, right) if isinstance(side, ExternalInstance) and side.name == METRIC_RESULT), None
        )
        if result is not None:
            return result
        if is_array(left) or is_array(right):
            return self._calculated(node, left, right)
        return _of_python(node.operator, left, right)

    def _calculated(self, node: cst.BinaryOperation, left: Value, right: Value) -> ExternalInstance:
        """An array computed from others, with the NumPy function that the operator stands for."""
        result = derived(left, right)
        name = _UFUNCS.get(type(node.operator))
        if name is not None:
            call = Call(self.module, node, name, None, UNKNOWN, Arguments([left, right]), self.path, self.order, result)
            result.attributes["operation"] = ExternalInstance(name, call)
        return result

    def _timed(self, node: cst.CSTNode, operator: type[cst.CSTNode] | None, left: Value, right: Value) -> Value | None:
        """A difference of two readings of a clock, in whatever unit, a sum of such differences, and one by something else; None for all other values."""
        if operator not in _OF_TIMES or not (isinstance(left, _MAY_BE_TIMES) or isinstance(right, _MAY_BE_TIMES)):
            return None
        start, end = reading_of(left), reading_of(right)
        if start is not None and end is not None and operator is cst.Subtract:
            return self.elapsed(node, start, end, each=[start, end] != [left, right])
        times = [next(filter(_is_elapsed, options_of(side)), None) for side in (left, right)]
        elapsed = times[0] or times[1]
        if elapsed is None or operator is cst.Subtract:
            return None
        other = right if times[0] else left
        if operator is cst.Add:
            return elapsed if is_number(other) or None not in times else None
        if constant(other) in _UNITS_OF_TIME and (times[0] or operator is cst.Multiply):
            return elapsed
        return ExternalInstance(
            "time.rate", self.record(node, "time.rate", None, UNKNOWN, Arguments([times[0] or left, times[1] or right]))
        )

    def elapsed(self, node: cst.CSTNode, start: Value, end: Value, *, each: bool = False) -> ExternalInstance:
        """The time between two readings of a clock, or ``each`` of those between two lists of readings."""
        elapsed = ExternalInstance(
            "time.elapsed", self.record(node, "time.elapsed", None, UNKNOWN, Arguments([start, end]))
        )
        if each:
            self.collect(node, [elapsed])
        return elapsed

    def collect(self, node: cst.CSTNode, values: list[Value]) -> None:
        """Put values beside others of their kind: what is measured again and again tells a speed."""
        times = list(filter(_is_elapsed, values))
        if times:
            self.record(node, "time.collected", None, UNKNOWN, Arguments(times))

    def _origin(self, *operands: Value) -> str:
        """Arithmetic on parameters alone is as sure to be a tensor as they are."""
        origins = {option.origin for value in operands for option in options_of(value) if isinstance(option, Tensor)}
        return "parameter" if origins == {"parameter"} else "result"

    def _unary(self, node: cst.UnaryOperation) -> Value:
        value = self.eval(node.expression)
        if holds_tensor(value) and not isinstance(node.operator, cst.Not):
            self.use("arithmetic", node)
            return Tensor("result")
        if holds_tensor(value):
            self.use("branch", node)
        if is_array(value):
            return derived(value)
        if (
            isinstance(node.operator, cst.Minus)
            and isinstance(value, Constant)
            and isinstance(value.value, (int, float))
        ):
            return Constant(-value.value)
        return UNKNOWN

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        if holds_tensor(left):
            self.use("branch", node)
        return join(left, right)

    def _comparison(self, node: cst.Comparison) -> Value:
        values = [self.eval(node.left), *(self.eval(target.comparator) for target in node.comparisons)]
        identity = any(
            isinstance(target.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for target in node.comparisons
        )
        # No tensor equals None, which Python is told at once (tensor_equals in python/ops/math_ops.py).
        identity = identity or any(isinstance(value, Constant) and value.value is None for value in values)
        if any(holds_tensor(value) for value in values) and not identity:
            scalar = any(isinstance(value, Constant) for value in values)
            # Python asks the first of two comparisons whether it holds.
            chained = len(node.comparisons) > 1
            self.use("branch" if chained else "arithmetic" if scalar else "tensors", node)
            return Tensor(self._origin(*values))
        if any(map(is_array, values)) and not identity:
            return derived(*values)
        return UNKNOWN

    def _conditional(self, node: cst.IfExp) -> Value:
        test = self.eval(node.test)
        self._asks(node.test, test)
        if holds_tensor(test):
            self.use("branch", node)
        decided = self._decided(node.test)
        if decided is not None:
            return self.eval(node.body if decided else node.orelse)
        taken = self.inside(self._branch_path(node, "if"), self.eval, node.body)
        return join(taken, self.inside(self._branch_path(node, "else"), self.eval, node.orelse))

    def _subscript(self, node: cst.Subscript) -> Value:
        value = self.eval(node.value)
        indices = self._indices(node)
        key = _only(indices)
        if isinstance(value, (ExternalInstance, Method)) and is_symbolic(value):
            return ExternalInstance(KERAS_TENSOR, None, {"operands": SequenceValue("tuple", [value])})
        if is_array(value) and not (isinstance(value, ExternalInstance) and item_of(value.name)):
            return array_shapes.shaped(value, array_shapes.subscripted(array_shapes.shape_of(value), indices))
        if isinstance(value, (SequenceValue, ExternalInstance)) and (item := _items_at(value, indices)) is not None:
            return item
        if isinstance(value, SequenceValue):
            return _item_of_group(value, indices)
        if isinstance(value, DictValue):
            return _item_of_mapping(value, key)
        if isinstance(value, Tensor):
            self.indexed.add(node)
            self.use("key" if isinstance(constant(key), str) else "index", node)
            return Tensor("element" if value.origin == "element" else "item")
        if isinstance(value, Dataset) and value.stage.is_source:
            return value
        item = self._item_of_made(value, key, node) if isinstance(value, ExternalInstance) else None
        return item or array_shapes.columns_of(key) or UNKNOWN

    def _item_of_made(self, value: ExternalInstance, key: Value, node: cst.Subscript) -> Value | None:
        """An item of what a library made, where it is known what that is."""
        if value.name.startswith(LOOKUP):
            self.record(node, f"{value.name}.__getitem__", "__getitem__", value, Arguments([key]))
            return Tensor("item")
        if value.name in COMPILED_LOADERS:
            return value
        if value.name == LIST_PHYSICAL_DEVICES:
            return ExternalInstance(PHYSICAL_DEVICE, value.call, {"index": key})
        if value.name.startswith("sklearn.datasets.") and isinstance(constant(key), str):
            # A Bunch has its arrays under names and keys alike.
            return Method(value, constant(key))
        return None

    def _index(self, node: cst.Subscript) -> Value:
        return _only(self._indices(node))

    def _indices(self, node: cst.Subscript) -> list[array_shapes.Index]:
        found: list[array_shapes.Index] = []
        for element in node.slice:
            cut = element.slice
            if isinstance(cut, cst.Slice):
                found.append((self._limit(cut.lower), self._limit(cut.upper), self._limit(cut.step)))
            elif isinstance(cut, cst.Index):
                found.append("..." if isinstance(cut.value, cst.Ellipsis) else self.eval(cut.value))
        return found

    def _limit(self, node: cst.BaseExpression | None) -> Value | None:
        return None if node is None else self.eval(node)

    def _group(self, node: cst.Tuple | cst.List | cst.Set) -> Value:
        items: list[Value] = []
        known = True
        for element in node.elements:
            value = self.eval(element.value)
            if isinstance(element, cst.StarredElement):
                if isinstance(value, SequenceValue) and not value.open:
                    items.extend(value.items)
                else:
                    known = False
            else:
                items.append(value)
        return _bounded(SequenceValue(_GROUPS[type(node)], items)) if known else UNKNOWN

    def _dict(self, node: cst.Dict) -> Value:
        mapping = DictValue({})
        for element in node.elements:
            value = self.eval(element.value)
            if isinstance(element, cst.StarredDictElement):
                if isinstance(value, DictValue):
                    mapping.items.update(value.items)
                    mapping.open = mapping.open or value.open
                else:
                    mapping.open = True
                continue
            key = self.eval(element.key) if isinstance(element, cst.DictElement) else UNKNOWN
            if isinstance(key, Constant):
                mapping.items[key.value] = value
            else:
                mapping.open = True
                mapping.items[element] = value
        return _bounded(mapping)

    def _lambda(self, node: cst.Lambda) -> Value:
        function = Function(self.module, node, self.scope, "<lambda>", defaults=self._defaults(node))
        self.functions.setdefault(node, function)
        return function

    def _comprehension(self, node: cst.BaseComp) -> Value:
        saved = self.scope, self.path
        self.scope = Scope(self.scope)
        loops: list[ExecutionPath] = []
        try:
            clause: cst.CompFor | None = node.for_in
            while clause is not None:
                iterable = self.eval(clause.iter)
                self.path = self._loop(node, iterable, clause.iter)
                loops.append(self.path)
                self._bind(clause.target, self._element(iterable, self.path))
                for condition in clause.ifs:
                    self.eval(condition.test)
                clause = clause.inner_for_in
            if isinstance(node, cst.DictComp):
                self.eval(node.key)
                value = self.eval(node.value)
            elif isinstance(node, cst.BaseSimpleComp):
                value = self.eval(node.elt)
            else:
                value = UNKNOWN
        finally:
            self.scope, self.path = saved
        if holds_tensor(value):
            self.use("comprehension", node)
        self.collect(node, [value])
        most = product(*(loop.turns for loop in loops))
        if isinstance(node, cst.DictComp):
            return DictValue({node: value}, open=True, most=most)
        if isinstance(node, cst.GeneratorExp):
            return IteratorValue("generator", [SequenceValue("list", [value], open=True, most=most)])
        trips = loops[0].trips if len(loops) == 1 and not node.for_in.ifs else None
        if trips is not None and trips <= MAX_OPTIONS:
            return _bounded(SequenceValue("list", [value] * trips))
        return SequenceValue("list", [value], open=True, most=most) if value is not UNKNOWN else UNKNOWN

    def _await(self, node: cst.Await) -> Value:
        return self.eval(node.expression)

    def _yield(self, node: cst.Yield) -> Value:
        if node.value is not None:
            inner = node.value.item if isinstance(node.value, cst.From) else node.value
            value = self.eval(inner)
            for dataset in datasets_in(value):
                self.sink("escape", dataset, node)
        return UNKNOWN

    def _walrus(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        self._bind(node.target, value)
        return value

    def _number(self, node: cst.Integer | cst.Float) -> Value:
        return number(node) or UNKNOWN

    def _string(self, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
        value = text_of(node)
        return Constant(value) if isinstance(value, (str, bytes)) else UNKNOWN

    def _formatted(self, node: cst.FormattedString) -> Value:
        texts = [part.value for part in node.parts if isinstance(part, cst.FormattedStringText)]
        if len(texts) == len(node.parts):
            return Constant("".join(texts))
        return self._text(
            node, [self.eval(part.expression) for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
        )

    def _text(self, node: cst.CSTNode, values: list[Value]) -> Value:
        """A text with values in it, which are read for that."""
        if any(map(holds_tensor, values)):
            self.use("format", node)
        self.record(node, "builtins.format", None, UNKNOWN, Arguments(values))
        return computed("builtins.str", *values)


def _of_python(operator: cst.BaseBinaryOp, left: Value, right: Value) -> Value:
    """What Python makes of two numbers, texts or lists."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        operation = _BINARY.get(type(operator))
        numbers = all(isinstance(side.value, (int, float)) and type(side.value) is not bool for side in (left, right))
        strings = isinstance(operator, cst.Add) and all(isinstance(side.value, str) for side in (left, right))
        if operation and (numbers or strings):
            if _length(left.value) + _length(right.value) > MAX_TEXT:
                return UNKNOWN
            try:
                return Constant(operation(left.value, right.value))
            except (ArithmeticError, ValueError):
                return UNKNOWN
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    counter = next((side for side in (left, right) if isinstance(side, LoopVariable)), None)
    # What is left of a division are the same few numbers again.
    divides = isinstance(operator, (cst.Modulo, cst.FloorDivide))
    if counter is not None and is_number(left) and is_number(right) and not divides:
        return computed(counter.name, left, right)
    if not isinstance(operator, cst.Add):
        return UNKNOWN
    if is_text(left) and is_text(right):
        return computed("builtins.str", left, right)
    if isinstance(left, SequenceValue) and isinstance(right, SequenceValue):
        return _bounded(SequenceValue(left.kind, left.items + right.items, left.open or right.open))
    return UNKNOWN


def _bounded(value: SequenceValue | DictValue) -> Value:
    """A new container; UNKNOWN where it has more items than is walked through."""
    return UNKNOWN if is_beyond(value, MAX_ITEMS) else value


def _length(value: str | float) -> int:
    """The characters of a text, or the bits of a whole number."""
    if isinstance(value, str):
        return len(value)
    return value.bit_length() if isinstance(value, int) else 0


def _item_of_group(group: SequenceValue, indices: list[array_shapes.Index]) -> Value:
    """An item of a list, or a part of it."""
    if len(indices) == 1 and isinstance(indices[0], tuple):
        cut = array_shapes.slice_of(indices[0])
        if cut is not None and not group.open and cut.step != 0:
            return SequenceValue(group.kind, group.items[cut])
        return SequenceValue(group.kind, list(group.items), open=True)
    index = constant(_only(indices))
    known = isinstance(index, int) and not isinstance(index, bool) and not group.open
    return group.items[index] if known and -len(group.items) <= index < len(group.items) else any_of(group.items)


def _item_of_mapping(mapping: DictValue, key: Value) -> Value:
    """An item of a dictionary."""
    if not isinstance(key, Constant):
        some = any_of(mapping.items.values())
        return join(some, UNKNOWN) if mapping.open else some
    if key.value in mapping.items:
        return mapping.items[key.value]
    # What was stored under keys that are not known.
    return any_of(item for name, item in mapping.items.items() if isinstance(name, cst.CSTNode))


def _items_at(value: SequenceValue | ExternalInstance, indices: list[array_shapes.Index]) -> Value | None:
    """A text or number of Python, or a list of them, that is taken out of more of them by a place which is not written down; None for all else."""
    places = [
        part
        for index in indices
        for part in (index if isinstance(index, tuple) else [index])
        if isinstance(part, Value)
    ]
    if isinstance(value, ExternalInstance):
        kind = item_of(value.name)
    else:
        kind = (
            "builtins.str"
            if value.items
            and all(map(is_text, value.items))
            and any(isinstance(place, LoopVariable) for place in places)
            else None
        )
    if kind is None:
        return None
    item = computed(kind, *places)
    whole = isinstance(value, ExternalInstance) and value.name == "builtins.str"
    return (
        SequenceValue("list", [item], open=True)
        if any(isinstance(index, tuple) for index in indices) and not whole
        else item
    )


def _is_elapsed(value: Value) -> bool:
    """Whether a value is the time between two readings of a clock."""
    return isinstance(value, ExternalInstance) and value.name == "time.elapsed"


def _only(indices: list[array_shapes.Index]) -> Value:
    """The one key in brackets; UNKNOWN for several, and for slices."""
    return indices[0] if len(indices) == 1 and isinstance(indices[0], Value) else UNKNOWN


# A handler gets nodes, or values, of the types that the table gives it.
_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Expressions, Any], Value]] = {
    cst.Name: Expressions._name,
    cst.Attribute: Expressions._attribute,
    cst.Call: Expressions._call,
    cst.BinaryOperation: Expressions._binary,
    cst.UnaryOperation: Expressions._unary,
    cst.BooleanOperation: Expressions._boolean,
    cst.Comparison: Expressions._comparison,
    cst.IfExp: Expressions._conditional,
    cst.Subscript: Expressions._subscript,
    cst.Tuple: Expressions._group,
    cst.List: Expressions._group,
    cst.Set: Expressions._group,
    cst.Dict: Expressions._dict,
    cst.Lambda: Expressions._lambda,
    cst.ListComp: Expressions._comprehension,
    cst.SetComp: Expressions._comprehension,
    cst.DictComp: Expressions._comprehension,
    cst.GeneratorExp: Expressions._comprehension,
    cst.Await: Expressions._await,
    cst.Yield: Expressions._yield,
    cst.NamedExpr: Expressions._walrus,
    cst.Integer: Expressions._number,
    cst.Float: Expressions._number,
    cst.SimpleString: Expressions._string,
    cst.ConcatenatedString: Expressions._string,
    cst.FormattedString: Expressions._formatted,
}

_ATTRIBUTES: dict[type[Value], Callable[[Expressions, Any, str, cst.CSTNode], Value]] = {
    External: Expressions._of_external,
    Instance: Expressions._of_instance,
    Class: Expressions._of_class,
    ExternalInstance: Expressions._of_made,
    LoopVariable: Expressions._of_made,
    ModuleValue: Expressions._of_module,
    Tensor: Expressions._of_tensor,
    SuperValue: Expressions._of_base,
    UnionValue: Expressions._of_one,
}
