"""Code that is traced into a graph: which it is, what compiles it, and what that means for Python in it.

What Keras 3 does was tried on TensorFlow 2.21 and Keras 3.15: ``call``, ``train_step``, losses and metrics are traced *without*
AutoGraph, so ``if tensor:`` raises there, while it is converted in a function of one's own under ``tf.function``. Keras 2 converts all of them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation, is_off_by_default
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.nodes import remembered
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Class,
    Constant,
    Dataset,
    ExecutionPath,
    ExternalInstance,
    Function,
    Instance,
    IteratorValue,
    ModuleLike,
    SequenceValue,
    Tensor,
    Value,
    constant,
    holds_tensor,
    options_of,
    shows_tensor,
)
from kerascheck.knowledge.callables import (
    INIT_SCOPE,
    LISTS_OF_TENSORS,
    OPS_TRANSPOSE,
    TENSOR_BOOL,
    TENSOR_ITEM,
    TENSOR_NUMPY,
    TENSOR_TOLIST,
    TRANSPOSE,
    VARIABLE,
)
from kerascheck.knowledge.classes import GRADIENT_TAPE, LAYER_SETATTR, MODEL_SETATTR
from kerascheck.meaning.data.mapped_functions import creates_state
from kerascheck.meaning.program.loops import arguments_for, bound_in, local_names
from kerascheck.meaning.program.program import Program
from kerascheck.meaning.program.tapes import tapes_of
from kerascheck.syntax.conditions import CONDITIONS, written_conditions
from kerascheck.syntax.tree import Tree, alike
from kerascheck.syntax.written import assignment, is_beside_training, is_target

COMPILERS = frozenset({"call", "train_step", "test_step", "predict_step", "loss", "metric", "Lambda", "tf.function"})
"""What compiles code: a method or function that Keras traces, or ``tf.function``."""


def compiled_by(path: ExecutionPath) -> str | None:
    """What compiles the code that runs here, one of :data:`COMPILERS`; None for eager code.

    ``tf.init_scope`` lifts code out of the graph again; on PyTorch nothing is compiled.
    """
    how = _written_for(path)
    lifted = how is not None and any(map(_lifts, path.managers(within=tracing_frame(path) or "program")))
    return None if lifted else how


def _written_for(path: ExecutionPath) -> str | None:
    """What would compile the code that runs here if nothing lifted it out of the graph."""
    how = path.traced_by()
    return how if how in COMPILERS and path.module.runtime.backend != "torch" else None


def _lifts(manager: ExecutionPath) -> bool:
    return isinstance(manager.value, ExternalInstance) and manager.value.name == INIT_SCOPE


def traced_calls(module: Module) -> tuple[tuple[Call, str], ...]:
    """Calls in compiled code, in program order, each place once, with what compiles it.

    None in a program that switches compilation off, none of what a program calls eagerly only, by
    a hand-written loop without ``fit``, none of metrics that no model is seen to be compiled with, none behind a question of how
    the code runs, and none of graphs of TensorFlow 1.
    """
    return module.once(find_traced_calls)


def find_traced_calls(module: Module) -> tuple[tuple[Call, str], ...]:
    """What :func:`traced_calls` remembers."""
    return tuple(_traced_calls(module))


def _traced_calls(module: Module) -> Iterator[tuple[Call, str]]:
    program = module.once(Program)
    if module.builds_graphs or program.runs_eagerly:
        return
    seen = set()
    # Many calls stand in one place, and many places in one.
    leaving: dict[ExecutionPath, bool] = {}
    for call in module.run.calls:
        how = _certain_compiler(call.path, program, leaving) if call.node not in seen else None
        if how is not None:
            seen.add(call.node)
            yield call, how


def _certain_compiler(path: ExecutionPath, program: Program, leaving: dict[ExecutionPath, bool]) -> str | None:
    """What compiles the code that runs in a place, unless a program runs it eagerly, or may; see :func:`_leaves_graph`."""
    how = _written_for(path)
    if how is None or _leaves_graph(path, leaving):
        return None
    if how not in ("tf.function", "train_step") and program.steps_eagerly:
        return None
    # Some metrics are for eager evaluation only, and say so nowhere.
    frame = tracing_frame(path) if how == "metric" else None
    metric = None if frame is None else frame.function
    if metric is not None and metric.owner is not None and metric.owner not in program.compiled_metrics:
        return None
    return how


def _leaves_graph(path: ExecutionPath, known: dict[ExecutionPath, bool]) -> bool:
    """Whether compiled code is lifted out of the graph on the way from the function that is traced to a place, or is behind a question of
    how it runs; what is ``known`` of places is added to."""
    way: list[ExecutionPath] = []
    while path not in known and not path.traced and path.parent is not None:
        way.append(path)
        path = path.parent
    leaves = known.get(path, False)
    for each in reversed(way):
        leaves = (
            leaves or (each.kind == "with" and _lifts(each)) or (each.kind in CONDITIONS and _depends_on_mode(each))
        )
        known[each] = leaves
    return leaves


def is_seen_compiled(module: Module, how: str) -> bool:
    """Whether code that is written to be compiled by ``how`` is: who uses the layers of a module that trains nothing may call
    them eagerly."""
    return how in ("tf.function", "train_step") or module.once(Program).trains


def cannot_be_compiled(module: Module) -> bool:
    """Whether what tf.function or Keras would compile creates variables in each trace, or asks tensors for their values: without a switch to eager code that raises."""
    return any(
        compiled_by(call.path) in ("tf.function", "train_step", "call")
        and (
            creates_state(call) is not None
            and not _is_made_once(call)
            or call.name in (TENSOR_NUMPY, TENSOR_ITEM, TENSOR_TOLIST)
            or (call.name or "").startswith("numpy.")
            and any(map(holds_tensor, call.arguments.values()))
        )
        for call in module.run.calls
    )


_UNMADE = re.compile(r"\bNone\b|\bnot\b|\bin\b|hasattr|built|init|first|creat|exist|made|done|ready|setup", re.I)


def _is_made_once(call: Call) -> bool:
    """Whether a place of compiled code is behind a question whether something is made already."""
    return any(
        condition.kind == "handler" or _UNMADE.search(condition.question) or _is_left_by_itself(condition)
        for condition in call.path.conditions(within=tracing_frame(call.path) or "program")
    )


def _is_left_by_itself(branch: ExecutionPath) -> bool:
    """Whether a branch sets what its condition asks for, as ``if self.first: ...; self.first = False``, so that it runs once."""
    if not isinstance(branch.node, cst.If):
        return False
    tree = branch.module.tree
    asked = {
        tree.code_of(node)
        for node in (branch.node.test, *tree.descendants(branch.node.test))
        if isinstance(node, (cst.Name, cst.Attribute))
    }
    return any(
        isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)) and tree.code_of(node.target) in asked
        for node in tree.descendants(branch.node.body)
    )


_MODE = re.compile(
    r"eager|symbolic|is_(?:\w+_)?tensor\b|in_tf_function|\bbackend\b|torch|jax|numpy|ndarray|KerasTensor", re.I
)


_BACKEND = re.compile(r"\b(?:\w+\.)*backend\(\) *== *['\"](\w+)['\"]")


def asks_for_mode(path: ExecutionPath) -> bool:
    """Whether a place of compiled code is behind a question of how it runs, as ``if tf.executing_eagerly()``: it may not be for tracing."""
    return any(map(_depends_on_mode, path.conditions(within=tracing_frame(path) or "program")))


def _depends_on_mode(branch: ExecutionPath) -> bool:
    test = branch.question
    return test != "" and _asks_for_mode(test, branch.label == "if")


@lru_cache(1000)
def _asks_for_mode(test: str, is_if: bool) -> bool:
    backend = _BACKEND.search(test)
    if backend is None:
        return _MODE.search(test) is not None
    # What is written for TensorFlow, or left to it by a question for another backend, is traced like all the rest.
    return (backend[1] == "tensorflow") != is_if or _MODE.search(_BACKEND.sub("", test)) is not None


def tracing_frame(path: ExecutionPath) -> ExecutionPath | None:
    """The function around a place whose tracing runs it; None for eager code."""
    return next((frame for frame in path.frames() if frame.traced), None)


# What asks whether something has been done before: for None, attributes, members, counters and states of building.
_ONCE = re.compile(
    r"\bNone\b|\bnot\b|\bin\b|\bis\b|\w\(|==|!=|<|built|build|init|first|creat|exist|cache|step|count|made|done|ready|setup",
    re.I,
)


def only_in_first_trace(call: Call) -> bool:
    """Whether a place of compiled code may run in the first trace only, as behind ``if self.layer is None``, or
    ``if layer is None`` where whoever calls the compiled function gives the layer or does not.

    A condition that asks for numbers and flags, such as ``if self.rate > 0 and training``, holds in every trace or in none.
    """
    frame = tracing_frame(call.path)
    if not all(map(_asks_settings, call.path.conditions(within=frame or "program"))):
        return True
    names: set[str] = set()
    node = call.node
    for inner in call.path.frames():
        function = inner.function
        if function is None or not isinstance(function.node, cst.FunctionDef):
            return False
        # What a function asks about its parameters is what its caller asks about the arguments.
        tree = function.module.tree
        names = (names | _asked_for_none(tree, node, function.node)) & {
            parameter.name.value
            for parameter in tree.descendants(function.node.params)
            if isinstance(parameter, cst.Param)
        }
        if inner is frame:
            return bool(names)
        if not isinstance(inner.node, cst.Call):
            return False
        names = (
            {given.value for given in arguments_for(names, function, inner.node) if isinstance(given, cst.Name)}
            if names
            else set()
        )
        node = inner.node
    return False


def _asks_settings(branch: ExecutionPath) -> bool:
    """Whether a condition compares and combines settings, and asks nothing that a first trace changes."""
    if branch.test is None or _is_left_by_itself(branch):
        return False
    # What only the constructor sets is never changed by a trace.
    asked = re.sub(
        r"\bnot self\.(\w+)\b(?!\.)",
        lambda asked: asked[1] if _is_set_once(branch, asked[1]) else asked[0],
        branch.question,
    )
    return _ONCE.search(asked) is None


def _is_set_once(branch: ExecutionPath, name: str) -> bool:
    """Whether nothing but the constructors of the class around a place sets an attribute of its objects."""
    tree = branch.module.tree
    cls = tree.enclosing(branch.node, cst.ClassDef)
    if cls is None:
        return False
    setters = set()
    for node in tree.descendants(cls):
        if not isinstance(node, cst.Attribute) or node.attr.value != name:
            continue
        holder = tree.parents.get(node)
        if isinstance(holder, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            method = tree.enclosing(node, cst.FunctionDef)
            setters.add(None if method is None else method.name.value)
        elif isinstance(holder, (cst.Attribute, cst.Subscript)):
            # A list that is extended, or whatever else changes by its methods.
            return False
    return setters == {"__init__"}


def _asked_for_none(tree: Tree, node: cst.CSTNode, function: cst.FunctionDef) -> set[str]:
    """The variables that are compared with None in the conditions around a place in a function."""
    found = set()
    for condition in written_conditions(tree, node, within=function):
        for test in tree.descendants(condition.test) if isinstance(condition, cst.If) else ():
            if (
                isinstance(test, cst.Comparison)
                and isinstance(test.left, cst.Name)
                and any(
                    isinstance(target.comparator, cst.Name) and target.comparator.value == "None"
                    for target in test.comparisons
                )
            ):
                found.add(test.left.value)
    return found


def converts_branches(call: Call, how: str) -> bool:
    """Whether AutoGraph turns ``if`` and ``while`` over tensors into graph operations at a place that ``how`` compiles.

    Also in what Keras traces, where it is decorated itself. ``autograph=False`` switches it off.
    """
    decorated = next((function for function in call.path.functions() if function.traced == "tf.function"), None)
    if decorated is not None:
        return decorated.options is None or constant(decorated.options.given("autograph")) is not False
    return how == "tf.function" or call.module.runtime.keras < 3


def compiled_functions(module: Module) -> Iterator[Function]:
    """The functions of a module that ``tf.function`` compiles, in the order of the text."""
    for node, function in module.run.functions.items():
        if function.module is module and isinstance(node, cst.FunctionDef) and (function.traced == "tf.function"):
            yield function


class Effect(enum.Enum):
    """What Python does once per trace that is meant for every step."""

    PRINTS_TENSOR = enum.auto()
    """Prints a tensor, which has no numbers yet."""
    PRINTS_PARTS = enum.auto()
    """Prints what holds tensors."""
    PRINTS_WORDS = enum.auto()
    """Prints words alone, perhaps to show when the code is traced."""
    DRAWS = enum.auto()
    """Draws a random number."""
    ASKS_TIME = enum.auto()
    """Asks a clock, or waits."""
    USES_FILE = enum.auto()
    """Opens a file, or asks for input."""
    APPENDS = enum.auto()
    """Keeps a tensor in a list."""
    ASSIGNS = enum.auto()
    """Keeps a tensor in an attribute or item."""
    COUNTS = enum.auto()
    """Counts in a name."""
    COUNTS_ATTRIBUTE = enum.auto()
    """Counts in an attribute."""


@dataclass(frozen=True, slots=True)
class SideEffect:
    """Python in compiled code that is meant to happen in every step and happens once per trace.

    Attributes:
        module, node: where.
        how: what compiles the code, one of :data:`COMPILERS`.
        what: the name of what is called or changed: "print", "np.random.normal", "self.count", ...; empty without one.
        effect: what it does.
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
# These make or set a generator, or work on what was drawn.
_SETTING_UP = (
    ".astype", ".reshape", ".copy", ".item", ".tolist", ".flatten", ".ravel", ".sum", ".mean", ".round",
    "seed", "default_rng", "RandomState", "Generator", "SeedSequence", "Random", "SystemRandom", "getstate", "get_state", "set_state", "setstate",
)  # fmt: skip
_APPENDING = frozenset({"builtins.list.append", "builtins.list.extend"})
_SETTING_ATTRIBUTES = frozenset({LAYER_SETATTR, MODEL_SETATTR, "builtins.object.__setattr__"})


