"""The interpreter: runs every statement once, in program order, over abstract values.

It follows calls into functions of the linted tree, including other modules. It takes both branches and joins them, and
runs each loop once. Calls that it cannot follow return UNKNOWN. The result is a record of calls, dataset operations and
their consumers in program order, each with its execution path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.calls import CALLS, call_unknown
from kerascheck.interpreter.expressions.table import EXPRESSIONS
from kerascheck.interpreter.inlining import enter_function, inline, instance_of
from kerascheck.interpreter.modules import run_module
from kerascheck.interpreter.statements.table import STATEMENTS
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Class,
    ExecutionPath,
    Function,
    ModuleLike,
    Value,
    constant,
    datasets_in,
)
from kerascheck.knowledge.classes import MODEL, class_of_bases, traced_hook


class Interpreter(AbstractState):
    """Interpreter of one entry module and its callees; for the records see :class:`AbstractState`."""

    def run(self) -> None:
        """Interpret the module body, then every function without a call site."""
        run_module(self, self.entry)
        functions = _users_first(self.entry.tree.functions)
        names = self.entry.name_counts
        # Functions that no code mentions are entry points, so they run before their helpers.
        for node in sorted(functions, key=lambda f: names[f.name.value] > 1):
            if node not in self.reached and node in self.functions:
                self._run_root(self.functions[node])
        for node in functions:
            if node not in self.reached and node in self.functions:
                self._run_root(self.functions[node])
        # Keras calls the ``call`` methods of models of other modules.
        for cls in list(self.instances):
            call = cls.member("call")
            if (
                cls.module is not self.entry
                and isinstance(call, Function)
                and class_of_bases(cls.external_bases()) == MODEL
            ):
                self._run_root(call)
        self.summaries.clear()

    @property
    def modules(self) -> list[ModuleLike]:
        """The modules that the interpreter followed; the entry is the first."""
        return list(self.import_depths)

    def globals_of(self, module: ModuleLike) -> dict[str, Value]:
        """The final variables of a module."""
        return self.module_scopes[module].variables

    def _run_root(self, function: Function) -> None:
        """Run a function without a call site, with unknown arguments."""
        if isinstance(function.node, cst.Lambda) or is_test(function):
            return
        traced = function.traced
        instance: Value | None = None
        tensors = False
        if function.owner is not None and function.kind != "staticmethod":
            instance = instance_of(self, function.owner) if function.kind != "classmethod" else function.owner
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
            value = enter_function(
                self,
                function,
                instance,
                None,
                tensors=tensors or (signature is not None and constant(signature, 1) is not None),
            )
            for dataset in datasets_in(value):
                self.sink("escape", dataset, function.node)
        finally:
            self.module, self.scope, self.path = saved

    def eval(self, node: cst.CSTNode) -> Value:
        """The abstract value of an expression; records the calls in it."""
        handler = EXPRESSIONS.get(type(node))
        return handler(self, node) if handler else UNKNOWN

    def run_block(self, statements: Iterable[cst.CSTNode]) -> bool:
        """Run statements in order; returns whether the end of the block is unreachable."""
        for statement in statements:
            if type(statement) is cst.SimpleStatementLine:
                if self.run_block(statement.body):
                    return True
            elif (handler := STATEMENTS.get(type(statement))) and handler(self, statement):
                return True
        return False

    def call(self, function: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
        """The result of calling an abstract value."""
        handler = CALLS.get(type(function), call_unknown)
        return handler(self, function, arguments, node)

    inline = inline


def _trains_itself(cls: Class) -> bool:
    """Whether a model has its own ``fit`` and never calls that of Keras.

    The ``fit`` of Keras would compile its ``call`` and ``train_step``.
    """
    fit = cls.member("fit")
    return (
        isinstance(fit, Function)
        and re.search(r"\bsuper\(|\bModel\.fit\(|\bmake_train_function\(", fit.module.tree.code_of(fit.node)) is None
    )


def _users_first(functions: list[cst.FunctionDef]) -> list[cst.FunctionDef]:
    """Functions in program order, but with ``call`` methods reversed.

    Layers are defined before the models that contain them, and arguments from a model are better than guesses.
    """
    calls = [function for function in functions if function.name.value == "call"]
    return [calls.pop() if function.name.value == "call" else function for function in functions]


def is_test(function: Function) -> bool:
    """Whether a function is a unit test, whose training results do not matter."""
    if function.name.startswith("test_") or function.name in ("setUp", "setUpClass"):
        return True
    owner = function.owner
    return owner is not None and any(name.rpartition(".")[2] == "TestCase" for name in owner.external_bases())
