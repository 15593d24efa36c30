"""Signatures of callables, compared with the installed libraries, and their use on calls."""

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from snippets import IMPORTS, load, written

import kerascheck
from kerascheck.interpreter.values import UNKNOWN, constant
from kerascheck.knowledge.runtime import NEWEST_TENSORFLOW, Runtime
from kerascheck.knowledge.signatures import NO_SIGNATURE, SIGNATURES, Signature, read, signature_of

HEAD = IMPORTS + "model = keras.Sequential([keras.layers.Dense(1)])\n"
KERAS = [name for name in SIGNATURES if name.startswith("keras.")]
OTHERS = [name for name in SIGNATURES if name.startswith(("tensorflow.", "numpy.", "keras_tuner."))]
PARAMETER = inspect.Parameter


def _public(library, name):
    """Return the object with a canonical name in a library; None if the library lacks it."""
    found = import_module(library)
    if name == "keras.Model":
        # The result of the call with inputs and outputs.
        return import_module(f"{library}.src.{'models' if library == 'keras' else 'engine'}.functional").Functional
    for part in (
        name.replace("Model.add", "Sequential.add")
        .replace("numpy.random.default_rng", "numpy.random.Generator")
        .split(".")[1:]
    ):
        if not hasattr(found, part):
            return None
        found = getattr(found, part)
    return found


def _differences(found, known: Signature):
    """Return the differences between a callable and its entry in the table."""
    parameters = list(inspect.signature(found.__init__ if inspect.isclass(found) else found).parameters.values())
    if parameters and parameters[0].name == "self":
        del parameters[0]
    kinds = {parameter.kind for parameter in parameters}
    placed = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (PARAMETER.POSITIONAL_ONLY, PARAMETER.POSITIONAL_OR_KEYWORD)
    ]
    for position, (name, there) in enumerate(zip(known.names, placed)):
        if name not in (None, there):
            yield f"position {position} is that of {there}, not {name}"
    if PARAMETER.VAR_POSITIONAL not in kinds and len(known.names) > len(placed):
        yield f"there are no {known.names[len(placed) :]}"
    if len(placed) > min(known.open, len(known.names)) and known.open > len(known.names):
        yield f"there is more: {placed[len(known.names) :]}"
    by_position = known.keywords & {*placed}
    if by_position - {"name", "dtype", "trainable", "weights"}:
        yield f"they have positions: {by_position}"


@pytest.mark.slow
@pytest.mark.parametrize(("library", "release"), [("keras", (3, 0)), ("tf_keras", NEWEST_TENSORFLOW)])
def test_parameters_of_installed_keras(library, release):
    if find_spec(library) is None:
        pytest.skip(f"needs {library}")
    there = {name: found for name in KERAS if (found := _public(library, name)) is not None}
    assert len(there) > len(KERAS) * 0.7
    wrong = {
        name: list(_differences(found, signature_of(name, None, NEWEST_TENSORFLOW, release)))
        for name, found in there.items()
    }
    assert not {name: differences for name, differences in wrong.items() if differences}


@pytest.mark.slow
@pytest.mark.parametrize("library", ["tensorflow", "numpy", "keras_tuner"])
def test_parameters_of_installed_libraries(library):
    pytest.importorskip(library)
    names = [name for name in OTHERS if name.startswith(f"{library}.")]
    there = {name: found for name in names if (found := _public(library, name)) is not None}
    assert len(there) > len(names) * 0.7
    wrong = {
        name: list(_differences(found, signature_of(name, None, NEWEST_TENSORFLOW, (3, 0))))
        for name, found in there.items()
        if _has_signature(found)
    }
    assert not {name: differences for name, differences in wrong.items() if differences}


def _has_signature(found):
    try:
        inspect.signature(found)
    except ValueError:
        # NumPy exposes signatures of its C functions only since 2.4, and never those of its generators.
        return False
    return True


def test_every_entry_parses():
    for name, known in SIGNATURES.items():
        texts = [known] if isinstance(known, str) else list(known.values())
        for text in texts:
            signature = read(text)
            placed = [each for each in signature.names if each is not None]
            assert len(placed) == len(set(placed)), name
            assert not (signature.keywords | signature.elsewhere) & set(placed), name


def test_releases_are_sorted_newest_first_and_complete():
    for name, known in SIGNATURES.items():
        if not isinstance(known, str):
            assert list(known) == sorted(known, reverse=True), name
            assert (1, 0) in known or name.endswith("_generator"), name


@pytest.mark.parametrize(
    ("runtime", "method", "position", "name"),
    [
        (Runtime(), "compile", 2, "loss_weights"),
        (Runtime((2, 21), 2), "compile", 2, "metrics"),
        (Runtime((2, 3), 2), "compile", 2, "metrics"),
        (Runtime((2, 3), 2), "compile", 3, None),
        (Runtime((2, 1), 2, multi_backend_keras=True), "fit", 3, "epochs"),
        (Runtime(), "fit_generator", 2, "epochs"),
        (Runtime((1, 15), 2), "fit_generator", 1, None),
    ],
)
def test_signatures_by_version(runtime, method, position, name):
    names = runtime.signature_of(f"keras.Model.{method}").names
    assert (names[position] if position < len(names) else None) == name


def test_unknown_callables_have_no_positions():
    assert Runtime().signature_of("keras.Model.summary") is NO_SIGNATURE