def side_effects(module: Module) -> Iterator[SideEffect]:
    """What compiled code does once per trace although it is meant for every step."""
    # Who sets the seed there wants the same numbers each time.
    seeding = {call.path.frame.node for call in module.run.calls if call.name in ("numpy.random.seed", "random.seed")}
    eager: dict[cst.CSTNode, bool] = {}

    def is_for_values(path: ExecutionPath) -> bool:
        frame = tracing_frame(path)
        if frame is None or frame.function is None:
            return False
        if frame.function.node not in eager:
            eager[frame.function.node] = _is_only_called_eagerly(module, path)
        return eager[frame.function.node]

    for call, how in traced_calls(module):
        # A number that is kept in a metric may be meant for eager evaluation; python-in-map tells of the functions of datasets.
        if how == "metric" or any(frame.traced == "map" for frame in call.path.frames()):
            continue
        found = _effect_of(module, call, how, seeding)
        if found is None or how == "call" and is_for_values(call.path) or _is_compiled_on_demand(call):
            continue
        effect, what = found
        yield SideEffect(call.module, call.node, how, what, effect, call)


def _effect_of(module: Module, call: Call, how: str, seeding: set[cst.CSTNode]) -> tuple[Effect, str] | None:
    """What a call in code that is compiled by ``how`` does once per trace, and the words for what does it; None for nothing.

    Args:
        seeding: the functions that set the seed of a generator.
    """
    name = call.name or ""
    short = name.removeprefix("builtins.").replace("numpy.", "np.")
    if name == "builtins.print" and any(map(shows_tensor, call.arguments.values())):
        if tells_of_tracing(call) or _prints_what_is_there(call) or _formats_number(call):
            return None
        return Effect.PRINTS_TENSOR if _gets_tensor(call) else Effect.PRINTS_PARTS, short
    if name == "builtins.print":
        is_each = how in ("tf.function", "train_step") and _is_for_each_step(module, call, how)
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
        return (Effect.COUNTS, "") if _adds_number(call.node) else None
    counts = call.attribute is not None and name in _SETTING_ATTRIBUTES and _counts(call) and not _starts_over(call)
    return (Effect.COUNTS_ATTRIBUTE, f"self.{call.attribute}") if counts else None


