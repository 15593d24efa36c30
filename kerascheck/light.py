"""Makes the start of a process cheap that exists for checking files.

Of the 205 ms that importing libcst, kerascheck and all rules takes, 75 go into what mostly nobody uses (libcst 1.9, Python 3.11):

- 300 dataclasses, for each of which Python compiles up to six methods, one by one. Here a constructor is compiled when it is first
  called; to compare objects, to hash and to print them one general function each does as well; and that nothing is assigned to what
  is frozen is told by mypy and by the tests, where the classes are as they are written.
- 200 regular expressions. Here each is compiled when it is first used.
"""

from __future__ import annotations

import dataclasses
import operator
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

_full = dataclasses.dataclass
_compile = re.compile
_OURS = ("kerascheck.", "libcst.")
_COMPARISONS = {"__lt__": operator.lt, "__le__": operator.le, "__gt__": operator.gt, "__ge__": operator.ge}
_OF_PATTERNS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "split", "pattern", "flags")
_thawed: set[type] = set()


def lighten() -> None:
    """From now on libcst and kerascheck define their dataclasses and patterns so, as far as they are not imported yet. Not for a process that
    others share: libcst's nodes can be assigned to then, as :func:`kerascheck.syntax.nodes.quicken` leaves them, too."""
    if "libcst" not in sys.modules:
        dataclasses.dataclass = _dataclass
        re.compile = _pattern


def _pattern(pattern: Any, flags: int = 0) -> Any:
    """A pattern; one of kerascheck's modules themselves, which tests compile, when it is used."""
    caller = sys._getframe(1)
    if caller.f_code.co_name == "<module>" and caller.f_globals["__name__"].startswith("kerascheck."):
        return _Pattern(pattern, flags)
    return _compile(pattern, flags)


class _Pattern:
    def __init__(self, *given: Any):
        self._given = given

    def __getattr__(self, name: str) -> Any:
        compiled = _compile(*self._given)
        # From now on these are found before this method is asked.
        vars(self).update((each, getattr(compiled, each)) for each in _OF_PATTERNS)
        return getattr(compiled, name)


def _dataclass(cls: type | None = None, /, **options: Any) -> Any:
    if cls is None:
        return partial(_dataclass, **options)
    if cls.__module__.startswith(_OURS):
        return _plain(cls, **options)
    if not _thawed.isdisjoint(cls.__mro__):
        # What is frozen cannot be derived from what is not.
        options["frozen"] = False
    return _full(cls, **options)


def _plain(cls: type, *, eq: bool = True, order: bool = False, frozen: bool = False, **options: Any) -> type:
    """The dataclass, but that it allows assignments."""
    own = {name for name, value in vars(cls).items() if name != "__hash__" or value is not None}
    if options.get("init", True) and "__init__" not in own:
        cls.__init__ = _constructor()  # type: ignore[misc]
    made: type = _full(cls, **options | {"init": False, "repr": False}, eq=False)
    methods: dict[str, Any] = {"__repr__": _shown} if options.get("repr", True) else {}
    if eq:
        values = _values([each.name for each in dataclasses.fields(made) if each.compare])
        methods["__eq__"] = _comparison(operator.eq, values)
        methods["__hash__"] = _hash(values) if frozen else None
        if order:
            methods |= {name: _comparison(compare, values) for name, compare in _COMPARISONS.items()}
    if frozen:
        _thawed.add(made)
        if options.get("slots"):
            # They are pickled as Python has it, for processes in which nothing is changed.
            methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


def _constructor() -> Callable[..., None]:
    """A constructor that at its first call puts the one of the dataclass in its place."""

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        # A class with slots is not the one that was decorated.
        owner: Any = next(each for each in type(self).__mro__ if vars(each).get("__init__") is __init__)
        derived = type(owner)(owner.__name__, (owner,), {"__slots__": (), "__doc__": owner.__doc__ or owner.__name__})
        owner.__init__ = vars(_full(derived, eq=False, repr=False))["__init__"]
        owner.__init__(self, *arguments, **named)

    return __init__


def _values(names: list[str]) -> Callable[[Any], Any]:
    """What some attributes of an object hold, as a tuple: in it an object equals itself, which one that is no number does not."""
    return operator.attrgetter(*(names if len(names) > 1 else 2 * names)) if names else lambda record: ()


def _comparison(compare: Callable[[Any, Any], bool], values: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

    return method


def _hash(values: Callable[[Any], Any]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _shown(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state):
        setattr(self, each.name, value)
