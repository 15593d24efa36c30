"""Runs a module without running it: every statement once, in program order, over abstract values.

Calls into functions of the linted tree are followed (also into other modules), both ways
of a branch are taken and joined, loops are gone round once. What cannot be followed is
UNKNOWN. The result is a record in program order of calls, dataset operations and their
consumers, each with the way that led there.
"""

from __future__ import annotations

import libcst as cst

from kerascheck.semantics import library
from kerascheck.semantics.names import canonical
from kerascheck.semantics.tree import SyntaxProblem
from kerascheck.semantics.values import (
    UNKNOWN,
    Arguments,
    Call,
    Class,
    Const,
    Dataset,
    Env,
    External,
    Function,
    FunctionFacts,
    Group,
    Instance,
    Iteration,
    Made,
    Mapping,
    Method,
    ModuleValue,
    Partial,
    Scope,
    Sink,
    Stage,
    Tensor,
    Union,
    Value,
    constant,
    datasets_in,
    holds_tensor,
    options_of,
)

_MAX_DEPTH = 24
_MAX_VISITS = 12
_MAX_CALLS = 2500
_MAX_OPTIONS = 8
_MAX_MODULES = 24
_MAX_ALIKE = 64
_MAX_IMPORT_DEPTH = 3
_MISSING = object()

_BINARY = {
    cst.Add: lambda a, b: a + b,
    cst.Subtract: lambda a, b: a - b,
    cst.Multiply: lambda a, b: a * b,
    cst.FloorDivide: lambda a, b: a // b,
    cst.Divide: lambda a, b: a / b,
    cst.Modulo: lambda a, b: a % b,
}


class _Imported(Value):
    """``from module import name`` of the tree, looked up when it is first used."""

    __slots__ = ("module", "name")

    def __init__(self, module, name: str):
        self.module, self.name = module, name

    def __eq__(self, other) -> bool:
        return isinstance(other, _Imported) and (self.module, self.name) == (other.module, other.name)

    __hash__ = None


class _Super(Value):
    """``super()`` inside a method."""

    __slots__ = ("cls", "instance")

    def __init__(self, instance: Value, cls: Class):
        self.instance, self.cls = instance, cls


def join(first: Value, second: Value) -> Value:
    """What a variable may be after two ways of the program meet."""
    if first is second or first == second:
        return first
    if isinstance(first, Dataset) and isinstance(second, Dataset):
        longer = _extension(first.stage, second.stage) or _extension(second.stage, first.stage)
        if longer is not None:
            return Dataset(longer)
    options: list[Value] = []
    for option in options_of(first) + options_of(second):
        if option not in options:
            options.append(option)
    if len(options) == 1:
        return options[0]
    return Union(tuple(options)) if len(options) <= _MAX_OPTIONS else UNKNOWN


def _extension(base: Stage, longer: Stage) -> Stage | None:
    """``longer`` with the operations that it adds to ``base`` marked as maybe applied; None if it does not extend it."""
    added: list[Stage] = []
    for stage in longer.upstream():
        if stage is base or (stage.identity is base.identity and stage.input is base.input):
            result = base
            for extra in reversed(added):
                result = Stage(
                    extra.module, extra.node, extra.name, extra.call, (result, *extra.inputs[1:]), extra.scope,
                    maybe=True, facts=extra.facts, function=extra.function, origin=extra.identity,
                )
            return result
        added.append(stage)
    return None