def _gets_tensor(call: Call) -> bool:
    return any(map(holds_tensor, call.arguments.values()))


def _is_compiled_on_demand(call: Call) -> bool:
    """Whether what compiles the code around a place is switched on by whoever asks for it: ``if self.trace: f = tf.function(f)``."""
    frame = tracing_frame(call.path)
    compiler = frame.function.options if frame is not None and frame.function is not None else None
    return compiler is not None and is_off_by_default(compiler)


def _is_counted(call: Call) -> bool:
    """Whether a place is behind a condition that its own branches change, as a pool that gives what it holds once it is full: a trace may not reach it."""
    return any(map(_is_left_by_itself, call.path.conditions(within=tracing_frame(call.path) or "program")))


def _is_seed(call: Call) -> bool:
    """Whether a draw is only where the draws of TensorFlow begin: these still differ from step to step."""
    holder = call.module.tree.parents.get(call.node)
    return isinstance(holder, cst.Arg) and holder.keyword is not None and holder.keyword.value == "seed"


def is_captured(call: Call) -> bool:
    """Whether the receiver of a method call is a variable from outside of the function that calls it, or an item of one.

    In compiled code, from outside of what is compiled: a list of the function around may be made anew in every trace.
    """
    function = call.path.frame.function
    receiver = (
        call.node.func.value if isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Attribute) else None
    )
    if function is None or receiver is None:
        return False
    while isinstance(receiver, cst.Subscript):
        receiver = receiver.value
    if isinstance(receiver, cst.Attribute):
        return True
    if not isinstance(receiver, cst.Name):
        return False
    tree = call.module.tree
    if any(
        isinstance(outer, cst.BaseComp) and receiver.value in bound_in(call.module, outer)
        for outer in tree.ancestors(call.node)
    ):
        return False
    around = _enclosing(tree, call.node)
    for frame in call.path.frames():
        if (
            frame.function is not None
            and frame.function.node in around
            and receiver.value in remembered(frame.function.module, frame.function.node, local_names)
        ):
            return False
        if frame.traced:
            break
    return True


