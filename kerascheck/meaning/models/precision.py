"""Half precision: models that use it or could, and loss scaling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, receiver_text
from kerascheck.interpreter.layer_shapes import example_size, makes_large_layer, most_units
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Class,
    ExecutionPath,
    ExternalInstance,
    Function,
    Instance,
    IteratorValue,
    ModuleLike,
    Value,
    flat,
    options_of,
)
from kerascheck.knowledge.callables import VARIABLE
from kerascheck.knowledge.classes import CLONE_MODEL, KERAS_VARIABLE, LOAD_MODEL
from kerascheck.knowledge.import_patterns import IMPORTS
from kerascheck.knowledge.layers import DENSE, FLATTEN, OF_DENSE_MODELS
from kerascheck.knowledge.name_heuristics import ARCHITECTURES
from kerascheck.knowledge.namespaces import OF_KERAS_APPLICATIONS
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.image_flows import feeds, flows_of
from kerascheck.meaning.models.batches import batches_of
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.models.models import UNKNOWN_WIDTH, Model
from kerascheck.meaning.program.loops import makes_few_steps
from kerascheck.meaning.program.policies import policy_at
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.tree import SyntaxProblem

HALF_POLICIES = frozenset({"mixed_float16", "mixed_bfloat16", "float16", "bfloat16"})
"""Dtype policies under which layers compute in 16 bits."""

# No 16-bit policy is known to help on GPUs behind DirectX. Layers of TensorFlow's own copy of Keras ignore Keras
# policies; its modules without layers may be imported.
_NOT_FOR_POLICIES = re.compile(
    rf"""["']DML["']|directml|{IMPORTS}tensorflow\.compat\.v1\s+as\s+tf\b|"""
    # Layers wrapped for quantisation ignore policies, too.
    r"\bquantize_(?:model|annotate\w*|apply)\b|"
    rf"{IMPORTS}tensorflow\.python\.keras\b(?!\.(?:callbacks|datasets|losses|metrics|preprocessing|utils)\b)",
    re.I | re.M,
)
# These ignore policies, too; cvnn computes with complex numbers.
_FOREIGN_LAYERS = re.compile(rf"{IMPORTS}(?:tensorlayer|cvnn)\b", re.M)
_SCALING = frozenset({"scale_loss", "get_scaled_loss", "train_step"})
_CALL = re.compile(r"(?m)^[ \t]+def call\(")
# A type in the code, or the type of a number or tensor created without one.
_FLOAT32 = re.compile(
    r"\bfloat32\b|\b(?:tf|tensorflow|K|backend|ops|random)\.(?:constant|convert_to_tensor|eye|linspace|ones|zeros|(?:random[._])?(?:normal|uniform))\((?![^\n]*\bdtype\b)"
)
_WHOLE_NUMBERS = re.compile(r"\b(?:constant|convert_to_tensor)\([\s\d,()\[\]-]*\)")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")
_HELPER = re.compile(r"def ([A-Za-z_]\w*)\((?!self\b|cls\b)")
_KERAS_STEP = re.compile(r"\bsuper\([^)]*\)\.train_step\(")

