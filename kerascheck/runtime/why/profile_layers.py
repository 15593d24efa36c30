"""Layers of a step in a recorded profile, by the names that Keras gives operations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kerascheck.knowledge.classes import OPTIMIZERS
from kerascheck.knowledge.layers import KNOWN_LAYERS, short_name
from kerascheck.runtime.verify.messages import Place
from kerascheck.runtime.verify.step_trace import LayerTime, OwnerTime, StepTrace
from kerascheck.runtime.why.created import CreatedLayer
from kerascheck.runtime.why.profile_facts import RecordedProfile

_NUMBERED = re.compile(r"(?:_\d+)+$")
"""What Keras and TensorFlow append to names that repeat."""
_WORDS = re.compile(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")
"""Where Keras's default names have "_": "max_pooling2d" for MaxPooling2D (keras/src/utils/naming.py)."""
_ROLES = {"compile_loss": "loss", "compile_metrics": "metric"}
"""By the scopes that Keras 3 opens around them."""
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Owner:
    """What an operation belongs to."""

    role: str
    """"layer", "loss", "metric" or "optimizer"."""
    kind: str
    """Class; the outermost scope for an unknown one."""
    scopes: tuple[str, ...]
    """Its scopes, the last of which is its name."""
    place: Place | None
    """Path and line of the script that creates it."""


class LayerNames:
    """The names that Keras gives operations: those of the script, or classes in snake case with a number.

    Args:
        created: layers that the script creates.
        kinds: classes of layers by their names, of a live model.
    """

    def __init__(self, created: Sequence[CreatedLayer], kinds: dict[str, str] | None = None) -> None:
        known = {short_name(name) for name in KNOWN_LAYERS} | {each.kind for each in created}
        self._kinds = {_WORDS.sub("_", kind).lower(): kind for kind in known} | (kinds or {})
        self._optimizers = {kind.lower(): kind for kind in OPTIMIZERS}
        self._named = {each.name: each for each in created if each.name is not None}
        self._places: dict[str, set[Place]] = defaultdict(set)
        for each in created:
            if each.name is None:
                self._places[each.kind].add(each.place)

    def owner(self, scopes: tuple[str, ...]) -> Owner:
        """The owner with the innermost known name.

        Several lines that create layers of a class leave the line unknown.
        """
        for depth, scope in enumerate(scopes, 1):
            plain = _NUMBERED.sub("", scope)
            if plain.lower() in self._optimizers:
                return Owner("optimizer", self._optimizers[plain.lower()], scopes[:depth], None)
            if plain in _ROLES:
                return Owner(_ROLES[plain], "", scopes[:depth], None)
        for depth in range(len(scopes), 0, -1):
            scope = scopes[depth - 1]
            plain = _NUMBERED.sub("", scope)
            given = self._named.get(scope) or self._named.get(plain)
            if given is not None:
                return Owner("layer", given.kind, scopes[:depth], given.place)
            kind = self._kinds.get(scope) or self._kinds.get(plain)
            if kind is not None:
                places = self._places[kind]
                return Owner("layer", kind, scopes[:depth], min(places) if len(places) == 1 else None)
        return Owner("layer", scopes[0], scopes[:1], None)


def trace_of(profile: RecordedProfile, names: LayerNames) -> StepTrace:
    """The layers of the steps in a profile."""
    rows: dict[tuple[str, str, Place | None], list[float]] = defaultdict(lambda: [0.0, 0.0])
    members: dict[tuple[str, str, Place | None], set[str]] = defaultdict(set)
    owned = [(names.owner(tuple(scope.split("/"))), forward, backward) for scope, forward, backward in profile.scopes]
    for owner, forward, backward in owned:
        key = owner.role, owner.kind, owner.place
        members[key].add(owner.scopes[-1])
        rows[key][0] += forward
        rows[key][1] += backward
    found = []
    for (role, kind, place), of_owner in members.items():
        forward, backward = rows[role, kind, place]
        found.append(OwnerTime(role, min(of_owner), kind, len(of_owner), forward, backward, place))
    return StepTrace(
        tuple(sorted(found, key=lambda row: -row.seconds)),
        profile.unattributed_seconds,
        profile.fused_seconds,
        profile.total_seconds,
        profile.steps,
        profile.seconds_per_step,
        gpus=profile.gpus,
        counted=False,
        layers=_tree(owned, names),
    )


def _tree(owned: Sequence[tuple[Owner, float, float]], names: LayerNames) -> tuple[LayerTime, ...]:
    """The owners inside one another, by their scopes.

    Args:
        owned: owners with seconds of the forward and of the backward pass.
        names: leads to the owners around them.
    """
    spent: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    owners: dict[tuple[str, ...], Owner] = {}
    for owner, forward, backward in owned:
        owners[owner.scopes] = owner
        spent[owner.scopes][0] += forward
        spent[owner.scopes][1] += backward
    for scopes in list(owners):
        for depth in range(1, len(scopes)):
            owners.setdefault(scopes[:depth], names.owner(scopes[:depth]))
    ordered = sorted(owners, key=lambda scopes: [_natural(scope) for scope in scopes])
    position = {scopes: at for at, scopes in enumerate(ordered)}
    found = []
    for scopes in ordered:
        owner, (forward, backward) = owners[scopes], spent[scopes]
        parent = position.get(scopes[:-1])
        name = owner.role if scopes[-1] in _ROLES else scopes[-1]
        found.append(LayerTime(owner.role, name, owner.kind, parent, forward, backward, owner.place))
    return tuple(found)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts "dense_2" before "dense_10"."""
    return [(1, int(each), "") if each.isdigit() else (0, 0, each) for each in _DIGITS.split(name)]
