"""Python in the functions of datasets, which runs once per trace instead of once per element."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, shows_tensor
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.graph.trace_state import is_captured, keeps_in_trace
from kerascheck.meaning.graph.traced_prints import tells_of_tracing

_PYTHON = ("numpy.random.", "random.", "time.", "cv2.", "PIL.", "secrets.")
_PRINT = "builtins.print"
_ASSIGNS, _COUNTS = "builtins.object.__set__", "builtins.object.__iadd__"
_PLAIN = frozenset({"builtins.open", "builtins.input"})
_MUTATING = frozenset({"builtins.list.append", "builtins.list.extend", "builtins.list.insert"})


class Once(enum.Enum):
    """The effect that happens once."""

    PRINTS = enum.auto()
    """A text is printed."""
    ASSIGNS = enum.auto()
    """A variable or attribute from outside is set."""
    COUNTS = enum.auto()
    """An outside number is incremented."""
    COMPUTES = enum.auto()
    """A function returns a value that every element then gets."""


@dataclass(frozen=True, slots=True)
class PythonInMap:
    """A call of Python in the function of a dataset operation.

    Attributes:
        call: the call.
        once: the effect that happens once.
        op: the operation.
    """

    call: Call
    once: Once
    op: Operation

    @property
    def shows_tensor(self) -> bool:
        """Whether its argument is a tensor, which has no value during tracing."""
        return any(map(shows_tensor, self.call.arguments.values()))


def python_in_maps(module: Module) -> Iterator[PythonInMap]:
    """The distinct Python calls in functions of datasets.

    Excludes datasets that are only inspected, messages about tracing, and state that is kept on purpose.
    """
    seen = set()
    for op in module.once(Pipelines).operations("map", "filter", "interleave", "flat_map"):
        for call in op.facts.calls if not op.roles <= {"inspect"} else ():
            once = _once(call)
            if once is None or call.node in seen:
                continue
            found = PythonInMap(call, once, op)
            if once is Once.PRINTS and _tells_of_tracing(found):
                continue
            if once is Once.ASSIGNS and keeps_in_trace(module, call):
                continue
            seen.add(call.node)
            yield found


def _once(call: Call) -> Once | None:
    """The effect of a call that happens only once in a map; None if it happens for each element."""
    name = call.name or ""
    if call.path.traced_by() is None or name == "numpy.random.seed":
        return None
    if name == _PRINT:
        return Once.PRINTS
    if name in (_ASSIGNS, _COUNTS):
        return Once.ASSIGNS if name == _ASSIGNS else Once.COUNTS
    computes = name.startswith(_PYTHON) or name in _PLAIN or name in _MUTATING and is_captured(call)
    return Once.COMPUTES if computes else None


def _tells_of_tracing(found: PythonInMap) -> bool:
    """Whether a text is meant to appear once, since it mentions tracing or an error."""
    if tells_of_tracing(found.call) and not found.shows_tensor:
        return True
    return any(condition.kind == "handler" for condition in found.call.path.conditions(within="program"))