def _enclosing(tree: Tree, node: cst.CSTNode) -> set[cst.CSTNode]:
    """The functions around a node."""
    return {outer for outer in tree.ancestors(node) if isinstance(outer, (cst.FunctionDef, cst.Lambda))}


def _is_certainly_tensor(value: Value) -> bool:
    """Whether a value is a tensor, or a list with one in it, and no variable, which keeps its numbers beyond the trace."""
    options = options_of(value)
    if any(isinstance(option, ExternalInstance) and option.name == VARIABLE for option in options):
        return False
    return any(
        any(map(_is_certainly_tensor, option.items)) if isinstance(option, SequenceValue) else holds_tensor(option)
        for option in options
    )


# What is printed for the trace itself. Words alone may say more of it: there is no tensor that tells what they are for.
_OF_TRACING = re.compile(r"trac|追踪|跟踪|compil", re.I)
_OF_TRACING_IN_WORDS = re.compile(
    r"trac|追踪|跟踪|compil|graph|build|creat|construct|python|side.?effect|once|first|eager|execut|called|debug|test",
    re.I,
)


def tells_of_tracing(call: Call, words: re.Pattern[str] = _OF_TRACING) -> bool:
    """Whether a print says itself that it is for the trace: in its texts and names, or by the shape that it shows."""
    found = call.module.tree.descendants(call.node)
    return any(
        isinstance(node, cst.Attribute)
        and node.attr.value == "shape"
        or isinstance(node, (cst.SimpleString, cst.FormattedStringText, cst.Name))
        and words.search(node.value) is not None
        for node in found
    )


