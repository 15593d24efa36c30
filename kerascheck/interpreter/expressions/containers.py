"""Tuples, lists, sets, dictionaries and comprehensions."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.binding import bind
from kerascheck.interpreter.iteration import element_of, enter_loop
from kerascheck.interpreter.layer_shapes import product
from kerascheck.interpreter.limits import MAX_ITEMS, MAX_OPTIONS
from kerascheck.interpreter.timing import collect
from kerascheck.interpreter.values import (
    UNKNOWN,
    Constant,
    DictValue,
    ExecutionPath,
    IteratorValue,
    Scope,
    SequenceValue,
    Value,
    holds_tensor,
    is_beyond,
)

_GROUPS: dict[type[cst.CSTNode], str] = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}


def eval_sequence(state: AbstractState, node: cst.Tuple | cst.List | cst.Set) -> Value:
    items: list[Value] = []
    known = True
    for element in node.elements:
        value = state.eval(element.value)
        if isinstance(element, cst.StarredElement):
            if isinstance(value, SequenceValue) and not value.open:
                items.extend(value.items)
            else:
                known = False
        else:
            items.append(value)
    return bounded(SequenceValue(_GROUPS[type(node)], items)) if known else UNKNOWN


def eval_dict(state: AbstractState, node: cst.Dict) -> Value:
    dictionary = DictValue({})
    for element in node.elements:
        value = state.eval(element.value)
        if isinstance(element, cst.StarredDictElement):
            if isinstance(value, DictValue):
                dictionary.items.update(value.items)
                dictionary.open = dictionary.open or value.open
            else:
                dictionary.open = True
            continue
        key = state.eval(element.key) if isinstance(element, cst.DictElement) else UNKNOWN
        if isinstance(key, Constant):
            dictionary.items[key.value] = value
        else:
            dictionary.open = True
            dictionary.items[element] = value
    return bounded(dictionary)


def eval_comprehension(state: AbstractState, node: cst.BaseComp) -> Value:
    saved = state.scope, state.path
    state.scope = Scope(state.scope)
    loops: list[ExecutionPath] = []
    try:
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            iterable = state.eval(clause.iter)
            state.path = enter_loop(state, node, iterable, clause.iter)
            loops.append(state.path)
            bind(state, clause.target, element_of(iterable, state.path))
            for condition in clause.ifs:
                state.eval(condition.test)
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            state.eval(node.key)
            value = state.eval(node.value)
        elif isinstance(node, cst.BaseSimpleComp):
            value = state.eval(node.elt)
        else:
            value = UNKNOWN
    finally:
        state.scope, state.path = saved
    if holds_tensor(value):
        state.use("comprehension", node)
    collect(state, node, [value])
    most = product(*(loop.turns for loop in loops))
    if isinstance(node, cst.DictComp):
        return DictValue({node: value}, open=True, most=most)
    if isinstance(node, cst.GeneratorExp):
        return IteratorValue("comprehension", [SequenceValue("list", [value], open=True, most=most)])
    trips = loops[0].trips if len(loops) == 1 and not node.for_in.ifs else None
    if trips is not None and trips <= MAX_OPTIONS:
        return bounded(SequenceValue("list", [value] * trips))
    return SequenceValue("list", [value], open=True, most=most) if value is not UNKNOWN else UNKNOWN


def bounded(value: SequenceValue | DictValue) -> Value:
    """A new container; UNKNOWN if it exceeds the maximum number of items."""
    return UNKNOWN if is_beyond(value, MAX_ITEMS) else value
