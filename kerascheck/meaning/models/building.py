"""Construction of Keras models: their layers in order, their inputs and outputs.

Covers sequential models (a list, ``add``), functional ones (layers called on ``keras.Input`` up to ``Model(inputs,
outputs)``) and classes derived from ``keras.Model`` (layers stored in attributes and called in ``call``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from kerascheck.interpreter import layer_shapes as shapes
from kerascheck.interpreter.layer_shapes import Shape
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Class,
    DictValue,
    ExecutionPath,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    SequenceValue,
    Tensor,
    UnionValue,
    Value,
    constant,
    flat,
    options_of,
)
from kerascheck.knowledge.callables import GET_VARIABLE, VARIABLE
from kerascheck.knowledge.classes import (
    CLONE_MODEL,
    INPUT,
    KERAS_TENSOR,
    KERAS_VARIABLE,
    LAYER,
    LOAD_MODEL,
    MODEL,
    MODEL_ADD,
    MODEL_CHECKPOINT,
    MODEL_INIT,
    MODEL_POP,
    MODEL_SAVE,
    SEQUENTIAL,
    class_of,
    class_of_bases,
)
from kerascheck.knowledge.layers import (
    BIDIRECTIONAL,
    FLATTEN,
    INPUT_LAYER,
    KERAS_CONCATENATE,
    LAMBDA,
    LAYERS,
    OF_COLUMNS,
    Work,
    layers_where,
)
from kerascheck.knowledge.namespaces import KERAS_BACKEND, KERAS_OPS, OF_KERAS_APPLICATIONS, TENSORFLOW
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.fitted_data import example_shape
from kerascheck.meaning.models.models import Layer, Model
from kerascheck.meaning.program.program import Program

_WRAPPERS = layers_where(lambda layer: layer.work is Work.WRAPS)
_DEEP = 4
# Methods in which a model without call() calls its trainable layers.
_STEPS = ("train_step", "compute_loss")
_WEIGHT_MAKERS = frozenset({"add_weight", "add_variable"})
_VARIABLES = frozenset({VARIABLE, KERAS_VARIABLE, GET_VARIABLE})
# Functions that read each number of a tensor at most twice.
_LIGHT = frozenset(
    "abs add add_n argmax cast clip_by_value concat concatenate constant convert_to_tensor cos divide elu equal exp expand_dims gather greater identity int_shape less log "
    "maximum minimum mean multiply name_scope ndim negative normal normalize not_equal ones ones_like pow random_normal range reduce_max reduce_mean reduce_min "
    "reduce_prod reduce_std reduce_sum relu reshape selu shape sigmoid sign sin softmax softplus split sqrt square squeeze stack stop_gradient subtract "
    "sum tanh TensorShape tile transpose truncated_normal uniform unstack where zeros zeros_like".split()
)
_FUNCTIONS_OF = (TENSORFLOW, KERAS_BACKEND, KERAS_OPS, "numpy.", "tensorflow_addons.", "tensorflow_probability.")
_LONG = 200


def models_of(module: Module) -> list[Model]:
    """See :attr:`kerascheck.meaning.module.Module.models`."""
    return _Builder(module).models


class _Builder:
    def __init__(self, module: Module):
        self._module = module
        calls = module.once(CallIndex)
        # Calls of objects, by the functions around them.
        self._applied: dict[cst.CSTNode, list[Call]] = {}
        for call in calls.of_methods("__call__"):
            for node in {function.node for function in call.path.functions()}:
                self._applied.setdefault(node, []).append(call)
        self._adds: dict[int, list[Call]] = {}
        self._popped: set[int] = set()
        for call in calls.named(MODEL_ADD):
            self._adds.setdefault(id(call.receiver), []).append(call)
        self._popped.update(id(call.receiver) for call in calls.named(MODEL_POP))
        self._known: dict[int, Model] = {}
        # Functions that create their own weights, or do more with tensors than call layers.
        opaque = {call.path.frame for call in calls if _is_opaque(call)}
        self._opaque = {function.node for frame in opaque for function in frame.functions()}
        trained = [
            call
            for call in calls.of_methods("compile", "fit", "fit_generator")
            if module.once(Program).is_model_call(call)
        ]
        self._fitted = {
            id(option): call for call in trained if call.attribute == "fit" for option in options_of(call.receiver)
        }
        for call in calls.named(SEQUENTIAL, MODEL, MODEL_INIT):
            value = call.result
            if (
                call.name != MODEL_INIT
                and isinstance(value, ExternalInstance)
                or call.name == MODEL_INIT
                and isinstance(value, Instance)
            ):
                self._model(value, call)
        self.models = list(self._known.values())
        saved = [(call.order, call.given("filepath"), call.receiver) for call in calls if call.name == MODEL_SAVE]
        for call in trained:
            checkpoints = (
                value.call
                for value in flat(call.given("callbacks") if "callbacks" in call.signature else None)
                if isinstance(value, ExternalInstance) and value.name == MODEL_CHECKPOINT
            )
            saved += [(call.order, made.given("filepath"), call.receiver) for made in checkpoints if made is not None]
        for call in trained:
            for option in options_of(call.receiver):
                model = self._found(option, saved)
                if model is not None:
                    (model.compiles if call.attribute == "compile" else model.fits).append(call)

    def _found(self, value: Value, saved: list[tuple[int, Value | None, Value]]) -> Model | None:
        """The model that a value represents: built, cloned or loaded.

        ``load_model`` returns the model that the program last saved under the same literal name.
        """
        model = self._known.get(id(value))
        if (
            model is None
            and isinstance(value, ExternalInstance)
            and value.name == CLONE_MODEL
            and value.call is not None
        ):
            return next(
                (
                    found
                    for option in options_of(value.call.given("model"))
                    if (found := self._found(option, saved)) is not None
                ),
                None,
            )
        call = (
            value.call if model is None and isinstance(value, ExternalInstance) and value.name == LOAD_MODEL else None
        )
        name = constant(call.given("filepath")) if call is not None else None
        before = [
            (order, other)
            for order, path, other in saved
            if call is not None and name is not None and order < call.order and constant(path) == name
        ]
        return self._found(max(before, key=lambda each: each[0])[1], saved) if before else model

    def _model(self, value: Value, call: Call) -> Model:
        if id(value) in self._known:
            return self._known[id(value)]
        kind = (
            "subclassed" if isinstance(value, Instance) else "sequential" if call.name == SEQUENTIAL else "functional"
        )
        model = self._known[id(value)] = Model(call.module, call, value, kind)
        if isinstance(value, Instance):
            self._subclassed(model, value)
        elif kind == "sequential":
            self._sequential(model)
        else:
            self._functional(model)
        return model

    # -------------------------------------------------------------- kinds of models

    def _sequential(self, model: Model) -> None:
        given = model.call.given("layers")
        placed: list[tuple[Value, ExecutionPath]] = []
        if isinstance(given, SequenceValue):
            placed = [(item, model.call.path) for item in given.items]
        # The last known item of an open list may not be the last layer.
        ordered = given is None or isinstance(given, SequenceValue) and not given.open
        model.closed = ordered and id(model.value) not in self._popped
        adds = self._adds.get(id(model.value), [])
        placed += [(call.given("layer") or UNKNOWN, call.path) for call in adds]
        shape: Shape = None
        total: int | None = 0
        last: list[Layer] | None = None
        for item, path in placed:
            layer, inside = self._placed(model, item, path, shape)
            if layer is None:
                model.closed, shape, last = False, None, None
                continue
            if layer.name in (KERAS_TENSOR, INPUT, INPUT_LAYER):
                model.inputs.append(shapes.input_shape(layer.made) if layer.made is not None else None)
                shape = model.inputs[-1]
                continue
            if shape is None and layer.made is not None:
                layer.shape = shapes.input_shape(layer.made)
                if layer.shape is None and not model.layers:
                    layer.shape = self._shape_of_data(model, layer)
                if layer.shape is not None and not model.inputs:
                    model.inputs.append(layer.shape)
            model.layers += inside
            repeated = _is_repeated(path, model)
            model.repeated = model.repeated or repeated
            total, shape = self._count(total, layer), shapes.output_shape(layer.value, layer.shape)
            total = None if repeated or not layer.certain else total
            shape = None if repeated or not layer.certain else shape
            nested = self._known.get(id(item))
            last = None if not layer.certain else nested.outputs if nested is not None else [layer]
        model.parameters = total if model.complete else None
        model.outputs = last if (ordered or adds) and id(model.value) not in self._popped else None

    def _shape_of_data(self, model: Model, first: Layer) -> Shape:
        """The shape of a Sequential model's training data.

        If it is unknown, leading layers for columns indicate a table.
        """
        fit = self._fitted.get(id(model.value))
        shape = example_shape(fit) if fit is not None else None
        return (
            (None, None)
            if shape is None and fit is not None and first.name in OF_COLUMNS and first.name != FLATTEN
            else shape
        )

    def _functional(self, model: Model) -> None:
        outputs = model.call.given("outputs")
        if outputs is None or outputs is UNKNOWN:
            model.closed = False
            return
        walk, widths = _Walk(outputs), _Widths()
        model.closed = walk.complete
        total: int | None = 0
        for call in sorted(walk.applied, key=lambda call: call.order):
            for option in options_of(call.receiver):
                layer, inside = self._placed(model, option, call.path, widths.into(call))
                if layer is None:
                    model.closed = False
                    continue
                if not any(layer.value is other.value for other in model.layers):
                    total = self._count(total, layer)
                    model.layers += inside
                model.repeated = model.repeated or _is_repeated(call.path, model)
                if not layer.certain or model.repeated:
                    total = None
        model.inputs = [shapes.input_shape(call) for call in walk.inputs]
        model.parameters = total if model.complete else None
        model.outputs = self._ends(model, outputs)

    def _subclassed(self, model: Model, instance: Instance) -> None:
        method = instance.cls.member("call")
        methods = [method] if isinstance(method, Function) else []
        if not methods:
            # It may be a functional model through super().__init__(inputs, outputs), and its steps may do more than
            # call layers.
            model.closed = False
            methods = [step for name in _STEPS if isinstance(step := instance.cls.member(name), Function)]
        # The call may be visible on another object of the class, whose layers come from the same places.
        applied: dict[object, Call] = {}
        running = {id(call): call for each in methods for call in self._applied.get(each.node, ())}
        for call in sorted(running.values(), key=lambda call: call.order):
            for option in options_of(call.receiver):
                applied.setdefault(self._origin(option), call)
        held: dict[object, dict[int, Value]] = {}
        for value in _held_layers(instance):
            held.setdefault(self._origin(value), {})[id(value)] = value
        for origin in applied:
            for value in held.get(origin, {}).values():
                model.layers += self._placed(model, value, None)[1]
        fit = self._fitted.get(id(model.value))
        widths = _Widths(fit is not None and example_shape(fit) or (None, None), self._module.run.returned)
        for layer in model.layers:
            if layer.shape is None and layer.name in OF_COLUMNS and self._origin(layer.value) in applied:
                layer.shape = widths.into(applied[self._origin(layer.value)])
        model.closed = model.closed and applied.keys() >= held.keys() and self._is_only_layers(instance)
        model.outputs = (
            self._ends(model, self._module.run.returned.get(method.node)) if isinstance(method, Function) else None
        )

    def _origin(self, value: Value) -> object:
        """The place of construction; layers constructed by the same code share it."""
        made = self._constructor(value) if _is_layer(value) else None
        return id(value) if made is None else made.node

    def _is_only_layers(self, instance: Instance) -> bool:
        """Whether a project layer or model only calls its layers, without weights or notable work of its own."""
        classes = [base for base in instance.cls.ancestry() if isinstance(base, Class)]
        methods = {member.node for base in classes for member in base.members.values() if isinstance(member, Function)}
        if not isinstance(instance.cls.member("call"), Function) or methods & self._opaque:
            return False
        unknown = [
            name
            for name, value in instance.attributes.items()
            if any(option is UNKNOWN for option in options_of(value))
        ]
        code = [base.module.tree.code_of(base.node) for base in classes] if unknown else []
        return not any(
            re.search(rf"\bself\.{re.escape(name)}\b(?:\[[^\]]*\])*\s*\(", each) for name in unknown for each in code
        )

    def _is_light(self, function: Value) -> bool:
        """Whether a function certainly reads each number of a tensor only a few times."""
        if isinstance(function, External):
            return function.name.startswith(_FUNCTIONS_OF) and function.name.rpartition(".")[2] in _LIGHT
        return isinstance(function, Function) and function.node not in self._opaque

    # ------------------------------------------------------------------- their parts

    def _placed(
        self, model: Model, value: Value, path: ExecutionPath | None, shape: Shape = None, depth: int = 0
    ) -> tuple[Layer | None, list[Layer]]:
        """A layer and the layers that it contains; None if the value may be something other than a layer.

        ``path`` leads to the code that adds or calls the layer; None if the model contains it anyway.
        """
        if isinstance(value, UnionValue):
            options = [self._placed(model, option, path, shape, depth) for option in value.options]
            if any(layer is None for layer, _ in options):
                return None, []
            inside = [inner for _, found in options for inner in found]
            for layer in inside:
                layer.certain = False
            return options[-1][0], inside
        if not _is_layer(value):
            return None, []
        made = self._constructor(value)
        # A condition on the whole model does not make its layers conditional.
        certain = not any(
            any(place.conditions(within=model.call.path))
            for place in (path, None if made is None else made.path)
            if place is not None
        )
        layer = Layer(value, made, certain, shape, _times(made.path, model) if made is not None else None)
        inside = [layer]
        # Objects may contain each other.
        for inner in _parts(value) if depth < _DEEP else ():
            inside += self._placed(model, inner, path, shape if layer.name == BIDIRECTIONAL else None, depth + 1)[1]
        if layer.name in (SEQUENTIAL, MODEL) and made is not None:
            nested = self._model(value, made)
            model.closed = model.closed and nested.closed
            inside += [
                Layer(other.value, other.made, other.certain and certain, other.shape) for other in nested.layers
            ]
        elif isinstance(value, Instance):
            model.closed = model.closed and self._is_only_layers(value)
        elif layer.name == LAMBDA and made is not None:
            model.closed = model.closed and all(map(self._is_light, options_of(made.given("function"))))
        elif (
            isinstance(value, ExternalInstance)
            and class_of(value.name) == MODEL
            and not value.name.startswith(OF_KERAS_APPLICATIONS)
        ):
            model.closed = False
        return layer, inside

    def _constructor(self, value: Value) -> Call | None:
        if isinstance(value, ExternalInstance):
            return value.call
        return self._module.once(Program).constructors.get(value) if isinstance(value, Instance) else None

    def _count(self, total: int | None, layer: Layer) -> int | None:
        """Add the weights of one more layer to ``total``."""
        nested = self._known.get(id(layer.value))
        each = nested.parameters if nested is not None else shapes.weights(layer.value, layer.shape)
        return None if total is None or each is None else total + each

    def _ends(self, model: Model, value: Value | None) -> list[Layer] | None:
        """The layers that produce a model's outputs."""
        found: list[Layer] = []
        for item in flat(value):
            call = item.call if isinstance(item, (ExternalInstance, Tensor)) else None
            known = False
            if call is not None and call.attribute == "__call__":
                for option in options_of(call.receiver):
                    nested = self._known.get(id(option))
                    if nested is not None and nested is not model:
                        if nested.outputs is None:
                            return None
                        found += nested.outputs
                        known = True
                    else:
                        layer = next((other for other in model.layers if other.value is option), None)
                        if layer is None or isinstance(option, Instance):
                            return None
                        found.append(layer)
                        known = True
            if not known:
                return None
        return found or None


