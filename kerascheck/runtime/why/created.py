"""The calls in a script that create layers of Keras and stages of ``tf.data`` pipelines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kerascheck.knowledge.datasets import methods_of_iterator
from kerascheck.knowledge.layers import KNOWN_LAYERS, short_name
from kerascheck.runtime.verify.messages import Place

if TYPE_CHECKING:
    from kerascheck.meaning.module import Module
    from kerascheck.runtime.verify.findings import Linted
    from kerascheck.source.text import Source

_NEVER_TRAINS = frozenset({"validation", "evaluate", "predict", "adapt", "inspect", "side"})


@dataclass(frozen=True, slots=True)
class CreatedLayer:
    """Layers that a line of the script creates."""

    kind: str
    """Class."""
    place: Place
    name: str | None
    """The literal ``name``, if it is given."""


@dataclass(frozen=True, slots=True)
class Created:
    """What the script and its own modules create."""

    layers: Sequence[CreatedLayer]
    stages: Mapping[str, Mapping[Place, bool]]
    """By method: the lines that call it, with whether their dataset may feed a training."""

    def stage_place(self, stage: str, all_stages: Sequence[str]) -> Place | None:
        """The line that creates a running stage; None if several lines may, or a library.

        Args:
            stage: name of an iterator, such as "ParallelMapV2".
            all_stages: the names of all running iterators.
        """
        method = methods_of_iterator(stage)[0]
        running = [each for each in all_stages if method in methods_of_iterator(each) and not each.endswith("Impl")]
        places = self.stages.get(method, {})
        if len(running) != 1 or len(places) != 1:
            return None
        ((place, may_train),) = places.items()
        return place if may_train else None


def created_by(linted: Linted) -> Created:
    """Find what the script and its own modules create."""
    from kerascheck.lint.analyze_file import Analysis, FileResult, with_large_stack
    from kerascheck.project.config import Configuration

    layers: list[CreatedLayer] = []
    stages: dict[str, dict[Place, bool]] = defaultdict(dict)

    def look() -> None:
        configuration = Configuration()
        for path, source in linted.sources.items():
            module = Analysis([source]).load(source, configuration.for_file(path), FileResult(path))
            if module is not None:
                layers.extend(_layers(module, path, source))
                for method, place, may_train in _stages(module, path, source):
                    stages[method][place] = may_train or stages[method].get(place, False)

    with_large_stack(look)
    return Created(layers, stages)


def _layers(module: Module, path: str, source: Source) -> Iterator[CreatedLayer]:
    from kerascheck.interpreter.values import constant

    for call in module.run.calls:
        if call.module is module and call.name in KNOWN_LAYERS:
            name = constant(call.keyword("name"))
            line = source.line_of(module.range_of(call.node)[0])
            yield CreatedLayer(short_name(call.name), (path, line), name if isinstance(name, str) else None)


def _stages(module: Module, path: str, source: Source) -> Iterator[tuple[str, Place, bool]]:
    """(Method or class, line, whether the dataset may feed a training) of each dataset operation."""
    for stage in module.run.stages:
        if stage.module is module:
            line = source.line_of(module.range_of(stage.node)[0])
            roles = module.pipelines.roles(stage)
            yield stage.name.rpartition(".")[2], (path, line), not roles or not roles <= _NEVER_TRAINS
