"""Compiled functions that call themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.module import Module
from kerascheck.meaning.graph.traced_code import compiled_functions


@dataclass(frozen=True, slots=True)
class Recursion:
    """A compiled function that calls itself; ``at`` is its location, ``call`` the location of the call."""

    at: CodeLocation
    name: str
    call: CodeLocation


def recursive_calls(module: Module) -> Iterator[Recursion]:
    """The functions of a module that ``tf.function`` compiles and that call themselves directly, by name."""
    for function in compiled_functions(module):
        tree, name = module.tree, function.name
        for node in tree.descendants(function.node.body):
            if not isinstance(node, cst.Call):
                continue
            target = node.func
            own = isinstance(target, cst.Name) and target.value == name and function.owner is None
            method = (
                isinstance(target, cst.Attribute)
                and target.attr.value == name
                and isinstance(target.value, cst.Name)
                and target.value.value in ("self", "cls")
                and function.owner is not None
            )
            if (own or method) and tree.enclosing(node, cst.FunctionDef, cst.Lambda, cst.ClassDef) is function.node:
                yield Recursion(CodeLocation(module, function.node), name, CodeLocation(module, node))
                break