def _is_for_each_step(module: Module, call: Call, how: str) -> bool:
    """Whether a print shows nothing but words, none of them about tracing, in what is called again and again, or behind a condition on a tensor."""
    words = [constant(value) for value in call.arguments.positional]
    if (
        not words
        or not all(isinstance(word, str) for word in words)
        or call.arguments.unknown_positional
        or tells_of_tracing(call, _OF_TRACING_IN_WORDS)
    ):
        return False
    frame = tracing_frame(call.path)
    if frame is None:
        return False
    conditions = list(call.path.conditions(within=frame))
    if any(call.path.tries(within=frame)) or any(condition.kind == "handler" for condition in conditions):
        return False
    tests = {condition.test for condition in conditions} - {None}
    if tests:
        return any(other.name == TENSOR_BOOL and other.node in tests for other in module.run.calls)
    if how == "train_step" or frame.innermost_loop(within="program") is not None:
        return True
    return any(_is_graph_loop(option) for loop in call.path.loops(within=frame) for option in options_of(loop.value))


def _is_graph_loop(over: Value) -> bool:
    """Whether AutoGraph makes a loop over something one of the graph, whose body is traced once."""
    return (
        isinstance(over, (Tensor, Dataset))
        or isinstance(over, IteratorValue)
        and over.kind == "enumerate"
        and any(map(_is_graph_loop, over.over))
    )


_NUMBER_FORMAT = re.compile(r"%[-+ #0-9.]*[a-qt-z]|\{[^{}]*:[^{}]*\}", re.I)


def _formats_number(call: Call) -> bool:
    """Whether a print formats something as a number, by ``f"{loss:.3f}"`` and its like: that raises TypeError for the tensors of a trace (tried with TensorFlow 2.21)."""
    return any(
        isinstance(node, cst.FormattedStringExpression)
        and node.format_spec is not None
        or isinstance(node, cst.SimpleString)
        and _NUMBER_FORMAT.search(node.value) is not None
        for node in call.module.tree.descendants(call.node)
    )


def _prints_what_is_there(call: Call) -> bool:
    """Whether all tensors that a print is given, also in texts, are variables from outside of the compiled function, where they have got their values."""
    given = [
        call.arguments.node(place, None) for place, value in enumerate(call.arguments.positional) if shows_tensor(value)
    ]
    return all(node is not None and _names_outside(node.value, call) for node in given)


def _names_outside(node: cst.BaseExpression, call: Call) -> bool:
    """Whether an expression is a variable from outside of what is compiled, or a text with nothing else in it."""
    if isinstance(node, cst.FormattedString):
        shown = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
        return all(isinstance(each, cst.Name) and not _is_local(each.value, call.path) for each in shown)
    return isinstance(node, cst.Name) and not _is_local(node.value, call.path)


def _is_local(name: str, path: ExecutionPath) -> bool:
    """Whether a name belongs to the function at a place, or to one between that and what is compiled."""
    for frame in path.frames():
        if frame.function is not None and name in remembered(frame.function.module, frame.function.node, local_names):
            return True
        if frame.traced:
            break
    return False


def keeps_in_trace(module: Module, call: Call) -> bool:
    """Whether an attribute that compiled code sets is read in compiled code only, as far as functions of its class that read it are seen to run."""
    target = call.node
    tree = call.module.tree
    around = tree.enclosing(target, cst.ClassDef)
    if not isinstance(target, cst.Attribute) or around is None:
        return False
    reading = (
        node
        for node in tree.descendants(around)
        if isinstance(node, cst.Attribute) and alike(node, target) and not is_target(tree.parents[node], node)
    )
    readers = {tree.enclosing(node, cst.FunctionDef) for node in reading}
    runs: dict[cst.CSTNode, set[str | None]] = {}
    for other in module.run.calls:
        function = other.path.frame.function
        if function is not None and function.node in readers:
            runs.setdefault(function.node, set()).add(other.path.traced_by())
    return bool(runs) and all(None not in how for how in runs.values())


def _counts(call: Call) -> bool:
    """Whether an assignment to an attribute adds a literal number to what is no tensor."""
    statement = call.module.tree.parents.get(call.node)
    return _adds_number(statement) and call.given("value") is UNKNOWN and not _names_things(call)


