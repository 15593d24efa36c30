"""Built-in functions and types of Python."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.limits import MAX_OPTIONS
from kerascheck.interpreter.values import (
    UNKNOWN,
    DictValue,
    ExternalInstance,
    IteratorValue,
    LoopVariable,
    SequenceValue,
    Tensor,
    constant,
    options_of,
)

HEAD = IMPORTS + "import functools\nfrom z import flag, items, load, show\nds = tf.data.Dataset.range(3)\n"


def value_of(folder, text):
    *before, last = text.split("; ")
    (value,) = shown(load(folder, "\n".join([*before, f"show({last})\n"]), HEAD))
    return value


def roles(folder, text):
    return [sink.role for sink in load(folder, f"{text}\n", HEAD).run.sinks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{'a': 1}.get('a')", {1}),
        ("{'a': 1}.get('b')", {None}),
        ("{'a': 1}.pop('a')", {1}),
        ("d = {}; d.setdefault('a', 1)", {1}),
        ("d = {}; d.setdefault('a', 1); d['a']", {1}),
        ("d = {'a': 1}; d.setdefault('a', 2)", {1}),
        ("d = {'a': 1}; d.copy()['a']", {1}),
        ("d = {'a': 1}; e = d.copy(); e['a'] = 2; d['a']", {1}),
        ("d = {'a': 1}; d.clear()", {None}),
        ("d = {'a': 1}; d.update({'b': 2}, c=3); d['b']", {2}),
        ("d = {'a': 1}; d.update({'b': 2}, c=3); d['c']", {3}),
        ("dict(a=1)['a']", {1}),
        ("dict(items, a=1)['b']", {None}),
        ("[1, 2].pop()", {1, 2}),
        ("[1, 2].copy()[1]", {2}),
        ("list({'a': 1, 'b': 2}.values())[1]", {2}),
        ("list((1, 2))[1]", {2}),
        ("tuple([1, 2])[0]", {1}),
        ("getattr(load, 'n', 3)", {None}),
        ("class C: n = 1; getattr(C(), 'n')", {1}),
        ("class C: n = 1; getattr(C(), items)", {None}),
        ("class C: pass; c = C(); setattr(c, 'n', 2); c.n", {2}),
        ("class C: pass; c = C(); c.n = 1; setattr(c, items, 2); c.n", {1, None}),
        ("class C: pass; c = C(); c.n = 1; c.__dict__.update(items); c.n", {1, None}),
        ("int(3.7)", {3}),
        ("float(3)", {3.0}),
        ("int('3')", {None}),
        ("next(items)", {None}),
    ],
)
def test_containers_and_conversions(tmp_path, text, expected):
    assert {constant(option) for option in options_of(value_of(tmp_path, text))} == expected


@pytest.mark.parametrize(
    ("text", "kind", "length"),
    [
        ("list()", "list", 0),
        ("set()", "set", 0),
        ("list((1, 2))", "list", 2),
        ("set([1, 2])", "set", 2),
        ("list(d.values())", "list", 2),
        ("d.values()", "list", 2),
        ("d.update(items); list(d.values())", "list", None),
        ("a = [1, 2]; a.remove(1); a", "list", None),
        ("a = [1, 2]; a.insert(0, 3); a", "list", None),
        ("a = {1}; a.add(2); a", "set", 2),
        ("a = [1]; a.extend((2, 3)); a", "list", 3),
        ("a = [1]; b = a.copy(); b.append(2); a", "list", 1),
        ("list(map(lambda a: a, (1, 2)))", "list", 2),
    ],
)
def test_lengths_of_constructed_containers(tmp_path, text, kind, length):
    value = value_of(tmp_path, "d = {'a': 1, 'b': 2}; " + text)
    assert isinstance(value, SequenceValue) and value.kind == kind
    assert (None if value.open else len(value.items)) == length


@pytest.mark.parametrize("text", ["list(items)", "tuple(load())", "list({'a': 1}.items())", "{'a': 1}.keys()"])
def test_an_unknown_argument_makes_no_known_list(tmp_path, text):
    assert not isinstance(value_of(tmp_path, text), (SequenceValue, DictValue))


@pytest.mark.parametrize(("count", "known"), [(MAX_OPTIONS, True), (MAX_OPTIONS + 1, False)])
def test_a_map_over_few_items_calls_its_function_for_each(tmp_path, count, known):
    value = value_of(tmp_path, f"map(lambda n: n + 1, {list(range(count))})")
    assert value is UNKNOWN if not known else [constant(item) for item in value.items] == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("text", "kind", "over"),
    [
        ("enumerate([1], 5)", "enumerate", 1),
        ("zip([1], [2])", "zip", 2),
        ("range(1, 5)", "range", 2),
        ("reversed([1])", "reversed", 1),
        ("iter(ds)", "iter", 1),
        ("{'a': 1}.items()", "items", 1),
        ("ds.as_numpy_iterator()", "as_numpy_iterator", 1),
    ],
)
def test_iterators_keep_their_iterables(tmp_path, text, kind, over):
    value = value_of(tmp_path, text)
    assert isinstance(value, IteratorValue) and (value.kind, len(value.over)) == (kind, over)


@pytest.mark.parametrize(
    "wrapper", ["tqdm.tqdm(ds)", "tqdm.tqdm(iterable=ds)", "enumerate(ds)", "zip(ds, items)", "iter(ds)", "list(ds)"]
)
def test_a_loop_over_a_wrapper_consumes_the_dataset(tmp_path, wrapper):
    found = roles(tmp_path, f"import tqdm\nfor x in {wrapper}: pass")
    assert found == (["inspect"] if wrapper.startswith("list") else ["loop"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("next(iter(ds))", ["inspect"]),
        ("it = iter(ds)\nfor i in range(3): next(it)", ["loop"]),
        ("it = iter(ds)\nfor i in range(3): it.get_next()", ["loop"]),
        ("for i in range(3):\n    it = iter(ds)\n    next(it)", ["inspect"]),
        ("for i in range(3):\n    it = iter(ds)\n    for j in range(3): next(it)", ["loop"]),
        ("len(ds)", ["inspect"]),
        ("print(ds)", ["inspect"]),
        ("next(items)", []),
    ],
)
def test_next_consumes_in_the_innermost_loop_that_the_iterator_outlives(tmp_path, text, expected):
    assert roles(tmp_path, text) == expected


def test_the_next_element_of_a_dataset_is_a_tensor(tmp_path):
    assert isinstance(value_of(tmp_path, "next(iter(ds))"), Tensor)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("len(load())", ExternalInstance),
        ("open('a')", ExternalInstance),
        ("open('a', 'rb')", None),
        ("open('a', load())", None),
        ("str(load())", ExternalInstance),
        ("sorted(load())", IteratorValue),
        ("sum(load())", None),
        ("int(load())", ExternalInstance),
        ("max(1, 2)", None),
    ],
)
def test_results_of_other_builtin_functions(tmp_path, text, kind):
    value = value_of(tmp_path, text)
    assert value is UNKNOWN if kind is None else isinstance(value, kind)


@pytest.mark.parametrize("name", ["max", "min", "abs", "round", "sum"])
def test_a_reduction_of_tensors_is_a_recorded_tensor(tmp_path, name):
    module = load(tmp_path, f"a = {name}(tf.zeros(3))\nshow(a)\n", HEAD)
    assert isinstance(shown(module)[0], Tensor)
    assert module.run.uses[0][0] == f"builtins.{name}"


@pytest.mark.parametrize(
    ("text", "changes"),
    [("max(i, 3)", True), ("abs(i)", True), ("float(i)", True), ("max(i, load())", False), ("sum([i])", False)],
)
def test_a_number_computed_from_a_loop_variable_varies_with_it(tmp_path, text, changes):
    (value,) = shown(load(tmp_path, f"for i in range(9): show({text})\n", HEAD))
    assert isinstance(value, LoopVariable) is changes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("functools.partial(lambda a, b: b, 1)(2)", 2),
        ("functools.lru_cache(lambda: 3)()", 3),
        ("functools.lru_cache(load)", None),
        ("functools.partial()", None),
    ],
)
def test_functools(tmp_path, text, expected):
    assert constant(value_of(tmp_path, text)) == expected


def test_a_partial_compiler_compiles_its_argument(tmp_path):
    text = "jit = functools.partial(tf.function, jit_compile=True)\n@jit\ndef f(): show(1)\nf()\n"
    module = load(tmp_path, text, HEAD)
    assert [call.path.traced_by() for call in module.run.calls if call.name == "z.show"] == ["tf.function"]


def test_a_process_target_has_a_path_of_its_own(tmp_path):
    text = "import multiprocessing\ndef f(): show(1)\nwith load():\n    multiprocessing.Process(target=f)\n"
    (call,) = (call for call in load(tmp_path, text, HEAD).run.calls if call.name == "z.show")
    assert (call.path.root.label, list(call.path.managers(within="program"))) == ("process", [])


def test_a_formatted_text_keeps_its_operands(tmp_path):
    value = value_of(tmp_path, "'{}'.format(items)")
    assert value.name == "builtins.str" and len(value.attributes["operands"].items) == 2


@pytest.mark.parametrize("text", ["super()", "def f(): return super(); f()"])
def test_super_outside_of_a_class_is_unknown(tmp_path, text):
    assert value_of(tmp_path, text) is UNKNOWN


def test_the_seconds_of_a_time_are_that_time(tmp_path):
    value = value_of(tmp_path, "import time; a = time.time(); (time.time() - a).total_seconds()")
    assert isinstance(value, ExternalInstance) and value.name == "time.elapsed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("importlib.import_module('settings').rate", 3), ("importlib.import_module(flag).rate", None)],
)
def test_a_constant_names_a_module(tmp_path, text, expected):
    (tmp_path / "settings.py").write_text("rate = 3\n")
    assert constant(value_of(tmp_path, f"import importlib; {text}")) == expected
