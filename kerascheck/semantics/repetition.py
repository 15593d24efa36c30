"""Training that a Python loop repeats: with one model, or with a new one in each turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from kerascheck.semantics import library
from kerascheck.semantics.training import varies
from kerascheck.semantics.values import Call, Instance, Made, Scope, Value, options_of

if TYPE_CHECKING:
    from kerascheck.semantics.module import Module


@dataclass(frozen=True, slots=True)
class Repetition:
    """A method call of a model in a loop.

    Attributes:
        call: the call.
        loop: the innermost loop around it, also around the function that it stands in.
        is_same: whether every turn certainly calls the same model.
    """

    call: Call
    loop: Scope
    is_same: bool


def repetitions(module: Module, *methods: str) -> Iterator[Repetition]:
    """The calls of these methods of Keras models that a ``for`` or ``while`` repeats, in program order."""
    for call in module.program.model_calls(*methods):
        loop = next((loop for loop in call.scope.loops() if isinstance(loop.node, (cst.For, cst.While))), None)
        if loop is not None:
            yield Repetition(call, loop, _is_same(module, call, loop))


def made_in_loop(module: Module, *methods: str) -> Iterator[tuple[Call, Scope, Call]]:
    """Models that are made and called inside of one and the same turn of a loop: constructor, innermost loop around it, and the call."""
    for call in module.program.model_calls(*methods):
        for made in {constructor(module, option) for option in options_of(call.receiver)} - {None}:
            loop = next((loop for loop in made.scope.loops() if isinstance(loop.node, (cst.For, cst.While))), None)
            if loop is not None and is_inside(call.scope, loop):
                yield made, loop, call


def constructor(module: Module, value: Value) -> Call | None:
    """The call that made or loaded a model; None where that cannot be seen."""
    if isinstance(value, Made) and library.class_of(value.name) == "keras.Model":
        return value.call
    if isinstance(value, Instance):
        return module.program.constructors.get(value)
    return None


def is_inside(scope: Scope, outer: Scope) -> bool:
    """Whether a place is in another, or in a function that is called there."""
    return any(each is outer for each in scope.chain())


def is_conditional(scope: Scope, loop: Scope) -> bool:
    """Whether a place in a loop is reached in some turns only, as far as conditions around it tell."""
    return any(each.kind in ("branch", "handler") and is_inside(each, loop) for each in scope.chain())


def _is_same(module: Module, call: Call, loop: Scope) -> bool:
    made = [constructor(module, option) for option in options_of(call.receiver)]
    if None not in made:
        around = set(call.scope.loops())
        return len(made) == 1 and not is_inside(made[0].scope, loop) and around.issuperset(made[0].scope.loops())
    # Where it comes from is not known: a variable or attribute that nothing in the loop sets.
    receiver = call.node.func.value if isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Attribute) else None
    if not isinstance(receiver, (cst.Name, cst.Attribute)) or varies(receiver, call.scope) is loop:
        return False
    return not any(isinstance(node, cst.AssignTarget) and node.target.deep_equals(receiver) for node in loop.module.tree.descendants(loop.node))