def _starts_over(call: Call) -> bool:
    """Whether a function on the way into the trace first gives the attribute a number, under no condition: it then counts what is traced."""
    tree, node = call.module.tree, call.node
    for frame in call.path.frames():
        if frame.function is not None and isinstance(frame.function.node, cst.FunctionDef):
            around = {node, *tree.ancestors(node)}
            for statement in takewhile(lambda statement: statement not in around, frame.function.node.body.body):
                small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
                assigned = assignment(small)
                if assigned is not None and any(alike(target, call.node) for target in assigned.targets):
                    return True
        if frame.traced:
            break
        tree, node = frame.parent.module.tree if frame.parent is not None else tree, frame.node
    return False


def _adds_number(statement: cst.CSTNode | None) -> bool:
    return (
        isinstance(statement, cst.AugAssign)
        and isinstance(statement.operator, (cst.AddAssign, cst.SubtractAssign))
        and _is_number(statement.value)
    )


def _is_number(node: cst.BaseExpression) -> bool:
    """A literal number, or one that is computed of literals: ``1 / 1440``."""
    return (
        isinstance(node, (cst.Integer, cst.Float))
        or isinstance(node, cst.BinaryOperation)
        and _is_number(node.left)
        and _is_number(node.right)
    )


def _makes_text(node: cst.CSTNode) -> bool:
    """``str(x)``, ``"...".format(x)`` or ``"..." % x``."""
    if isinstance(node, cst.Call):
        return (
            isinstance(node.func, cst.Name)
            and node.func.value == "str"
            or isinstance(node.func, cst.Attribute)
            and node.func.attr.value == "format"
        )
    return (
        isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.Modulo)
        and isinstance(node.left, (cst.SimpleString, cst.ConcatenatedString))
    )


def _names_things(call: Call) -> bool:
    """Whether the attribute that is counted up is put into a text in the same function: it then numbers what is traced."""
    function = call.path.frame.function
    if function is None:
        return False
    tree = function.module.tree
    for node in tree.descendants(function.node.body):
        if isinstance(node, cst.Attribute) and node.attr.value == call.attribute:
            for outer in tree.ancestors(node):
                if (
                    isinstance(outer, cst.FormattedString)
                    or isinstance(outer, cst.Arg)
                    and outer.keyword is not None
                    or _makes_text(outer)
                ):
                    return True
                if isinstance(outer, cst.BaseStatement):
                    break
    return False


# --- loops that are unrolled ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnrolledLoop:
    """A Python loop over the positions of a tensor in compiled code.

    Attributes:
        module, node: the ``for``, or the comprehension.
        turns: how many there are; None where it is as long as an axis whose length is not a literal.
        how: what compiles it, one of :data:`COMPILERS`.
        may_be_short: whether the size of a batch says how long it is.
    """

    module: ModuleLike
    node: cst.CSTNode
    turns: int | None
    how: str
    may_be_short: bool = False


_AXIS = re.compile(r"\.shape\b|int_shape\(|time_?steps|seq(?:uence)?_?len|num_steps|max_?len|batch_size|\bseq\b", re.I)
_EXAMPLES = re.compile(r"\.shape\[0\]")


def unrolled_loops(module: Module) -> Iterator[UnrolledLoop]:
    """Loops in compiled code that take a tensor apart by position, each once: over ``range``, or over the list that ``tf.unstack`` makes of it.

    Loops over layers, over ``tf.range``, over the examples of a batch and over a length of unknown kind are left out.
    """
    program = module.once(Program)
    if module.builds_graphs or program.runs_eagerly:
        return
    lists = {id(call.result): call for call in module.run.calls if call.name in LISTS_OF_TENSORS}
    seen = set()
    for loop in module.run.loops:
        how = compiled_by(loop)
        if (
            how is None
            or how == "metric"
            or loop.node in seen
            or (how not in ("tf.function", "train_step") and program.steps_eagerly)
        ):
            continue
        taken = next((lists[id(value)] for value in _gone_through(loop.value) if id(value) in lists), None)
        if (
            not (_is_over_positions(module, loop) if taken is None else _is_along_steps(module, taken))
            or how == "call"
            and _is_only_called_eagerly(module, loop)
        ):
            continue
        seen.add(loop.node)
        # Of loops in each other the outermost is told.
        if any(outer.node in seen for outer in loop.loops(within="program") if outer is not loop):
            continue
        over = loop.node.iter if isinstance(loop.node, cst.For) else None
        by_batch = (
            taken is None and loop.trips is None and over is not None and "batch" in loop.module.tree.code_of(over)
        )
        yield UnrolledLoop(loop.module, loop.node, loop.trips, how, by_batch)


def _gone_through(value: Value) -> Iterator[Value]:
    """What a loop goes through, also within ``enumerate``, ``zip`` and the like."""
    for option in options_of(value):
        yield option
        if isinstance(option, IteratorValue):
            yield from (inner for over in option.over for inner in _gone_through(over))


