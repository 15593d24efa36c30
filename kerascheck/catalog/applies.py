"""The programs that a rule applies to, declared once by the rule.

The engine checks the declaration before it runs the rule (:meth:`Applies.to`). The rule's page lists the exceptions
(:meth:`Applies.exceptions`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kerascheck.meaning.module import Module

_BOUND = re.compile(r"(>=|<)(\d+)(?:\.(\d+))?")
_BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}


@dataclass(frozen=True, slots=True)
class Applies:
    """The programs that a rule applies to; by default all.

    Attributes:
        tensorflow, keras: the version bounds, ``>=`` and ``<``, such as ">=2.9,<2.12". ``tf.keras`` 2 has the version
            of its TensorFlow; for Keras 3 only the major version is known.
        backends: Keras backends, as Keras spells them; empty: all.
        graph_code: whether the rule applies to code for graphs and sessions of TensorFlow 1.
        multi_backend_keras: whether it applies to Keras before 2.4, a separate package.
        cpu_only: whether it applies to programs that hide the GPUs or require a TensorFlow build without GPU support.
        without_training: whether it applies to programs that update no weights.
        reinforcement_learning: whether it applies to programs that import environments for reinforcement learning.

    Raises:
        ValueError: the bounds are invalid or a backend is unknown.

    Example:
        >>> Applies(keras=">=3", graph_code=False).to(module("sess.run(train_op)"))
        False
    """

    tensorflow: str = ""
    keras: str = ""
    backends: frozenset[str] | set[str] = frozenset()
    graph_code: bool = True
    multi_backend_keras: bool = True
    cpu_only: bool = True
    without_training: bool = True
    reinforcement_learning: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "backends", frozenset(self.backends))  # specs must be hashable
        for bounds in (self.tensorflow, self.keras):
            list(_bounds(bounds))
        if unknown := sorted(self.backends - _BACKENDS.keys()):
            raise ValueError(f"no backend of Keras is called '{unknown[0]}', only {', '.join(_BACKENDS)}")

    def to(self, module: Module) -> bool:
        """Whether the rule applies to a module."""
        return self.exception(module) is None

    def exception(self, module: Module) -> str | None:
        """The exception that a module falls under (see :meth:`exceptions`); None if the rule applies."""
        return next((said for is_one, said in self._limits() if is_one(module)), None)

    def exceptions(self) -> Iterator[str]:
        """The programs that the rule does not apply to, a sentence each, for the rule's page."""
        return (said for _, said in self._limits())

    def _limits(self) -> Iterator[tuple[Callable[[Module], bool], str]]:
        """The exceptions, each with its predicate; cheap predicates come first."""
        if not self.graph_code:
            yield (
                lambda module: module.is_graph_code,
                "Graph code of TensorFlow 1: sessions, placeholders, estimators, `disable_eager_execution`.",
            )
        if self.tensorflow:
            yield (
                lambda module: not _allows(self.tensorflow, module.runtime.tensorflow),
                f"TensorFlow {' or '.join(_outside(self.tensorflow))}.",
            )
        if self.keras:
            yield (
                lambda module: not _allows(self.keras, module.runtime.keras_release),
                f"Keras {' or '.join(_outside(self.keras))}.",
            )
        if not self.multi_backend_keras:
            yield lambda module: module.runtime.multi_backend_keras, "Keras before 2.4 as a package of its own."
        if self.backends:
            known = [name for backend, name in _BACKENDS.items() if backend in self.backends]
            yield (
                lambda module: module.runtime.backend not in self.backends,
                f"Backends other than {' and '.join(known)}.",
            )
        if not self.cpu_only:
            yield (
                lambda module: module.program.pins_cpu,
                "Scripts that hide the GPUs, or whose requirements name a build of TensorFlow without GPUs.",
            )
        if not self.without_training:
            yield lambda module: not module.program.trains, "The program does not train."
        if not self.reinforcement_learning:
            yield (
                lambda module: module.program.reinforcement_learning,
                "The program uses environments for reinforcement learning.",
            )


def _bounds(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for part in text.split(",") if text else ():
        match = _BOUND.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"'{text}' is no range of versions; write it like '>=2.9,<2.12'")
        yield match[1], (int(match[2]), int(match[3] or 0))


def _allows(text: str, version: tuple[int, int]) -> bool:
    return all(version >= bound if sign == ">=" else version < bound for sign, bound in _bounds(text))


def _outside(text: str) -> Iterator[str]:
    for sign, (major, minor) in _bounds(text):
        version = f"{major}.{minor}" if minor else str(major)
        yield f"before {version}" if sign == ">=" else f"{version} and later"
