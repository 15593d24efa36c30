"""Statements of knowledge/stateless.py, compared with the operations of the installed TensorFlow and Keras."""

import importlib
import inspect
import re
import warnings
from functools import reduce

import pytest

from kerascheck.knowledge.callables import having
from kerascheck.knowledge.stateless import (
    IMAGE_RANKS,
    IMMUTABLE_TABLES,
    ROUNDS_BY_POSITION,
    adds_no_operations,
    is_constant,
    is_stateless,
)
from kerascheck.knowledge.symbols import Trait

NAMESPACES = [
    "tensorflow",
    *(
        f"tensorflow.{name}"
        for name in "audio bitwise dtypes image io linalg math nn ragged signal sparse strings".split()
    ),
    "keras.ops",
]
HARMLESS = {"Assert", "CheckNumerics", "GuaranteeConst", "If", "StatelessIf", "Placeholder"}
"""Operations that TensorFlow calls stateful although they have no effect: they check, or select functions."""
LEAST_TRACED = 380
"""Minimum functions that accept the arguments below; fewer would make the test worthless."""


@pytest.mark.parametrize(
    ("name", "stateless"),
    [
        ("tensorflow.cast", True),
        ("tensorflow.image.resize", True),
        ("tensorflow.image.stateless_random_crop", True),
        ("tensorflow.io.decode_jpeg", True),
        ("keras.ops.sin", True),
        ("numpy.sin", True),
        ("os.path.join", True),
        ("tensorflow.image.random_crop", False),
        ("tensorflow.random.uniform", False),
        ("tensorflow.raw_ops.RandomStandardNormal", False),
        ("tensorflow.raw_ops.LookupTableInsertV2", False),
        ("tensorflow.nn.dropout", False),
        ("tensorflow.timestamp", False),
        ("tensorflow.io.read_file", False),
        ("tensorflow.io.write_file", False),
        ("tensorflow.Variable", False),
        ("tensorflow_addons.image.rotate", False),
        ("acme.cast", False),
    ],
)
def test_only_known_functions_are_stateless(name, stateless):
    assert is_stateless(name) is stateless


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("tensorflow.float32", True),
        ("tensorflow.lookup.StaticHashTable", True),
        ("numpy.array", True),
        ("tensorflow.Variable", False),
        ("tensorflow.lookup.experimental.MutableHashTable", False),
        ("tensorflow.random.Generator.from_seed", False),
        ("keras.optimizers.Adam", False),
        ("keras.Model", False),
        ("acme.SCALE", False),
    ],
)
def test_possible_holders_of_variables_are_not_constant(name, constant):
    assert is_constant(name) is constant


def test_graph_libraries_add_operations():
    assert not any(
        map(adds_no_operations, ("tensorflow.abs", "keras.ops.abs", "keras_cv.layers.Mosaic", "transformers.pipeline"))
    )


@pytest.mark.slow
def test_stateless_functions_add_no_stateful_operation():
    tensorflow = pytest.importorskip("tensorflow")
    import keras  # noqa: F401

    tensorflow.get_logger().setLevel("ERROR")
    traced, stateful = 0, {}
    for namespace in NAMESPACES:
        for name, function in functions(namespace):
            full = f"{namespace}.{name}"
            if is_stateless(full):
                kinds, ran = operations(tensorflow, function)
                traced += ran
                if kinds - HARMLESS:
                    stateful[full] = sorted(kinds - HARMLESS)
    assert stateful == {}
    assert traced >= LEAST_TRACED


def functions(namespace):
    module = reduce(getattr, namespace.split(".")[1:], importlib.import_module(namespace.partition(".")[0]))
    for name in sorted(dir(module)):
        thing = getattr(module, name)
        if not name.startswith("_") and callable(thing) and not inspect.isclass(thing) and not inspect.ismodule(thing):
            yield name, thing


def operations(tensorflow, function):
    """Return the stateful operations that a function adds to a graph, and whether any arguments fit it."""
    found, ran = set(), False
    with tensorflow.Graph().as_default() as graph:
        for given in samples(tensorflow):
            before = len(graph.get_operations())
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(*given)
            except Exception:  # noqa: BLE001 - these arguments are not for this function
                continue
            ran = True
            found |= {each.type for each in graph.get_operations()[before:] if each.op_def.is_stateful}
    return found, ran