def _is_over_positions(module: Module, loop: ExecutionPath) -> bool:
    """Whether a loop over ``range`` goes along an axis other than the first, and takes an item of a tensor in each turn."""
    counted = (
        loop.value.over[0] if isinstance(loop.value, IteratorValue) and loop.value.kind == "wrapper" else loop.value
    )
    if (
        not isinstance(loop.node, cst.For)
        or not isinstance(counted, IteratorValue)
        or counted.kind != "range"
        or not isinstance(loop.node.target, cst.Name)
    ):
        return False
    # Over a number that is computed in the graph, such as tf.shape(x)[0], AutoGraph makes a loop of the graph, and Python raises a TypeError.
    if any(isinstance(option, Tensor) for value in counted.over for option in options_of(value)):
        return False
    along = loop.module.tree.code_of(loop.node.iter)
    # The first axis is that of the examples.
    if loop.trips is None and (not _AXIS.search(along) or _EXAMPLES.search(along)):
        return False
    return _takes_apart(module, loop)


def _is_along_steps(module: Module, call: Call) -> bool:
    """Whether a tensor is taken apart along the axis behind that of the examples, or along the first one where a transposition has put that there."""
    axis = constant(call.given("axis") or Constant(0))
    if axis != 0:
        return axis in (1, -2)
    given = call.first
    moved = next(
        (other for other in module.run.calls if other.result is given and other.name in (TRANSPOSE, OPS_TRANSPOSE)),
        None,
    )
    order = moved.given("perm" if moved.name == TRANSPOSE else "axes") if moved is not None else None
    return isinstance(order, SequenceValue) and bool(order.items) and constant(order.items[0]) == 1


def is_for_inference(module: Module, path: ExecutionPath) -> bool:
    """Whether a place belongs to a layer or model that the program only makes beside what it makes for training, as under ``if mode == "inference"``."""
    frame = tracing_frame(path)
    owner = frame.function.owner if frame is not None and frame.function is not None else None
    # That of the base class, which an object calls for itself, makes no other.
    made = module.once(_instantiations).get(owner) if owner is not None else None
    return made is not None and all(is_beside_training(call.module.tree, call.node) for call in made)


def _instantiations(module: Module) -> dict[Class, list[Call]]:
    """The classes of the tree with the calls that make objects of each."""
    found: dict[Class, list[Call]] = {}
    for call in module.run.calls:
        if call.attribute == "__init__" and isinstance(call.result, Instance):
            found.setdefault(call.result.cls, []).append(call)
    return found


def _is_only_called_eagerly(module: Module, path: ExecutionPath) -> bool:
    """Whether the ``call`` around a place belongs to a class whose objects the program calls on values, and uses in no other way."""
    frame = tracing_frame(path)
    method = frame.function if frame is not None and frame.kind == "call" else None
    if method is None:
        return False

    def is_kind(value: Value) -> bool:
        own = value.cls.member("call") if isinstance(value, Instance) else None
        return isinstance(own, Function) and own.node is method.node

    for call in module.run.calls:
        # An object of the project may keep it; what that does with it is seen.
        keeps = call.attribute == "__init__" and isinstance(call.receiver, Instance)
        if not keeps and any(is_kind(inner) for value in call.arguments.values() for inner in _held(value)):
            return False
        if (
            not any(map(is_kind, options_of(call.receiver)))
            or call.attribute == "__init__"
            or (call.name or "").endswith("__setattr__")
        ):
            continue
        if (
            call.attribute != "__call__"
            or call.path.traced_by() is not None
            or isinstance(call.result, ExternalInstance)
        ):
            return False
    return True


def _held(value: Value) -> Iterator[Value]:
    """A value, or what it is one of, or the items of a list."""
    for option in options_of(value):
        yield from option.items if isinstance(option, SequenceValue) else [option]


def _takes_apart(module: Module, loop: ExecutionPath) -> bool:
    """Whether the body indexes a tensor with the loop's variable: ``x[:, i]``."""
    if not isinstance(loop.node, cst.For) or not isinstance(loop.node.target, cst.Name):
        return False
    tree, variable = loop.module.tree, loop.node.target.value
    tensors = module.run.indexed
    for node in tree.descendants(loop.node.body):
        if isinstance(node, cst.Subscript) and node in tensors:
            if any(
                isinstance(name, cst.Name) and name.value == variable
                for element in node.slice
                for name in tree.descendants(element)
            ):
                return True
    return False


# --- functions that call themselves, and what they keep ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recursion:
    """A compiled function that calls itself; ``at`` and ``call`` are places."""

    at: CodeLocation
    name: str
    call: CodeLocation


def recursive_calls(module: Module) -> Iterator[Recursion]:
    """The functions of a module that ``tf.function`` compiles and that call themselves, directly, by their own name."""
    for function in compiled_functions(module):
        tree, name = module.tree, function.name
        for node in tree.descendants(function.node.body):
            if not isinstance(node, cst.Call):
                continue
            target = node.func
            own = isinstance(target, cst.Name) and target.value == name and function.owner is None
            method = (
                isinstance(target, cst.Attribute)
                and target.attr.value == name
                and isinstance(target.value, cst.Name)
                and target.value.value in ("self", "cls")
                and function.owner is not None
            )
            if (own or method) and _function_around(tree, node) is function.node:
                yield Recursion(CodeLocation(module, function.node), name, CodeLocation(module, node))
                break