class _Walk:
    """The walk from the outputs of a functional model back to its inputs.

    Attributes:
        applied: the calls of layers on the way; inputs: those of ``keras.Input``.
        complete: whether the whole path is known.
    """

    def __init__(self, outputs: Value):
        self.applied: list[Call] = []
        self.inputs: list[Call] = []
        self.complete = True
        self._seen: set[int] = set()
        self._visit(outputs)

    def _visit(self, value: Value) -> None:
        pending = [value]
        while pending:
            value = pending.pop()
            if id(value) in self._seen:
                continue
            self._seen.add(id(value))
            if isinstance(value, UnionValue):
                pending += value.options
            elif isinstance(value, (SequenceValue, DictValue)):
                self.complete = self.complete and not value.open
                pending += value.items if isinstance(value, SequenceValue) else value.items.values()
            elif isinstance(value, ExternalInstance) and value.name == KERAS_TENSOR:
                call = value.call
                if call is None:
                    operands = value.attributes["operands"]
                    items = operands.items if isinstance(operands, SequenceValue) else [operands]
                    pending += [item for item in items if _holds_symbol(item)]
                elif call.name == INPUT:
                    self.inputs.append(call)
                else:
                    if call.attribute == "__call__":
                        self.applied.append(call)
                    pending += [item for item in call.arguments.values() if _holds_symbol(item)]
                    if call.arguments.unknown_positional or any(item is UNKNOWN for item in call.arguments.positional):
                        self.complete = False
            elif isinstance(value, Tensor) and value.call is not None:
                # A layer is called on an unknown value.
                self.complete = False
                self.applied.append(value.call)
                pending += value.call.arguments.values()
            else:
                self.complete = False
                # The output of a partly reused model: its own inputs lie before it.
                if (
                    isinstance(value, Method)
                    and isinstance(value.receiver, ExternalInstance)
                    and value.receiver.call is not None
                ):
                    pending += [item for item in value.receiver.call.arguments.values() if _holds_symbol(item)]


