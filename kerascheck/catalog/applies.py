"""Where a rule applies: what it says itself of the programs that it is about, once and in one form.

The engine asks before it runs the rule (:meth:`Applies.to`), and the rule's page tells it (:meth:`Applies.exceptions`).
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
    """Of which programs a rule speaks: of all, but for what is named here.

    Attributes:
        tensorflow, keras: the versions, as ">=2.9,<2.12": bounds ``>=`` and ``<``. Of ``tf.keras`` 2 the version is that of its
            TensorFlow; of Keras 3 only the 3 is known.
        backends: the names of Keras's backends, as it spells them; any where it is empty.
        graph_code: also code for the graphs and sessions of TensorFlow 1.
        multi_backend_keras: also Keras before 2.4, a package of its own.
        cpu_only: also programs that hide the GPUs from themselves, or require a build of TensorFlow without them.
        without_training: also programs in which nothing updates weights.
        reinforcement_learning: also programs that import environments for it.

    Raises:
        ValueError: bounds or backends that do not exist.

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
        object.__setattr__(self, "backends", frozenset(self.backends))  # specs are keys of dictionaries
        for bounds in (self.tensorflow, self.keras):
            list(_bounds(bounds))
        if unknown := sorted(self.backends - _BACKENDS.keys()):
            raise ValueError(f"no backend of Keras is called '{unknown[0]}', only {', '.join(_BACKENDS)}")

    def to(self, module: Module) -> bool:
        """Whether the rule has something to say of a module."""
        return self.exception(module) is None

    def exception(self, module: Module) -> str | None:
        """Which of the :meth:`exceptions` a module is; None where it is none."""
        return next((said for is_one, said in self._limits() if is_one(module)), None)

    def exceptions(self) -> Iterator[str]:
        """For the rule's page: of what it does not speak, a sentence each."""
        return (said for _, said in self._limits())

    def _limits(self) -> Iterator[tuple[Callable[[Module], bool], str]]:
        """Whether a module is an exception, and the exception; what costs nothing to tell comes first."""
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
