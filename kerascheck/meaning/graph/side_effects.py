"""Python side effects in compiled code, which happen once per trace instead of once per step."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from kerascheck.interpreter.code_location import is_off_by_default
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
    ExternalInstance,
    ModuleLike,
    SequenceValue,
    Value,
    holds_tensor,
    options_of,
    shows_tensor,
)
from kerascheck.knowledge.callables import (
    VARIABLE,
)
from kerascheck.knowledge.classes import LAYER_SETATTR, MODEL_SETATTR
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.graph.first_trace import clears_own_condition
from kerascheck.meaning.graph.layer_uses import is_only_called_eagerly
from kerascheck.meaning.graph.trace_state import adds_number, counts_up, is_captured, is_reset_before_trace
from kerascheck.meaning.graph.traced_code import traced_calls, tracing_frame
from kerascheck.meaning.graph.traced_prints import (
    formats_number,
    prints_captured_values,
    prints_in_each_step,
    tells_of_tracing,
)


class Effect(enum.Enum):
    """A Python effect that happens once per trace, although every step needs it."""

    PRINTS_TENSOR = enum.auto()
    """Prints a tensor, which has no values yet."""
    PRINTS_PARTS = enum.auto()
    """Prints an object that contains tensors."""
    PRINTS_WORDS = enum.auto()
    """Prints only words, perhaps to show when the code is traced."""
    DRAWS = enum.auto()
    """Draws a random number."""
    ASKS_TIME = enum.auto()
    """Reads a clock, or sleeps."""
    USES_FILE = enum.auto()
    """Opens a file, or requests input."""
    APPENDS = enum.auto()
    """Keeps a tensor in a list."""
    ASSIGNS = enum.auto()
    """Keeps a tensor in an attribute or item."""
    COUNTS = enum.auto()
    """Increments a variable."""
    COUNTS_ATTRIBUTE = enum.auto()
    """Increments an attribute."""


@dataclass(frozen=True, slots=True)
class SideEffect:
    """Python in compiled code that runs once per trace, although every step needs it.

    Attributes:
        module, node: the location.
        how: the compiler of the code, one of :data:`COMPILERS`.
        what: the name of the callee or target: "print", "np.random.normal", "self.count", ...; empty if there is none.
        effect: the effect.
        call: the call, if it is one.
    """

    module: ModuleLike
    node: cst.CSTNode
    how: str
    what: str
    effect: Effect
    call: Call | None = None


_CLOCKS = frozenset(
    "time.time time.perf_counter time.monotonic time.process_time time.sleep datetime.datetime.now".split()
)
_RANDOM = ("numpy.random.", "random.")
# These create or seed a generator, or work on drawn numbers.
_SETTING_UP = (
    ".astype", ".reshape", ".copy", ".item", ".tolist", ".flatten", ".ravel", ".sum", ".mean", ".round",
    "seed", "default_rng", "RandomState", "Generator", "SeedSequence", "Random", "SystemRandom", "getstate", "get_state", "set_state", "setstate",
)  # fmt: skip
_APPENDING = frozenset({"builtins.list.append", "builtins.list.extend"})
_SETTING_ATTRIBUTES = frozenset({LAYER_SETATTR, MODEL_SETATTR, "builtins.object.__setattr__"})


def side_effects(module: Module) -> Iterator[SideEffect]:
    """The side effects of compiled code that happen once per trace, although every step needs them."""
    # If a function sets the seed in each step, the same numbers are intended.
    seeding = {call.path.frame.node for call in module.once(CallIndex).named("numpy.random.seed", "random.seed")}
    eager: dict[cst.CSTNode, bool] = {}

    def is_for_values(path: ExecutionPath) -> bool:
        frame = tracing_frame(path)
        if frame is None or frame.function is None:
            return False
        if frame.function.node not in eager:
            eager[frame.function.node] = is_only_called_eagerly(module, path)
        return eager[frame.function.node]

    for call, how in traced_calls(module):
        # A number kept in a metric may be meant for eager evaluation. The rule python-in-map covers functions of
        # datasets.
        if how == "metric" or any(frame.traced == "map" for frame in call.path.frames()):
            continue
        found = _effect_of(module, call, how, seeding)
        if found is None or how == "call" and is_for_values(call.path) or _is_compiled_on_demand(call):
            continue
        effect, what = found
        yield SideEffect(call.module, call.node, how, what, effect, call)


def _effect_of(module: Module, call: Call, how: str, seeding: set[cst.CSTNode]) -> tuple[Effect, str] | None:
    """The side effect of a call in code that ``how`` compiles, and the name of the callee; None if there is none.

    Args:
        seeding: the functions that set the seed of a generator.
    """
    name = call.name or ""
    short = name.removeprefix("builtins.").replace("numpy.", "np.")
    if name == "builtins.print" and any(map(shows_tensor, call.arguments.values())):
        if tells_of_tracing(call) or prints_captured_values(call) or formats_number(call):
            return None
        return Effect.PRINTS_TENSOR if _gets_tensor(call) else Effect.PRINTS_PARTS, short
    if name == "builtins.print":
        is_each = how in ("tf.function", "train_step") and prints_in_each_step(module, call, how)
        return (Effect.PRINTS_WORDS, short) if is_each else None
    if name.startswith(_RANDOM):
        draws = not name.endswith(_SETTING_UP) and not _gets_tensor(call) and not _is_seed(call)
        is_drawn = draws and not _is_counted(call) and call.path.frame.node not in seeding
        return (Effect.DRAWS, short) if is_drawn else None
    if name in _CLOCKS:
        return Effect.ASKS_TIME, short
    if name in ("builtins.open", "builtins.input"):
        return Effect.USES_FILE, short
    if name in _APPENDING:
        appends = any(map(_is_certainly_tensor, call.arguments.values())) and is_captured(call)
        return (Effect.APPENDS, short.replace("list.", "")) if appends else None
    if name == "builtins.object.__set__":
        return Effect.ASSIGNS, ""
    if name == "builtins.object.__iadd__":
        return (Effect.COUNTS, "") if adds_number(call.node) else None
    counts = (
        call.attribute is not None
        and name in _SETTING_ATTRIBUTES
        and counts_up(call)
        and not is_reset_before_trace(call)
    )
    return (Effect.COUNTS_ATTRIBUTE, f"self.{call.attribute}") if counts else None


def _gets_tensor(call: Call) -> bool:
    return any(map(holds_tensor, call.arguments.values()))


def _is_compiled_on_demand(call: Call) -> bool:
    """Whether the user enables the compiler of a call's code, as in ``if self.trace: f = tf.function(f)``."""
    frame = tracing_frame(call.path)
    compiler = frame.function.options if frame is not None and frame.function is not None else None
    return compiler is not None and is_off_by_default(compiler)


def _is_counted(call: Call) -> bool:
    """Whether a call is under a condition that its own branches change, so a trace may not reach it.

    An example is a pool that returns its contents once it is full.
    """
    return any(map(clears_own_condition, call.path.conditions(within=tracing_frame(call.path) or "program")))


def _is_seed(call: Call) -> bool:
    """Whether a draw only seeds TensorFlow, whose draws still differ between steps."""
    holder = call.module.tree.parents.get(call.node)
    return isinstance(holder, cst.Arg) and holder.keyword is not None and holder.keyword.value == "seed"


def _is_certainly_tensor(value: Value) -> bool:
    """Whether a value is or contains a tensor, and is not a variable, which keeps its value after the trace."""
    options = options_of(value)
    if any(isinstance(option, ExternalInstance) and option.name == VARIABLE for option in options):
        return False
    return any(
        any(map(_is_certainly_tensor, option.items)) if isinstance(option, SequenceValue) else holds_tensor(option)
        for option in options
    )
