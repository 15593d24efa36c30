"""Distribution strategies: their construction and their steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, is_left_unused
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Constant,
    Dataset,
    ExecutionPath,
    ExternalInstance,
    Function,
    ModuleLike,
    SequenceValue,
    Value,
    datasets_in,
    options_of,
)
from kerascheck.knowledge.classes import MODEL_CALL, OPTIMIZER, class_of
from kerascheck.knowledge.devices import (
    EXPERIMENTAL_MIRRORED_STRATEGY,
    MIRRORED_STRATEGY,
    STRATEGY_EXPERIMENTAL_DISTRIBUTE_DATASET,
    STRATEGY_SCOPE,
)
from kerascheck.knowledge.name_heuristics import DEVICE_BATCH_SIZES, GLOBAL_BATCH_SIZES, SEVERAL_DEVICES
from kerascheck.knowledge.namespaces import KERAS, OF_DISTRIBUTE, OF_DISTRIBUTE_STRATEGY, TENSORFLOW
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.models.batches import Batching, batches_of, batching_of
from kerascheck.meaning.program.loops import SHORT_LOOP, most_iterations
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.conditions import happens_before
from kerascheck.syntax.written import assignment, last_name, unread_assignments

# These pass a function to the single device, which runs everything anyway.
_SINGLE = ("get_strategy", "OneDeviceStrategy")
_SEVERAL_DEVICES = ("MirroredStrategy", "TPUStrategy")
_SCALED = re.compile(f"{GLOBAL_BATCH_SIZES.pattern}|{DEVICE_BATCH_SIZES.pattern}", re.I)
# Functions that only display a number.
_SHOWING = frozenset({"print", "display", "info", "debug", "warning", "log", "write"})
# A Colab notebook has one GPU, or a TPU with several cores.
_ONE_GPU = re.compile(r"\bgoogle\.colab\b")
# Optimizers of Keras 3 raise "Argument(s) not recognized" for it (tested with 3.15); decay is only ignored.
_OLD_ARGUMENT = "lr"
_OTHER_WAYS = re.compile(r"experimental_set_strategy|__enter__|enter_context|parameter_server", re.I)


def eager_strategy_runs(module: Module) -> Iterator[tuple[Call, ExecutionPath]]:
    """Eager ``strategy.run(step)`` in a Python training loop: the call, and the innermost loop.

    Nothing is compiled on the path or in ``step``.
    """
    if module.once(Program).runs_eagerly:
        return
    runs = strategy_runs(module)
    compiled = {call.node for call in runs if call.path.traced_by()}
    seen = set()
    for call in runs:
        loop = call.path.innermost_loop(within="program", comprehensions=False)
        if (
            loop is None
            or not any(outer.trains for outer in call.path.loops(within="program"))
            or call.node in compiled
            or call.node in seen
            or most_iterations(call.path) <= SHORT_LOOP
            or _is_single(call)
        ):
            continue
        steps = options_of(call.given("fn"))
        if not all(isinstance(step, Function) and not step.traced and not step.opaque for step in steps):
            continue
        if any(function.opaque or function.node in module.run.compiled for function in call.path.functions()):
            continue
        seen.add(call.node)
        yield call, loop


def strategy_runs(module: Module) -> list[Call]:
    """The calls of `run` of strategies, also by its old name."""
    return [
        call
        for call in module.once(CallIndex).of_methods("run", "experimental_run_v2")
        if call.name == f"{OF_DISTRIBUTE_STRATEGY}{call.attribute}"
    ]


def _is_single(call: Call) -> bool:
    return any(
        isinstance(option, ExternalInstance) and option.name.endswith(_SINGLE) for option in options_of(call.receiver)
    )


def unconditional_mirrors(module: Module) -> Iterator[Call]:
    """Unconditional calls of MirroredStrategy for all GPUs, in a program that never mentions several."""
    if module.mentions(SEVERAL_DEVICES):
        return
    # A table of strategies may return any of them.
    calls = module.once(CallIndex)
    for call in module.once(Program).calls(MIRRORED_STRATEGY, EXPERIMENTAL_MIRRORED_STRATEGY):
        if (
            call.given("devices") is None
            and not any(call.path.conditions(within="program"))
            and len({other.name for other in calls.at(call.node)}) == 1
        ):
            yield call


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A trained model outside of every scope, although a strategy existed.

    Attributes:
        strategy, made, fit: the calls that created the strategy and the model, and the training call.
        compiled_inside: a ``compile`` of the model in a scope; None if there is none.
    """

    strategy: Call
    made: Call
    fit: Call
    compiled_inside: Call | None


