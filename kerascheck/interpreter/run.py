"""Runs a module without running it: every statement once, in program order, over abstract values.

Calls into functions of the linted tree are followed (also into other modules), both ways
of a branch are taken and joined, loops are gone round once. What cannot be followed is
UNKNOWN. The result is a record in program order of calls, dataset operations and their
consumers, each with the way that led there.
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
    """Interprets one entry module and whatever it calls; see :class:`Machine` for what it remembers."""

    def run(self) -> None:
        """Interpret the module body, then every function that it does not call."""
        run_module(self, self.entry)
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
        """The modules that were looked into; the entry is the first."""
        return list(self.import_depths)

    def globals_of(self, module: ModuleLike) -> dict[str, Value]:
        """The variables of a module that was run, as they are in the end."""
        return self.module_scopes[module].variables

    def _run_root(self, function: Function) -> None:
        """Run a function that nobody was seen to call, with unknown arguments."""
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
