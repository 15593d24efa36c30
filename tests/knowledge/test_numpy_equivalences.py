"""The table of NumPy's equivalents, compared with the installed libraries: signatures, results to the bit, gradients."""

import inspect
import warnings
from functools import reduce

import pytest

from kerascheck.knowledge.numpy_equivalences import DTYPES, EQUIVALENCES, FORMS

ENTRIES = sorted(EQUIVALENCES)
PAIRS = [
    (entry, replacement)
    for entry in EQUIVALENCES.values()
    for replacement in (entry.tensorflow, entry.keras)
    if replacement is not None
]
NAMED = [f"{entry.name}-{replacement.short}" for entry, replacement in PAIRS]
TOLERANCE = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-9}
EXAMPLES = 20

# Exact includes these: the ends of the range, both zeros, denormal numbers, NaN.
SPECIAL = {
    "bool": [False, True],
    "int32": [0, 1, -1, 2, -3, 7, 2**31 - 1, -(2**31), 2**30 + 1],
    "int64": [0, 1, -1, 2, -3, 7, 2**63 - 1, -(2**63), 2**53 + 1],
    "float16": [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, float("nan"), float("inf"), -float("inf"), 6e-8, -3e-5, 65504.0],
    "float32": [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, float("nan"), float("inf"), -float("inf"), 1e-40, -1e-45, 3e38, 0.3],
    "float64": [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, float("nan"), float("inf"), -float("inf"), 5e-324, 1e-310, 1e308, 0.3],
}
# No overflow in comparisons with a tolerance, or by value alone.
ORDINARY = {
    dtype: values
    if dtype == "bool"
    else [1, 2, 3, 0, 5]
    if dtype.startswith("int")
    else [0.5, 1.0, 1.25, 2.0, 0.75, 0.1, 3.0]
    for dtype, values in SPECIAL.items()
}


@pytest.fixture(scope="module")
def libraries():
    np, tf, keras = map(pytest.importorskip, ("numpy", "tensorflow", "keras"))
    if keras.backend.backend() != "tensorflow":
        pytest.skip("Keras runs on another backend")
    return {"numpy": np, "tensorflow": tf, "keras": keras}


def found(libraries, name):
    """Return the object with a dotted name."""
    library, *parts = name.split(".")
    return reduce(getattr, parts, libraries[library])


def test_every_form_is_described():
    for entry in EQUIVALENCES.values():
        assert set(entry.parameters.values()) - {""} <= FORMS.keys(), entry.name


def test_entries_are_consistent():
    for entry, replacement in PAIRS:
        mapped = [theirs for _, theirs in replacement.parameters]
        types = [*replacement.exact, *replacement.close, *replacement.retyped]
        assert all(entry.parameters[theirs] for theirs in mapped), entry.name
        assert replacement.needs <= {*mapped}, entry.name
        assert len(types) == len({*types}) and {*types} <= {*DTYPES}, entry.name


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_parameters_of_numpy(name, libraries):
    try:
        signature = inspect.signature(getattr(libraries["numpy"], name))
    except ValueError:
        pytest.skip("NumPy tells the signatures of its functions in C since 2.4 only")
    parameters = signature.parameters.values()
    known = list(EQUIVALENCES[name].parameters)
    if known[-1].startswith("*"):
        assert any(each.kind is each.VAR_POSITIONAL for each in parameters)
        return
    placed = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    assert placed == known[: len(placed)]
    assert {*known[len(placed) :]} <= {each.name for each in parameters}


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "replacement"), PAIRS, ids=NAMED)
def test_parameters_of_replacements(entry, replacement, libraries):
    parameters = inspect.signature(found(libraries, replacement.name)).parameters.values()
    own = [name for name, _ in replacement.parameters]
    if own[-1].startswith("*"):
        kinds = {each.kind for each in parameters}
        assert inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds
        return
    placed = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert placed[: len(own)] == own


def drawn(draw, st, entry, needs, smallest=0):
    """Draw the arguments of one call: arrays as functions of a type and values, the rest unchanged."""
    small = st.lists(st.integers(smallest, 4), min_size=entry.name == "argsort", max_size=4).map(tuple)
    # Multi-threaded and pairwise summation starts at some size; products overflow there.
    large = small if entry.name in ("prod", "cumprod") else st.just((40, 30))
    shape = draw(st.one_of(small, small, small, large))
    if entry.name in ("matmul", "dot", "tensordot", "einsum"):
        side = draw(st.integers(1, 4))
        shape = (side, side)
    given = {}
    for parameter, form in entry.parameters.items():
        optional = (
            form not in ("tensor", "tensors", "mask", "operand", "indices", "text", "sizes") and parameter not in needs
        )
        required = parameter in (
            "repeats",
            "shift",
            "axis1",
            "axis2",
            "source",
            "destination",
            "indices_or_sections",
            "fill_value",
        )
        required |= (entry.name, parameter) == ("expand_dims", "axis")
        if not form or optional and not required and draw(st.booleans()):
            continue
        given[parameter] = _argument(draw, st, entry, parameter, form, shape)
    return given


