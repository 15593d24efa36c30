"""Functions passed to tf.data: their state, their Python, and their behaviour on batches."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import libcst as cst

from kerascheck.interpreter.values import (
    Call,
    Class,
    Constant,
    DatasetOp,
    DictValue,
    External,
    ExternalInstance,
    Function,
    FunctionFacts,
    Instance,
    ModuleLike,
    Partial,
    SequenceValue,
    Tensor,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.callables import (
    CAST,
    ENSURE_SHAPE,
    IMAGE_CONVERT_IMAGE_DTYPE,
    IMAGE_CROP_TO_BOUNDING_BOX,
    IMAGE_DECODERS,
    IMAGE_RANDOM_CROP,
    IMAGE_RESIZE,
    IMAGE_RESIZE_WITH_CROP_OR_PAD,
    IMAGE_RESIZE_WITH_PAD,
    KERAS_RANDOM,
    LOOKUP,
    NUMPY_FUNCTION,
    ONE_HOT,
    OPS_ONE_HOT,
    PY_FUNCTIONS,
    READ_FILE,
    SQUEEZE,
    STATE_WRITES,
    STATE_WRITING_FUNCTIONS,
    STRINGS,
    TABLE_WRITES,
    TENSOR_LIBRARIES,
    TF_RESHAPE,
    VARIABLE,
    having,
    is_scalar,
    state_of_function,
)
from kerascheck.knowledge.classes import LAYER, METRIC_CALL, MODEL, OPTIMIZER, SEQUENTIAL, class_of, class_of_bases
from kerascheck.knowledge.layers import KNOWN_LAYERS, LAYERS, LOOKUP_LAYERS, RESCALING, TIME_DISTRIBUTED, Holds, holds
from kerascheck.knowledge.namespaces import (
    KERAS,
    OF_AUDIO,
    OF_IMAGE,
    OF_IO,
    OF_KERAS_OPTIMIZERS,
    OF_SIGNAL,
    OF_TENSORFLOW_ADDONS_IMAGE,
    OF_TENSORFLOW_DATASETS_DEPRECATED_TEXT,
    OF_TENSORFLOW_DATASETS_FEATURES_TEXT,
    TENSORFLOW,
)
from kerascheck.knowledge.python import DRAWS, FILE_OPENERS, KEEPERS, OF_VALUES, SAME_EACH_TIME
from kerascheck.knowledge.symbols import State, Trait, Writes
from kerascheck.meaning.data.array_origins import reads_file
from kerascheck.syntax.written import is_target, last_name

_TRIVIAL = having(Trait.RESHAPES | Trait.RETYPES)
_ELEMENTWISE = having(Trait.EACH_ALONE) | {f"{name}.__call__" for name in LOOKUP_LAYERS | {RESCALING}}
_WITH_NUMBERS = having(Trait.WITH_NUMBERS)
_READING = having(Trait.DECODES_IMAGE | Trait.PARSES) | {READ_FILE}
_TAKING_APART = (
    OF_TENSORFLOW_DATASETS_FEATURES_TEXT,
    OF_TENSORFLOW_DATASETS_DEPRECATED_TEXT,
    "nltk.",
    "sentencepiece.",
)
_WORKING = (OF_IMAGE, OF_IO, OF_AUDIO, OF_SIGNAL, STRINGS, "tensorflow_text.", OF_TENSORFLOW_ADDONS_IMAGE, LAYERS)
# The arguments that set the height and width, or the whole shape, of the result.
SIZING = {
    IMAGE_RESIZE: ("size",),
    IMAGE_RESIZE_WITH_PAD: ("target_height", "target_width"),
    IMAGE_RESIZE_WITH_CROP_OR_PAD: ("target_height", "target_width"),
    IMAGE_CROP_TO_BOUNDING_BOX: ("target_height", "target_width"),
    IMAGE_RANDOM_CROP: ("size",),
    TF_RESHAPE: ("shape",),
    ENSURE_SHAPE: ("shape",),
}


_MOVES_PIXELS = having(Trait.MOVES_PIXELS)
_BYTES_DECODING = having(Trait.DECODES_BYTES)
_NORMALIZING = having(Trait.NORMALIZES)


class StateCarrier(Enum):
    """The kind of object whose state a call uses."""

    FUNCTION = auto()
    LAYER = auto()
    MODEL = auto()
    CLASS = auto()
    """A layer or model of the project."""


@dataclass(frozen=True, slots=True)
class Stateful:
    """A call whose state prevents tf.data from parallelising a map.

    Attributes:
        carrier: the kind of object that holds the state.
        name: the canonical name of the function, or the short one of the layer or class.
        writes: the kind of state that it assigns, if any.
    """

    call: Call
    state: State
    carrier: StateCarrier
    name: str
    writes: Writes | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """A place where a function writes to state that outlives its call."""

    module: ModuleLike
    node: cst.CSTNode


def display_name(name: str) -> str:
    """The public spelling of a canonical name.

    Example:
        >>> display_name("tensorflow.data.Dataset.map")
        'tf.data.Dataset.map'
    """
    return "tf." + name[11:] if name.startswith(TENSORFLOW) else name.removeprefix("builtins.")


def state_of(call: Call) -> Stateful | None:
    """The state that makes the function around a call stateful for tf.data; None if there is none."""
    name = call.name
    written = write_of(call)
    if written is not None:
        return Stateful(call, State.ASSIGNS, StateCarrier.FUNCTION, name or "", written)
    if name is None:
        return None
    state = state_of_function(name)
    if state is None:
        return _state_of_object(call, call.receiver) if name.endswith(".__call__") else None
    if state is State.DRAWS and name.startswith(KERAS_RANDOM):
        seed = call.keyword("seed")
        if isinstance(seed, Constant) and seed.value is not None:
            return None
    if name == NUMPY_FUNCTION and constant(call.given("stateful"), True) is False:
        return None
    return Stateful(call, state, StateCarrier.FUNCTION, name)


def write_of(call: Call) -> Writes | None:
    """The state outside of a call that the call changes; None if there is none."""
    name, method = call.name or "", call.attribute
    if method is None and not name.startswith(TENSOR_LIBRARIES):
        # Only the name of an object in another module is known.
        method = name.rpartition(".")[2]
    if method is not None and not isinstance(call.receiver, Tensor):
        if method in STATE_WRITES:
            return STATE_WRITES[method]
        if name.startswith(LOOKUP) and method in TABLE_WRITES:
            return Writes.TABLE
        if name == METRIC_CALL:
            return Writes.METRIC
    return Writes.RESOURCE if STATE_WRITING_FUNCTIONS.match(name) else None


def _state_of_object(call: Call, value: Value) -> Stateful | None:
    """The state of a called layer or model."""
    if isinstance(value, ExternalInstance):
        name = value.name
        short = name.rpartition(".")[2]
        # KerasCV has layers of the same names.
        held = holds(name.replace("keras_cv.", KERAS))
        if held is Holds.SEED:
            return Stateful(call, State.DRAWS, StateCarrier.LAYER, short)
        if held is Holds.TABLE:
            return Stateful(call, State.LOOKS_UP, StateCarrier.LAYER, short)
        if name == SEQUENTIAL and value.call is not None:
            for layers in (*options_of(value.call.given("layers")), *options_of(value.attributes.get("layers added"))):
                for item in layers.items if isinstance(layers, SequenceValue) else []:
                    found = _state_of_object(call, item)
                    if found is not None:
                        return found
            return None
        if class_of(name) == MODEL:
            return Stateful(call, State.READS, StateCarrier.MODEL, short)
        if holds(name) in (Holds.WEIGHTS, Holds.INNER):
            return Stateful(call, State.READS, StateCarrier.LAYER, short)
    if isinstance(value, Instance) and _makes_weights(value.cls):
        return Stateful(call, State.READS, StateCarrier.CLASS, value.cls.name)
    return None


def _makes_weights(cls: Class) -> bool:
    """Whether a project layer or model creates its own weights, or derives from a Keras layer that does."""
    if class_of_bases(cls.external_bases()) not in (LAYER, MODEL):
        return False
    for base in cls.ancestry():
        if isinstance(base, External):
            if holds(base.name) not in (None, Holds.NOTHING):
                return True
            continue
        for method in (base.members.get("__init__"), base.members.get("build")):
            if isinstance(method, Function) and any(
                isinstance(node, cst.Call)
                and isinstance(node.func, cst.Attribute)
                and node.func.attr.value in ("add_weight", "add_variable", "Variable")
                for node in method.module.tree.descendants(method.node)
            ):
                return True
    return False


class Creates(Enum):
    """Kinds of objects that own variables."""

    VARIABLE = auto()
    LAYER = auto()
    OPTIMIZER = auto()


@dataclass(frozen=True, slots=True)
class Created:
    """A new object with variables; ``name`` is its short class name."""

    kind: Creates
    name: str


def creates_state(call: Call) -> Created | None:
    """The variable, layer or optimizer that a call creates; otherwise None."""
    name = call.name or ""
    short = name.rpartition(".")[2]
    if name == VARIABLE:
        return Created(Creates.VARIABLE, short)
    if call.attribute is not None or not short[:1].isupper():
        return None
    wrapped = call.given("layer") if name == TIME_DISTRIBUTED else None
    if isinstance(wrapped, ExternalInstance) and holds(wrapped.name) is Holds.NOTHING:
        return None
    # The variables belong to its cell, which counts at its own constructor.
    if name.startswith(LAYERS) and name.count(".") == 2 and holds(name) not in (None, Holds.NOTHING, Holds.INNER):
        layer = KNOWN_LAYERS.get(name)
        # Only preprocessing layers of Keras 2 draw random numbers with a variable.
        if call.module.runtime.keras < 3 and layer is not None and layer.holds is Holds.SEED and not layer.prepares:
            return None
        return Created(Creates.LAYER, short)
    if class_of(name) == OPTIMIZER and name.startswith(OF_KERAS_OPTIMIZERS) and name.count(".") == 2:
        return Created(Creates.OPTIMIZER, short)
    return None


class Facts:
    """Facts about the function passed to an operation, combined over all possible functions.

    Attributes:
        known: whether all code was analysed, so the absence of a fact is reliable.
        calls: the calls of the function, in order.
        results: the value that each possible function returns.
    """

    def __init__(self, runs: list[FunctionFacts], occurrences: int):
        self._runs = runs
        self.results = [run.result for run in runs]
        self.known = bool(runs) and len(runs) == occurrences and all(run.known for run in runs)
        self.calls: list[Call] = [call for run in runs for call in run.calls]

    @property
    def state(self) -> Stateful | None:
        """The first call that makes the function stateful; None without a visible one."""
        return next(filter(None, map(state_of, self.calls)), None)

    @property
    def written(self) -> Write | None:
        """The first write to state that outlives a call. The order of calls then matters.

        Covers variables, metrics, tables, and Python variables, attributes and containers that other code can access.
        """
        for call in self.calls:
            if write_of(call) is not None:
                return Write(call.module, call.node)
        places = ((node, module) for run in self._runs for kind, node, module in run.uses if kind == "write")
        return next((Write(module, node) for node, module in places), None)

    @property
    def works(self) -> bool:
        """Whether the function reads, decodes or computes for long, judging by the names of its calls."""
        return self.reading is not None or any((call.name or "").startswith(_WORKING) for call in self.calls)

    @property
    def randomness(self) -> Stateful | None:
        """The first random draw that differs between calls."""
        found = filter(None, map(state_of, self.calls))
        return next((each for each in found if each.state is State.DRAWS), None)

    @property
    def draws_alike(self) -> bool:
        """Whether two draws share a seed.

        They transform an image and its mask identically while only one call runs at a time (tested with RandomFlip,
        TensorFlow 2.21).
        """
        seeds: dict[object, set[int]] = {}
        for call in self.calls:
            if state_of(call) is None:
                continue
            made = call.receiver.call if isinstance(call.receiver, ExternalInstance) else call
            seed = made.keyword("seed") if made is not None else None
            if made is not None and isinstance(seed, Constant) and seed.value is not None:
                seeds.setdefault(seed.value, set()).add(id(made.node))
        return any(len(places) > 1 for places in seeds.values())

    @property
    def deterministic(self) -> bool:
        """Whether it certainly returns the same result for an element in every epoch.

        It consists only of TensorFlow operations without randomness and without state.
        """
        return self.known and self.written is None and all(_is_deterministic(call) for call in self.calls)

    @property
    def reading(self) -> Call | None:
        """The first call that reads or decodes a file, parses a record, or splits a string in Python in each run."""
        found = (
            call
            for call in self.calls
            if call.name in _READING
            or reads_file(call)
            or _opens_file(call)
            or (call.name or "").startswith(_TAKING_APART)
        )
        return next((call for call in found if not _is_kept(call)), None)

    @property
    def decodes_images(self) -> bool:
        """Whether it decodes an image."""
        return self.call_of(*IMAGE_DECODERS) is not None

    @property
    def pixels(self) -> int | None:
        """Height times width of the resulting image, from the last literal size; None if there is none."""
        result = None
        for call in self.calls:
            if call.name in SIZING:
                result = pixels_of(call)
        return result

    @property
    def widening(self) -> Call | None:
        """The call that converts the bytes of a decoded image to floats, if only arithmetic follows; otherwise None."""
        return next(filter(None, map(_widening, self._runs)), None) if self.known else None

    def call_of(self, *names: str) -> Call | None:
        """The first call of one of these names."""
        return next((call for call in self.calls if call.name in names), None)

    @property
    def python_function(self) -> Call | None:
        """A py_function or numpy_function, whose body holds the GIL."""
        return self.call_of(*PY_FUNCTIONS)

    @property
    def is_trivial(self) -> bool:
        """Whether it only selects, repacks, reshapes and casts, so parallel calls gain nothing."""
        return (
            self.known
            and all((call.name or "") in _TRIVIAL for call in self.calls)
            and not any(kind == "arithmetic" for run in self._runs for kind, _, _ in run.uses)
        )

    @property
    def picks_entries(self) -> bool:
        """Whether it selects named entries of its element, and may drop others."""
        return any(kind == "key" for run in self._runs for kind, _, _ in run.uses)

    @property
    def elementwise(self) -> bool:
        """Whether it certainly returns the same for a batch as for each of its elements.

        Only operations on single numbers, arithmetic with literal numbers, and repacking of tuples and dictionaries
        count. Everything else is unproven.
        """
        if not self.known or not self._runs:
            return False
        for run in self._runs:
            if not all(kind in ("arithmetic", "key") for kind, _, _ in run.uses):
                return False
            if not all(_is_elementwise(call) for call in run.calls):
                return False
            if not _is_repacking(run.result):
                return False
        return True


def pixels_of(call: Call) -> int | None:
    """Height times width of the image that a function of :data:`SIZING` returns; None if unknown."""
    given = [call.given(place) for place in SIZING[call.name or ""]]
    sides = given[0].items if len(given) == 1 and isinstance(given[0], SequenceValue) and not given[0].open else given
    height, width = [constant(side) for side in sides[:2]] if len(sides) in (2, 3) else (None, None)
    if isinstance(height, int) and isinstance(width, int) and height > 0 and width > 0:
        return height * width
    return None


def facts_of(stage: DatasetOp) -> Facts | None:
    """The facts about the function of a dataset operation; None for an operation without a function."""
    return Facts([stage.facts], 1) if stage.facts is not None else None


def _widening(run: FunctionFacts) -> Call | None:
    image, found = None, None
    for call in run.calls:
        name = call.name or ""
        if name in _BYTES_DECODING:
            # The call requests a type other than uint8.
            image = (
                call.result
                if all(_is_type(value, "uint8") for value in call.arguments.values() if isinstance(value, External))
                else None
            )
            if name.endswith("decode_raw") and not any(_is_type(value, "uint8") for value in call.arguments.values()):
                image = None
        elif found is not None:
            if name not in _NORMALIZING:
                return None
        elif image is not None and any(value is image for value in call.arguments.values()):
            if name in _MOVES_PIXELS:
                image = call.result
            elif name in (CAST, IMAGE_CONVERT_IMAGE_DTYPE) and _is_type(call.given("dtype"), "float32"):
                found = call
            else:
                return None
    return found


def _is_kept(call: Call) -> bool:
    """Whether a function inside the map caches its result: by ``functools.cache``, or in an outer object."""
    for frame in call.path.frames():
        if (
            isinstance(frame.function, Function)
            and isinstance(frame.function.node, cst.FunctionDef)
            and _keeps(frame.function.module, frame.function.node)
        ):
            return True
        if frame.stage is not None:
            break
    return False


def _keeps(module: ModuleLike, function: cst.FunctionDef) -> bool:
    decorators = [
        each.decorator.func if isinstance(each.decorator, cst.Call) else each.decorator for each in function.decorators
    ]
    if any(last_name(decorator) in KEEPERS for decorator in decorators):
        return True
    nodes = list(module.tree.descendants(function))
    own = {node.name.value for node in nodes if isinstance(node, cst.Param)}
    own |= {
        node.value
        for node in nodes
        if isinstance(node, cst.Name)
        and (
            is_target(module.tree.parents.get(node), node)
            or isinstance(module.tree.parents.get(node), (cst.Element, cst.AsName, cst.For))
        )
    }
    stored = [
        node.target.value
        for node in nodes
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign)) and isinstance(node.target, cst.Subscript)
    ]
    return any(
        isinstance(owner, cst.Attribute) or isinstance(owner, cst.Name) and owner.value not in own for owner in stored
    )


def _opens_file(call: Call) -> bool:
    """Whether a Python call opens a file for reading."""
    if call.name != "builtins.open":
        return call.name in FILE_OPENERS
    mode = call.given("mode")
    return mode is None or str(constant(mode)).startswith("r")


def _is_type(value: Value | None, name: str) -> bool:
    return (
        isinstance(value, External)
        and value.name == f"{TENSORFLOW}{name}"
        or isinstance(value, Constant)
        and value.value == name
    )


def _is_deterministic(call: Call) -> bool:
    name = call.name or ""
    if name in PY_FUNCTIONS:
        # The body of a project function is among the calls, too.
        return all(isinstance(option, (Function, Partial)) for option in options_of(call.given("func")))
    if not name:
        # The same holds for the ``__call__`` of a project object.
        return (
            call.attribute in OF_VALUES
            or call.attribute == "__call__"
            and isinstance(call.receiver, Instance)
            and isinstance(call.receiver.cls.member("__call__"), Function)
        )
    if not name.startswith(SAME_EACH_TIME) or DRAWS.match(name):
        return False
    found = state_of(call)
    return found is None or found.state in (State.LOOKS_UP, State.PRINTS)


def _is_elementwise(call: Call) -> bool:
    name = call.name or ""
    if name in _WITH_NUMBERS:
        others = [value for value in call.arguments.values() if not isinstance(value, Tensor)]
        tensors = [value for value in call.arguments.values() if isinstance(value, Tensor)]
        return len(tensors) == 1 and all(map(_is_scalar, others))
    if name in (ONE_HOT, OPS_ONE_HOT) and constant(call.given("axis") or Constant(-1)) != -1:
        return False
    if name == SQUEEZE:
        # An axis counted from the end is the same in a batch and in its elements.
        axis = call.given("axis")
        axes = axis.items if isinstance(axis, SequenceValue) and axis.items else [axis]
        return isinstance(call.given("input"), Tensor) and all(
            isinstance(constant(each), int) and constant(each) < 0 for each in axes
        )
    # Arguments other than numbers and types would have to align with the elements.
    values = list(call.arguments.values())
    return (
        name in _ELEMENTWISE
        and sum(isinstance(value, Tensor) for value in values) == 1
        and all(isinstance(value, Tensor) or _is_scalar(value) for value in values)
        and (name != f"{RESCALING}.__call__" or _has_scalar_settings(call.receiver))
    )


def _has_scalar_settings(layer: Value) -> bool:
    """Whether a called layer has only literal numbers as arguments: an array would have to align with the elements."""
    made = layer.call if isinstance(layer, ExternalInstance) else None
    return made is None or all(isinstance(value, Constant) for value in made.arguments.values())


def _is_scalar(value: Value) -> bool:
    """Whether a value is a literal, a number type, or a constant of Python or NumPy."""
    return isinstance(value, Constant) or isinstance(value, External) and is_scalar(value.name)


def _is_repacking(value: Value) -> bool:
    if isinstance(value, Tensor):
        return True
    if isinstance(value, SequenceValue):
        # tf.data stacks a list into one tensor.
        return value.kind == "tuple" and not value.open and all(_is_repacking(item) for item in value.items)
    if isinstance(value, DictValue):
        return not value.open and all(_is_repacking(item) for item in value.items.values())
    return False
