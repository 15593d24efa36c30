"""Properties of the layers of Keras, compared with the installed libraries."""

import inspect

import pytest

from kerascheck.knowledge.layers import (
    CONVOLUTIONS,
    KNOWN_LAYERS,
    LAYERS,
    OF_COLUMNS,
    OF_DENSE_MODELS,
    PREPROCESSING,
    RECURRENT,
    WEIGHTLESS,
    Holds,
    Work,
    _table,
    holds,
)

SHAPES = ((2, 4), (2, 4, 3), (2, 8, 8, 3), (2, 4, 4, 4, 3))
OF_KERAS_2 = {"DenseFeatures", "RandomHeight", "RandomWidth", "ThresholdedReLU"}


def test_layers_are_unique():
    names = [layer.name for layer in _table()]
    assert len(names) == len(set(names))


def test_properties_are_consistent():
    for layer in KNOWN_LAYERS.values():
        assert not layer.per_channel or layer.holds is Holds.WEIGHTS
        assert not layer.worth_half or layer.width
        assert not layer.on_last_axis or layer.axes == 0
    assert all(
        layers <= set(KNOWN_LAYERS)
        for layers in (set(CONVOLUTIONS), OF_COLUMNS, OF_DENSE_MODELS, PREPROCESSING, RECURRENT, WEIGHTLESS)
    )


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("keras.layers.Flatten", Holds.NOTHING),
        ("keras.layers.Solarization", Holds.SEED),
        ("keras.layers.Unheard", Holds.WEIGHTS),
        ("keras.layers.InputSpec", None),
        ("tensorflow.Variable", None),
    ],
)
def test_unknown_layers_have_weights(name, held):
    assert holds(name) is held


@pytest.mark.slow
def test_installed_keras_has_these_layers():
    keras = pytest.importorskip("keras")
    shorts = {layer.short for layer in KNOWN_LAYERS.values() if layer.name.startswith(LAYERS)}
    assert {short for short in shorts if not hasattr(keras.layers, short)} == OF_KERAS_2


def _arguments(short):
    known = {
        "Activation": ("relu",), "CategoryEncoding": (4,), "CenterCrop": (2, 2), "Conv1D": (2, 2), "Conv2D": (2, 2), "Conv3D": (2, 2),
        "Dense": (2,), "DepthwiseConv2D": (2,), "Discretization": ([0.5],), "Embedding": (4, 2), "GRU": (2,), "LSTM": (2,), "SimpleRNN": (2,),
        "RandomCrop": (2, 2), "RepeatVector": (2,), "Reshape": ((-1,),), "Resizing": (2, 2), "Rescaling": (2.0,), "Hashing": (3,), "Permute": ((1,),),
        "SeparableConv2D": (2, 2), "RandomHue": (0.5,), "RandomSaturation": (0.5,), "RandomSharpness": (0.5,), "RandomPosterization": (4,),
        "RandomColorDegeneration": (0.5,),
    }  # fmt: skip
    return known.get(short, (0.5,) if short.startswith(("Random", "Dropout", "Spatial", "Gaussian", "Alpha")) else ())


def _made(keras, layer):
    """A layer after a call, and whether the output has the shape of the input; None if it needs further arguments."""
    cls = getattr(keras.layers, layer.short, None)
    if cls is None or layer.work in (Work.MERGES, Work.WRAPS, Work.CALLS):
        return None
    for shape in SHAPES if not layer.axes else SHAPES[layer.axes : layer.axes + 1]:
        for arguments in (_arguments(layer.short), ()):
            try:
                made = cls(*arguments)
                result = made(
                    keras.ops.ones(shape, "int32" if layer.work in (Work.EMBEDS, Work.LOOKS_UP) else "float32")
                )
            except Exception:
                continue
            return made, tuple(result.shape) == shape
    return None


@pytest.mark.slow
def test_layers_hold_the_listed_state():
    keras = pytest.importorskip("keras")
    made = {layer: found for layer in KNOWN_LAYERS.values() if (found := _made(keras, layer)) is not None}
    assert len(made) > 80
    for layer, (instance, keeps_shape) in made.items():
        ends = {variable.path.rpartition("/")[2] for variable in instance.variables}
        seeds = {end for end in ends if end == "seed_generator_state"}
        if layer.holds is Holds.SEED:
            assert seeds, layer.name
        elif layer.holds is Holds.NOTHING and layer.short != "Normalization":
            assert not ends, layer.name
        elif layer.holds is Holds.WEIGHTS:
            assert ends - seeds, layer.name
        assert keeps_shape or not layer.keeps_shape, layer.name
        if layer.per_channel:
            assert (
                sum(variable.shape[0] for variable in instance.variables)
                == layer.per_channel * instance.variables[0].shape[0]
            )
        if layer.work is Work.PREPARES and inspect.isclass(type(instance)):
            assert instance.supports_jit or not layer.jit or layer.holds is not Holds.SEED, layer.name