class _Widths:
    """The shapes between layers that are called on each other's results.

    ``data`` is the shape of a tensor that no layer returned; ``returned`` is the result of each function.
    """

    def __init__(self, data: Shape = None, returned: dict[cst.CSTNode, Value] | None = None) -> None:
        self._data = data
        self._returned = returned or {}
        self._shapes: dict[int, Shape] = {}

    def into(self, call: Call) -> Shape:
        """The shape of the first argument of a layer."""
        return self._shape(call.first, 0)

    def _shape(self, value: Value | None, depth: int) -> Shape:
        if isinstance(value, SequenceValue) and value.items and not value.open and depth < _LONG:
            return shapes.joined([self._shape(item, depth + 1) for item in value.items])
        if isinstance(value, Tensor) and value.call is None:
            return self._data
        if not isinstance(value, (ExternalInstance, Tensor)) or value.call is None or depth > _LONG:
            return None
        if id(value) not in self._shapes:
            call = value.call
            if call.name == INPUT:
                found = shapes.input_shape(call)
            elif call.attribute == "__call__" and isinstance(call.receiver, Instance):
                method = call.receiver.cls.member("call")
                found = (
                    self._shape(self._returned.get(method.node), depth + 1) if isinstance(method, Function) else None
                )
            elif call.attribute == "__call__":
                found = shapes.output_shape(call.receiver, self._shape(call.first, depth + 1))
            elif call.name == KERAS_CONCATENATE and call.given("axis") is None:
                found = self._shape(call.first, depth + 1)
            else:
                found = None
            self._shapes[id(value)] = found
        return self._shapes[id(value)]