def _argument(draw, st, entry, parameter, form, shape):
    rank, seed = len(shape), draw(st.integers(0, 2**16))
    if form in ("tensor", "operand"):
        # The second may be broadcast over the first.
        short = draw(st.integers(0, rank)) if form == "operand" and parameter in ("x2", "y") else 0
        return lambda np, dtype, values: _array(np, dtype, values, shape[short:], seed)
    if form == "tensors":
        number = draw(st.integers(1, 3))
        return lambda np, dtype, values: [_array(np, dtype, values, shape, seed + each) for each in range(number)]
    if form == "mask":
        return lambda np, dtype, values: _array(np, "bool", [False, True], shape, seed)
    if form == "indices":
        return lambda np, dtype, values: _array(np, "int32", [0], (2,), seed)
    places = list(range(-rank, rank)) or [0]
    if form == "int":
        if parameter in ("repeats", "indices_or_sections"):
            return draw(st.integers(1, 3))
        if parameter == "shift":
            return draw(st.integers(-5, 5))
        if parameter == "decimals":
            return draw(st.sampled_from([0, 0, 1, 2]))
        if entry.name in ("tensordot",):
            return draw(st.integers(0, 2))
        return draw(st.sampled_from([*places, -rank - 1, rank]))
    if form in ("axis", "axes", "some_axis", "some_axes"):
        if form.startswith("some") and not rank:
            return None
        several = form.endswith("axes") and rank > 1 and draw(st.booleans())
        if several:
            order = draw(st.permutations(range(rank)))[: draw(st.integers(1, rank))]
            return tuple(axis - rank if draw(st.booleans()) else axis for axis in order)
        return draw(st.sampled_from([None, *places]))
    if form == "order":
        return draw(st.one_of(st.none(), st.permutations(range(rank)).map(tuple))) if rank else None
    if form == "sizes":
        if entry.name == "tile":
            return draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple))
        return draw(st.sampled_from([(-1,), shape[::-1] or (1,), (1, -1), (*shape, 1), (-1, *shape[1:])]))
    if form == "bool":
        return draw(st.booleans())
    if form == "number":
        return draw(st.sampled_from([0, 1, 2])) + (2 if parameter == "a_max" else 0)
    assert form == "text"
    return draw(st.sampled_from(["ij,jk->ik", "ij,kj->ik", "ij,jk", "ij,ij->i"]))


def _array(np, dtype, values, shape, seed):
    chosen = np.random.default_rng(seed).integers(0, len(values), size=shape)
    return np.array(values, dtype)[chosen]


def call_both(libraries, entry, replacement, given, dtype, values):
    """The results of NumPy and the replacement for tensors; None if NumPy raises, or for a replacement that raises."""
    np, tf = libraries["numpy"], libraries["tensorflow"]

    def evaluated(value):
        if not callable(value):
            return value
        arrays = value(np, dtype, values)
        return [*map(tf.constant, arrays)] if isinstance(arrays, list) else tf.constant(arrays)

    arguments = {parameter: evaluated(value) for parameter, value in given.items()}
    function = getattr(np, entry.name)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if entry.name == "einsum":
                operands = [arguments["*operands"]] * 2
                expected = function(arguments["subscripts"], *operands)
            else:
                tensors = [value for parameter, value in arguments.items() if callable(given[parameter])]
                rest = {parameter: value for parameter, value in arguments.items() if not callable(given[parameter])}
                expected = function(*tensors, **rest)
        except Exception:
            return None, None
        own = found(libraries, replacement.name)
        try:
            if entry.name == "einsum":
                return _arrays(np, expected), _arrays(np, own(arguments["subscripts"], *operands))
            # Spell out literals for which only NumPy has a default.
            written = {name: int(text) for name, text in replacement.otherwise.items()}
            written |= {name: arguments[theirs] for name, theirs in replacement.parameters if theirs in arguments}
            return _arrays(np, expected), _arrays(np, own(**written))
        except Exception:
            return _arrays(np, expected), None


def _arrays(np, result):
    return [np.asarray(each) for each in (result if isinstance(result, list) else [result])]


def differs(np, one, other, tolerance=None, typed=True):
    """How two lists of arrays differ; None if they agree, to the bit or within a tolerance."""
    if len(one) != len(other):
        return "number"
    for left, right in zip(one, other):
        if typed and left.dtype != right.dtype:
            return f"{right.dtype}/{left.dtype}"
        if left.shape != right.shape:
            return f"shape {left.shape} {right.shape}"
        if tolerance is None and left.tobytes() != right.tobytes():
            return "bits"
        if tolerance is not None and not np.allclose(
            left.astype("float64"), right.astype("float64"), tolerance, tolerance, equal_nan=True
        ):
            return "values"
    return None