def unplaced_models(module: Module) -> Iterator[Unplaced]:
    """Fitted models outside of all scopes, in a program whose strategies for several devices serve no other model."""
    made = _made_for_several(module)
    if not made or module.mentions(_OTHER_WAYS):
        return
    found: dict[cst.CSTNode, Unplaced] = {}
    for fit in module.once(Program).model_calls("fit"):
        for option in options_of(fit.receiver):
            model = module.once(Program).constructor_of(option)
            strategy = next((call for call in made if model is not None and happens_before(call, model)), None)
            if strategy is None or model is None or _may_be_placed(model.path) or _may_be_placed(fit.path):
                return
            compiled = [
                call
                for call in module.once(Program).model_calls("compile")
                if any(other is option for other in options_of(call.receiver))
            ]
            inside = next((call for call in compiled if _is_placed(call.path)), None)
            if inside is None and any(_may_be_placed(call.path) for call in compiled):
                return
            found.setdefault(model.node, Unplaced(strategy, model, fit, inside))
    yield from found.values()


def given_models(module: Module) -> Iterator[tuple[Call, Call]]:
    """A ``compile`` of the caller's model in a function's own strategy scope, and the strategy's constructor call.

    The caller built the model before the scope existed.
    """
    made = _made_for_several(module)
    if not made or module.mentions(_OTHER_WAYS):
        return
    for compiled in module.once(Program).model_calls("compile"):
        frame, receiver = (
            compiled.path.frame,
            compiled.node.func.value
            if isinstance(compiled.node, cst.Call) and isinstance(compiled.node.func, cst.Attribute)
            else None,
        )
        if (
            compiled.receiver is not UNKNOWN
            or frame.function is None
            or not isinstance(receiver, cst.Name)
            or not _is_placed(compiled.path)
        ):
            continue
        parameters = {
            parameter.name.value
            for parameter in (*frame.function.node.params.params, *frame.function.node.params.kwonly_params)
        }
        tree = frame.function.module.tree
        targets = [
            node.target
            for node in tree.descendants(frame.function.node.body)
            if isinstance(node, (cst.AssignTarget, cst.AnnAssign))
        ]
        bound = any(
            isinstance(node, cst.Name) and node.value == receiver.value
            for target in targets
            for node in (target, *tree.descendants(target))
        )
        entered = [option.call if isinstance(option, ExternalInstance) else None for option in _entered(compiled.path)]
        own = [call for call in entered if call is not None and call in made and call.path.frame is frame]
        if receiver.value in parameters and not bound and own and len(own) == len(entered):
            yield compiled, own[0]


def unentered_scopes(module: Module) -> Iterator[Call]:
    """The distinct ``strategy.scope()`` calls that are statements of their own, which enter nothing."""
    if module.mentions(_OTHER_WAYS):
        return
    seen = set()
    for call in module.once(CallIndex).named(STRATEGY_SCOPE):
        if isinstance(call.module.tree.parents.get(call.node), cst.Expr) and call.node not in seen:
            seen.add(call.node)
            yield call


def unplaced_optimizers(module: Module) -> Iterator[tuple[Call, Call]]:
    """Optimizers created outside of every scope and passed to ``compile`` inside of one under Keras 3: both calls.

    Optimizers of Keras 3 have variables from the start, and ``fit`` raises "Mixing different tf.distribute.Strategy
    objects", even on a single device. Those of Keras 2 create their variables in ``fit``. A program that uses ``lr`` is
    for Keras 2. Source: tested with MirroredStrategy on Keras 3.15 and tf-keras 2.21.
    """
    if module.once(Program).keras < 3 or module.mentions(_OTHER_WAYS):
        return
    seen = set()
    compiles = list(module.once(Program).model_calls("compile"))
    trained = list(module.once(Program).model_calls("fit", "fit_generator", "train_on_batch"))
    for compiled in compiles:
        # Another compile with a different optimizer may come between.
        if not any(fit.order > compiled.order and _last_before(fit, compiles) is compiled for fit in trained):
            continue
        optimizer = compiled.given("optimizer")
        made = (
            optimizer.call
            if isinstance(optimizer, ExternalInstance) and class_of(optimizer.name) == OPTIMIZER
            else None
        )
        if (
            made is None
            or _OLD_ARGUMENT in made.arguments.keywords
            or made.node in seen
            or not _is_placed(compiled.path)
            or _may_be_placed(made.path)
        ):
            continue
        if all(
            isinstance(option, ExternalInstance) and option.name.endswith("MirroredStrategy")
            for option in _entered(compiled.path)
        ):
            seen.add(made.node)
            yield made, compiled


@dataclass(frozen=True, slots=True)
class UnplacedInStep:
    """A model or optimizer outside of every scope that a step under ``strategy.run`` uses.

    Attributes:
        made: its constructor call.
        is_optimizer: whether it is an optimizer.
        run: the ``strategy.run`` of the step.
    """

    made: Call
    is_optimizer: bool
    run: Call


