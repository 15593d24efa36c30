"""Built-in functions and types of Python, and its standard library."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.arguments import without_first
from kerascheck.interpreter.array_shapes import shape_of
from kerascheck.interpreter.attributes import get_attribute, set_attribute
from kerascheck.interpreter.callables import run_arguments, run_callables, run_items
from kerascheck.interpreter.internal_values import SuperValue
from kerascheck.interpreter.joins import any_of
from kerascheck.interpreter.libraries.registry import (
    Invocation,
    function,
    functions,
    method,
    methods_on,
    takes_functions,
)
from kerascheck.interpreter.limits import MAX_OPTIONS
from kerascheck.interpreter.modules import module_value, run_packages
from kerascheck.interpreter.purity import as_texts, computed
from kerascheck.interpreter.value_kinds import is_number, is_text
from kerascheck.interpreter.values import (
    UNKNOWN,
    Arguments,
    Call,
    Constant,
    DatasetConsumer,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    IteratorValue,
    LoopVariable,
    Method,
    Partial,
    SequenceValue,
    Tensor,
    Value,
    constant,
    datasets_in,
    external,
    holds_tensor,
    options_of,
)
from kerascheck.interpreter.writes import note_write
from kerascheck.knowledge.callables import COMPILERS, TRANSPARENT_DECORATORS
from kerascheck.knowledge.python import ENDS_THE_PROGRAM, PASS_THROUGH_ITERATORS

# --- functions ---------------------------------------------------------------------------------------------------


@function("builtins.super")
def _super(state: AbstractState, call: Invocation) -> Value:
    function = state.path.frame.function
    if function is None or function.owner is None:
        return UNKNOWN
    receiver = function.receiver
    if receiver is None:
        parameters = function.node.params.params
        receiver = state.scope.lookup(parameters[0].name.value) if parameters else None
    return SuperValue(receiver or UNKNOWN, function.owner)


@function(*(f"builtins.{name}" for name in ("enumerate", "filter", "range", "reversed", "sorted", "zip")))
def _wrapped(state: AbstractState, call: Invocation) -> Value:
    kind = _short(call)
    return IteratorValue(
        kind, list(call.arguments.positional[:1] if kind == "enumerate" else call.arguments.positional)
    )


@function("builtins.iter")
def _iter(state: AbstractState, call: Invocation) -> Value:
    run_items(state, call.first, call.node)
    return IteratorValue("iter", [call.first], state.path)


@function("builtins.next")
def _next(state: AbstractState, call: Invocation) -> Value:
    return _advance(state, call.first, call.node)


def _advance(state: AbstractState, iterator: Value, node: cst.CSTNode) -> Value:
    """The next item of an iterator; consumes datasets in the innermost loop that the iterator outlives."""
    state.record(node, "builtins.next", "__next__", iterator, Arguments())
    element: Value = UNKNOWN
    for option in options_of(iterator):
        if not isinstance(option, IteratorValue):
            continue
        for dataset in state.iterated(option):
            loop = state.path.innermost_loop(within=option.path or "program")
            if loop is not None:
                state.sinks.append(DatasetConsumer("loop", dataset.stage, state.module, node, state.path, loop=loop))
            else:
                state.sink("inspect", dataset, node)
            element = Tensor("element")
    return element


@function("builtins.list", "builtins.tuple", "builtins.set")
def _collection(state: AbstractState, call: Invocation) -> Value:
    kind, first = _short(call), call.first
    if isinstance(first, SequenceValue):
        return SequenceValue(kind, list(first.items), first.open)
    if isinstance(first, IteratorValue) and first.kind == "values" and isinstance(first.over[0], DictValue):
        return SequenceValue(kind, list(first.over[0].items.values()), open=True, most=first.over[0].most)
    if isinstance(first, IteratorValue) and first.kind == "comprehension" and isinstance(first.over[0], SequenceValue):
        return SequenceValue(kind, list(first.over[0].items), open=True, most=first.over[0].most)
    read = list(state.iterated(first))
    for dataset in read:
        state.sink("inspect", dataset, call.node)
    if not call.arguments.positional:
        return SequenceValue(kind, [])
    recorded = call.record(state)
    return ExternalInstance(call.name, recorded) if read else UNKNOWN


@function("builtins.dict")
def _dict(state: AbstractState, call: Invocation) -> Value:
    given = call.arguments
    return DictValue(dict(given.keywords), open=bool(given.positional) or given.unknown_keywords)


@function("builtins.map")
def _map(state: AbstractState, call: Invocation) -> Value | None:
    given = call.arguments.positional
    if len(given) < 2:
        return None
    if (
        len(given) == 2
        and isinstance(given[1], SequenceValue)
        and not given[1].open
        and len(given[1].items) <= MAX_OPTIONS
    ):
        return SequenceValue("list", [state.call(given[0], Arguments([item]), call.node) for item in given[1].items])
    run_callables(state, given[0], None, call.node, tensors=False)
    return UNKNOWN


@function("builtins.getattr")
def _getattr(state: AbstractState, call: Invocation) -> Value | None:
    name = constant(call.arguments.positional[1]) if len(call.arguments.positional) > 1 else None
    return get_attribute(state, call.first, name, call.node) if isinstance(name, str) else None


@function("builtins.setattr")
def _setattr(state: AbstractState, call: Invocation) -> Value | None:
    if len(call.arguments.positional) != 3:
        return None
    first, key, value = call.arguments.positional
    note_write(state, call.node.args[0].value if isinstance(call.node, cst.Call) else None, first, call.node)
    name = constant(key)
    if isinstance(name, str):
        set_attribute(state, call.node, first, name, value)
    else:
        state.invalidate(first)
    return Constant(None)


@functions(lambda name: name.startswith("builtins."))
def _builtin(state: AbstractState, call: Invocation) -> Value:
    """All other built-in functions: they read their arguments."""
    recorded, first = call.record(state), call.first
    tensors = any(map(holds_tensor, call.arguments.values()))
    name = call.name
    if name == "builtins.len" and (shape := shape_of(first)) and shape[0] is not None:
        return Constant(shape[0])
    if tensors:
        state.use(name, call.node)
    if tensors and name in _REDUCTIONS:
        recorded.result = Tensor("result")
        return recorded.result
    number = _number(name, recorded)
    if number is not None:
        return number
    if name in ENDS_THE_PROGRAM:
        return ExternalInstance(name, recorded)
    for dataset in datasets_in(first):
        state.sink("inspect", dataset, call.node)
    run_arguments(state, call.arguments, call.node, tensors=False)
    if name == "builtins.open" and "b" in str(constant(recorded.given("mode") or Constant("r"), "b")):
        return UNKNOWN
    return as_texts(name, call.arguments.values()) or (ExternalInstance(name, recorded) if name in _KEPT else UNKNOWN)


_REDUCTIONS = frozenset(f"builtins.{name}" for name in ("max", "min", "abs", "round", "sum"))
_TYPES = frozenset({"builtins.int", "builtins.float"})
_OF_NUMBERS = _TYPES | _REDUCTIONS - {"builtins.sum"}
_KEPT = frozenset({"builtins.len", "builtins.open"})


def _number(name: str, call: Call) -> Value | None:
    """The number that a function returns for numbers, or for a value that contains one; None for other results."""
    given = call.arguments.positional
    first = given[0] if given else UNKNOWN
    counter = next((value for value in given if isinstance(value, LoopVariable)), None)
    if name in _OF_NUMBERS and counter is not None and all(map(is_number, given)):
        return computed(counter.name, *given)
    if name not in _TYPES:
        return None
    if isinstance(first, LoopVariable) and is_text(first):
        return computed(name, first)
    if isinstance(first, Constant) and isinstance(first.value, (int, float)):
        return Constant(int(first.value) if name == "builtins.int" else float(first.value))
    return None if holds_tensor(first) else ExternalInstance(name, call)


def _short(call: Invocation) -> str:
    return call.name.removeprefix("builtins.")


@function("importlib.import_module")
def _import_module(state: AbstractState, call: Invocation) -> Value | None:
    name = constant(call.first)
    if not isinstance(name, str):
        return None
    level = len(name) - len(name.lstrip("."))
    module = state.module.project.find(state.module, name[level:], level)
    if module is None:
        return None if level else external(name)
    run_packages(state, module, name[level:].count("."))
    return module_value(state, module)


@function("functools.partial")
def _partial(state: AbstractState, call: Invocation) -> Value | None:
    if not call.arguments.positional:
        return None
    target, rest = call.first, without_first(call.arguments)
    if isinstance(target, External) and target.name in COMPILERS:
        return ExternalInstance(target.name, state.record(call.node, target.name, None, UNKNOWN, rest))
    return Partial(target, rest)


@function("functools.wraps")
def _wraps(state: AbstractState, call: Invocation) -> Value:
    return ExternalInstance(call.name, call.record(state))


@function(*(name for name in TRANSPARENT_DECORATORS - {"functools.wraps"} if not name.startswith("builtins.")))
def _left_alone(state: AbstractState, call: Invocation) -> Value | None:
    return call.first if isinstance(call.first, (Function, Partial)) else None


@function(*PASS_THROUGH_ITERATORS)
def _progress(state: AbstractState, call: Invocation) -> Value | None:
    given = call.arguments
    return (
        IteratorValue("wrapper", [given.get(0, "iterable") or UNKNOWN]) if given.positional or given.keywords else None
    )


@function("tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange")
def _trange(state: AbstractState, call: Invocation) -> Value:
    return IteratorValue("range", call.arguments.positional)


@takes_functions(lambda name: name.startswith("multiprocessing."))
def _run_in_process(state: AbstractState, call: Invocation) -> None:
    """Run a function in a new process, where earlier calls do not count."""
    path = ExecutionPath("root", None, state.module, call.node, label="process")
    state.inside(path, lambda given: run_arguments(state, given, call.node, tensors=False), call.arguments)


# --- methods -----------------------------------------------------------------------------------------------------


@methods_on(SequenceValue)
def _of_sequence(state: AbstractState, call: Invocation, sequence: SequenceValue) -> Value:
    given = call.arguments
    if call.attribute in ("append", "add") and given.positional:
        # In a loop the length becomes unknown, but the kinds of items stay known.
        state.extend(sequence, given.positional[:1])
        state.record(call.node, "builtins.list.append", call.attribute, sequence, given)
        return Constant(None)
    if call.attribute == "extend":
        state.record(call.node, "builtins.list.extend", call.attribute, sequence, given)
        added = given.get(0, None)
        certain = isinstance(added, SequenceValue) and not added.open
        state.extend(sequence, added.items if isinstance(added, SequenceValue) else [UNKNOWN], certain=certain)
    elif call.attribute == "insert":
        state.record(call.node, "builtins.list.insert", call.attribute, sequence, given)
        state.extend(sequence, given.positional[1:2], certain=False)
    elif call.attribute in ("pop", "popleft", "remove", "clear", "sort", "reverse"):
        state.touch(sequence)
        sequence.open = True
    if call.attribute in ("pop", "popleft"):
        return any_of(sequence.items)
    return SequenceValue(sequence.kind, list(sequence.items), sequence.open) if call.attribute == "copy" else UNKNOWN


@methods_on(DictValue)
def _of_dict(state: AbstractState, call: Invocation, dictionary: DictValue) -> Value:
    given = call.arguments
    if call.attribute in ("items", "values", "keys"):
        if call.attribute == "values" and not dictionary.open:
            return SequenceValue("list", list(dictionary.items.values()))
        return IteratorValue(call.attribute, [dictionary])
    if call.attribute in ("get", "pop", "setdefault"):
        key = given.get(0, "key")
        if isinstance(key, Constant) and key.value in dictionary.items:
            return dictionary.items[key.value]
        if call.attribute == "setdefault" and isinstance(key, Constant):
            value = given.get(1, "default") or Constant(None)
            state.store(dictionary.items, key.value, value, dictionary.created)
            return value
    if call.attribute == "update":
        other = given.get(0, None)
        state.update(dictionary, DictValue(dict(given.keywords), given.unknown_keywords) if other is None else other)
        if other is not None:
            state.update(dictionary, DictValue(dict(given.keywords)))
    return DictValue(dict(dictionary.items), dictionary.open) if call.attribute == "copy" else UNKNOWN


@methods_on(IteratorValue)
def _of_iterator(state: AbstractState, call: Invocation, iterator: IteratorValue) -> Value | None:
    if call.attribute in ("__next__", "get_next", "next"):
        return _advance(state, iterator, call.node)
    return UNKNOWN if call.attribute == "initializer" else None


@method("update")
def _update_attributes(state: AbstractState, call: Invocation) -> None:
    """The method call ``self.__dict__.update(...)``."""
    if isinstance(call.receiver, Method) and call.receiver.name == "__dict__":
        state.invalidate(call.receiver.receiver)


@method("total_seconds")
def _seconds(state: AbstractState, call: Invocation) -> Value | None:
    return (
        call.receiver if isinstance(call.receiver, ExternalInstance) and call.receiver.name == "time.elapsed" else None
    )


@method("format")
def _format(state: AbstractState, call: Invocation) -> Value | None:
    if call.owner != "builtins.str":
        return None
    state.record(call.node, "builtins.format", call.attribute, call.receiver, call.arguments)
    return computed("builtins.str", call.receiver, *call.arguments.values())
