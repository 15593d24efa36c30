"""Why a rule says nothing about a line: the conditions that turned what stands there away, as they were evaluated.

Rules are written as guards, each a condition followed by ``continue`` or ``return``. Here a rule is run once
more with its steps watched, and for everything on the line that it looked at the last condition is
told, with what the functions in it say of themselves. Nothing has to be added to a rule for that.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from kerascheck import registry
from kerascheck.check import Analysis, Checked
from kerascheck.report.common import count
from kerascheck.semantics.models import Model

if TYPE_CHECKING:
    from kerascheck.registry import Room
    from kerascheck.semantics import Module
    from kerascheck.source import Source
    from kerascheck.source.discovery import File

_SEMANTICS = str(Path(__file__).parent / "semantics")
# The vocabulary: its loops choose nothing, and its functions mean what their names say.
_VOCABULARY = "values"
# What a module knows by itself; all else is asked for anew by each rule, so that it is seen being asked for.
_KEPT = frozenset({"source", "project", "tree", "run", "path", "folder", "memory"})


def explain(source: Source, file: File, line: int, cell: int | None = None) -> Iterator[str]:
    """What every selected rule has to say about a line, and why it says nothing, as lines for people.

    Args:
        line: counted from 1; in notebooks within the cell.
        cell: the notebook's cell, counted from 1; None in scripts.

    Raises:
        ValueError: the file does not parse, or there is no such line.
    """
    first, last = _line_range(source, line, cell)
    place = source.locate(first, first)
    findings = Analysis([source]).check(file).findings
    unsilenced = Analysis([source], noqa=False).check(file).findings
    checked = Checked(file.path)
    module = Analysis([source]).load(source, file.settings, checked)
    if module is None:
        raise ValueError(checked.errors[0].message)
    runtime = module.runtime
    yield f"{source.path}:{'' if cell is None else f'cell {cell}:'}{line}: {source.line_text(first).strip()}"
    yield f"  judged for TensorFlow {runtime.tensorflow_version}, Keras {runtime.keras} on {runtime.backend}" + (
        "; written for the graphs of TensorFlow 1" if module.is_graph_code else ""
    )
    if (test := _test_around(module, first, last)) is not None:
        yield f"  in {test}, which is a test: nothing in it trains for its results, so it is left alone"
    idle = 0
    for room in registry.enabled(file.settings.selections):
        if room.reads != "python":
            continue
        said = False
        for shown, verb in ((findings, "reported"), (unsilenced, "silenced by a comment")):
            for finding in shown:
                if (finding.code, finding.location.path, finding.location.cell, finding.location.line) == (room.code, source.path, place.cell, line) and not said:
                    hidden = finding.pedantic and not file.settings.pedantic and shown is findings
                    yield f"  {room.code} {room.name}: {'costs nothing, so only --pedantic shows it' if hidden else verb}: {finding.message}"
                    said = True
        try:
            reasons = list(silences(room, module, first, last))
        except Exception as problem:  # noqa: BLE001 - a fault of one rule costs that rule, as in a check
            yield f"  {room.code} {room.name}: failed: {type(problem).__name__}: {problem}; this is a fault of kerascheck: please report it with the file"
            continue
        for silence in reasons:
            said = True
            yield f"  {room.code} {room.name}: silent about `{silence.code}` ({silence.place})"
            for condition in silence.conditions:
                yield f"      {condition.text}"
                if condition.meaning:
                    yield f"        {condition.meaning}"
        idle += not said
    yield f"  {count(idle, 'other rule')} found nothing to look at here"


def _test_around(module: Module, first: int, last: int) -> str | None:
    """The name of the unit test that a line stands in; None where it stands in none."""
    from kerascheck.semantics.interpreter.support import is_test

    for node, function in module.run.functions.items():
        if function.module is module and is_test(function):
            start, end = module.tree.range_of(node)
            if start < last and first < end:
                return function.name
    return None


def _line_range(source: Source, line: int, cell: int | None) -> tuple[int, int]:
    """Offsets of the first character of a line and of the one behind it."""
    if source.cells is None and cell is not None:
        raise ValueError(f"this is no notebook: name the line alone, as in --explain-silence {line}")
    if source.cells is not None and cell is None:
        raise ValueError(f"this is a notebook: name the cell too, as in --explain-silence 1:{line}")
    if source.cells is None:
        lines, begin = source.text.splitlines(keepends=True), 0
    else:
        part = next((each for each in source.cells if each.index + 1 == cell), None)
        if part is None:
            raise ValueError(f"there is no code cell {cell}")
        lines, begin = source.text[part.start : part.end].splitlines(keepends=True), part.start
    if not 1 <= line <= len(lines):
        raise ValueError(f"there is no line {line}")
    first = begin + sum(map(len, lines[: line - 1]))
    return first, first + len(lines[line - 1])


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a guard that held.

    Attributes:
        text: as the rule has it.
        meaning: what the functions in it say of themselves, where they say something.
    """

    text: str
    meaning: str
    is_name_test: bool
    """Whether it only asks for a name: what fails it is nothing that the rule is about."""