def unplaced_in_steps(module: Module) -> Iterator[UnplacedInStep]:
    """The distinct models and optimizers outside of all scopes in the steps of ``strategy.run``.

    Optimizers count only for Keras 3, which creates their variables immediately: the first update then raises "Mixing
    different tf.distribute.Strategy objects". Models with variables before the step raise "`colocate_vars_with` must
    only be passed a variable created in this tf.distribute.Strategy.scope()". Both errors also occur on one device.
    Source: tested with MirroredStrategy, TensorFlow 2.21, Keras 3.15.
    """
    made_for_several = _made_for_several(module)
    runs = {call.node: call for call in strategy_runs(module)}
    if not made_for_several or not runs or module.mentions(_OTHER_WAYS):
        return
    new_keras = module.once(Program).keras >= 3
    applied = module.once(CallIndex).of_methods("__call__")
    seen = set()
    for update in module.once(Program).updates:
        frame = next((frame for frame in update.path.frames() if frame.node in runs), None)
        if frame is None or not all(
            isinstance(option, ExternalInstance) and option.call in made_for_several
            for option in options_of(runs[frame.node].receiver)
        ):
            continue
        called = [call for call in applied if call.order < update.order and call.path.is_in(frame)]
        models = [
            [module.once(Program).constructor_of(option) for option in options_of(call.receiver)]
            for call in called
            if call.name == MODEL_CALL
        ]
        optimizer = [
            option.call if isinstance(option, ExternalInstance) and class_of(option.name) == OPTIMIZER else None
            for option in options_of(update.receiver)
        ]  # fmt: skip
        # The old name of run was removed before Keras 3.
        for options in (*models, optimizer if new_keras and runs[frame.node].attribute == "run" else ()):
            known = [made for made in options if made is not None]
            for made in known if len(known) == len(options) else ():
                if (
                    made.node in seen
                    or any(_may_be_placed(each.path) for each in known)
                    or _OLD_ARGUMENT in made.arguments.keywords
                ):
                    continue
                seen.add(made.node)
                yield UnplacedInStep(made, options is optimizer, runs[frame.node])


def _last_before(fit: Call, compiles: list[Call]) -> Call | None:
    """The last ``compile`` of the trained model before the training."""
    own = {id(option) for option in options_of(fit.receiver)}
    return next(
        (
            call
            for call in reversed(compiles)
            if call.order < fit.order and own & {id(option) for option in options_of(call.receiver)}
        ),
        None,
    )


@dataclass(frozen=True, slots=True)
class Unscaled:
    """Batches of fixed size that a strategy divides among its devices.

    Attributes:
        strategy: the constructor call.
        size: the batch size, a literal.
        place: the place of the size.
        use: the ``fit`` or ``experimental_distribute_dataset`` that divides the batches.
        is_for_one: whether the name of the size says that it is for one device.
        unused: an unused size for all devices that the program computes; None if there is none.
    """

    strategy: Call
    size: int
    place: CodeLocation
    use: Call
    is_for_one: bool
    unused: CodeLocation | None


def unscaled_batches(module: Module) -> Iterator[Unscaled]:
    """Batches for models in a scope, in a program that never scales the size for one device to all.

    Sizes that are only printed or never used do not count as scaling.
    """
    alone = module.mentions(_ONE_GPU)
    strategies = [
        call
        for call in _made_for_several(module)
        if not _is_for_one(call) and not (alone and (call.name or "").endswith("MirroredStrategy"))
    ]
    if not strategies:
        return
    seen = set()
    for use, batch, entered in (*_fitted_in_scope(module), *_distributed(module)):
        chosen = [option.call if isinstance(option, ExternalInstance) else None for option in entered]
        if chosen and all(call in strategies for call in chosen):
            # Each of the alternatives is for several devices.
            strategy = chosen[0]
        else:
            strategy = next((call for call in strategies if happens_before(call, use)), None)
        if strategy is None or batch is None or batch.place.node in seen:
            continue
        concerned = list(
            dict.fromkeys(each.module for each in (CodeLocation(module, module.tree.root), strategy, batch.place, use))
        )
        size = _written_size(batch.place)
        is_for_one = size is not None and DEVICE_BATCH_SIZES.search(last_name(size)) is not None
        if not is_for_one and size is not None and _SCALED.search(batch.place.module.tree.code_of(size)):
            continue
        unused = next((CodeLocation(each, node) for each in concerned for node in _unused_scaling(each)), None)
        if (
            is_for_one
            or not any(map(_scales, concerned))
            and (unused is not None or module.once(Program).has_many_examples(use))
        ):
            seen.add(batch.place.node)
            yield Unscaled(strategy, batch.size, batch.place, use, is_for_one, unused)