def wrong(libraries, entry, replacement, given, types):
    """Sentences about the types for which the two functions differ more than the table says, for one call."""
    np = libraries["numpy"]
    for dtype in types:
        is_exact = dtype in replacement.exact
        values = (SPECIAL if is_exact else ORDINARY)[dtype]
        expected, result = call_both(libraries, entry, replacement, given, dtype, values)
        if expected is None:
            continue
        if result is None:
            yield f"{dtype}: raises"
        elif is_exact or dtype in replacement.close:
            how = differs(np, expected, result, None if is_exact else TOLERANCE.get(dtype, 1e-4))
            if how is not None:
                yield f"{dtype}: {how}"
        else:
            found_types = {(str(each.dtype), str(other.dtype)) for each, other in zip(result, expected)}
            # NumPy leaves equal numbers in any order.
            how = None if entry.name == "argsort" else differs(np, expected, result, 2e-2, typed=False)
            if found_types != {replacement.retyped[dtype]} or how is not None:
                yield f"{dtype}: {found_types} {how}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_results_agree_with_the_table(name, libraries):
    hypothesis = pytest.importorskip("hypothesis")
    st, entry = hypothesis.strategies, EQUIVALENCES[name]

    @hypothesis.settings(
        max_examples=EXAMPLES, derandomize=True, deadline=None, database=None,
        phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(st.data())
    def compare(data):
        # Empty arrays agree only if exact.
        smallest = data.draw(st.integers(0, 1))
        for replacement in filter(None, (entry.tensorflow, entry.keras)):
            given = drawn(data.draw, st, entry, replacement.needs, smallest)
            mapped = {theirs for _, theirs in replacement.parameters}
            left_out = replacement.needs - {parameter for parameter, value in given.items() if value is not None}
            if left_out or not given.keys() <= mapped:
                continue
            types = (
                replacement.exact if smallest == 0 else {*replacement.exact, *replacement.close, *replacement.retyped}
            )
            problems = list(wrong(libraries, entry, replacement, given, sorted(types)))
            assert not problems, (replacement.name, describe(libraries, given))

    compare()


def describe(libraries, given):
    np = libraries["numpy"]
    return {
        parameter: [each.shape for each in _arrays(np, value(np, "float32", [1.0]))] if callable(value) else value
        for parameter, value in given.items()
    }


WITHOUT_DEFAULT = ("repeats", "shift", "axis1", "axis2", "source", "destination", "indices_or_sections", "fill_value")


def plain_arguments(tf, entry, replacement, tensor):
    """Arguments of the replacement for a matrix: those that the table requires, or that have no default."""
    arguments = {own: int(text) for own, text in replacement.otherwise.items()}
    values = {
        "tensor": tensor, "operand": tensor, "tensors": [tensor, tensor], "mask": tf.ones((2, 2), tf.bool), "indices": tf.constant([0]),
        "sizes": (2, 2), "number": 1, "order": (1, 0),
    }  # fmt: skip
    for own, theirs in replacement.parameters:
        form = entry.parameters[theirs]
        if form in values:
            arguments[own] = values[form]
        elif theirs in {*WITHOUT_DEFAULT, *replacement.needs} or entry.name == "expand_dims":
            arguments[own] = 1
    return arguments


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "replacement"), PAIRS, ids=NAMED)
def test_gradients_agree_with_the_table(entry, replacement, libraries):
    tf = libraries["tensorflow"]
    if entry.name == "einsum" or not {"float32"} & {*replacement.exact, *replacement.close, *replacement.retyped}:
        return
    tensor = tf.constant([[0.5, 0.7], [0.9, 0.3]])
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        result = found(libraries, replacement.name)(**plain_arguments(tf, entry, replacement, tensor))
        total = tf.reduce_sum(tf.cast(result, tf.float32))
    assert (tape.gradient(total, tensor) is not None) is replacement.passes_gradient


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "replacement"), PAIRS, ids=NAMED)
def test_non_dense_tensors_raise_or_give_the_same(entry, replacement, libraries):
    """Check ``dense_only``; ``tf.cast`` consumes the result."""
    np, tf = libraries["numpy"], libraries["tensorflow"]
    if replacement.dense_only:
        return
    number = sum(entry.parameters[theirs] in ("tensor", "operand") for _, theirs in replacement.parameters)
    rows = {"bool": [[True], [False, True]], "int32": [[1, 2], [3]], "float32": [[1.0, 2.0], [3.0]]}
    ragged = [tf.ragged.constant(values) for dtype, values in rows.items() if dtype in replacement.exact]
    sparse = [tf.sparse.from_dense(tf.cast([[0, 1], [2, 0]], dtype)) for dtype in rows if dtype in replacement.exact]
    for tensor in (*ragged, *sparse):
        try:
            expected = tf.cast(getattr(np, entry.name)(*[tensor] * number), tf.float32)
        except (TypeError, ValueError, tf.errors.OpError):
            continue
        result = tf.cast(found(libraries, replacement.name)(*[tensor] * number), tf.float32)
        assert type(result) is type(expected) and str(result) == str(expected)