def _holds_symbol(value: Value) -> bool:
    return not isinstance(value, (Function, Tensor)) and (
        isinstance(value, (SequenceValue, DictValue, UnionValue))
        or isinstance(value, ExternalInstance)
        and value.name == KERAS_TENSOR
        or isinstance(value, Method)
    )


def _is_layer(value: Value) -> bool:
    if isinstance(value, ExternalInstance):
        return (
            value.name in (KERAS_TENSOR, MODEL, SEQUENTIAL)
            or value.name.startswith((LAYERS, OF_KERAS_APPLICATIONS))
            or class_of(value.name) in (MODEL, LAYER)
        ) and value.call is not None
    return isinstance(value, Instance) and class_of_bases(value.cls.external_bases()) in (MODEL, LAYER)


def _parts(value: Value) -> Iterator[Value]:
    """The layers inside a wrapper, or a project layer."""
    if isinstance(value, ExternalInstance) and value.name in _WRAPPERS and value.call is not None:
        yield from (inner for inner in options_of(value.call.given("layer")) if _is_layer(inner))
    elif isinstance(value, Instance):
        yield from _held_layers(value)


def _held_layers(instance: Instance) -> Iterator[Value]:
    """The layers in the attributes of an object, including those in lists and dictionaries."""
    for value in instance.attributes.values():
        for inner in flat(value):
            if (
                _is_layer(inner)
                and inner is not instance
                and not (isinstance(inner, ExternalInstance) and inner.name == KERAS_TENSOR)
            ):
                yield inner


def _is_opaque(call: Call) -> bool:
    if call.attribute in _WEIGHT_MAKERS or call.name in _VARIABLES:
        return True
    name = call.name or ""
    return name.startswith(_FUNCTIONS_OF) and name.rpartition(".")[2] not in _LIGHT


def _times(path: ExecutionPath, model: Model) -> int | None:
    """The maximum runs of a path per construction of the model; None if unknown."""
    return shapes.product(*(loop.turns for loop in path.loops(within=model.call.path)))


def _is_repeated(path: ExecutionPath, model: Model) -> bool:
    """Whether a path runs more often than the construction of the model."""
    return any(path.loops(within=model.call.path))