class Interpreter:
    """Interprets one entry module and whatever it calls.

    Attributes:
        calls, sinks, stages, loops: what was seen, in program order.
        reached: nodes of the functions that something was seen to call.
        compiled: nodes of the functions that were given to tf.function or another compiler.
    """

    def __init__(self, module):
        self.entry = module
        self.calls: list[Call] = []
        self.sinks: list[Sink] = []
        self.stages: list[Stage] = []
        self.loops: list[Scope] = []
        self.reached: set[cst.CSTNode] = set()
        self.compiled: set[cst.CSTNode] = set()
        self.functions: dict[cst.CSTNode, Function] = {}
        self.truncated = False
        self._uses: list[tuple[str, cst.CSTNode, object]] = []
        self._order = 0
        self._inlined = 0
        self._visits: dict[cst.CSTNode, int] = {}
        self._active: list[cst.CSTNode] = []
        self._envs: dict[object, Env] = {}
        self._depths: dict[object, int] = {}
        self._instances: dict[Class, Instance] = {}
        self._returns: list[list[Value]] = []
        # Writes to what outlives a function (attributes, items, globals), to take back where ways part.
        self._stars: dict[object, list[str]] = {}
        self._trail: list[tuple[dict, object, object]] = []
        self.module = module
        self.env = Env(None)
        self.scope = Scope("root", None, module, module.tree.root)

    # ------------------------------------------------------------------ runs

    def run(self) -> None:
        """Interpret the module body, then every function that it does not call."""
        self._run_module(self.entry)
        functions = self.entry.tree.functions
        names = self.entry.name_counts
        # What nobody mentions is called from outside: it runs before its helpers do.
        for node in sorted(functions, key=lambda f: names[f.name.value] > 1):
            if node not in self.reached and node in self.functions:
                self._run_root(self.functions[node])
        for node in functions:
            if node not in self.reached and node in self.functions:
                self._run_root(self.functions[node])

    def _run_module(self, module) -> Env:
        env = self._envs.get(module)
        if env is not None:
            return env
        env = self._envs[module] = Env(None)
        if not self._is_followed(module):
            return env
        env.variables["__name__"] = Const("__main__" if module is self.entry else module.dotted)
        saved = self.module, self.env, self.scope
        self.module, self.env = module, env
        self.scope = Scope("root", None, module, module.tree.root)
        try:
            self._block(module.tree.root.body)
        finally:
            self.module, self.env, self.scope = saved
        return env

    def _is_followed(self, module) -> bool:
        """Whether an imported module is looked into: near enough, worth it, and readable."""
        if module is self.entry:
            self._depths[module] = 0
            return True
        depth = self._depths.get(self.module, _MAX_IMPORT_DEPTH) + 1
        if depth > _MAX_IMPORT_DEPTH or len(self._depths) > _MAX_MODULES or not module.worth_following:
            return False
        try:
            module.tree
        except SyntaxProblem:
            return False
        self._depths[module] = depth
        return True

    def _run_root(self, function: Function) -> None:
        """Run a function that nobody was seen to call, with unknown arguments."""
        if isinstance(function.node, cst.Lambda) or _is_test(function):
            return
        traced = function.traced
        instance: Value | None = None
        tensors = False
        if function.owner is not None and function.kind != "staticmethod":
            instance = self._instance_of(function.owner) if function.kind != "classmethod" else function.owner
            hook = library.traced_hook(function.owner.external_bases(), function.name)
            if hook:
                traced, tensors = traced or hook, True
        if function.node in self.reached:
            return
        saved = self.module, self.env, self.scope
        self.module = function.module
        self.scope = Scope("root", None, function.module, function.node, function=function, traced=traced)
        signature = function.options.argument(1, "input_signature") if function.options else None
        try:
            value = self._enter(function, instance, None, tensors=tensors or (signature is not None and constant(signature, 1) is not None))
            for dataset in datasets_in(value):
                self._sink("escape", dataset, function.node)
        finally:
            self.module, self.env, self.scope = saved

    def _instance_of(self, cls: Class) -> Instance:
        instance = self._instances.get(cls)
        if instance is None:
            instance = self._instances[cls] = Instance(cls, {})
            for name in ("__init__", "build"):
                member = cls.members.get(name) if name == "build" else cls.member(name)
                if isinstance(member, Function) and member.node not in self._active:
                    scope = self.scope
                    self.scope = Scope("root", None, member.module, member.node, function=member)
                    try:
                        self._enter(member, instance, None)
                    finally:
                        self.scope = scope
        return instance

    # ------------------------------------------------------------ statements

    def _block(self, statements) -> bool:
        """Run statements in order; True where the end of the block cannot be reached."""
        for statement in statements:
            if self._statement(statement):
                return True
        return False

    def _suite(self, suite: cst.BaseSuite) -> bool:
        return self._block(suite.body)

    def _statement(self, node) -> bool:
        if isinstance(node, cst.SimpleStatementLine):
            return self._block(node.body)
        handler = _STATEMENTS.get(type(node))
        return bool(handler(self, node)) if handler else False

    def _expr(self, node: cst.Expr) -> bool:
        value = self.eval(node.value)
        if isinstance(node.value, cst.Call):
            for dataset in options_of(value):
                if isinstance(dataset, Dataset) and dataset.stage.node is node.value and not dataset.stage.is_source:
                    self._sink("discard", dataset, node.value)
            return isinstance(value, Made) and value.name in library.ENDS_THE_PROGRAM
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
        if isinstance(left, Group) and isinstance(right, Group) and isinstance(node.operator, cst.AddAssign):
            self._extend(left, right.items, certain=not right.open)
        elif isinstance(left, Mapping):
            self._update(left, right)
        elif holds_tensor(left) or holds_tensor(right):
            self._use("arithmetic", node)
            self._bind(node.target, Tensor("result"))
        else:
            self._bind(node.target, UNKNOWN)

    def _bind(self, target: cst.CSTNode, value: Value) -> None:
        if isinstance(target, cst.Name):
            self._bind_name(target.value, value)
        elif isinstance(target, cst.Attribute):
            self._set_attribute(target, self.eval(target.value), target.attr.value, value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            self._unpack([element for element in target.elements], value)
        elif isinstance(target, cst.Subscript):
            base = self.eval(target.value)
            key = self._index(target)
            if isinstance(base, Mapping) and isinstance(key, Const):
                self._store(base.items, key.value, value)
            elif base == External("os.environ"):
                self._record(target, "os.environ.__setitem__", "__setitem__", base, Arguments([key, value]))
            elif isinstance(base, Mapping):
                base.open = True
                for known in list(base.items):
                    self._store(base.items, known, join(base.items[known], value))
                self._store(base.items, target, value)
            elif isinstance(base, Group):
                self._extend(base, [value], certain=False)
        elif isinstance(target, cst.StarredElement):
            self._bind(target.value, UNKNOWN)

    def _bind_name(self, name: str, value: Value) -> None:
        home = self.env.redirected.get(name)
        if home is None:
            self.env.variables[name] = value
        else:
            self._store(home.variables, name, value)

    def _store(self, target: dict, key, value: Value) -> None:
        """Write to something that outlives the function at hand."""
        self._trail.append((target, key, target.get(key, _MISSING)))
        target[key] = value

    def _taken_back(self, mark: int) -> dict[tuple[int, object], tuple[dict, object, object]]:
        """Undo the writes since ``mark``; returns what they had left."""
        left = {(id(target), key): (target, key, target.get(key, _MISSING)) for target, key, _ in self._trail[mark:]}
        while len(self._trail) > mark:
            target, key, old = self._trail.pop()
            if old is _MISSING:
                target.pop(key, None)
            else:
                target[key] = old
        return left

    def _meet(self, *ways: dict[tuple[int, object], tuple[dict, object, object]]) -> None:
        """Write what one of several ways left."""
        for place, (target, key, _) in {place: write for way in ways for place, write in way.items()}.items():
            values = [way[place][2] if place in way else target.get(key, _MISSING) for way in ways]
            known = [value for value in values if value is not _MISSING]
            if known:
                merged = known[0]
                for other in known[1:]:
                    merged = join(merged, other)
                self._store(target, key, merged)

    def _forget(self, value: Value, only: type[Value] = Value) -> None:
        """Every attribute or item of an object that is of this kind may have been replaced."""
        for option in options_of(value):
            if not isinstance(option, (Instance, Made, Mapping)):
                continue
            held = option.items if isinstance(option, Mapping) else option.attributes
            if isinstance(option, Instance):
                for base in option.cls.ancestry():
                    for name, member in base.members.items() if isinstance(base, Class) else ():
                        if isinstance(member, Const) and name not in held:
                            self._store(held, name, member)
            for name, item in list(held.items()):
                if isinstance(item, only):
                    self._store(held, name, join(item, UNKNOWN))
            if isinstance(option, Mapping) and only is Value:
                option.open = True

    def _extend(self, group: Group, items: list[Value], *, certain: bool = True) -> None:
        for scope in self.scope.chain():
            if scope.kind in ("call", "root"):
                break
            certain = certain and scope.kind in ("with", "try")
        group.items.extend(item for item in items if certain or item not in group.items[-_MAX_ALIKE:])
        group.open = group.open or not certain

    def _update(self, mapping: Mapping, other: Value) -> None:
        if isinstance(other, Mapping) and not other.open:
            for key, value in other.items.items():
                self._store(mapping.items, key, value)
        else:
            self._forget(mapping)

    def _set_attribute(self, node: cst.CSTNode, receiver: Value, name: str, value: Value) -> None:
        for option in options_of(receiver):
            if isinstance(option, (Instance, Made)):
                if isinstance(option, Made) and option.name.startswith("tensorflow.data.Options"):
                    # Where it is not set, the default holds.
                    option.attributes.setdefault(name, UNKNOWN)
                self._store(option.attributes, name, value)
            owner = self._class_name(option)
            if owner is not None:
                self._record(node, f"{owner}.__setattr__", name, option, Arguments([Const(name), value]))
            elif isinstance(option, External):
                self._record(node, f"{option.name}.__setattr__", name, option, Arguments([Const(name), value]))
            elif option is UNKNOWN or isinstance(option, Method):
                self._record(node, None, name, option, Arguments([Const(name), value]))
            if isinstance(option, ModuleValue):
                self._store(self._run_module(option.module).variables, name, value)

    def _unpack(self, elements: list, value: Value) -> None:
        for option in options_of(value):
            if isinstance(option, Group) and not option.open and len(option.items) == len(elements):
                for element, item in zip(elements, option.items):
                    self._bind(element.value if isinstance(element, cst.Element) else element, item)
                return
        if isinstance(value, Tensor) or (isinstance(value, Dataset) and value.stage.is_source):
            # Elements of a structure of tensors; tfds.load may return several datasets.
            each: Value = value
        elif isinstance(value, Group):
            each = _any_of(value.items) if value.open else UNKNOWN
        else:
            each = UNKNOWN
        for element in elements:
            self._bind(element.value if isinstance(element, cst.Element) else element, each)

    def _return(self, node: cst.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else Const(None)
        if self._returns:
            self._returns[-1].append(value)
        return True

    def _ends(self, node) -> bool:
        if isinstance(node, cst.Raise) and node.exc is not None:
            self.eval(node.exc)
        return True

    def _evaluate_children(self, node) -> None:
        for child in self.module.tree.children(node):
            if isinstance(child, cst.BaseExpression):
                self.eval(child)

    def _delete(self, node: cst.Del) -> None:
        targets = [element.value for element in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            if isinstance(target, cst.Name):
                self._bind_name(target.value, UNKNOWN)

    def _global(self, node) -> None:
        module_env = self._envs[self.module]
        for item in node.names:
            self.env.redirected[item.name.value] = module_env

    def _nonlocal(self, node) -> None:
        for item in node.names:
            env = self.env.parent
            while env is not None and item.name.value not in env.variables:
                env = env.parent
            if env is not None:
                self.env.redirected[item.name.value] = env

    def _import(self, node: cst.Import) -> None:
        for alias in node.names:
            dotted = _dotted(alias.name)
            local = self.module.project.find(self.module, dotted, 0)
            if alias.asname is not None:
                value: Value = self._module_value(local) if local else External(canonical(dotted))
                self._bind_name(alias.asname.name.value, value)
            else:
                first = dotted.partition(".")[0]
                if local is None:
                    self._bind_name(first, External(canonical(first)))
                else:
                    self._bind_name(first, self._package(dotted, local))
            self._record(node, "builtins.import", dotted, UNKNOWN, Arguments([Const(dotted)]))

    def _package(self, dotted: str, local) -> Value:
        """What ``import a.b.c`` binds to ``a``."""
        first, _, rest = dotted.partition(".")
        package = self.module.project.find(self.module, first, 0)
        if package is not None:
            return self._module_value(package)
        # A folder without an __init__.py holds nothing but its modules.
        bound = self.env.lookup(first)
        package = bound if isinstance(bound, Made) and bound.name == "builtins.module" else Made("builtins.module")
        inner = package
        *folders, last = rest.split(".")
        for folder in folders:
            inner = inner.attributes.setdefault(folder, Made("builtins.module"))
            if not isinstance(inner, Made):
                return UNKNOWN
        inner.attributes[last] = self._module_value(local)
        return package

    def _import_from(self, node: cst.ImportFrom) -> None:
        base = _dotted(node.module) if node.module is not None else ""
        level = len(node.relative)
        local = self.module.project.find(self.module, base, level)
        if not level:
            self._record(node, "builtins.import", base, UNKNOWN, Arguments([Const(base)]))
        if isinstance(node.names, cst.ImportStar):
            if local is not None:
                variables = self._run_module(local).variables
                listed = variables.get("__all__")
                public = {constant(item) for item in listed.items} if isinstance(listed, Group) else None
                for name, value in list(variables.items()):
                    if name in public if public is not None else not name.startswith("_"):
                        self._bind_name(name, value)
            elif not level:
                self._stars.setdefault(self.module, []).append(canonical(base))
            return
        for alias in node.names:
            name = alias.name.value
            bound = alias.asname.name.value if alias.asname is not None else name
            if local is None and level:
                inner = self.module.project.find(self.module, f"{base}.{name}" if base else name, level)
                self._bind_name(bound, self._module_value(inner) if inner else UNKNOWN)
            elif local is None:
                inner = self.module.project.find(self.module, f"{base}.{name}", 0)
                self._bind_name(bound, self._module_value(inner) if inner else External(canonical(f"{base}.{name}")))
            else:
                if local.acts_on_import:
                    self._run_module(local)
                self._bind_name(bound, _Imported(local, name))

    def _module_value(self, module) -> Value:
        if module.acts_on_import:
            self._run_module(module)
        return ModuleValue(module)

    def _member_of(self, module, name: str) -> Value:
        env = self._run_module(module)
        if name in env.variables:
            return self._resolved(env, name, env.variables[name])
        inner = module.project.find(module, name, 1) if module.is_package else None
        return self._module_value(inner) if inner else UNKNOWN

    def _resolved(self, env: Env, name: str, value: Value) -> Value:
        """``value``, or what it stands for if it is an import that was not followed yet."""
        if isinstance(value, _Imported):
            # A cycle of imports meets itself here and stays unknown.
            env.variables[name] = UNKNOWN
            value = env.variables[name] = self._member_of(value.module, value.name)
        elif isinstance(value, Union) and any(isinstance(option, _Imported) for option in value.options):
            env.variables[name] = UNKNOWN
            value = env.variables[name] = _any_of(
                self._member_of(option.module, option.name) if isinstance(option, _Imported) else option for option in value.options
            )
        return value

    def _if(self, node: cst.If) -> bool:
        test = self.eval(node.test)
        if self._is_main_guard(node.test):
            return self._suite(node.body) if self.module is self.entry else False
        decided = self._decided(node.test)
        if decided is True:
            return self._suite(node.body)
        if decided is False:
            return node.orelse is not None and (self._if if isinstance(node.orelse, cst.If) else self._orelse)(node.orelse)
        self._forget_types(node.test)
        before, mark = self.env.variables, len(self._trail)
        self.env.variables = dict(before)
        with_branch = self._branch_scope(node, node.test, "if")
        ended = self._inside(with_branch, self._suite, node.body)
        taken, written = self.env.variables, self._taken_back(mark)
        self.env.variables = dict(before)
        ended_else = False
        if node.orelse is not None:
            ended_else = self._inside(
                self._branch_scope(node, node.test, "else"),
                self._if if isinstance(node.orelse, cst.If) else self._orelse,
                node.orelse,
            )
        skipped = self.env.variables
        self._meet(written, self._taken_back(mark))
        if ended and not ended_else:
            self.env.variables = skipped
        elif ended_else and not ended:
            self.env.variables = taken
        else:
            self.env.variables = self._merge(taken, skipped)
        if holds_tensor(test):
            self._use("branch", node)
        return ended and ended_else

    def _decided(self, test: cst.BaseExpression) -> bool | None:
        """The outcome of a test of nothing but parameters, where this call gives them known values; else None.

        Settings of the module decide nothing: people switch them, and mean both ways.
        """
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            inner = self._decided(test.expression)
            return None if inner is None else not inner
        if isinstance(test, cst.BooleanOperation):
            sides = self._decided(test.left), self._decided(test.right)
            deciding = isinstance(test.operator, cst.Or)
            return deciding if deciding in sides else None if None in sides else not deciding
        if isinstance(test, cst.Name):
            value = self._parameter(test)
            return bool(value.value) if isinstance(value, Const) else True if isinstance(value, (Function, Class)) else None
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and isinstance(test.left, cst.Name):
            operator, other = test.comparisons[0].operator, test.comparisons[0].comparator
            value, literal = self._parameter(test.left), _literal(other)
            if isinstance(operator, (cst.In, cst.NotIn)) and isinstance(other, (cst.Tuple, cst.List, cst.Set)) and isinstance(value, Const):
                among = [_literal(element.value) for element in other.elements]
                return None if None in among else (value in among) is isinstance(operator, cst.In)
            if literal is None or value is None:
                return None
            if isinstance(value, Const):
                same = literal.value == value.value
            elif literal.value is None and isinstance(value, (Function, Class, Dataset, Instance, Group, Mapping)):
                same = False
            else:
                return None
            return same if isinstance(operator, (cst.Equal, cst.Is)) else not same if isinstance(operator, (cst.NotEqual, cst.IsNot)) else None
        return None

    def _parameter(self, name: cst.Name) -> Value | None:
        """The value that this call gives a parameter; None for any other variable."""
        env = self.env.owner(name.value)
        return env.variables[name.value] if env is not None and name.value in env.parameters else None

    def _forget_types(self, test: cst.BaseExpression) -> None:
        """A function that asks for the type of an argument handles other types than tensors, too."""
        for node in self.module.tree.descendants(test):
            if not isinstance(node, cst.Call) or not node.args or not isinstance(node.args[0].value, cst.Name):
                continue
            name = node.func.attr.value if isinstance(node.func, cst.Attribute) else node.func.value if isinstance(node.func, cst.Name) else ""
            if name in ("isinstance", "hasattr", "is_tensor", "is_keras_tensor", "is_numpy_array") and holds_tensor(self.env.lookup(node.args[0].value.value)):
                self._bind_name(node.args[0].value.value, UNKNOWN)

    def _orelse(self, node) -> bool:
        return self._suite(node.body)

    def _branch_scope(self, node, test, label: str) -> Scope:
        return Scope("branch", self.scope, self.module, node, label=label)

    def _inside(self, scope: Scope, action, argument):
        saved, self.scope = self.scope, scope
        try:
            return action(argument)
        finally:
            self.scope = saved

    def _is_main_guard(self, test) -> bool:
        return (
            isinstance(test, cst.Comparison)
            and len(test.comparisons) == 1
            and isinstance(test.comparisons[0].operator, cst.Equal)
            and any(isinstance(side, cst.Name) and side.value == "__name__" for side in (test.left, test.comparisons[0].comparator))
        )

    def _merge(self, first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
        if first is second:
            return first
        merged = dict(second)
        for name, value in first.items():
            other = merged.get(name)
            merged[name] = value if other is None else (value if other is value else join(value, other))
        return merged

    def _try(self, node) -> bool:
        before = dict(self.env.variables)
        ended = self._inside(Scope("try", self.scope, self.module, node), self._suite, node.body)
        after = self.env.variables
        survivors = [] if ended else [after]
        mark, written = len(self._trail), []
        for handler in node.handlers:
            self.env.variables = dict(self._merge(before, after))
            if handler.name is not None:
                self._bind(handler.name.name, UNKNOWN)
            scope = Scope("handler", self.scope, self.module, handler)
            if not self._inside(scope, self._suite, handler.body):
                survivors.append(self.env.variables)
            written.append(self._taken_back(mark))
        self._meet({}, *written)
        self.env.variables = after
        if node.orelse is not None and not ended:
            if self._suite(node.orelse.body):
                survivors.remove(after)
            elif self.env.variables is not after:
                survivors[0] = self.env.variables
        if survivors:
            merged = survivors[0]
            for other in survivors[1:]:
                merged = self._merge(merged, other)
            self.env.variables = merged
        finished = False
        if node.finalbody is not None:
            finished = self._suite(node.finalbody.body)
        return finished or not survivors

    def _with(self, node: cst.With) -> bool:
        scope = self.scope
        try:
            for item in node.items:
                value = self.eval(item.item)
                if item.asname is not None:
                    self._bind(item.asname.name, value)
                self.scope = Scope("with", self.scope, self.module, node, value=value)
            return self._suite(node.body)
        finally:
            self.scope = scope

    def _for(self, node: cst.For) -> bool:
        iterable = self.eval(node.iter)
        loop = self._loop(node, iterable, node.iter)
        before, mark = dict(self.env.variables), len(self._trail)
        self._bind(node.target, self._element(iterable, loop))
        self._inside(loop, self._suite, node.body)
        if not loop.trips:
            self._meet({}, self._taken_back(mark))
        self.env.variables = self._merge(self.env.variables, before)
        if node.orelse is not None:
            self._suite(node.orelse.body)
        return False

    def _while(self, node: cst.While) -> bool:
        self.eval(node.test)
        loop = self._loop(node, UNKNOWN)
        before, mark = dict(self.env.variables), len(self._trail)
        self._inside(loop, self._suite, node.body)
        self._meet({}, self._taken_back(mark))
        self.env.variables = self._merge(self.env.variables, before)
        if node.orelse is not None:
            self._suite(node.orelse.body)
        return False

    def _loop(self, node, iterable: Value, written: cst.BaseExpression | None = None) -> Scope:
        trips = self._trips(iterable)
        if trips is None and written is not None:
            trips = _written_trips(written)
        loop = Scope("loop", self.scope, self.module, node, value=iterable, trips=trips)
        self.loops.append(loop)
        for dataset in self._iterated(iterable):
            self.sinks.append(Sink("loop", dataset.stage, self.module, node, loop, loop=loop))
        return loop

    def _iterated(self, iterable: Value):
        """The datasets that one turn of a loop takes an element from."""
        for option in options_of(iterable):
            if isinstance(option, Dataset):
                yield option
            elif isinstance(option, Iteration):
                for inner in option.over:
                    yield from self._iterated(inner)

    def _trips(self, iterable: Value) -> int | None:
        if isinstance(iterable, Group):
            return None if iterable.open else len(iterable.items)
        if isinstance(iterable, Mapping) and not iterable.open:
            return len(iterable.items)
        if isinstance(iterable, Iteration):
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
            for stage in iterable.stage.upstream():
                if stage.name == "take":
                    count = constant(stage.argument(0, "count"))
                    return count if isinstance(count, int) and count >= 0 else None
                if stage.name in ("repeat", "flat_map", "interleave", "unbatch", "concatenate", "zip"):
                    return None
        return None

    def _element(self, iterable: Value, loop: Scope) -> Value:
        """What one turn of a loop over ``iterable`` gets."""
        result: Value | None = None
        for option in options_of(iterable):
            if isinstance(option, Dataset):
                item: Value = self._dataset_element(option.stage)
            elif isinstance(option, Group) and option.items:
                item = option.items[0]
                for other in option.items[1:]:
                    item = join(item, other)
            elif isinstance(option, Iteration):
                inner = [self._element(value, loop) for value in option.over]
                if option.kind == "enumerate" and inner:
                    item = Group("tuple", [UNKNOWN, inner[0]])
                elif option.kind == "zip":
                    item = Group("tuple", inner)
                elif option.kind == "items" and isinstance(option.over[0], Mapping):
                    values = list(option.over[0].items.values())
                    merged: Value = values[0] if values else UNKNOWN
                    for other in values[1:]:
                        merged = join(merged, other)
                    item = Group("tuple", [UNKNOWN, merged])
                elif option.kind in ("range", "as_numpy_iterator"):
                    item = UNKNOWN
                else:
                    item = inner[0] if inner else UNKNOWN
            elif isinstance(option, Tensor):
                item = Tensor("element")
            else:
                item = UNKNOWN
            result = item if result is None else join(result, item)
        return UNKNOWN if result is None else result

    def _dataset_element(self, stage: Stage) -> Value:
        return Tensor("element")

    def _function_def(self, node: cst.FunctionDef, owner: Class | None = None) -> None:
        function = Function(self.module, node, self.env, node.name.value, owner=owner)
        self.functions.setdefault(node, function)
        for default in _parameters(node.params):
            if default.default is not None:
                self.eval(default.default)
        value: Value = function
        for decorator in reversed(node.decorators):
            value = self._decorate(value, decorator.decorator, function)
        for option in options_of(value):
            if isinstance(option, Function) and option.node is node:
                self.functions[node] = option
        if owner is not None:
            owner.members[node.name.value] = value
        else:
            self._bind_name(node.name.value, value)

    def _decorate(self, value: Value, decorator: cst.BaseExpression, function: Function) -> Value:
        if isinstance(decorator, cst.Attribute) and decorator.attr.value in ("setter", "deleter", "getter", "register"):
            self.eval(decorator)
            return value
        wrapper = self.eval(decorator)
        name = wrapper.name if isinstance(wrapper, (External, Made)) else None
        if name in library.METHOD_KINDS:
            function.kind = library.METHOD_KINDS[name]
            return value
        if name in library.TRANSPARENT_DECORATORS or (name or "").startswith(library.TRANSPARENT_DECORATOR_PREFIXES):
            return value
        if name in library.COMPILERS:
            return self._compiled(value, library.COMPILERS[name], wrapper.call if isinstance(wrapper, Made) else None)
        result = self.call(wrapper, Arguments([value]), decorator)
        if any(isinstance(option, (Function, Partial)) for option in options_of(result)):
            return result
        if isinstance(value, Function):
            value.opaque = True
        return value

    def _compiled(self, value: Value, how: str, options: Call | None) -> Value:
        """``value`` as tf.function (or another compiler) makes it."""
        if isinstance(value, Function):
            self.compiled.add(value.node)
            return Function(
                value.module, value.node, value.env, value.name, value.receiver, value.owner, how, options, value.opaque, value.kind
            )
        if isinstance(value, Partial):
            return Partial(self._compiled(value.target, how, options), value.arguments)
        if isinstance(value, Union):
            return Union(tuple(self._compiled(option, how, options) for option in value.options))
        if isinstance(value, (Made, Instance)):
            return Made("tensorflow.function.compiled", options, {"target": value})
        return value

    def _class_def(self, node: cst.ClassDef) -> None:
        bases = [self.eval(base.value) for base in node.bases if not base.star]
        for decorator in node.decorators:
            self.eval(decorator.decorator)
        cls = Class(self.module, node, node.name.value, bases, {})
        env = Env(self.env, cls.members)
        saved, self.env = self.env, env
        try:
            for statement in node.body.body:
                if isinstance(statement, cst.FunctionDef):
                    # Methods see the scope around the class, not its members.
                    self.env = saved
                    self._function_def(statement, cls)
                    self.env = env
                else:
                    self._statement(statement)
        finally:
            cls.members.update(env.variables)
            self.env = saved
        self._bind_name(node.name.value, cls)

    def _match(self, node) -> bool:
        self.eval(node.subject)
        before, mark = self.env.variables, len(self._trail)
        survivors, written, exhaustive = [], [], False
        for case in node.cases:
            self.env.variables = dict(before)
            self._bind_pattern(case.pattern)
            if case.guard is not None:
                self.eval(case.guard)
            if not self._inside(Scope("branch", self.scope, self.module, node, label="case"), self._suite, case.body):
                survivors.append(self.env.variables)
            written.append(self._taken_back(mark))
            exhaustive = exhaustive or (isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None and case.guard is None)
        if not exhaustive:
            survivors.append(before)
            written.append({})
        self._meet(*written)
        self.env.variables = survivors[0] if survivors else before
        for other in survivors[1:]:
            self.env.variables = self._merge(self.env.variables, other)
        return not survivors

    def _bind_pattern(self, pattern: cst.MatchPattern) -> None:
        for node in self.module.tree.descendants(pattern):
            name = node.rest if isinstance(node, cst.MatchMapping) else node.name if isinstance(node, (cst.MatchAs, cst.MatchStar)) else None
            if name is not None:
                self._bind_name(name.value, UNKNOWN)

    # ----------------------------------------------------------- expressions

    def eval(self, node: cst.CSTNode) -> Value:
        """The abstract value of an expression; records the calls in it."""
        handler = _EXPRESSIONS.get(type(node))
        return handler(self, node) if handler else UNKNOWN

    def _name(self, node: cst.Name) -> Value:
        value = self.env.lookup(node.value)
        if isinstance(value, (_Imported, Union)):
            value = self._resolved(self.env.owner(node.value), node.value, value)
        if value is None:
            if node.value in ("True", "False", "None"):
                return Const({"True": True, "False": False, "None": None}[node.value])
            for base in self._stars.get(self.module, ()):
                if library.star_exports(base, node.value):
                    return External(canonical(f"{base}.{node.value}"))
            return External(f"builtins.{node.value}") if node.value in library.BUILTINS else UNKNOWN
        if isinstance(value, Made) and value.name == "tensorflow.Variable" and self.scope.traced_by():
            self._record(node, "tensorflow.Variable.__get__", "__get__", value, Arguments())
        return value

    def _attribute(self, node: cst.Attribute) -> Value:
        return self._get_attribute(self.eval(node.value), node.attr.value, node)

    def _get_attribute(self, value: Value, name: str, node: cst.CSTNode) -> Value:
        if isinstance(value, External):
            return External(canonical(f"{value.name}.{name}"))
        if isinstance(value, Instance):
            found = value.attributes.get(name)
            if found is not None:
                return found
            member = value.cls.member(name)
            if isinstance(member, Function):
                bound = self._bound(member, value)
                if member.kind == "property":
                    return self._inline(bound, Arguments(), node)
                return bound
            if member is not None:
                return member
            return Method(value, name)
        if isinstance(value, Class):
            member = value.member(name)
            if isinstance(member, Function) and member.kind == "classmethod":
                return self._bound(member, value)
            if member is not None:
                return member
            bases = sorted(value.external_bases())
            return External(f"{bases[0]}.{name}") if bases else UNKNOWN
        if isinstance(value, Made):
            if name in value.attributes:
                return value.attributes[name]
            if value.name in library.COMPILED_LOADERS:
                return value
            if value.name.startswith("tensorflow.data.Options"):
                inner = Made(f"{value.name}.{name}", value.call)
                value.attributes[name] = inner
                return inner
            return Method(value, name)
        if isinstance(value, ModuleValue):
            return self._member_of(value.module, name)
        if isinstance(value, Tensor):
            if name in ("shape", "dtype", "ndim", "name", "device", "graph"):
                if name == "shape":
                    self._use("shape", node)
                return UNKNOWN
            return Method(value, name)
        if isinstance(value, _Super):
            passed = False
            for base in value.cls.ancestry():
                if passed and isinstance(base, Class) and name in base.members:
                    member = base.members[name]
                    return self._bound(member, value.instance) if isinstance(member, Function) else member
                passed = passed or base is value.cls
            return Method(value, name)
        if isinstance(value, Union):
            results = [self._get_attribute(option, name, node) for option in value.options]
            merged = results[0]
            for other in results[1:]:
                merged = join(merged, other)
            return merged
        return Method(value, name)

    def _bound(self, function: Function, receiver: Value) -> Function:
        if function.kind == "staticmethod":
            return function
        return Function(
            function.module, function.node, function.env, function.name, receiver, function.owner,
            function.traced, function.options, function.opaque, function.kind,
        )

    def _call(self, node: cst.Call) -> Value:
        function = self.eval(node.func)
        arguments = Arguments()
        for arg in node.args:
            value = self.eval(arg.value)
            if arg.star == "*":
                if isinstance(value, Group) and not value.open and not arguments.unknown_positional:
                    arguments.positional.extend(value.items)
                else:
                    arguments.unknown_positional = True
            elif arg.star == "**":
                if isinstance(value, Mapping) and not value.open and all(isinstance(key, str) for key in value.items):
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
                        self._sink("escape", dataset, node)
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
        if holds_tensor(left) or holds_tensor(right):
            both = holds_tensor(left) and holds_tensor(right)
            scalar = _is_number(right if holds_tensor(left) else left)
            self._use("tensors" if both else "arithmetic" if scalar else "arithmetic-unknown", node)
            return Tensor("result")
        if isinstance(left, Made) and left.name == "keras.KerasTensor":
            return left
        if isinstance(left, Const) and isinstance(right, Const):
            operator = _BINARY.get(type(node.operator))
            numbers = all(isinstance(side.value, (int, float)) and not isinstance(side.value, bool) for side in (left, right))
            strings = isinstance(node.operator, cst.Add) and all(isinstance(side.value, str) for side in (left, right))
            if operator and (numbers or strings):
                try:
                    return Const(operator(left.value, right.value))
                except (ArithmeticError, ValueError):
                    return UNKNOWN
        if isinstance(left, Group) and isinstance(right, Group) and isinstance(node.operator, cst.Add):
            return Group(left.kind, left.items + right.items, left.open or right.open)
        return UNKNOWN

    def _unary(self, node: cst.UnaryOperation) -> Value:
        value = self.eval(node.expression)
        if holds_tensor(value) and not isinstance(node.operator, cst.Not):
            self._use("arithmetic", node)
            return Tensor("result")
        if isinstance(node.operator, cst.Minus) and isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value)
        return UNKNOWN

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        return join(self.eval(node.left), self.eval(node.right))

    def _comparison(self, node: cst.Comparison) -> Value:
        values = [self.eval(node.left), *(self.eval(target.comparator) for target in node.comparisons)]
        identity = any(isinstance(target.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for target in node.comparisons)
        if any(holds_tensor(value) for value in values) and not identity:
            scalar = any(isinstance(value, Const) for value in values)
            self._use("arithmetic" if scalar else "tensors", node)
            return Tensor("result")
        return UNKNOWN

    def _conditional(self, node: cst.IfExp) -> Value:
        if holds_tensor(self.eval(node.test)):
            self._use("branch", node)
        decided = self._decided(node.test)
        if decided is not None:
            return self.eval(node.body if decided else node.orelse)
        taken = self._inside(self._branch_scope(node, node.test, "if"), self.eval, node.body)
        return join(taken, self._inside(self._branch_scope(node, node.test, "else"), self.eval, node.orelse))

    def _subscript(self, node: cst.Subscript) -> Value:
        value = self.eval(node.value)
        key = self._index(node)
        if isinstance(value, Tensor):
            self._use("key" if isinstance(constant(key), str) else "index", node)
            return Tensor("item")
        if isinstance(value, Group):
            if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
                return Group(value.kind, list(value.items), open=True)
            index = constant(key)
            if isinstance(index, int) and not isinstance(index, bool) and not value.open and -len(value.items) <= index < len(value.items):
                return value.items[index]
            return _any_of(value.items)
        if isinstance(value, Mapping):
            if not isinstance(key, Const):
                return join(_any_of(value.items.values()), UNKNOWN) if value.open else _any_of(value.items.values())
            if key.value in value.items:
                return value.items[key.value]
            # What was stored under keys that are not known.
            return _any_of(item for name, item in value.items.items() if isinstance(name, cst.CSTNode))
        if isinstance(value, Dataset) and value.stage.is_source:
            return value
        if isinstance(value, Made) and value.name.startswith("tensorflow.lookup."):
            self._record(node, f"{value.name}.__getitem__", "__getitem__", value, Arguments([key]))
            return Tensor("item")
        if isinstance(value, Made) and value.name in library.COMPILED_LOADERS:
            return value
        if isinstance(value, Made) and value.name == "tensorflow.config.list_physical_devices":
            return Made("tensorflow.config.PhysicalDevice", value.call, {"index": key})
        return UNKNOWN

    def _index(self, node: cst.Subscript) -> Value:
        result: Value = UNKNOWN
        for element in node.slice:
            if isinstance(element.slice, cst.Index):
                result = self.eval(element.slice.value)
            else:
                for part in (element.slice.lower, element.slice.upper, element.slice.step):
                    if part is not None:
                        self.eval(part)
        return result if len(node.slice) == 1 else UNKNOWN

    def _group(self, node) -> Value:
        items: list[Value] = []
        known = True
        for element in node.elements:
            value = self.eval(element.value)
            if isinstance(element, cst.StarredElement):
                if isinstance(value, Group) and not value.open:
                    items.extend(value.items)
                else:
                    known = False
            else:
                items.append(value)
        kind = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}[type(node)]
        return Group(kind, items) if known else UNKNOWN

    def _dict(self, node: cst.Dict) -> Value:
        mapping = Mapping({})
        for element in node.elements:
            value = self.eval(element.value)
            if isinstance(element, cst.StarredDictElement):
                if isinstance(value, Mapping):
                    mapping.items.update(value.items)
                    mapping.open = mapping.open or value.open
                else:
                    mapping.open = True
                continue
            key = self.eval(element.key)
            if isinstance(key, Const):
                mapping.items[key.value] = value
            else:
                mapping.open = True
                mapping.items[element] = value
        return mapping

    def _lambda(self, node: cst.Lambda) -> Value:
        function = Function(self.module, node, self.env, "<lambda>")
        self.functions.setdefault(node, function)
        return function

    def _comprehension(self, node) -> Value:
        saved = self.env, self.scope
        self.env = Env(self.env)
        try:
            clause = node.for_in
            while clause is not None:
                iterable = self.eval(clause.iter)
                self.scope = self._loop(node, iterable, clause.iter)
                self._bind(clause.target, self._element(iterable, self.scope))
                for condition in clause.ifs:
                    self.eval(condition.test)
                clause = clause.inner_for_in
            if isinstance(node, cst.DictComp):
                self.eval(node.key)
                value = self.eval(node.value)
            else:
                value = self.eval(node.elt)
        finally:
            self.env, self.scope = saved
        if holds_tensor(value):
            self._use("comprehension", node)
        if isinstance(node, cst.DictComp):
            return Mapping({node: value}, open=True)
        if isinstance(node, cst.GeneratorExp):
            return Iteration("generator", [value])
        trips = self.loops[-1].trips if node.for_in.inner_for_in is None and not node.for_in.ifs else None
        if trips is not None and trips <= _MAX_OPTIONS:
            return Group("list", [value] * trips)
        return Group("list", [value], open=True) if value is not UNKNOWN else UNKNOWN

    def _await(self, node) -> Value:
        return self.eval(node.expression)

    def _yield(self, node: cst.Yield) -> Value:
        if node.value is not None:
            inner = node.value.item if isinstance(node.value, cst.From) else node.value
            value = self.eval(inner)
            for dataset in datasets_in(value):
                self._sink("escape", dataset, node)
        return UNKNOWN

    def _walrus(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        self._bind(node.target, value)
        return value

    def _number(self, node) -> Value:
        # int() and float() read all but a few literals, and much faster than literal_eval.
        try:
            return Const(int(node.value) if isinstance(node, cst.Integer) else float(node.value))
        except (ValueError, OverflowError):
            pass
        try:
            return Const(node.evaluated_value)
        except (ValueError, OverflowError):
            return UNKNOWN

    def _string(self, node) -> Value:
        if type(node) is cst.SimpleString and node.value[0] in "\"'" and "\\" not in node.value:
            width = 3 if node.value[:3] in ('\"\"\"', "'''") else 1
            return Const(node.value[width:-width])
        value = node.evaluated_value
        return Const(value) if isinstance(value, (str, bytes)) else UNKNOWN

    def _formatted(self, node: cst.FormattedString) -> Value:
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                value = self.eval(part.expression)
                if holds_tensor(value):
                    self._use("format", part)
        return UNKNOWN

    # ----------------------------------------------------------------- calls

    def call(self, function: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """The result of calling an abstract value."""
        if isinstance(function, Union):
            merged: Value | None = None
            for option in function.options:
                result = self.call(option, arguments, node)
                merged = result if merged is None else join(merged, result)
            return merged or UNKNOWN
        if isinstance(function, Function):
            return self._inline(function, arguments, node)
        if isinstance(function, Partial):
            return self.call(function.target, _bound_arguments(function.arguments, arguments), node)
        if isinstance(function, Class):
            return self._instantiate(function, arguments, node)
        if isinstance(function, External):
            return self._call_external(function.name, arguments, node)
        if isinstance(function, Method):
            return self._call_method(function, arguments, node)
        if isinstance(function, Instance):
            return self._call_instance(function, arguments, node)
        if isinstance(function, Made):
            return self._call_made(function, arguments, node)
        self._record(node, None, None, function, arguments)
        self._escape(arguments, node)
        if any(holds_tensor(value) for value in arguments.values()):
            self._use("unknown-call", node)
            return UNKNOWN
        return UNKNOWN

    def _record(self, node, name, attribute, receiver, arguments, result: Value = UNKNOWN) -> Call:
        self._order += 1
        call = Call(self.module, node, name, attribute, receiver, arguments, self.scope, self._order, result)
        self.calls.append(call)
        if name in library.TRAINING_CALLS or (name is None and attribute in library.TRAINING_METHODS):
            for scope in self.scope.loops():
                scope.trains = True
        return call

    def _use(self, kind: str, node: cst.CSTNode) -> None:
        self._uses.append((kind, node, self.module))

    def _sink(self, role: str, dataset: Dataset, node: cst.CSTNode, outer: Stage | None = None) -> None:
        self.sinks.append(Sink(role, dataset.stage, self.module, node, self.scope, outer=outer))

    def _escape(self, arguments: Arguments, node: cst.CSTNode) -> None:
        for value in arguments.values():
            if isinstance(value, (Instance, Mapping)):
                # Settings may come back changed.
                self._forget(value, Const)
            for dataset in datasets_in(value):
                self._sink("escape", dataset, node)

    def _inline(self, function: Function, arguments: Arguments, node: cst.CSTNode, *, traced: str | None = None, stage: Stage | None = None) -> Value:
        """The result of a function of the tree, by running its body."""
        body = function.node
        self._visits[body] = self._visits.get(body, 0) + 1
        if body in self._active or len(self._active) >= _MAX_DEPTH or self._visits[body] > _MAX_VISITS or self._inlined > _MAX_CALLS:
            self.reached.add(body)
            self.truncated = self.truncated or self._inlined > _MAX_CALLS
            self._escape(arguments, node)
            self._use("unknown-call", node)
            return UNKNOWN
        saved = self.module, self.env, self.scope
        self._inlined += 1
        scope = Scope("call", self.scope, self.module, node, function=function, traced=traced or function.traced, stage=stage)
        self.module = function.module
        self.scope = scope
        try:
            return self._enter(function, function.receiver, arguments)
        finally:
            self.module, self.env, self.scope = saved

    def _enter(self, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool = False) -> Value:
        """Bind parameters and run the body; ``arguments`` is None for a run with unknown ones."""
        node = function.node
        self.reached.add(node)
        self._active.append(node)
        saved_env, saved_module = self.env, self.module
        self.module = function.module
        self.env = Env(function.env)
        try:
            self._bind_parameters(function, receiver, arguments, tensors)
            if isinstance(node, cst.Lambda):
                return self.eval(node.body)
            loops = len(self.loops)
            self._returns.append([])
            self._suite(node.body)
            returned = self._returns.pop()
            if node in function.module.generators:
                # What comes out of a generator comes from what it loops over.
                sources = [loop.value for loop in self.loops[loops:] if loop.frame.function is function]
                return Iteration("generator", [*returned, *sources] or [UNKNOWN])
            if not returned:
                return Const(None)
            merged = returned[0]
            for other in returned[1:]:
                merged = join(merged, other)
            return merged
        finally:
            self._active.pop()
            self.env, self.module = saved_env, saved_module

    def _bind_parameters(self, function: Function, receiver: Value | None, arguments: Arguments | None, tensors: bool) -> None:
        parameters = function.node.params
        positional = [*parameters.posonly_params, *parameters.params]
        env = self.env
        if receiver is not None and positional:
            env.variables[positional.pop(0).name.value] = receiver
        for index, parameter in enumerate([*positional, *parameters.kwonly_params]):
            name = parameter.name.value
            if arguments is None:
                plain = parameter.default is None and name not in ("training", "mask")
                annotated = self._annotated(parameter, function)
                value: Value = annotated if annotated is not UNKNOWN else Tensor("parameter") if tensors and plain else UNKNOWN
            else:
                given = arguments.get(index if index < len(positional) else None, name)
                if given is not None:
                    value = given
                    if value is UNKNOWN:
                        value = self._annotated(parameter, function)
                elif parameter.default is not None:
                    saved, self.env = self.env, function.env
                    value = self.eval(parameter.default)
                    self.env = saved
                else:
                    value = UNKNOWN
            env.variables[name] = value
        # Keras calls its hooks with arguments of its own, whatever they are given here.
        if arguments is not None and not (function.owner is not None and library.traced_hook(function.owner.external_bases(), function.name)):
            env.parameters = frozenset(parameter.name.value for parameter in [*positional, *parameters.kwonly_params])
        if isinstance(parameters.star_arg, cst.Param):
            rest: Value = UNKNOWN
            if arguments is not None and not arguments.unknown_positional:
                rest = Group("tuple", arguments.positional[len(positional) :])
            elif arguments is None and tensors:
                rest = Tensor("parameter")
            env.variables[parameters.star_arg.name.value] = rest
        if parameters.star_kwarg is not None:
            extra: Value = UNKNOWN
            if arguments is not None and not arguments.unknown_keywords:
                named = {parameter.name.value for parameter in [*positional, *parameters.kwonly_params]}
                extra = Mapping({key: value for key, value in arguments.keywords.items() if key not in named})
            env.variables[parameters.star_kwarg.name.value] = extra

    def _annotated(self, parameter: cst.Param, function: Function) -> Value:
        """What the annotation of a parameter says it is."""
        if parameter.annotation is None:
            return UNKNOWN
        annotation = parameter.annotation.annotation
        if isinstance(annotation, cst.SimpleString):
            text = annotation.evaluated_value
            try:
                annotation = cst.parse_expression(text)
            except cst.ParserSyntaxError:
                return UNKNOWN
        if isinstance(annotation, cst.BinaryOperation):
            annotation = annotation.left
        if isinstance(annotation, cst.Subscript):
            name = annotation.value.attr if isinstance(annotation.value, cst.Attribute) else annotation.value
            inner = annotation.slice[0].slice
            if not isinstance(name, cst.Name) or name.value != "Optional" or not isinstance(inner, cst.Index):
                return UNKNOWN
            annotation = inner.value
        saved, self.env = self.env, function.env
        value = self.eval(annotation) if isinstance(annotation, (cst.Name, cst.Attribute)) else UNKNOWN
        self.env = saved
        if isinstance(value, External):
            if value.name in ("tensorflow.data.Dataset", "tensorflow.data.DatasetV2"):
                stage = Stage(self.module, parameter, "parameter", None, (), self.scope)
                self.stages.append(stage)
                return Dataset(stage)
            if value.name in ("tensorflow.Tensor", "keras.KerasTensor"):
                return Tensor("parameter")
            if library.class_of(value.name) in ("keras.Model", "keras.Optimizer"):
                return Made(value.name)
        if isinstance(value, Class):
            return self._instance_of(value) if value.external_bases() else UNKNOWN
        return UNKNOWN

    def _instantiate(self, cls: Class, arguments: Arguments, node: cst.CSTNode) -> Value:
        instance = Instance(cls, {})
        # Methods that nobody calls still see the object that the program really makes.
        self._instances.setdefault(cls, instance)
        bases = cls.external_bases()
        name = next((library.class_of(base) for base in sorted(bases) if library.class_of(base).startswith("keras.")), None)
        self._record(node, name and f"{name}.__init__", "__init__", instance, arguments, instance)
        init = cls.member("__init__")
        if isinstance(init, Function):
            self._inline(self._bound(init, instance), arguments, node)
        else:
            # A dataclass or NamedTuple takes its fields in order.
            fields = _fields(cls)
            instance.attributes.update(zip(fields, arguments.positional))
            instance.attributes.update(arguments.keywords)
            if arguments.unknown_positional or arguments.unknown_keywords:
                self._forget(instance)
            if not fields:
                self._escape(arguments, node)
        return instance

    def _call_instance(self, instance: Instance, arguments: Arguments, node: cst.CSTNode) -> Value:
        bases = instance.cls.external_bases()
        owner = self._class_name(instance)
        keras = owner in ("keras.Model", "keras.Layer")
        self._record(node, f"{owner}.__call__" if owner else None, "__call__", instance, arguments)
        method = instance.cls.member("__call__") or (instance.cls.member("call") if keras else None)
        if isinstance(method, Function):
            # Keras traces call() sooner or later, whoever calls the layer here.
            how = "call" if keras and self.scope.traced_by() is None else None
            result = self._inline(self._bound(method, instance), arguments, node, traced=how)
            if keras and any(isinstance(o, Made) and o.name == "keras.KerasTensor" for v in arguments.values() for o in options_of(v)):
                return Made("keras.KerasTensor")
            return Tensor("result") if keras and result is UNKNOWN else result
        if keras and not bases & {"builtins.object"}:
            return self._layer_result(arguments)
        self._escape(arguments, node)
        return UNKNOWN

    def _layer_result(self, arguments: Arguments) -> Value:
        for value in arguments.values():
            for option in options_of(value):
                if isinstance(option, Made) and option.name == "keras.KerasTensor":
                    return option
                if isinstance(option, Group) and any(isinstance(i, Made) and i.name == "keras.KerasTensor" for i in option.items):
                    return Made("keras.KerasTensor")
        return Tensor("result")

    def _call_made(self, made: Made, arguments: Arguments, node: cst.CSTNode) -> Value:
        if made.name in library.COMPILERS and arguments.positional:
            return self._compiled(arguments.positional[0], library.COMPILERS[made.name], made.call)
        if made.name == "tensorflow.function.compiled":
            target = made.attributes["target"]
            scope = Scope("call", self.scope, self.module, node, traced="tf.function")
            return self._inside(scope, lambda a: self.call(target, a, node), arguments)
        owner = self._class_name(made) or made.name
        self._record(node, f"{owner}.__call__", "__call__", made, arguments)
        if owner == "keras.Model" or made.name.startswith(("keras.layers.", "keras.Sequential", "keras.applications.")):
            # A model given datasets is a mistake that raises; nothing to follow.
            return self._layer_result(arguments)
        self._escape(arguments, node)
        if any(holds_tensor(value) for value in arguments.values()):
            if not made.name.startswith(library.TENSOR_LIBRARIES):
                self._use("unknown-call", node)
            return Tensor("result") if made.name.startswith(library.TENSOR_LIBRARIES) else UNKNOWN
        return Made(f"{owner}.__call__")

    def _class_name(self, value: Value) -> str | None:
        """The canonical class of a receiver, where it is known."""
        if isinstance(value, Made):
            return library.class_of(value.name)
        if isinstance(value, Instance):
            return library.class_of_bases(value.cls.external_bases())
        if isinstance(value, Tensor):
            return "tensorflow.Tensor"
        return None

    def _call_method(self, method: Method, arguments: Arguments, node: cst.CSTNode) -> Value:
        receiver, attribute = method.receiver, method.name
        if isinstance(receiver, Dataset):
            return self._call_dataset(receiver, attribute, arguments, node)
        if isinstance(receiver, _Super):
            owner = library.class_of_bases(receiver.cls.external_bases())
            self._record(node, f"{owner}.{attribute}" if owner else None, attribute, receiver.instance, arguments)
            return Tensor("result") if attribute == "call" else UNKNOWN
        if isinstance(receiver, Group):
            return self._call_group(receiver, attribute, arguments, node)
        if isinstance(receiver, Mapping):
            return self._call_mapping(receiver, attribute, arguments, node)
        if isinstance(receiver, Iteration):
            if attribute in ("__next__", "get_next", "next"):
                return self._next(receiver, node)
            if attribute == "initializer":
                return UNKNOWN
        if isinstance(receiver, Method) and receiver.name == "__dict__" and attribute == "update":
            self._forget(receiver.receiver)
        owner = self._class_name(receiver)
        name = f"{owner}.{attribute}" if owner else None
        call = self._record(node, name, attribute, receiver, arguments)
        if owner == "tensorflow.Tensor":
            if attribute in ("set_shape", "get_shape"):
                self._use("shape", node)
                return UNKNOWN
            self._use("method", node)
            return UNKNOWN if attribute in ("numpy", "eval", "item", "tolist") else Tensor("result")
        if attribute in library.CONSUMING_METHODS and (owner in ("keras.Model", None, "keras.Layer") or any(True for value in arguments.values() for _ in datasets_in(value))):
            return self._consume(call, attribute, arguments, node)
        if owner == "tensorflow.distribute.Strategy":
            return self._call_strategy(attribute, arguments, node)
        if owner is not None and owner.startswith("tensorflow_datasets.") and attribute == "as_dataset":
            return self._tfds(arguments, node, "tensorflow_datasets.as_dataset")
        if attribute in ("to_tf_dataset", "prepare_tf_dataset"):
            return self._source(f"transformers.{attribute}", arguments, node)
        if attribute == "add" and isinstance(receiver, Made) and owner == "keras.Model":
            added = receiver.attributes.setdefault("layers added", Group("list", []))
            added.items.extend(arguments.positional)
        if attribute == "compile" and (owner == "keras.Model" or owner is None):
            for key in ("loss", "metrics", "weighted_metrics"):
                self._run_callables(arguments.get({"loss": 1, "metrics": 2}.get(key), key), "loss" if key == "loss" else "metric", node)
            return UNKNOWN
        if name is not None and name.endswith("TFRecordWriter.write"):
            for dataset in datasets_in(arguments.get(0, "dataset")):
                self._sink("inspect", dataset, node)
            return UNKNOWN
        if name is not None and name.startswith("multiprocessing."):
            self._run_in_process(arguments, node)
        else:
            self._run_arguments(arguments, node, tensors=False)
        self._escape(arguments, node)
        if owner is None:
            if holds_tensor(receiver) or any(holds_tensor(value) for value in arguments.values()):
                self._use("unknown-call", node)
            return UNKNOWN
        if owner.startswith(library.TENSOR_LIBRARIES) and any(holds_tensor(value) for value in arguments.values()):
            return Tensor("result")
        return Made(f"{owner}.{attribute}", call)

    def _consume(self, call: Call, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        """fit, evaluate, predict, adapt and their kin."""
        role = library.CONSUMING_METHODS.get(attribute)
        for key, value in [*enumerate(arguments.positional), *arguments.keywords.items()]:
            for dataset in datasets_in(value):
                named = {"validation_data": "validation", "callbacks": "escape"}.get(key, role) if isinstance(key, str) else role
                self._sink(named or "escape", dataset, node)
        self._run_arguments(arguments, node, tensors=False)
        return UNKNOWN

    def _call_strategy(self, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute in ("run", "experimental_run_v2", "call_for_each_replica"):
            function = arguments.get(0, "fn")
            inner = arguments.get(1, "args")
            passed = Arguments(list(inner.items) if isinstance(inner, Group) else [], unknown_positional=not isinstance(inner, Group))
            named = arguments.get(2, "kwargs")
            if isinstance(named, Mapping):
                passed.keywords.update({key: value for key, value in named.items.items() if isinstance(key, str)})
            return self.call(function or UNKNOWN, passed, node)
        if attribute == "experimental_distribute_dataset":
            results = [Dataset(self._new_stage("distribute", node, self.calls[-1], (d.stage,))) for d in datasets_in(arguments.get(0, "dataset"))]
            return results[0] if results else UNKNOWN
        if attribute in ("distribute_datasets_from_function", "experimental_distribute_datasets_from_function"):
            result = self.call(arguments.get(0, "dataset_fn") or UNKNOWN, Arguments([UNKNOWN]), node)
            for dataset in datasets_in(result):
                return Dataset(self._new_stage("distribute", node, self.calls[-1], (dataset.stage,)))
            return UNKNOWN
        if attribute == "scope":
            return Made("tensorflow.distribute.Strategy.scope")
        self._run_arguments(arguments, node, tensors=True)
        if attribute in ("reduce", "gather", "experimental_local_results"):
            return Tensor("result") if any(holds_tensor(value) for value in arguments.values()) else UNKNOWN
        return UNKNOWN

    def _call_group(self, group: Group, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute in ("append", "add") and arguments.positional:
            # Inside a loop the length is no longer known, but the kinds of items are.
            self._extend(group, arguments.positional[:1])
            self._record(node, "builtins.list.append", attribute, group, arguments)
            return Const(None)
        if attribute == "extend":
            self._record(node, "builtins.list.extend", attribute, group, arguments)
            given = arguments.get(0, None)
            self._extend(group, given.items if isinstance(given, Group) else [UNKNOWN], certain=isinstance(given, Group) and not given.open)
        elif attribute == "insert":
            self._extend(group, arguments.positional[1:2], certain=False)
        elif attribute in ("pop", "popleft", "remove", "clear", "sort", "reverse"):
            group.open = True
        if attribute in ("pop", "popleft"):
            return _any_of(group.items)
        return Group(group.kind, list(group.items), group.open) if attribute == "copy" else UNKNOWN

    def _call_mapping(self, mapping: Mapping, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute in ("items", "values", "keys"):
            if attribute == "values" and not mapping.open:
                return Group("list", list(mapping.items.values()))
            return Iteration(attribute, [mapping])
        if attribute in ("get", "pop", "setdefault"):
            key = arguments.get(0, "key")
            if isinstance(key, Const) and key.value in mapping.items:
                return mapping.items[key.value]
            if attribute == "setdefault" and isinstance(key, Const):
                value = arguments.get(1, "default") or Const(None)
                self._store(mapping.items, key.value, value)
                return value
        if attribute == "update":
            given = arguments.get(0, None)
            self._update(mapping, Mapping(dict(arguments.keywords), arguments.unknown_keywords) if given is None else given)
            if given is not None:
                self._update(mapping, Mapping(dict(arguments.keywords)))
        if attribute == "copy":
            return Mapping(dict(mapping.items), mapping.open)
        return UNKNOWN

    def _call_external(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if name.startswith("builtins."):
            return self._call_builtin(name[9:], arguments, node)
        if name == "functools.partial" and arguments.positional:
            target = arguments.positional[0]
            rest = Arguments(arguments.positional[1:], dict(arguments.keywords), {}, arguments.unknown_positional, arguments.unknown_keywords)
            if isinstance(target, External) and target.name in library.COMPILERS:
                return Made(target.name, self._record(node, target.name, None, UNKNOWN, rest))
            return Partial(target, rest)
        if name in library.COMPILERS:
            call = self._record(node, name, None, UNKNOWN, arguments)
            function = arguments.get(0, "func")
            if function is not None and constant(function, 0) is not None:
                return self._compiled(function, library.COMPILERS[name], call)
            return Made(name, call)
        if name == "functools.wraps":
            return Made(name, self._record(node, name, None, UNKNOWN, arguments))
        if name in library.TRANSPARENT_DECORATORS and arguments.positional and isinstance(arguments.positional[0], (Function, Partial)):
            return arguments.positional[0]
        if name in library.PASS_THROUGH_ITERATORS and (arguments.positional or arguments.keywords):
            return Iteration("wrapper", [arguments.get(0, "iterable") or UNKNOWN])
        if name in ("tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange"):
            return Iteration("range", arguments.positional)
        source = library.source_kind(name)
        if source is not None:
            return self._make_source(name, arguments, node)
        if name.startswith("tensorflow.data.Dataset.") and arguments.positional:
            # tf.data.Dataset.map(ds, f)
            first = arguments.positional[0]
            if isinstance(first, Dataset):
                rest = Arguments(arguments.positional[1:], arguments.keywords, {}, arguments.unknown_positional, arguments.unknown_keywords)
                return self._call_dataset(first, name.rpartition(".")[2], rest, node)
        if name in ("tensorflow.py_function", "tensorflow.numpy_function", "tensorflow.compat.v1.numpy_function"):
            call = self._record(node, name, None, UNKNOWN, arguments)
            function = arguments.get(0, "func")
            for option in options_of(function):
                if isinstance(option, (Function, Partial)):
                    self._run_callables(option, "py_function", node)
            if any(holds_tensor(v) for v in arguments.values()):
                self._use("py_function", node)
            call.result = Tensor("py_function")
            return call.result
        if name in ("tensorflow.nest.map_structure", "keras.tree.map_structure", "jax.tree_util.tree_map", "tree.map_structure") and len(arguments.positional) > 1:
            return self.call(arguments.positional[0], Arguments(arguments.positional[1:]), node)
        call = self._record(node, name, None, UNKNOWN, arguments)
        if name == "keras.Input":
            call.result = Made("keras.KerasTensor", call)
            return call.result
        if name.startswith("multiprocessing."):
            self._run_in_process(arguments, node)
        elif name == "keras.layers.Lambda":
            self._run_callables(arguments.get(0, "function"), "Lambda", node)
        elif name in library.TRACING_WRAPPERS or not name.startswith(("keras.", "tensorflow.data.")):
            self._run_arguments(arguments, node, tensors=name.startswith(library.TENSOR_LIBRARIES))
        if name not in library.TRANSPARENT_TO_DATASETS:
            self._escape(arguments, node)
        if name.startswith(library.TENSOR_LIBRARIES) and not name.startswith(("keras.layers.", "keras.Model", "keras.Sequential")):
            if name in library.STATIC_RESULTS or name.rpartition(".")[2][:1].isupper():
                call.result = Made(name, call)
                return call.result if name not in library.STATIC_RESULTS else UNKNOWN
            if any(holds_tensor(value) for value in arguments.values()) or library.makes_tensor(name):
                call.result = Tensor(name)
                return call.result
        if name.startswith("numpy.") and any(holds_tensor(value) for value in arguments.values()):
            self._use("numpy", node)
            # In compiled code NumPy never really returns: it raises, or hands the tensor on.
            call.result = Tensor(name) if self.scope.traced_by() else UNKNOWN
            return call.result
        if name.rpartition(".")[2].islower() and any(holds_tensor(value) for value in arguments.values()):
            self._use("unknown-call", node)
        call.result = Made(name, call)
        if name == "tensorflow.io.parse_single_example":
            call.result = Tensor("features")
        return call.result

    def _call_builtin(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        first = arguments.positional[0] if arguments.positional else UNKNOWN
        if name == "super":
            function = self.scope.frame.function
            if function is not None and function.owner is not None:
                receiver = function.receiver
                if receiver is None:
                    parameters = function.node.params.params
                    receiver = self.env.lookup(parameters[0].name.value) if parameters else None
                return _Super(receiver or UNKNOWN, function.owner)
            return UNKNOWN
        if name in ("enumerate", "zip", "reversed", "sorted", "filter"):
            return Iteration(name, list(arguments.positional[:1] if name == "enumerate" else arguments.positional))
        if name == "range":
            return Iteration("range", list(arguments.positional))
        if name == "iter":
            return Iteration("iter", [first], self.scope)
        if name == "next":
            return self._next(first, node)
        if name in ("list", "tuple", "set"):
            if isinstance(first, Group):
                return Group(name, list(first.items), first.open)
            for dataset in self._iterated(first):
                self._sink("inspect", dataset, node)
            if not arguments.positional:
                return Group(name, [])
            self._record(node, f"builtins.{name}", None, UNKNOWN, arguments)
            return UNKNOWN
        if name == "dict":
            return Mapping(dict(arguments.keywords), open=bool(arguments.positional) or arguments.unknown_keywords)
        if name == "map" and len(arguments.positional) > 1:
            over = arguments.positional[1]
            if len(arguments.positional) == 2 and isinstance(over, Group) and not over.open and len(over.items) <= _MAX_OPTIONS:
                return Group("list", [self.call(first, Arguments([item]), node) for item in over.items])
            self._run_callables(arguments.positional[0], None, node, tensors=False)
            return UNKNOWN
        if name == "getattr" and len(arguments.positional) > 1 and isinstance(constant(arguments.positional[1]), str):
            return self._get_attribute(first, arguments.positional[1].value, node)
        if name == "setattr" and len(arguments.positional) == 3:
            key = constant(arguments.positional[1])
            if isinstance(key, str):
                self._set_attribute(node, first, key, arguments.positional[2])
            else:
                self._forget(first)
            return Const(None)
        call = self._record(node, f"builtins.{name}", None, UNKNOWN, arguments)
        if any(holds_tensor(value) for value in arguments.values()):
            self._use(f"builtins.{name}", node)
        if name in ("max", "min", "abs", "round", "sum") and any(holds_tensor(value) for value in arguments.values()):
            call.result = Tensor("result")
            return call.result
        if name in ("int", "float") and not holds_tensor(first):
            if isinstance(first, Const) and isinstance(first.value, (int, float)):
                return Const(int(first.value) if name == "int" else float(first.value))
            return Made(f"builtins.{name}", call)
        for dataset in datasets_in(first):
            self._sink("inspect", dataset, node)
        self._run_arguments(arguments, node, tensors=False)
        return UNKNOWN

    def _next(self, iterator: Value, node: cst.CSTNode) -> Value:
        for option in options_of(iterator):
            if not isinstance(option, Iteration):
                continue
            for dataset in self._iterated(option):
                made_in = {id(scope) for scope in option.scope.chain()} if option.scope else set()
                loop = next((scope for scope in self.scope.loops() if id(scope) not in made_in), None)
                if loop is not None:
                    self.sinks.append(Sink("loop", dataset.stage, self.module, node, self.scope, loop=loop))
                else:
                    self._sink("inspect", dataset, node)
                return Tensor("element")
        return UNKNOWN

    def _run_callables(self, value: Value | None, traced: str | None, node: cst.CSTNode, *, tensors: bool = True) -> Value:
        """Run functions handed to a library, with tensors (or unknown values) as arguments."""
        result: Value = UNKNOWN
        for option in options_of(value):
            if isinstance(option, (Group, Mapping)):
                for item in option.items if isinstance(option, Group) else option.items.values():
                    self._run_callables(item, traced, node, tensors=tensors)
                continue
            target, bound = option, None
            if isinstance(option, Partial):
                target, bound = option.target, option.arguments
            if isinstance(target, Function):
                passed = _spread(target, tensors and traced != "py_function")
                if bound is not None:
                    passed = _bound_arguments(bound, passed)
                result = self._inline(target, passed, node, traced=traced)
        return result

    def _run_in_process(self, arguments: Arguments, node: cst.CSTNode) -> None:
        """Functions that start a program of their own: what ran before does not count there."""
        scope = Scope("root", None, self.module, node, label="process")
        self._inside(scope, lambda a: self._run_arguments(a, node, tensors=False), arguments)

    def _run_arguments(self, arguments: Arguments, node: cst.CSTNode, *, tensors: bool) -> None:
        for value in arguments.values():
            for option in options_of(value):
                if isinstance(option, (Function, Partial)):
                    for dataset in datasets_in(self._run_callables(option, None, node, tensors=tensors)):
                        self._sink("escape", dataset, node)

    # -------------------------------------------------------------- datasets

    def _new_stage(self, name: str, node, call: Call | None, inputs: tuple[Stage, ...]) -> Stage:
        stage = Stage(self.module, node, name, call, inputs, self.scope)
        self.stages.append(stage)
        return stage

    def _source(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Dataset:
        call = self._record(node, name, None, UNKNOWN, arguments)
        call.result = Dataset(self._new_stage(name, node, call, ()))
        return call.result

    def _make_source(self, name: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if name in ("tensorflow.data.Dataset.zip", "tensorflow.data.Dataset.sample_from_datasets", "tensorflow.data.Dataset.choose_from_datasets"):
            inputs = tuple(dataset.stage for value in arguments.values() for dataset in datasets_in(value))
            call = self._record(node, name, None, UNKNOWN, arguments)
            stage = self._new_stage(name.rpartition(".")[2] if inputs else name, node, call, inputs)
            return Dataset(stage)
        if library.source_kind(name) == "tfds":
            return self._tfds(arguments, node, name)
        dataset = self._source(name, arguments, node)
        if name == "tensorflow.data.Dataset.from_generator":
            self._run_callables(arguments.get(0, "generator"), None, node, tensors=False)
        if name == "keras.utils.split_dataset":
            for inner in datasets_in(arguments.get(0, "dataset")):
                self._sink("escape", inner, node)
            return Group("tuple", [dataset, Dataset(self._new_stage(name, node, dataset.stage.call, ()))])
        if constant(arguments.get(None, "subset")) == "both":
            return Group("tuple", [dataset, Dataset(self._new_stage(name, node, dataset.stage.call, ()))])
        return dataset

    def _tfds(self, arguments: Arguments, node: cst.CSTNode, name: str) -> Value:
        call = self._record(node, name, None, UNKNOWN, arguments)
        split = arguments.get(1 if name == "tensorflow_datasets.load" else 0, "split")

        def one() -> Value:
            return Dataset(self._new_stage(name, node, call, ()))

        loaded: Value = Group("list", [one() for _ in split.items]) if isinstance(split, Group) else one()
        if constant(arguments.get(None, "with_info")) is True:
            return Group("tuple", [loaded, UNKNOWN])
        return loaded

    def _call_dataset(self, dataset: Dataset, attribute: str, arguments: Arguments, node: cst.CSTNode) -> Value:
        if attribute == "apply":
            return self._apply(dataset, arguments, node)
        if attribute == "as_numpy_iterator":
            return Iteration(attribute, [dataset], self.scope)
        if attribute in ("make_one_shot_iterator", "make_initializable_iterator", "__iter__"):
            return Iteration("iter", [dataset], self.scope)
        if attribute not in library.DATASET_METHODS:
            call = self._record(node, f"tensorflow.data.Dataset.{attribute}", attribute, dataset, arguments)
            if attribute in ("items", "values", "keys", "get") and dataset.stage.is_source:
                return dataset if attribute != "items" else Iteration("wrapper", [Group("list", [Group("tuple", [UNKNOWN, dataset])])])
            self._run_arguments(arguments, node, tensors=True)
            if attribute in ("cardinality", "element_spec", "get_single_element", "options", "save"):
                if attribute in ("get_single_element", "save"):
                    self._sink("inspect", dataset, node)
                return call.result
            self._sink("escape", dataset, node)
            return UNKNOWN
        call = self._record(node, f"tensorflow.data.Dataset.{attribute}", attribute, dataset, arguments)
        inputs = (dataset.stage,)
        if attribute in ("concatenate", "zip"):
            inputs += tuple(other.stage for value in arguments.values() for other in datasets_in(value))
        stage = self._new_stage(attribute, node, call, inputs)
        self._follow_function(stage, arguments, node)
        call.result = Dataset(stage)
        return call.result

    def _follow_function(self, stage: Stage, arguments: Arguments, node: cst.CSTNode) -> None:
        """Run the function given to map, filter, interleave, ... and keep what it did."""
        key = library.DATASET_METHODS.get(stage.name)
        if key is None:
            return
        function = arguments.get(*key)
        if function is None:
            return
        stage.function = function
        calls, uses, known = len(self.calls), len(self._uses), True
        result: Value | None = None
        for option in options_of(function):
            target, bound = (option.target, option.arguments) if isinstance(option, Partial) else (option, None)
            if isinstance(target, Function):
                passed = _spread(target, True)
                if stage.name in ("group_by_window", "scan"):
                    passed = Arguments(unknown_positional=True)
                if stage.name in ("flat_map", "interleave") and any(s.name == "window" for s in stage.upstream()):
                    # Elements of a windowed dataset are themselves datasets.
                    window = next(s for s in stage.upstream() if s.name == "window")
                    passed.positional = [Dataset(Stage(self.module, window.node, "window-element", None, (), self.scope)) for _ in passed.positional]
                if bound is not None:
                    passed = _bound_arguments(bound, passed)
                one = self._inline(target, passed, node, traced="map", stage=stage)
                if stage.name in ("flat_map", "interleave"):
                    for inner in datasets_in(one):
                        self.sinks.append(Sink("nested", inner.stage, self.module, node, self.scope, outer=stage))
            elif isinstance(target, (Instance, Made, External, Method)):
                passed = Arguments([Tensor("element")])
                if bound is not None:
                    passed = _bound_arguments(bound, passed)
                scope = Scope("call", self.scope, self.module, node, traced="map", stage=stage)
                one = self._inside(scope, lambda a, t=target: self.call(t, a, node), passed)
                known = known and not (isinstance(target, Method) and self._class_name(target.receiver) is None)
            else:
                one, known = UNKNOWN, False
            result = one if result is None else join(result, one)
        new_uses = self._uses[uses:]
        known = known and not any(kind == "unknown-call" for kind, _, _ in new_uses)
        stage.facts = FunctionFacts(self.calls[calls:], new_uses, known, result or UNKNOWN)

    def _apply(self, dataset: Dataset, arguments: Arguments, node: cst.CSTNode) -> Value:
        transformation = arguments.get(0, "transformation_func")
        for option in options_of(transformation):
            if isinstance(option, (Function, Partial)):
                return self.call(option, Arguments([dataset]), node)
            if isinstance(option, Made):
                name = option.name.rpartition(".")[2]
                stage = self._new_stage(name, node, option.call, (dataset.stage,))
                if option.call is not None:
                    self._follow_function(stage, option.call.arguments, node)
                return Dataset(stage)
        return Dataset(self._new_stage("apply", node, None, (dataset.stage,)))


def _dotted(node) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        parts.append(node.value)
    return ".".join(reversed(parts))


def _written_trips(node: cst.BaseExpression) -> int | None:
    """The length of ``x[:5]``, ``x[2:6]`` and ``ds.take(3)`` for any x, also inside enumerate, zip and tqdm."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
        cut = node.slice[0].slice
        lower = 0 if cut.lower is None else cut.lower.evaluated_value if isinstance(cut.lower, cst.Integer) else None
        if lower is not None and isinstance(cut.upper, cst.Integer) and cut.step is None:
            return max(0, cut.upper.evaluated_value - lower)
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "take" and node.args and isinstance(node.args[0].value, cst.Integer):
            return node.args[0].value.evaluated_value
        if isinstance(node.func, cst.Name) and node.func.value in ("enumerate", "zip", "tqdm", "list", "iter"):
            known = [trips for trips in (_written_trips(arg.value) for arg in node.args) if trips is not None]
            return min(known) if known else None
    return None


def _is_test(function: Function) -> bool:
    """A unit test: nothing in it trains for its results."""
    if function.name.startswith("test_") or function.name in ("setUp", "setUpClass"):
        return True
    owner = function.owner
    return owner is not None and any(name.rpartition(".")[2] == "TestCase" for name in owner.external_bases())


def _any_of(values) -> Value:
    """What one of several values may be; UNKNOWN where there are none."""
    merged: Value | None = None
    for value in values:
        merged = value if merged is None else join(merged, value)
    return UNKNOWN if merged is None else merged


def _literal(node: cst.BaseExpression) -> Const | None:
    """The constant that an expression spells out."""
    if isinstance(node, cst.Name):
        return {"True": Const(True), "False": Const(False), "None": Const(None)}.get(node.value)
    return Const(node.evaluated_value) if isinstance(node, (cst.SimpleString, cst.Integer)) else None


def _fields(cls: Class) -> list[str]:
    """The annotated fields of a class and its bases in the tree, in the order of a generated constructor."""
    names: dict[str, None] = {}
    for base in reversed([base for base in cls.ancestry() if isinstance(base, Class)]):
        for line in base.node.body.body:
            for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                    names[statement.target.value] = None
    return list(names)


def _is_number(value: Value) -> bool:
    """A Python number, known or not."""
    return isinstance(value, Const) or (isinstance(value, Made) and value.name in ("builtins.int", "builtins.float"))


def _parameters(parameters: cst.Parameters):
    yield from (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)


def _spread(function: Function, tensors: bool) -> Arguments:
    """One argument for every parameter that has no default, as a library would pass them."""
    parameters = [*function.node.params.posonly_params, *function.node.params.params]
    if function.receiver is not None:
        parameters = parameters[1:]
    count = sum(parameter.default is None for parameter in parameters)
    return Arguments([Tensor("parameter") if tensors else UNKNOWN for _ in range(count)], unknown_positional=not tensors)


def _bound_arguments(bound: Arguments, passed: Arguments) -> Arguments:
    return Arguments(
        [*bound.positional, *passed.positional],
        {**bound.keywords, **passed.keywords},
        passed.nodes if not bound.positional else {key: node for key, node in passed.nodes.items() if isinstance(key, str)},
        bound.unknown_positional or passed.unknown_positional,
        bound.unknown_keywords or passed.unknown_keywords,
    )


_I = Interpreter
_STATEMENTS = {
    cst.Expr: _I._expr,
    cst.Assign: _I._assign,
    cst.AnnAssign: _I._ann_assign,
    cst.AugAssign: _I._aug_assign,
    cst.Return: _I._return,
    cst.Raise: _I._ends,
    cst.Break: _I._ends,
    cst.Continue: _I._ends,
    cst.Assert: _I._evaluate_children,
    cst.Del: _I._delete,
    cst.Global: _I._global,
    cst.Nonlocal: _I._nonlocal,
    cst.Import: _I._import,
    cst.ImportFrom: _I._import_from,
    cst.If: _I._if,
    cst.Try: _I._try,
    cst.TryStar: _I._try,
    cst.With: _I._with,
    cst.For: _I._for,
    cst.While: _I._while,
    cst.FunctionDef: lambda self, node: self._function_def(node),
    cst.ClassDef: _I._class_def,
    cst.Match: _I._match,
}
_EXPRESSIONS = {
    cst.Name: _I._name,
    cst.Attribute: _I._attribute,
    cst.Call: _I._call,
    cst.BinaryOperation: _I._binary,
    cst.UnaryOperation: _I._unary,
    cst.BooleanOperation: _I._boolean,
    cst.Comparison: _I._comparison,
    cst.IfExp: _I._conditional,
    cst.Subscript: _I._subscript,
    cst.Tuple: _I._group,
    cst.List: _I._group,
    cst.Set: _I._group,
    cst.Dict: _I._dict,
    cst.Lambda: _I._lambda,
    cst.ListComp: _I._comprehension,
    cst.SetComp: _I._comprehension,
    cst.DictComp: _I._comprehension,
    cst.GeneratorExp: _I._comprehension,
    cst.Await: _I._await,
    cst.Yield: _I._yield,
    cst.NamedExpr: _I._walrus,
    cst.Integer: _I._number,
    cst.Float: _I._number,
    cst.SimpleString: _I._string,
    cst.ConcatenatedString: _I._string,
    cst.FormattedString: _I._formatted,
}
