"""Functions that a module defines twice for comparison."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Function


class CompiledTwins:
    """Functions that a module defines twice for comparison: with tf.function, and without."""

    def __init__(self, module: Module) -> None:
        tree = module.tree
        self._module = module
        self._compiled = [
            node
            for node in module.run.compiled
            if isinstance(node, cst.FunctionDef) and node in tree.parents and tree.enclosing(node, cst.ClassDef) is None
        ]
        self._called = (
            {entry.receiver.node for entry in module.run.entries if isinstance(entry.receiver, Function)}
            if self._compiled
            else set()
        )

    def cover(self, call: Call) -> bool:
        """Whether a function around ``call`` is compiled, is unknown, or has a compiled twin."""
        return any(
            function.opaque or function.node in self._module.run.compiled or self._is_compared(function)
            for function in call.path.functions()
        )

    def _is_compared(self, function: Function) -> bool:
        """Whether it is defined twice, except if it only replaces the compiled one."""
        if function.owner is not None or function.module is not self._module:
            return False
        tree = self._module.tree
        return any(
            twin.name.value == function.name
            and (twin in self._called or tree.range_of(twin)[0] > tree.range_of(function.node)[0])
            for twin in self._compiled
        )