# A model with at most this many parameters and input values has short steps in any precision.
_SMALL = 1_000_000
_SMALL_INPUT = 64 * 64 * 3
# The largest image of the classic small data sets, with the usual padding.
_TOY_INPUT = 32 * 32 * 3
# Rows that Tensor Cores multiply at a time (TensorFlow guide "Optimize GPU performance", multiples of 8).
_ROWS = 8
_VARIABLES = (VARIABLE, KERAS_VARIABLE)
_BY_KERAS = frozenset({"fit", "fit_generator", "train_on_batch"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class FullPrecision:
    """A float32 training of a model that is large enough for half precision to matter.

    Attributes:
        place: the fit, or the innermost loop around a hand-written step.
        by_hand: whether the program has its own step, which has to scale its loss for float16.
        update: the call that updates the weights in such a step; None if it is not visible.
        waits: whether an ImageDataGenerator produces its images one by one.
        computing: the functions of the model's project layers that name float32.
        doubtful: the same for layers that may belong to the model, if it is not visible.
    """

    place: CodeLocation
    by_hand: bool
    update: Call | None
    waits: bool
    computing: tuple[CodeLocation, ...]
    doubtful: tuple[CodeLocation, ...]


def full_precision_trainings(module: Module) -> Iterator[FullPrecision]:
    """The trainings of a program that does not mention precision, in program order.

    For each model, yields the first training by Keras and the first by hand. Excludes programs that run only on a CPU
    or TPU, compute in float64, play games or train two networks against each other. Also excludes small models, layers
    that ignore policies, and layers that keep their saved one.
    """
    program = module.once(Program)
    if _follows_no_policy(module):
        return
    if program.mentions_precision or program.pins_cpu or program.needs_tpu or program.uses_float64:
        return
    if program.reinforcement_learning or program.adversarial:
        return
    seen, computing = set(), None
    for place, call in program.training_places:
        models, others = _trained_at(module, place, call)
        by_hand, update = _own_step(module, call)
        key = by_hand, frozenset(id(model.value) for model in models) or others or place.node
        if key in seen or _updates_numbers(module, call) or program.cpu_device(call.path) is not None:
            continue
        if makes_few_steps(call) or not others and _multiplies_few_rows(call, models):
            continue
        if not _is_worth_it(module, models, others):
            continue
        seen.add(key)
        if computing is None:
            computing = list(_computing_in_float32(module))
        waits = feeds(module, call) if call.attribute in _BY_KERAS else bool(module.once(flows_of))
        values = (value for model in models for value in (model.value, *(layer.value for layer in model.layers)))
        held = _classes_of(values)
        known = tuple(place for place, cls in computing if cls in held)
        doubtful = tuple(place for place, cls in computing if cls not in held) if others or not models else ()
        yield FullPrecision(place, by_hand, update, waits, known, doubtful)


def _follows_no_policy(module: Module) -> bool:
    """Whether a program is written for layers or devices that gain nothing from a Keras policy."""
    return module.mentions(_NOT_FOR_POLICIES) or any(
        each.mentions(_FOREIGN_LAYERS) for each in (module, *module.project.imported(module))
    )


def _trained_at(module: Module, place: CodeLocation, call: Call) -> tuple[list[Model], frozenset[object]]:
    """The known models of a training, and the other trained values: values, or the name of an unknown one."""
    known = {id(model.value): model for model in module.once(models_of)}
    if call.attribute in _BY_KERAS:
        options = options_of(call.receiver)
        # Clones, and loaded models.
        found = {
            id(model.value): model
            for model in module.once(models_of)
            if any(fit.node is call.node for fit in model.fits)
        }
        others = (
            () if found and len(found) >= len(options) else [option for option in options if id(option) not in known]
        )
        found |= {id(option): known[id(option)] for option in options if id(option) in known}
        return list(found.values()), frozenset(
            receiver_text(call) if option is UNKNOWN else option for option in others
        )
    objects = module.once(CallIndex).of_methods("__call__")
    inside = (each for each in objects if any(path.node is place.node for path in each.path.chain()))
    applied = (option for each in inside for option in options_of(each.receiver))
    return list({id(option): known[id(option)] for option in applied if id(option) in known}.values()), frozenset()


def _updates_numbers(module: Module, call: Call) -> bool:
    """Whether an update does not change a model.

    It has no optimizer, or the gradient is that of a ``tf.Variable``, such as an image.
    """
    given = options_of(call.first)
    items = (
        item
        for option in given
        for value in (option.over if isinstance(option, IteratorValue) else (option,))
        for item in flat(value)
    )
    return call in module.once(Program).assigned_updates or any(
        isinstance(item, ExternalInstance) and item.name in _VARIABLES for item in items
    )


def _own_step(module: Module, call: Call) -> tuple[bool, Call | None]:
    """Whether a training has its own step, and the call in it that updates the weights, if visible."""
    if call.attribute not in _BY_KERAS:
        return True, call
    updates = reversed(module.once(Program).updates)
    steps = {step.node: update for update in updates if (step := train_step_of(update.path)) is not None}
    for option in options_of(call.receiver):
        own = option.cls.member("train_step") if isinstance(option, Instance) else None
        if isinstance(own, Function) and not _KERAS_STEP.search(own.module.tree.code_of(own.node)):
            return True, steps.get(own.node)
        # It may be an object of any class.
        if option is UNKNOWN and steps:
            return True, next(iter(steps.values()))
    return False, None


def _multiplies_few_rows(fit: Call, models: list[Model]) -> bool:
    """Whether the batches of dense models are too small to fill a Tensor Core tile."""
    batches = batches_of(fit) if fit.attribute == "fit" and models else None
    return batches is not None and batches.size < _ROWS and all(model.consists_of(OF_DENSE_MODELS) for model in models)


def _is_worth_it(module: Module, models: list[Model], others: frozenset[object]) -> bool:
    """Whether the trained models are large; for invisible models, judges the rest of the program."""
    if any(map(_is_loaded, others)):
        return False
    if models and not others:
        return any(_is_large(module, model) for model in models)
    if any(isinstance(option, ExternalInstance) and _names_architecture(option.name) for option in others):
        return True
    trained = [model for model in module.once(models_of) if model.is_trained]
    return not (trained and all(map(_is_small, trained))) and _has_large_layers_elsewhere(module)


def _is_large(module: Module, model: Model) -> bool:
    program = module.once(Program)
    if _is_small(model):
        return False
    made = [layer.made for layer in model.layers if layer.made is not None]
    if any((call.name or "").startswith(OF_KERAS_APPLICATIONS) for call in made):
        return True
    if not model.closed and module.once(CallIndex).with_prefix("tensorflow_hub."):
        return False
    large = [call for call in made if makes_large_layer(call)]
    if large and not (program.loads_toy_data and not _takes_pictures(model)):
        if any(call.name != DENSE for call in large) or _most_of_dense(model) >= _SMALL:
            return True
    return not model.closed and _has_large_layers_elsewhere(module)


def _takes_pictures(model: Model) -> bool:
    """Whether an input is an image larger than those of the classic small data sets."""
    return any(shape and len(shape) > 3 and _TOY_INPUT < example_size(shape) < inf for shape in model.inputs)


def _most_of_dense(model: Model) -> float:
    """The number of parameters in a model's dense layers, with :data:`UNKNOWN_WIDTH` for unknown widths.

    Infinite after flattening an image of unknown size.
    """
    total, before = 0.0, 0.0
    for layer in model.layers:
        if layer.name == FLATTEN:
            before = example_size(layer.shape)
        elif layer.name == DENSE:
            units = most_units(layer.value) or UNKNOWN_WIDTH
            total += (layer.shape and layer.shape[-1] or before or UNKNOWN_WIDTH) * units * (layer.times or 1)
            before = units
    return total


def _has_large_layers_elsewhere(module: Module) -> bool:
    """Whether a program has large layers outside of its fully known models."""
    known = (layer.made for model in module.once(models_of) if model.closed for layer in model.layers)
    return module.once(Program).has_large_layers_beside({made.node for made in known if made is not None})


def _is_small(model: Model) -> bool:
    """Whether a model has few parameters and no large image as input."""
    convolves = any("Conv" in (layer.name or "") for layer in model.layers)
    return (model.most_parameters or inf) < _SMALL and (not convolves or model.largest_input <= _SMALL_INPUT)


def _is_loaded(value: object) -> bool:
    """Whether a value is a loaded model or a clone of one, whose layers keep their saved policy."""
    if not isinstance(value, ExternalInstance) or value.call is None:
        return False
    cloned = options_of(value.call.given("model")) if value.name == CLONE_MODEL else ()
    return value.name == LOAD_MODEL or any(map(_is_loaded, cloned))


def _names_architecture(name: str) -> bool:
    return (
        name.startswith(OF_KERAS_APPLICATIONS)
        or ARCHITECTURES.search(f"{name}.{_CAMEL.sub('_', name)}".lower()) is not None
    )


def train_step_of(path: ExecutionPath) -> Function | None:
    """The ``train_step`` of a Keras model around an execution path; None if there is none."""
    return next(
        (frame.function for frame in path.frames() if frame.traced == "train_step" and frame.function is not None),
        None,
    )


def scales_loss(update: Call) -> bool:
    """Whether a function that leads to a weight update, or its callee, scales the loss.

    Calling ``super().train_step()`` counts, because Keras scales the loss there.
    """
    around = {frame.function.node if frame.function is not None else frame.node for frame in update.path.frames()}
    for call in update.path.root.module.once(CallIndex).of_methods(*_SCALING):
        if any(
            (frame.function.node if frame.function is not None else frame.node) in around
            and (frame.function is not None or frame is update.path.frame)
            for frame in call.path.frames()
        ):
            return True
    return False


def float16_models(module: Module, cls: Class | None) -> Iterator[Call]:
    """The constructor calls of a class, or of one derived from it, under a certain ``mixed_float16`` policy."""
    for instance, made in module.once(Program).constructors.items():
        if cls is not None and any(
            isinstance(base, Class) and base.node is cls.node for base in instance.cls.ancestry()
        ):
            if made.keyword("dtype") is None and policy_at(module, made) == "mixed_float16":
                yield made


def _computing_in_float32(module: Module) -> Iterator[tuple[CodeLocation, cst.ClassDef]]:
    """Functions of project layers that compute with float32 tensors, each with the class of the layer.

    Judges the code of each ``call`` and its callees. Layers raise an error where these tensors meet half precision
    (InvalidArgumentError and TypeError, tested with TensorFlow 2.21).
    """
    modules = [module, *module.project.imported(module)]
    if not any(module.mentions(_CALL) for module in modules) or not any(
        module.mentions(_FLOAT32) for module in modules
    ):
        return
    helpers: dict[str, list[CodeLocation]] = {}
    owned: dict[cst.ClassDef, dict[str, CodeLocation]] = {}
    for each in _leading_to_float32(modules):
        for function, owner in _functions_of(each):
            place = CodeLocation(each, function)
            if owner is None:
                helpers.setdefault(function.name.value, []).append(place)
            else:
                owned.setdefault(owner, {})[function.name.value] = place
    made = _classes_of(option for call in module.run.calls for option in options_of(call.result))
    layers = [cls for cls, methods in owned.items() if "call" in methods and _is_layer(methods["call"].module, cls)]
    pending = [(owned[cls]["call"], cls) for cls in sorted(layers, key=lambda cls: cls not in made)]
    seen = {(place.node, cls) for place, cls in pending}
    for place, cls in pending:
        code = place.module.tree.code_of(place.node)
        if _FLOAT32.search(_WHOLE_NUMBERS.sub("", code)):
            yield place, cls
        for name in _CALLED.findall(code):
            for inner in [owned[cls][name]] if name in owned[cls] else helpers.get(name, ()):
                if (inner.node, cls) not in seen:
                    seen.add((inner.node, cls))
                    pending.append((inner, cls))


def _leading_to_float32(modules: Sequence[Module]) -> list[Module]:
    """Modules whose functions may use float32, directly or indirectly, judging by their text without parsing."""
    others = [each for each in modules if each.mentions(_CALL)]
    found = fresh = {each for each in modules if each.mentions(_FLOAT32)}
    while fresh:
        helpers = {name for each in fresh for name in _HELPER.findall(each.code)}
        fresh = {each for each in others if each not in found and not helpers.isdisjoint(each.words)}
        found = found | fresh
    return [each for each in modules if each in found]


def _classes_of(values: Iterable[Value]) -> set[cst.ClassDef]:
    """The project classes of some objects, with their bases."""
    return {
        base.node
        for value in values
        if isinstance(value, Instance)
        for base in value.cls.ancestry()
        if isinstance(base, Class)
    }


def _is_layer(module: ModuleLike, cls: cst.ClassDef) -> bool:
    """Whether a class may be a layer or model, by the names of its bases."""
    bases = [module.tree.code_of(base.value) for base in cls.bases]
    return any(re.search(r"keras|layers\.|Layer|Model|Block|Cell|Net", base) for base in bases)


def _functions_of(module: Module) -> Iterator[tuple[cst.FunctionDef, cst.ClassDef | None]]:
    """Functions and methods of a module, each with its class; none if the module does not parse."""
    try:
        tree = module.tree
    except SyntaxProblem:
        return
    for function in tree.functions:
        owner = tree.enclosing(function, cst.ClassDef, cst.FunctionDef)
        if owner is None or isinstance(owner, cst.ClassDef):
            yield function, owner
