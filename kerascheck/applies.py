"""Where a rule applies: what it says itself of the programs that it is about, once and in one form.

The engine asks before it runs the rule (:meth:`Applies.to`), and the rule's page tells it (:meth:`Applies.exceptions`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
        object.__setattr__(self, "backends", frozenset(self.backends))  # rooms are keys of dictionaries
        for bounds in (self.tensorflow, self.keras):
            list(_bounds(bounds))
        if unknown := sorted(self.backends - _BACKENDS.keys()):
            raise ValueError(f"no backend of Keras is called '{unknown[0]}', only {', '.join(_BACKENDS)}")

    def to(self, module: Module) -> bool:
        """Whether the rule has something to say of a module."""
        runtime = module.runtime
        # What costs nothing first; the rest is worked out once for all rules.
        return (
            _allows(self.tensorflow, runtime.tensorflow)
            and _allows(self.keras, runtime.keras_release)
            and (not self.backends or runtime.backend in self.backends)
            and (self.multi_backend_keras or not runtime.multi_backend_keras)
            and (self.graph_code or not module.is_graph_code)
            and (self.without_training or module.program.trains)
            and (self.cpu_only or not module.program.pins_cpu)
            and (self.reinforcement_learning or not module.program.reinforcement_learning)
        )

    def exceptions(self) -> Iterator[str]:
        """For the rule's page: of what it does not speak, a sentence each."""
        if not self.graph_code:
            yield "Graph code of TensorFlow 1: sessions, placeholders, estimators, `disable_eager_execution`."
        if self.tensorflow:
            yield f"TensorFlow {' or '.join(_outside(self.tensorflow))}."
        if self.keras:
            yield f"Keras {' or '.join(_outside(self.keras))}."
        if not self.multi_backend_keras:
            yield "Keras before 2.4 as a package of its own."
        if self.backends:
            known = [name for backend, name in _BACKENDS.items() if backend in self.backends]
            yield f"Backends other than {' and '.join(known)}."
        if not self.cpu_only:
            yield "Scripts that hide the GPUs, or whose requirements name a build of TensorFlow without GPUs."
        if not self.without_training:
            yield "The program does not train."
        if not self.reinforcement_learning:
            yield "The program uses environments for reinforcement learning."


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
