"""ImageDataGenerators, and the image iterators that their ``flow`` methods return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kerascheck.interpreter.keras_data import flow_call
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Dataset,
    ExternalInstance,
    Function,
    IteratorValue,
    Value,
    flat,
    options_of,
)
from kerascheck.knowledge.classes import IMAGE_DATA_GENERATOR
from kerascheck.knowledge.datasets import FROM_GENERATOR
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.written import names_held_out

_AUGMENTING = frozenset(
    "rotation_range width_shift_range height_shift_range brightness_range shear_range zoom_range channel_shift_range horizontal_flip vertical_flip".split()
)


def flows_of(module: Module) -> dict[Call, bool]:
    """The ``flow`` and ``flow_from_...`` calls of ImageDataGenerators that supply training data.

    Maps each call to whether ``zip`` combines it with another flow, such as pictures with their masks.
    """
    if module.is_graph_code:
        return {}
    program = module.once(Program)
    given: list[Value] = [
        call.given("x") or UNKNOWN for call in program.model_calls("fit", "fit_generator", "train_on_batch")
    ]
    given += [loop.value for loop in module.run.loops if loop.trains]
    # Validation may read its images in the outer loop, once per epoch.
    innermost = {
        call.path.innermost_loop(within="program")
        for call in (*program.updates, *program.model_calls("fit", "train_on_batch"))
    } - {None}
    given += [
        call.receiver
        for call in module.once(CallIndex).of_methods("next", "__next__")
        if call.path.innermost_loop(within="program") in innermost
    ]
    found: dict[Call, bool] = {}
    for value in given:
        for flow, paired in _flows_in(module, value):
            found[flow] = found.get(flow, False) or paired
    return found


def feeds(module: Module, training: Call) -> bool:
    """Whether an ImageDataGenerator supplies the data of ``fit`` or another training method."""
    return any(_flows_in(module, training.given("x") or UNKNOWN))


def generators_of(flows: Iterable[Call]) -> list[Call]:
    """The distinct ImageDataGenerator constructors of some flows."""
    made = [
        receiver.call
        for flow in flows
        for receiver in options_of(flow.receiver)
        if isinstance(receiver, ExternalInstance) and receiver.call is not None
    ]
    return list(dict.fromkeys(made))


def handed_generators(module: Module) -> list[Call]:
    """Augmenting ImageDataGenerators, or their images, that a function without visible callers returns.

    Only training data is augmented. A generator without images is inconclusive if the training does not use it.
    """
    handed = []
    for call in () if module.is_graph_code else module.once(CallIndex).named(IMAGE_DATA_GENERATOR):
        outer = call.path.root.function
        if outer is None or names_held_out(outer.name) or _AUGMENTING.isdisjoint(call.arguments.keywords):
            continue
        for value in flat(module.run.returned.get(outer.node)):
            flow = flow_call(value)
            receiver = value if flow is None else flow.receiver
            if any(option is call.result for option in options_of(receiver)) and (
                flow is not None or not module.once(Program).trains
            ):
                handed.append(call)
                break
    return handed


def _flows_in(module: Module, value: Value | None, paired: bool = False) -> Iterator[tuple[Call, bool]]:
    """The ImageDataGenerator calls that create an image iterator, or the iterator of a ``from_generator`` dataset."""
    for option in options_of(value):
        if isinstance(option, IteratorValue):
            for inner in option.over:
                yield from _flows_in(module, inner, paired or option.kind == "zip")
        elif isinstance(option, Dataset):
            for made in (stage.given("generator") for stage in option.stage.upstream() if stage.name == FROM_GENERATOR):
                for function in options_of(made):
                    yield from _flows_in(
                        module,
                        module.run.returned.get(function.node) if isinstance(function, Function) else None,
                        paired,
                    )
        elif (flow := flow_call(option)) is not None:
            yield flow, paired