@pytest.mark.parametrize(
    ("name", "attribute", "first"),
    [
        ("keras.Model.fit", "fit", "x"),
        ("helpers.make.fit", "fit", "x"),
        (None, "fit_generator", "generator"),
        ("keras.utils.PyDataset.__init__", "__init__", "workers"),
        ("keras.Model.__setattr__", "fit", "name"),
    ],
)
def test_methods_are_recognised_by_name(name, attribute, first):
    assert Runtime().signature_of(name, attribute).names[0] == first


@pytest.mark.parametrize(
    ("text", "names", "known", "unknown"),
    [
        ("a b", ("a", "b"), "b", "c"),
        ("a ? c", ("a", None, "c"), "c", "b"),
        ("a ... b", ("a",), "b", "c"),
        ("a * b", ("a",), "b", "c"),
        ("units **keras.Layer", ("units",), "dtype", "weights"),
    ],
)
def test_notation_of_the_table(text, names, known, unknown):
    signature = read(text)
    assert signature.names == names and known in signature and unknown not in signature


@pytest.mark.parametrize(
    ("text", "may"),
    [("a b", False), ("a ? b", False), ("a ? c", True), ("a ...", True), ("a ... b", True), ("a * b", False)],
)
def test_an_unknown_position_may_hold_any_parameter(text, may):
    assert read(text).may_hold(3, "b") is may
    assert not read(text).may_hold(1, "b")


@pytest.mark.parametrize(
    ("call", "parameter", "keras", "given"),
    [
        ("fit(x, y, 16, 3)", "batch_size", "3", 16),
        ("fit(x, y, 16, 3)", "epochs", "3", 3),
        ("fit(x, y, nb_epoch=3)", "epochs", "2", 3),
        ("fit(x, y, epochs=3)", "batch_size", "3", None),
        ("fit_generator(x, 100, 10)", "epochs", "3", 10),
        ("fit_generator(x, 100, 10)", "steps_per_epoch", "2", 100),
        ("predict(x, 16)", "batch_size", "3", 16),
        ("evaluate(x, y, 16)", "batch_size", "2", 16),
        ("compile('adam', 'mse', 1, 2)", "metrics", "3", 2),
        ("compile('adam', 'mse', 1, 2)", "metrics", "2", 1),
        ("compile('adam', 'mse', 1, 2)", "loss_weights", "3", 1),
        ("fit(*load())", "epochs", "3", UNKNOWN),
        ("fit(x, **load())", "epochs", "3", UNKNOWN),
    ],
)
def test_arguments_of_a_call(tmp_path, call, parameter, keras, given):
    module = load(tmp_path, f"model.{call}\n", HEAD, keras=keras)
    (found,) = [each for each in module.run.calls if each.attribute == call.partition("(")[0]]
    value = found.given(parameter)
    assert (value if value in (None, UNKNOWN) else constant(value)) == given
    node = found.written(parameter)
    assert node is None if given in (None, UNKNOWN) else written(module, node.value) == str(given)


def test_tests_reject_queries_outside_the_table(tmp_path):
    module = load(tmp_path, "model.fit(x)\nmine(x)\n", HEAD)
    for call, parameter in zip(
        [each for each in module.run.calls if each.order >= module.run.calls[-2].order], ("batchsize", "x")
    ):
        for ask in (call.given, call.written):
            with pytest.raises(AssertionError, match=f"has no '{parameter}'"):
                ask(parameter)


def test_queried_parameters_exist():
    asked = re.compile(r"""\.(?:given|written)\((?:[^"()]+, )?"(\w+)"\)""")
    known = {
        parameter
        for text in SIGNATURES.values()
        for each in ([text] if isinstance(text, str) else text.values())
        for parameter in read(each).parameters()
    }
    root = Path(kerascheck.__file__).parent
    code = [path.read_text() for path in (*root.rglob("*.py"), *(root.parent / "rules").rglob("rule.py"))]
    names = {name for text in code for name in asked.findall(text)}
    assert len(names) > 80 and names <= known


def test_an_argument_at_an_unknown_position_is_unknown(tmp_path):
    module = load(
        tmp_path, "model.fit_generator(x, 100)\nmodel.compile('adam', 'mse', 1, 2)\n", HEAD, target_tensorflow="2.1"
    )
    fit, compiled = [each for each in module.run.calls if each.attribute in ("fit_generator", "compile")]
    assert fit.given("steps_per_epoch") is UNKNOWN and compiled.given("loss_weights") is UNKNOWN
    assert fit.given("callbacks") is None and constant(compiled.given("metrics")) == 1


@pytest.mark.parametrize(
    ("keras", "given", "found"),
    [("2", "[M()]", 1), ("2", "None, [M()]", 0), ("3", "[M()]", 0), ("3", "None, [M()]", 1)],
)
def test_position_of_metrics_by_version(tmp_path, keras, given, found):
    cls = "class M(keras.metrics.Metric):\n    def update_state(self, *args):\n        pass\n"
    module = load(tmp_path, f"{cls}model.compile('adam', 'mse', {given})\n", HEAD, keras=keras)
    assert len(module.program.compiled_metrics) == found


def test_validation_data_by_position(tmp_path):
    module = load(
        tmp_path,
        "train, held = tf.data.Dataset.range(9), tf.data.Dataset.range(3)\nmodel.fit(train, None, None, 3, 1, None, 0.0, held)\n",
        HEAD,
    )
    assert [role for _, role in module.pipelines.sinks] == ["train", "validation"]