def samples(tf):
    vector, image, text = tf.constant([1.0, 2.0, 3.0]), tf.zeros([4, 4, 3]), tf.constant("a")
    matrix, whole = tf.constant([[2.0, 1.0], [1.0, 2.0]]), tf.constant([1, 2, 3])
    yield from ((vector,), (image,), (text,), (matrix,), (whole,))
    yield from ((vector, vector), (matrix, matrix), (image, [2, 2]), (image, 0.5), (text, "a", "b"), (vector, 0.0, 1.0))
    yield from (
        (tf.sparse.from_dense([[1.0, 0.0]]),),
        (image, 0.1, 0.5),
        (whole, whole),
        (image, 1, 1, 2, 2),
        (vector, 1),
    )


ARGUMENTS = {
    "bitcast": ["int32"],
    "clip_by_value": [0.1, 0.7],
    "saturate_cast": ["uint8"],
    "image.adjust_brightness": [0.3],
    "image.adjust_contrast": [0.3],
    "image.convert_image_dtype": ["float64"],
    "math.divide_no_nan": [3.0],
    "cast": ["float64"],
    "clip": [0.1, 0.7],
    **dict.fromkeys(
        "add equal greater less maximum minimum not_equal pow truediv math.add math.floormod math.pow".split(), [0.37]
    ),
    **dict.fromkeys("divide multiply subtract math.divide math.multiply math.subtract".split(), [0.37]),
}
OF_OTHER_TYPES = re.compile(r"logical_not|strings\.|one_hot|grayscale_to_rgb|backend\.cast")


@pytest.mark.slow
def test_a_batch_rounds_like_its_elements():
    """Compare all element-wise functions except ROUNDS_BY_POSITION, bit by bit."""
    tf = pytest.importorskip("tensorflow")
    import keras
    import numpy as np

    numbers = np.random.default_rng(0)
    different = set()
    names = sorted(having(Trait.EACH_ALONE | Trait.WITH_NUMBERS) - ROUNDS_BY_POSITION)
    for name in names:
        if OF_OTHER_TYPES.search(name):
            continue
        library, _, rest = name.partition(".")
        function = reduce(getattr, rest.split("."), {"tensorflow": tf, "keras": keras}[library])
        shapes = [(4, 5, 3)] if name in IMAGE_RANKS else [(), (3,), (7,), (28, 28)]
        for shape in shapes:
            elements = (numbers.random((37, *shape)) * 2 - 0.7).astype("float32")
            elements = np.abs(elements) if re.search(r"sqrt|log|pow", name) else elements

            def mapped(x, function=function, given=ARGUMENTS.get(rest, ARGUMENTS.get(rest.rpartition(".")[2], []))):
                return function(x, *given)

            dataset = tf.data.Dataset.from_tensor_slices(elements)
            one = np.concatenate([np.asarray(each) for each in dataset.map(mapped).batch(8)])
            batched = np.concatenate([np.asarray(each) for each in dataset.batch(8).map(mapped)])
            if (one.dtype, one.shape, one.tobytes()) != (batched.dtype, batched.shape, batched.tobytes()):
                different.add(name)
    assert different == set()
    assert len(names) > 50


@pytest.mark.slow
def test_images_of_higher_rank_raise():
    tf = pytest.importorskip("tensorflow")
    for name, rank in IMAGE_RANKS.items():
        function = getattr(tf.image, name.rpartition(".")[2])
        given = [0.3] if "adjust" in name else []
        channels = 1 if "grayscale_to" in name else 3
        for batch in (0, 1):
            assert function(tf.zeros([2] * (rank - 1 + batch) + [channels]), *given).shape.rank == rank + batch


@pytest.mark.slow
def test_immutable_tables_have_no_writing_method():
    tf = pytest.importorskip("tensorflow")
    for name in IMMUTABLE_TABLES:
        table = getattr(tf.lookup, name.rpartition(".")[2])
        assert not any(hasattr(table, method) for method in ("insert", "insert_or_assign", "remove", "erase"))