@dataclass(frozen=True, slots=True)
class StaleGlobal:
    """A global number that a compiled function reads and the program changes; ``at`` and ``change`` are places."""

    at: CodeLocation
    name: str
    change: CodeLocation


def stale_globals(module: Module) -> Iterator[StaleGlobal]:
    """Reads, in functions under ``tf.function``, of module-level Python numbers that the program changes.

    Each name once per function. Constants, which nothing changes, are fine.
    """
    functions = list(compiled_functions(module))
    declared = _declared_globals(module) if functions else {}
    changes = _changed_numbers(module, declared) if functions else {}
    if not changes:
        return
    tree = module.tree
    for function in functions:
        own = _bound_names(module, function.node) - declared.get(function.node, set())
        seen = set()
        for node in tree.descendants(function.node.body):
            if not isinstance(node, cst.Name) or node.value not in changes or node.value in own or node.value in seen:
                continue
            if node.value in declared.get(function.node, ()):
                # What the function itself changes while it is traced is a side effect, not a stale value.
                continue
            parent = tree.parents.get(node)
            if (
                isinstance(parent, cst.Attribute)
                and parent.attr is node
                or isinstance(parent, cst.Arg)
                and parent.keyword is node
            ):
                continue
            seen.add(node.value)
            yield StaleGlobal(CodeLocation(module, node), node.value, CodeLocation(module, changes[node.value]))


def _changed_numbers(module: Module, declared: dict[cst.CSTNode, set[str]]) -> dict[str, cst.CSTNode]:
    """Global names that only ever hold numbers and that a function or a loop changes: name to the place of the change.

    A second plain assignment further down is another section of a script or notebook, not a change.
    """
    tree = module.tree
    numbers: set[str] = set()
    changed: dict[str, cst.CSTNode] = {}
    other: set[str] = set()
    for node in tree.parents:
        assigned = assignment(node)
        if isinstance(node, cst.AugAssign):
            targets: Sequence[cst.BaseExpression] = (node.target,)
            value = node.value
        elif assigned is not None:
            targets, value = assigned
        else:
            continue
        around = _function_around(tree, node)
        for target in targets:
            if not isinstance(target, cst.Name) or around is not None and target.value not in declared.get(around, ()):
                continue
            number = isinstance(node, cst.AugAssign) or isinstance(value, (cst.BaseNumber, cst.BinaryOperation))
            moving = (
                isinstance(node, cst.AugAssign)
                or around is not None
                or tree.enclosing(node, cst.For, cst.While) is not None
            )
            if not number:
                other.add(target.value)
            elif moving:
                changed.setdefault(target.value, node)
            else:
                numbers.add(target.value)
    return {name: node for name, node in changed.items() if name in numbers and name not in other}


def _declared_globals(module: Module) -> dict[cst.CSTNode, set[str]]:
    """The names that ``global`` declares somewhere in each function, lambda or class that has such a statement."""
    found: dict[cst.CSTNode, set[str]] = {}
    for node in module.tree.parents:
        if isinstance(node, cst.Global):
            names = {item.name.value for item in node.names}
            for outer in module.tree.ancestors(node):
                if isinstance(outer, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
                    found.setdefault(outer, set()).update(names)
    return found


def _function_around(tree: Tree, node: cst.CSTNode) -> cst.CSTNode | None:
    return tree.enclosing(node, cst.FunctionDef, cst.Lambda, cst.ClassDef)


def _bound_names(module: Module, function: cst.FunctionDef | cst.Lambda) -> set[str]:
    """Names that are parameters or variables of a function."""
    tree = module.tree
    names = {
        parameter.name.value for parameter in tree.descendants(function.params) if isinstance(parameter, cst.Param)
    }
    for node in tree.descendants(function.body):
        if isinstance(node, (cst.AssignTarget, cst.For, cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.CompFor)):
            names |= {
                name.value for name in [node.target, *tree.descendants(node.target)] if isinstance(name, cst.Name)
            }
        elif isinstance(node, cst.AsName):
            names |= {name.value for name in tree.descendants(node) if isinstance(name, cst.Name)}
    return names


# --- what a compiled function is for -----------------------------------------------------------------------------


def trains_in(module: Module, path: ExecutionPath) -> bool:
    """Whether a place of compiled code is in a training step, not an evaluation: a tape is opened in the code that is compiled
    with it, or records the call of that code. Tapes elsewhere in the program train something else."""
    frames = list(path.frames())
    while frames and not frames[-1].traced:
        frames.pop()
    return any(frame in module.once(tapes_of) for frame in frames) or any(
        isinstance(manager.value, ExternalInstance) and manager.value.name == GRADIENT_TAPE
        for manager in path.managers(within="program")
    )
