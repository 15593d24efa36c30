"""Properties of functions, compared with the installed TensorFlow and Keras."""

import operator

import pytest

from kerascheck.knowledge.callables import FUNCTIONS, having, state_of_function
from kerascheck.knowledge.symbols import State, Trait

GONE = {
    "tensorflow.set_random_seed", "keras.utils.np_utils.to_categorical",
    # Names that only the interpreter uses.
    "tensorflow.ensure_shape.static",
    # Of Keras 2.
    *(f"keras.backend.{name}" for name in "cast dtype eval get_value int_shape is_tensor map_fn name_scope ndim rnn switch".split()),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("tensorflow.random.uniform", State.DRAWS),
        ("tensorflow.random.stateless_uniform", None),
        ("tensorflow.random.set_seed", None),
        ("tensorflow.image.random_flip_left_right", State.DRAWS),
        ("tensorflow.image.stateless_random_flip_left_right", None),
        ("keras.random.normal", State.DRAWS),
        ("keras.random.SeedGenerator", None),
        ("tensorflow.lookup.StaticHashTable.lookup", State.LOOKS_UP),
        ("tensorflow.lookup.StaticHashTable", None),
        ("tensorflow.Variable.__get__", State.READS),
        ("tensorflow.print", State.PRINTS),
        ("tensorflow.compat.v1.assign_add", State.ASSIGNS),
        ("tensorflow.numpy_function", State.RUNS_PYTHON),
        ("tensorflow.io.read_file", None),
        ("numpy.random.rand", None),
    ],
)
def test_the_state_of_a_function(name, state):
    assert state_of_function(name) is state


def test_having_returns_names_with_any_of_the_traits():
    assert having(Trait.DECODES_IMAGE) < having(Trait.DECODES_BYTES)
    assert "tensorflow.cast" in having(Trait.EACH_ALONE) & having(Trait.RETYPES) & having(Trait.MAKES_TENSOR)
    assert having(Trait.NONE) == frozenset()


@pytest.mark.slow
def test_installed_libraries_have_these_functions():
    tensorflow = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")

    def is_there(name):
        package, _, rest = name.partition(".")
        try:
            operator.attrgetter(rest)({"tensorflow": tensorflow, "keras": keras}[package])
        except (AttributeError, KeyError):
            return False
        return True

    assert {name for name in FUNCTIONS if not is_there(name)} == GONE