def _written_size(place: CodeLocation) -> cst.BaseExpression | None:
    """The expression of a batch size in an argument or dataset operation; None for a default."""
    node = place.node
    if isinstance(node, cst.Call):
        named = next((arg for arg in node.args if arg.keyword is not None and arg.keyword.value == "batch_size"), None)
        written = named or (node.args[0] if node.args else None)
        return None if written is None else written.value
    return node.value if isinstance(node, cst.Arg) else None


def _scales(module: ModuleLike) -> bool:
    """Whether code uses the number of devices, or a size for one or all, for more than printing and unused results."""
    return bool(_spots(module)[0])


def _unused_scaling(module: ModuleLike) -> list[cst.CSTNode]:
    """The assignments of an unused size for all devices."""
    return _spots(module)[1]


def _spots(module: ModuleLike) -> tuple[list[int], list[cst.CSTNode]]:
    if _spots not in module.memory:
        # A size for one device must be scaled; its name alone does not do that.
        spots, tree = [found.start() for found in GLOBAL_BATCH_SIZES.finditer(module.code)], module.tree
        shown = (
            [node for node in tree.parents if isinstance(node, cst.Call) and last_name(node.func) in _SHOWING]
            if spots
            else []
        )
        unread = unread_assignments(tree, shown) if spots else []
        ranges = [tree.range_of(node) for node in (*shown, *unread)]
        used = [spot for spot in spots if not any(start <= spot < end for start, end in ranges)]
        computed = [
            node
            for node in unread
            if (assigned := assignment(node)) is not None
            and isinstance(assigned.value, cst.BinaryOperation)
            and GLOBAL_BATCH_SIZES.search(tree.code_of(assigned.value))
        ]
        module.memory[_spots] = used, computed
    found: tuple[list[int], list[cst.CSTNode]] = module.memory[_spots]
    return found


def _fitted_in_scope(module: Module) -> Iterator[tuple[Call, Batching | None, list[Value]]]:
    for fit in module.once(Program).model_calls("fit"):
        made = [module.once(Program).constructor_of(option) for option in options_of(fit.receiver)]
        chain = [stage for dataset in datasets_in(fit.given("x")) for stage in dataset.stage.upstream()]
        # There, the function creates the batches of one replica.
        in_parts = any(
            stage.call is not None and (stage.call.attribute or "").endswith("from_function") for stage in chain
        )
        if not in_parts and made and all(_is_placed(fit.path if call is None else call.path) for call in made):
            yield fit, batches_of(fit), [option for call in made for option in _entered((call or fit).path)]


def _distributed(module: Module) -> Iterator[tuple[Call, Batching | None, list[Value]]]:
    for call in module.once(CallIndex).named(STRATEGY_EXPERIMENTAL_DISTRIBUTE_DATASET):
        if not _is_single(call) and not is_left_unused(call):
            given = call.given("dataset")
            if isinstance(given, Dataset) and any(
                role == "train" and given.stage in sink.stage.upstream() for sink, role in module.once(Pipelines).sinks
            ):
                yield call, batching_of(given), list(options_of(call.receiver))


def _made_for_several(module: Module) -> list[Call]:
    return [
        call
        for call in module.once(CallIndex).with_prefix(OF_DISTRIBUTE)
        if (call.name or "").endswith(_SEVERAL_DEVICES)
    ]


def _is_for_one(call: Call) -> bool:
    devices = call.given("devices") if "devices" in call.signature else None
    return (
        isinstance(devices, Constant)
        or isinstance(devices, SequenceValue)
        and len(devices.items) <= 1
        and not devices.open
    )


def _may_be_placed(path: ExecutionPath) -> bool:
    """Whether a path is or may be in the scope of a strategy."""
    return any(any(map(_may_be_scope, options_of(each.value))) for each in path.managers(within="program"))


def _may_be_scope(value: Value) -> bool:
    return _is_scope(value) or not (
        isinstance(value, ExternalInstance) and value.name.startswith((TENSORFLOW, KERAS, "builtins."))
    )


def _entered(path: ExecutionPath) -> list[Value]:
    """The strategies whose scope contains a path; alternatives under conditions."""
    scopes = [
        option for each in path.managers(within="program") for option in options_of(each.value) if _is_scope(option)
    ]
    return [
        option
        for made in scopes
        if isinstance(made, ExternalInstance) and made.call is not None
        for option in options_of(made.call.receiver)
    ]


def _is_placed(path: ExecutionPath) -> bool:
    return any(all(map(_is_scope, options_of(each.value))) for each in path.managers(within="program"))


def _is_scope(value: Value) -> bool:
    return isinstance(value, ExternalInstance) and value.name == STRATEGY_SCOPE