@dataclass(slots=True)
class Silence:
    """One thing on the line that a rule looked at and did not report.

    Attributes:
        code: the text of the thing.
        place: file and line of the guard, as "rule.py:92".
        conditions: what held there.
    """

    code: str
    place: str
    conditions: list[Condition]


def silences(room: Room, module: Module, first: int, last: int) -> Iterator[Silence]:
    """Why ``room``'s rule does not report what begins between two offsets of a module's text, each reason once."""
    for name in set(module.__dict__) - _KEPT:
        del module.__dict__[name]
    watch = _Watch(module, first, last, str(room.folder / "rule.py"))
    reported = set()
    with watch.on():
        for diagnosis in room.rule.check(module):
            reported.add(diagnosis.at.node)
    seen = set()
    for node, (code, line, conditions) in watch.last.items():
        if node in reported or not _tells(conditions):
            continue
        silence = Silence(_shortened(module, node), f"{Path(code.co_filename).name}:{line}", conditions)
        key = (silence.place, silence.code, tuple(conditions))
        if key not in seen:
            seen.add(key)
            yield silence


def _tells(conditions: list[Condition]) -> bool:
    """Whether conditions are a reason: much of rules and semantics goes through all calls to find those of a name."""
    return bool(conditions) and not any(condition.is_name_test for condition in conditions)


def _shortened(module: Module, node: Any) -> str:
    start, end = module.tree.range_of(node)
    text = " ".join(module.text[start:end].split())
    return text if len(text) <= 70 else "..." + text[-67:]


