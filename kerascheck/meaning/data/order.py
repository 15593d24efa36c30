"""The order of a chain of dataset operations: requests of rules, and one order that satisfies all of them.

The target order is: skip, read and decode, take, cache, shuffle, draw random numbers, repeat, batch, prefetch. Operations
without a request stay in place.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kerascheck.interpreter.values import DatasetOp, constant
from kerascheck.knowledge.datasets import BATCHING
from kerascheck.meaning.data.buffers import PASSING
from kerascheck.meaning.data.epochs import is_reshuffled
from kerascheck.meaning.data.mapped_functions import facts_of
from kerascheck.meaning.data.pipelines import Pipelines

_ONE_BY_ONE = frozenset({"map", "prefetch", "with_options"})
# Between a cache and a take, these read no more elements than requested.
_KEEPS_INCOMPLETE = frozenset({"cache", "map", "batch", "padded_batch", "ragged_batch", "enumerate", "with_options"})
# Operations that a shuffle may pass. Only batching operations whose first argument is the size are included.
_WITH_BATCHES = frozenset({"filter", "repeat", "ignore_errors", "batch", "padded_batch", "ragged_batch"})


class ReorderKind(enum.Enum):
    """The kinds of requests that a rule may make for a chain."""

    ADD_CACHE = enum.auto()
    """A cache after an operation."""
    ADD_PREFETCH = enum.auto()
    """A prefetch after an operation."""
    CACHE_EARLIER = enum.auto()
    """A cache before the first operation that differs between epochs."""
    SHUFFLE_EARLIER = enum.auto()
    """A shuffle before batching and image decoding."""
    TAKE_EARLIER = enum.auto()
    """A take before the cache."""
    SKIP_EARLIER = enum.auto()
    """A skip before the maps directly in front of it."""
    REPEAT_LATER = enum.auto()
    """A repeat after shuffle and cache."""
    PREFETCH_LAST = enum.auto()
    """A prefetch at the end."""


CONFLICTING = frozenset(
    {
        ReorderKind.ADD_CACHE,
        ReorderKind.CACHE_EARLIER,
        ReorderKind.SHUFFLE_EARLIER,
        ReorderKind.TAKE_EARLIER,
        ReorderKind.SKIP_EARLIER,
        ReorderKind.REPEAT_LATER,
    }
)
"""Requests that may cancel each other out in one chain. Requests about its end are compatible with all."""


@dataclass(frozen=True, slots=True)
class ReorderRequest:
    """The request of a rule: to move an operation, or to add another after it."""

    kind: ReorderKind
    stage: DatasetOp


@dataclass(eq=False, slots=True)
class Added:
    """An operation to add to the chain; ``name`` is its method."""

    name: str


Item = DatasetOp | Added


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A chain in its new order.

    Attributes:
        before: its current operations, without the source.
        after: its operations in the new order.
        scaled: shuffles that count batches now and examples afterwards, with the operation that makes the batches.
    """

    before: Sequence[DatasetOp]
    after: Sequence[Item]
    scaled: Sequence[tuple[DatasetOp, DatasetOp]]


class _Unordered(Exception):
    """No order satisfies the requests without changing the elements of the chain."""


def line_of(pipelines: Pipelines, stage: DatasetOp) -> list[DatasetOp]:
    """The chain around an operation, in order: its inputs, and its successors up to the first branch."""
    line = list(stage.upstream())[::-1]
    while True:
        after = {
            child.node: child
            for child in pipelines.children(line[-1])
            if child.input is not None and child.input.identity is line[-1].identity
        }
        if len(after) != 1 or len(pipelines.children(line[-1])) != 1:
            return line
        line += after.values()


def arrangement(pipelines: Pipelines, requests: Collection[ReorderRequest]) -> Arrangement | None:
    """The order of a chain that satisfies all requests; None if there is none, or if they concern several chains."""
    line = max((line_of(pipelines, request.stage) for request in requests), key=len)
    identities = [stage.identity for stage in line]
    if any(request.stage.identity not in identities for request in requests):
        return None
    before = [stage for stage in line if not stage.is_source]
    order: list[Item] = list(before)
    asked = {
        kind: [
            before[[each.identity for each in before].index(request.stage.identity)]
            for request in requests
            if request.kind is kind and not request.stage.is_source
        ]
        for kind in ReorderKind
    }
    try:
        _arrange(order, asked)
    except _Unordered:
        return None
    return Arrangement(
        before,
        order,
        [(each, batch) for each in asked[ReorderKind.SHUFFLE_EARLIER] for batch in _crossed(before, order, each)],
    )


