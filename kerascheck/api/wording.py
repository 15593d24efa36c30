"""Sentences for the messages of several rules, about facts from :mod:`.graph` and :mod:`.data`.

Example:
    >>> wording.no_values("tf.function")
    'The tensors of a tf.function have no values while it is traced.'
"""

from __future__ import annotations

from kerascheck.knowledge.symbols import State, Writes
from kerascheck.meaning.data.buffers import TailBuffering, Unbuffered
from kerascheck.meaning.data.mapped_functions import Created, Creates, StateCarrier, Stateful, display_name
from kerascheck.meaning.graph.traced_code import is_seen_compiled
from kerascheck.meaning.models.models import Model
from kerascheck.meaning.module import Module

__all__ = ["created", "model_size", "no_buffer", "no_values", "not_seen_compiled", "runs_once", "stateful"]

_NO_VALUES = {
    "call": "The tensors of a layer or model have no values while Keras traces call().",
    "train_step": "Keras compiles train_step, and its tensors have no values while it is traced.",
    "test_step": "Keras compiles test_step, and its tensors have no values while it is traced.",
    "predict_step": "Keras compiles predict_step, and its tensors have no values while it is traced.",
    "loss": "Keras compiles losses, and their tensors have no values while they are traced.",
    "metric": "Keras compiles metrics, and their tensors have no values while they are traced.",
    "Lambda": "The tensors of a Lambda layer have no values while Keras traces it.",
    "tf.function": "The tensors of a tf.function have no values while it is traced.",
}
_RUNS_ONCE = {
    "call": "Keras traces call() and runs the graph from then on",
    "train_step": "Keras compiles train_step, and its Python runs once per trace",
    "test_step": "Keras compiles test_step, and its Python runs once per trace",
    "predict_step": "Keras compiles predict_step, and its Python runs once per trace",
    "loss": "Keras compiles losses, and their Python runs once per trace",
    "metric": "Keras compiles metrics, and their Python runs once per trace",
    "Lambda": "Keras traces a Lambda layer once and runs the graph from then on",
    "tf.function": "The Python in a tf.function runs once per trace",
}
_OF_FUNCTIONS = {
    State.DRAWS: "{name} draws from a stateful generator",
    State.LOOKS_UP: "a lookup table is a stateful resource",
    State.PRINTS: "{name} is a side effect",
    State.READS: "it reads a tf.Variable",
    State.RUNS_PYTHON: "{name} is stateful",
}
_OF_WRITES = {
    Writes.VARIABLE: "it assigns a tf.Variable",
    Writes.METRIC: "it updates a metric",
    Writes.QUEUE: "it changes a queue",
    Writes.WEIGHTS: "it updates weights",
    Writes.TABLE: "it changes a lookup table",
    Writes.RESOURCE: "{name} writes what outlives the call",
}
_OF_LAYERS = {
    State.DRAWS: "the layer {name} keeps a random seed in a variable",
    State.LOOKS_UP: "the layer {name} looks up a table",
    State.READS: "the layer {name} has variables",
}
_TAIL_BUFFERING = {
    TailBuffering.ADDS_WHERE_USED: "Where the dataset is used, TensorFlow 2.11 and later append one themselves; older versions do not.",
    TailBuffering.LEAVES_UNSEEN: "TensorFlow {version} adds no prefetch automatically; where the dataset is used is not seen here.",
    TailBuffering.LEAVES_IN_FUNCTION: "The loop is part of a tf.function, where the runtime adds no buffer before the step.",
    TailBuffering.MAKES_PARALLEL: "TensorFlow 2.6 and later make this map parallel, and it then runs ahead by itself; older versions do not.",
    TailBuffering.FUSES: "TensorFlow makes the map and this batch one operation, which runs ahead by itself.",
    TailBuffering.LEAVES: "TensorFlow {version} adds no prefetch automatically.",
    TailBuffering.SWITCHED_OFF: "The options of this dataset switch the automatic prefetch off.",
    TailBuffering.ADDS: "TensorFlow 2.11 and later append one here themselves; older versions do not.",
}


def no_values(how: str) -> str:
    """The reason why code that ``how`` compiles cannot read the values of tensors.

    Example:
        >>> wording.no_values("Lambda")
        'The tensors of a Lambda layer have no values while Keras traces it.'
    """
    return _NO_VALUES[how]


def runs_once(how: str) -> str:
    """A clause on the runs of Python in code that ``how`` compiles, without a full stop.

    Example:
        >>> wording.runs_once("tf.function")
        'The Python in a tf.function runs once per trace'
    """
    return _RUNS_ONCE[how]


def not_seen_compiled(module: Module, how: str) -> str | None:
    """A reservation about code for the compiler ``how``; None if the program visibly compiles it.

    Example:
        >>> wording.not_seen_compiled(module("class L(keras.layers.Layer): pass"), "call")
        'No code here trains, so it is unknown whether this code is ever compiled.'
    """
    if is_seen_compiled(module, how):
        return None
    return "No code here trains, so it is unknown whether this code is ever compiled."


def no_buffer(module: Module, end: Unbuffered) -> str:
    """A sentence on the runtime's treatment of a dataset without a buffer at its end.

    Example:
        >>> there = module("model.fit(tf.data.Dataset.range(9).map(f).batch(2))")
        >>> [wording.no_buffer(there, end) for end in there.pipelines.unbuffered()]
        ['TensorFlow makes the map and this batch one operation, which runs ahead by itself.']
    """
    return _TAIL_BUFFERING[end.runtime].format(version=module.runtime.tensorflow_version)


def stateful(found: Stateful) -> str:
    """The reason why a function is stateful, as the second half of a sentence.

    Example:
        >>> op = next(module("d = tf.data.Dataset.range(9).map(lambda x: x + tf.random.normal([]))").pipelines.operations("map"))
        >>> wording.stateful(op.facts.state)
        'tf.random.normal draws from a stateful generator'
    """
    if found.carrier is StateCarrier.MODEL:
        return "it calls a model, which holds variables or tables"
    if found.carrier is StateCarrier.CLASS:
        return f"{found.name} has variables"
    if found.carrier is StateCarrier.LAYER:
        return _OF_LAYERS[found.state].format(name=found.name)
    words = _OF_FUNCTIONS[found.state] if found.writes is None else _OF_WRITES[found.writes]
    return words.format(name=display_name(found.name))


def created(found: Created, *, begins: bool = False) -> str:
    """A phrase for a created variable, layer or optimizer; ``begins`` capitalises it for the start of a sentence.

    Example:
        >>> wording.created(data.creates_state(call("keras.layers.Dense(3)")))
        'the layer Dense'
    """
    if found.kind is Creates.VARIABLE:
        return "tf.Variable"
    return f"{'The' if begins else 'the'} {'layer' if found.kind is Creates.LAYER else 'optimizer'} {found.name}"


def model_size(model: Model) -> str:
    """A phrase for a model by its size.

    Example:
        >>> wording.model_size(module("keras.Sequential([keras.Input((9,)), keras.layers.Dense(3)])").models[0])
        '30-parameter model'
    """
    if model.parameters is not None:
        return f"{model.parameters:,}-parameter model"
    if model.most_parameters is None:
        return "model of unknown size"
    if model.is_counted:
        return f"model of at most {model.most_parameters:,} parameters"
    return "model of a few small dense layers"
