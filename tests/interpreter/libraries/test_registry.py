"""Tables of library callables and their handlers."""

import libcst as cst
import pytest

from kerascheck.interpreter.libraries import registry
from kerascheck.interpreter.libraries.registry import Invocation
from kerascheck.interpreter.values import UNKNOWN, Arguments, Constant, DictValue, SequenceValue

NODE = cst.parse_expression("f()")


@pytest.fixture(autouse=True)
def tables(monkeypatch):
    """Empty tables for each test."""
    for name in ("_FUNCTIONS", "_FAMILIES", "_METHODS", "_CLASSES", "_KINDS", "_OUTCOMES", "_CALLBACK_HANDLERS"):
        monkeypatch.setattr(registry, name, type(getattr(registry, name))())
    for cached in (registry.function_handlers, registry.callback_handler, registry.outcomes):
        cached.cache_clear()
        monkeypatch.setattr(registry, cached.__name__, cached.__wrapped__)


def handler(result):
    return lambda *given: result


def test_the_handler_of_a_function_comes_before_those_of_its_families():
    own, first, second = handler(1), handler(2), handler(3)
    registry.functions(lambda name: name.startswith("a."))(first)
    registry.functions(lambda name: name.endswith(".f"))(second)
    registry.function("a.f", "a.g")(own)
    assert registry.function_handlers("a.f") == (own, first, second)
    assert registry.function_handlers("a.g") == (own, first)
    assert registry.function_handlers("a.h") == (first,)
    assert registry.function_handlers("b") == ()


def test_a_method_is_looked_up_by_kind_then_by_class_then_by_name():
    by_kind, by_class, by_name = handler("kind"), handler("class"), handler("name")
    registry.methods_on(SequenceValue)(by_kind)
    registry.methods_of("a.C")(by_class)
    registry.method("go", "run")(by_name)
    call = Invocation("a.C.go", Arguments(), NODE, SequenceValue("list", []), "go", "a.C")
    assert [each(None, call) for each in registry.method_handlers(call)] == ["kind", "class", "name"]
    other = Invocation("b.go", Arguments(), NODE, DictValue({}), "run", "b")
    assert list(registry.method_handlers(other)) == [by_name]
    assert list(registry.method_handlers(Invocation("b.x", Arguments(), NODE, UNKNOWN, "x", None))) == []


def test_a_handler_of_a_type_gets_the_receiver():
    given = []
    registry.methods_on(SequenceValue)(lambda machine, call, group: given.append(group))
    call = Invocation("", Arguments(), NODE, SequenceValue("list", []), "go")
    (found,) = registry.method_handlers(call)
    found("machine", call)
    assert given == [call.receiver]


def test_the_first_matching_callback_handler_wins():
    first, second = handler(1), handler(2)
    registry.takes_functions(lambda name: name == "a")(first)
    registry.takes_functions(lambda name: name in "ab")(second)
    assert (registry.callback_handler("a"), registry.callback_handler("b"), registry.callback_handler("c")) == (
        first,
        second,
        None,
    )


def test_outcomes_of_a_name_are_tried_in_registration_order():
    first, second = handler(1), handler(2)
    registry.outcome(lambda name: name in "ab")(first)
    registry.outcome(lambda name: name == "a")(second)
    assert (registry.outcomes("a"), registry.outcomes("b"), registry.outcomes("c")) == ((first, second), (first,), ())


def test_the_first_argument_of_a_call_without_any_is_unknown():
    assert Invocation("f", Arguments([Constant(1), Constant(2)]), NODE).first == Constant(1)
    assert Invocation("f", Arguments(keywords={"a": Constant(1)}), NODE).first is UNKNOWN