def _arrange(order: list[Item], asked: dict[ReorderKind, list[DatasetOp]]) -> None:
    for skip in asked[ReorderKind.SKIP_EARLIER]:
        passed = list(takewhile(lambda item: item.name in _ONE_BY_ONE, reversed(order[: order.index(skip)])))
        first = max((at for at, item in enumerate(passed, 1) if item.name == "map"), default=0)
        if not first:
            raise _Unordered
        _move(order, skip, order.index(skip) - first)
    for stage in asked[ReorderKind.ADD_CACHE]:
        order.insert(order.index(stage) + 1, Added("cache"))
    for take in asked[ReorderKind.TAKE_EARLIER]:
        _place_take(order, take)
    caches = [item for item in order if isinstance(item, Added)] + asked[ReorderKind.CACHE_EARLIER]
    # If examples are shuffled after a cache of batches, the cache has to hold examples.
    caches += [
        cache for shuffle in asked[ReorderKind.SHUFFLE_EARLIER] for cache in _last_before(order, shuffle, "cache")
    ]
    for cache in dict.fromkeys(caches):
        _place_cache(order, cache, bool(asked[ReorderKind.SHUFFLE_EARLIER]))
        # A later operation that stops early would keep it incomplete.
        cut = next((item for item in order[order.index(cache) :] if item.name not in _KEEPS_INCOMPLETE), None)
        if isinstance(cut, DatasetOp) and cut.name == "take" and isinstance(constant(cut.given("count")), int):
            _place_take(order, cut)
    for shuffle in asked[ReorderKind.SHUFFLE_EARLIER]:
        _place_shuffle(order, shuffle)
    for repeat in asked[ReorderKind.REPEAT_LATER]:
        last = max((place for place, item in enumerate(order) if item.name in ("shuffle", "cache")), default=0)
        if order.index(repeat) < last:
            _pass(order[order.index(repeat) + 1 : last + 1], _ONE_BY_ONE | _WITH_BATCHES | {"shuffle", "cache"})
            _move(order, repeat, last)
    for prefetch in asked[ReorderKind.PREFETCH_LAST]:
        order.remove(prefetch)
    last_ones: list[Item] = [
        *asked[ReorderKind.PREFETCH_LAST],
        *(Added("prefetch") for _ in asked[ReorderKind.ADD_PREFETCH]),
    ]
    for each in last_ones:
        order.insert(_end(order), each)


def _place_cache(order: list[Item], cache: Item, shuffles_examples: bool) -> None:
    """Move a cache before random draws and after the shuffles that precede them."""
    before, after = order[: order.index(cache)], order[order.index(cache) :]
    again = any(item.name == "shuffle" for item in after)
    shuffles = [
        item
        for item in before
        if isinstance(item, DatasetOp) and item.name == "shuffle" and is_reshuffled(item) and not again
    ]
    target = next((place for place, item in enumerate(before) if _draws(item)), len(before))
    first = before.index(shuffles[0]) if shuffles and not shuffles_examples else 0
    batching = (
        [place for place, item in enumerate(before) if item.name in BATCHING and place >= first]
        if shuffles or shuffles_examples
        else []
    )
    if any(_reads(item) for item in before[min(batching, default=target) : target]):
        # The cache would hold elements that take no time to produce.
        raise _Unordered
    target = min([target, *batching])
    _move(order, cache, target)
    for shuffle in shuffles[::-1]:
        here, there = order.index(shuffle), order.index(cache)
        if here < there:
            _pass(order[here + 1 : there], _ONE_BY_ONE | {"filter", "shuffle"})
            _move(order, shuffle, there)


def _place_take(order: list[Item], take: Item) -> None:
    """Move a take from after the cache to before it; for batches, move the cache after the take."""
    for cache in _last_before(order, take, "cache"):
        between = order[order.index(cache) + 1 : order.index(take)]
        if all(item.name in _ONE_BY_ONE | {"enumerate"} for item in between):
            _move(order, take, order.index(cache))
        elif any(map(_draws, between)):
            raise _Unordered
        else:
            _pass(between, _ONE_BY_ONE | {"enumerate", *BATCHING})
            _move(order, cache, order.index(take))


def _place_shuffle(order: list[Item], shuffle: DatasetOp) -> None:
    """Move a shuffle after the cache; without one, before the decoding of images or before the batching."""
    here = order.index(shuffle)
    before = order[:here]
    cached = [place for place, item in enumerate(before) if item.name == "cache"]
    decoding = [
        place
        for place, item in enumerate(before)
        if isinstance(item, DatasetOp) and (facts := facts_of(item)) is not None and facts.decodes_images
    ]
    batching = [place for place, item in enumerate(before) if item.name in BATCHING]
    target = min([*(cached[-1:] and [cached[-1] + 1] or decoding[:1]), *batching], default=here)
    _pass(before[target:], _ONE_BY_ONE | _WITH_BATCHES)
    _move(order, shuffle, target)


def _last_before(order: list[Item], item: Item, name: str) -> list[Item]:
    """The last operation with a name before another operation, if there is one."""
    return [each for each in order[: order.index(item)] if each.name == name][-1:]


def _draws(item: Item) -> bool:
    return isinstance(item, DatasetOp) and (facts := facts_of(item)) is not None and facts.randomness is not None


def _reads(item: Item) -> bool:
    return isinstance(item, DatasetOp) and (facts := facts_of(item)) is not None and facts.reading is not None


def _pass(crossed: Sequence[Item], names: Collection[str]) -> None:
    """Check that a move passes only operations with these names."""
    if any(item.name not in names for item in crossed):
        raise _Unordered


def _move(order: list[Item], item: Item, target: int) -> None:
    order.remove(item)
    order.insert(target, item)


def _end(order: list[Item]) -> int:
    """The position after the last operation that computes something."""
    return next((place + 1 for place in reversed(range(len(order))) if order[place].name not in PASSING), 0)


def _crossed(before: Sequence[DatasetOp], after: Sequence[Item], shuffle: DatasetOp) -> list[DatasetOp]:
    """The batching operations that a shuffle moves in front of."""
    return [
        item
        for item in before[: before.index(shuffle)]
        if item.name in BATCHING and after.index(item) > after.index(shuffle)
    ]
