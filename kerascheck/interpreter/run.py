"""Runs a module without running it: every statement once, in program order, over abstract values.

Calls into functions of the linted tree are followed (also into other modules), both ways
of a branch are taken and joined, loops are gone round once. What cannot be followed is
UNKNOWN. The result is a record in program order of calls, dataset operations and their
consumers, each with the way that led there.
"""

from __future__ import annotations

import re

import libcst as cst

from kerascheck.interpreter.calls import Calls
from kerascheck.interpreter.expressions import Expressions
from kerascheck.interpreter.inlining import Inlining
from kerascheck.interpreter.limits import A_WHOLE_MODULE, MAX_IMPORT_DEPTH, MAX_MODULES
from kerascheck.interpreter.statements import Statements
from kerascheck.interpreter.values import (
    Class,
    Constant,
    ExecutionPath,
    Function,
    Instance,
    ModuleLike,
    Scope,
    Value,
    constant,
    datasets_in,
)
from kerascheck.interpreter.writes import Writes
from kerascheck.knowledge.classes import MODEL, class_of_bases, traced_hook
from kerascheck.syntax.tree import SyntaxProblem

_EAGER_SWITCH = re.compile(r"\brun_(?:functions_)?eagerly\b")


class Interpreter(Statements, Expressions, Calls, Inlining, Writes):
    """Interprets one entry module and whatever it calls; see :class:`Machine` for what it remembers."""

    def run(self) -> None:
        """Interpret the module body, then every function that it does not call."""
        self._run_module(self.entry)
        functions = _users_first(self.entry.tree.functions)
        names = self.entry.name_counts
        # What nobody mentions is called from outside: it runs before its helpers do.
        for node in sorted(functions, key=lambda f: names[f.name.value] > 1):
            if node not in self.reached and node in self.functions:
                self._run_root(self.functions[node])
        for node in functions:
            if node not in self.reached and node in self.functions:
                self._run_root(self.functions[node])
        # Keras calls what a model of another module does with its layers.
        for cls in list(self._instances):
            call = cls.member("call")
            if (
                cls.module is not self.entry
                and isinstance(call, Function)
                and class_of_bases(cls.external_bases()) == MODEL
            ):
                self._run_root(call)
        self._habits.clear()

    @property
    def modules(self) -> list[ModuleLike]:
        """The modules that were looked into; the entry is the first."""
        return list(self._depths)

    def globals_of(self, module: ModuleLike) -> dict[str, Value]:
        """The variables of a module that was run, as they are in the end."""
        return self._envs[module].variables

    def _run_module(self, module: ModuleLike) -> Scope:
        scope = self._envs.get(module)
        if scope is not None:
            return scope
        scope = self._envs[module] = Scope(None)
        if not self._is_followed(module):
            return scope
        scope.variables["__name__"] = Constant("__main__" if module is self.entry else module.dotted)
        saved = self.module, self.scope, self.path
        self.module, self.scope = module, scope
        self.path = ExecutionPath("root", None, module, module.tree.root)
        try:
            self._block(module.tree.root.body)
        finally:
            self.module, self.scope, self.path = saved
        return scope

    def _is_followed(self, module: ModuleLike) -> bool:
        """Whether an imported module is looked into: near enough, worth it, and readable."""
        if module is self.entry:
            self._depths[module] = 0
            return True
        depth = self._depths.get(self.module, MAX_IMPORT_DEPTH) + 1
        # Whether a switch to eager code is needed shows in the layers.
        worth = module.worth_following or self.entry.mentions(_EAGER_SWITCH)
        if depth > MAX_IMPORT_DEPTH or self._followed > MAX_MODULES or not worth:
            return False
        try:
            module.tree
        except SyntaxProblem:
            return False
        self._depths[module] = depth
        self._followed += min(1.0, len(module.text) / A_WHOLE_MODULE)
        return True

    def _run_root(self, function: Function) -> None:
        """Run a function that nobody was seen to call, with unknown arguments."""
        if isinstance(function.node, cst.Lambda) or is_test(function):
            return
        traced = function.traced
        instance: Value | None = None
        tensors = False
        if function.owner is not None and function.kind != "staticmethod":
            instance = self._instance_of(function.owner) if function.kind != "classmethod" else function.owner
            hook = traced_hook(function.owner.external_bases(), function.name)
            if hook:
                traced, tensors = (
                    traced or (None if hook in ("call", "train_step") and _trains_itself(function.owner) else hook),
                    True,
                )
        if function.node in self.reached:
            return
        saved = self.module, self.scope, self.path
        self.module = function.module
        self.path = ExecutionPath("root", None, function.module, function.node, function=function, traced=traced)
        options = function.options
        signature = options.given("input_signature") if options and "input_signature" in options.signature else None
        try:
            value = self._enter(
                function,
                instance,
                None,
                tensors=tensors or (signature is not None and constant(signature, 1) is not None),
            )
            for dataset in datasets_in(value):
                self.sink("escape", dataset, function.node)
        finally:
            self.module, self.scope, self.path = saved

    def _instance_of(self, cls: Class) -> Instance:
        instance = self._instances.get(cls)
        if instance is None:
            instance = self._instances[cls] = Instance(cls, {})
            for name in ("__init__", "build"):
                member = cls.members.get(name) if name == "build" else cls.member(name)
                if isinstance(member, Function) and member.node not in self._active:
                    path = self.path
                    self.path = ExecutionPath("root", None, member.module, member.node, function=member)
                    try:
                        self._enter(member, instance, None)
                    finally:
                        self.path = path
        return instance


def _trains_itself(cls: Class) -> bool:
    """Whether a model has a ``fit`` of its own that leaves nothing to that of Keras, which would compile its ``call`` and ``train_step``."""
    fit = cls.member("fit")
    return (
        isinstance(fit, Function)
        and re.search(r"\bsuper\(|\bModel\.fit\(|\bmake_train_function\(", fit.module.tree.code_of(fit.node)) is None
    )


def _users_first(functions: list[cst.FunctionDef]) -> list[cst.FunctionDef]:
    """Functions in the order of the text, but the ``call`` methods among them from the last to the first: layers stand above the
    models that hold them, and what those hand over is better than a guess."""
    calls = [function for function in functions if function.name.value == "call"]
    return [calls.pop() if function.name.value == "call" else function for function in functions]


def is_test(function: Function) -> bool:
    """A unit test: nothing in it trains for its results."""
    if function.name.startswith("test_") or function.name in ("setUp", "setUpClass"):
        return True
    owner = function.owner
    return owner is not None and any(name.rpartition(".")[2] == "TestCase" for name in owner.external_bases())