class _Watch:
    """Follows what a rule and the semantics below it do with the things of one line."""

    def __init__(self, module: Module, first: int, last: int, rule: str):
        self._module, self._first, self._last, self._rule = module, first, last, rule
        self.last: dict[Any, tuple[CodeType, int, list[Condition]]] = {}
        """The latest step taken with each thing, by its syntax node: of the rule, or else of the first in the semantics that had a reason."""

    @contextmanager
    def on(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        filename = frame.f_code.co_filename
        # Of the semantics only what chooses things to hand out; the rest is asked by these, and speaks for itself.
        chooses = filename.startswith(_SEMANTICS) and Path(filename).stem != _VOCABULARY and frame.f_code.co_flags & inspect.CO_GENERATOR
        return self._step if filename == self._rule or chooses else None

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            tracing = sys.gettrace()
            sys.settrace(None)
            try:
                self._look(frame)
            finally:
                sys.settrace(tracing)
        return self._step

    def _look(self, frame: FrameType) -> None:
        filename = frame.f_code.co_filename
        guard = _guards(filename).get(frame.f_lineno)
        if guard is None:
            return
        for name, value in list(frame.f_locals.items()):
            # What holds of a model turns away each place that trains it, which is where people ask.
            for place in (value, *value.compiles, *value.fits) if isinstance(value, Model) else (value,):
                node = getattr(place, "node", None)
                if node is None or name == "self" or getattr(place, "module", None) is not self._module or node not in self._module.tree.parents:
                    continue
                if not self._first <= self._module.range_of(node)[0] < self._last:
                    continue
                before, conditions = self.last.get(node), _held(guard, frame)
                if filename == self._rule or before is None or not _tells(before[2]) or before[0] is frame.f_code and _tells(conditions):
                    self.last[node] = (frame.f_code, frame.f_lineno, conditions)


@dataclass(frozen=True, slots=True)
class _Guard:
    test: ast.expr
    function: ast.AST
    leaves: bool
    """Whether the rule turns away where the test holds (``if test: continue``) or where it does not (``if test: yield``)."""


@functools.lru_cache(maxsize=None)
def _guards(filename: str) -> dict[int, _Guard]:
    """The conditions of a file by the line they begin on."""
    found: dict[int, _Guard] = {}
    tree = ast.parse(Path(filename).read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.Lambda)):
            for node in ast.walk(function):
                if isinstance(node, ast.If):
                    leaves = isinstance(node.body[-1], (ast.Continue, ast.Return, ast.Break))
                    if leaves or any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(node)):
                        found[node.test.lineno] = _Guard(node.test, function, leaves)
    return found


def _held(guard: _Guard, frame: FrameType) -> list[Condition]:
    """The parts of a test that turned a thing away: of an ``or`` those that hold, of an ``and`` those that do not."""
    test, wanted = guard.test, guard.leaves
    splits = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if wanted else ast.And)
    found = []
    # One space of names: a comprehension in the test does not see the locals of an eval().
    names = {**frame.f_globals, **frame.f_locals}
    for part in test.values if splits else [test]:
        try:
            value = bool(eval(compile(ast.Expression(part), "<guard>", "eval"), names))  # noqa: S307 - our own rules
        except Exception:  # noqa: BLE001 - a later part may rely on an earlier one that does not hold
            continue
        if value is wanted:
            text = ast.unparse(part)
            found.append(Condition(text if wanted else f"not ({text})", _meaning(part, guard.function, frame), _asks_for_name(part)))
    return found


def _asks_for_name(part: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("name", "attribute") or isinstance(node, ast.Name) and node.id in ("name", "attribute")
        for node in ast.walk(part)
    )


def _meaning(part: ast.expr, function: ast.AST, frame: FrameType) -> str:
    """What the functions of a condition, and those that its variables come from, say in the first line of their docstrings."""
    names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
    sources: list[ast.AST] = [part]
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in names for target in node.targets for t in ast.walk(target)):
            sources.append(node.value)
    said: dict[str, None] = {}
    for source in sources:
        for node in ast.walk(source):
            if isinstance(node, (ast.Name, ast.Attribute)):
                documentation = _documentation(node, frame)
                if documentation:
                    said[documentation] = None
    return " ".join(said)


def _documentation(node: ast.Name | ast.Attribute, frame: FrameType) -> str:
    """The first line of what a name of the semantics says of itself; empty for all else."""
    if isinstance(node, ast.Name):
        target = frame.f_globals.get(node.id)
    else:
        try:
            owner = eval(compile(ast.Expression(node.value), "<guard>", "eval"), frame.f_globals, frame.f_locals)  # noqa: S307
        except Exception:  # noqa: BLE001 - unknown names have no documentation
            return ""
        target = inspect.getattr_static(type(owner), node.attr, None)
        target = getattr(target, "func", None) or getattr(target, "fget", None) or target
    origin = getattr(target, "__module__", None) or ""
    if not inspect.isfunction(target) or not origin.startswith("kerascheck.") or (isinstance(node, ast.Name) and origin.endswith(f".{_VOCABULARY}")):
        return ""
    return (inspect.getdoc(target) or "").partition("\n")[0]
