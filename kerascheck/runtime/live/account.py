"""From the measurements inside one ``fit`` to a :class:`Step`, as ``why`` explains it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from kerascheck.runtime.live import places
from kerascheck.runtime.live.autograph import origins
from kerascheck.runtime.live.fit_watch import FitWatch
from kerascheck.runtime.live.inside import functions_inside
from kerascheck.runtime.live.places import Translate
from kerascheck.runtime.live.schedule import Mode, Schedule, Tally, usual_and_excess
from kerascheck.runtime.verify.analysis import stages
from kerascheck.runtime.verify.child import clock, diagnose
from kerascheck.runtime.verify.child.parts import segments
from kerascheck.runtime.verify.messages import Frame, Span, TrainingFacts, parse_facts
from kerascheck.runtime.verify.uses import lines_used
from kerascheck.runtime.why import hot_lines
from kerascheck.runtime.why.step import Part, Step

_HOTTEST = 40
_SURE_SHARE = 0.02
"""Differences below this share of a step are noise."""


def account_of(
    model: Any, watch: FitWatch, sources: Mapping[str, str], translate: Translate, *, alone: bool = True
) -> Step:
    """Explain the steps that ``watch`` measured.

    Args:
        sources: texts of the script and its own modules, by absolute path.
        translate: maps places of code objects to places in ``sources``.
        alone: whether the script trains only once, so all of its code belongs to the training.

    Raises:
        ValueError: too few steps were measured, see :attr:`Schedule.is_usable`.
    """
    if watch.schedule is None or not watch.schedule.is_usable:
        raise ValueError("too few steps were measured")
    translate = _through_autograph(translate)
    facts = _facts(model, watch, translate)
    stack = tuple(Frame(*frame) for frame in places.stack(watch.seen.stack, translate))
    place = (stack[0].path, stack[0].line) if stack else None
    parts, unknown = _parts(model, watch, watch.schedule)
    inside = hot_lines.inside_lines(facts, place)
    _move_inside(parts, sum(line.share for line in inside))
    seconds = sum(parts.values())
    steps_per_epoch, epochs = _length(watch, facts)
    around = _around(watch, steps_per_epoch, epochs)
    load = watch.load.of_others()
    return Step(
        kind="fit",
        seconds=seconds + sum(around.values()),
        parts={part: value for part, value in (parts | around).items() if value > 0},
        place=place,
        used=used_lines(sources, stack, facts, alone),
        stages=stages(facts),
        input_lines=hot_lines.input_lines(facts, place),
        main_lines={**hot_lines.main_lines(facts.samples), Part.INSIDE: inside},
        start_seconds=watch.start_seconds,
        epochs=epochs,
        batch_size=watch.seen.rows,
        steps_per_epoch=steps_per_epoch,
        new_traces=facts.new_traces,
        busy_others=load,
        gpus=facts.gpus,
        backend=watch.backend,
        facts=facts,
        unknown=unknown,
    )


def _through_autograph(translate: Translate) -> Translate:
    generated = origins()
    return lambda path, line: translate(*generated.get((path, line), (path, line)))


def _parts(model: Any, watch: FitWatch, schedule: Schedule) -> tuple[dict[Part, float], list[str]]:
    """Split a typical step, and list what could not be measured."""
    timed, split = schedule.tallies[Mode.TIMED], schedule.tallies[Mode.SPLIT]
    seconds, callbacks = timed.step_seconds, timed.callback_seconds
    eager = bool(getattr(model, "run_eagerly", False))
    computing = Part.EAGER if eager and watch.backend != "torch" else Part.STEP
    if not schedule.can_split:
        rest = max(0.0, seconds - callbacks)
        return {Part.CALLBACKS: callbacks, Part.UNEXPLAINED: rest}, [
            f"how long a step takes without its input: {watch.unsplit}"
        ]
    call, _ = usual_and_excess(split.calls)
    parts = {Part.CALLBACKS: min(callbacks, seconds)}
    parts[Part.INPUT] = min(_waiting(watch, timed, split), seconds - parts[Part.CALLBACKS])
    parts[computing] = min(call, max(0.0, seconds - sum(parts.values())))
    rest = seconds - sum(parts.values())
    if rest > _SURE_SHARE * seconds:
        parts[Part.UNEXPLAINED] = rest
    else:
        parts[computing] += max(0.0, rest)
    return parts | {Part.TRACING: watch.tracing_seconds / max(1, timed.steps)}, []


def _move_inside(parts: dict[Part, float], share: float) -> None:
    """Move the share of the wall time in which Python ran inside the step out of the step."""
    moved = min(parts.get(Part.STEP, 0.0), share * sum(parts.values()))
    if moved:
        parts[Part.INSIDE] = moved
        parts[Part.STEP] -= moved


def _waiting(watch: FitWatch, timed: Tally, split: Tally) -> float:
    """Seconds per step spent waiting for data."""
    usual, excess = usual_and_excess(timed.calls)
    alone, _ = usual_and_excess(split.calls)
    fetch, bursts = usual_and_excess(split.fetches)
    if watch.backend == "tensorflow":
        # Some steps take longer, for instance because other programs run. The data explains only as much of this as
        # some batches take longer than others.
        return max(0.0, usual - alone) + min(excess, bursts)
    # The other devices compute beside the host: what the host reads meanwhile costs no time of a step.
    return min(fetch + bursts, max(0.0, timed.step_seconds - timed.callback_seconds - alone))


def _length(watch: FitWatch, facts: TrainingFacts) -> tuple[int | None, int | None]:
    """Steps per epoch, and the number of epochs that the script asks for."""
    finished = watch.epochs if watch.epoch_is_over else watch.epochs[:-1]
    planned = (getattr(watch.frame.callbacks, "params", None) or {}).get("steps")
    return finished[0].steps if finished else planned, facts.fit_arguments.epochs


def _around(watch: FitWatch, steps: int | None, epochs: int | None) -> dict[Part, float]:
    """Parts of the training outside of its steps, spread over them."""
    if not steps or not watch.epochs:
        return {}
    first = watch.epochs[0]
    every = watch.frame.arguments.get("validation_freq")
    parts = {Part.BETWEEN_EPOCHS: first.callbacks / steps}
    if first.validation is not None:
        parts[Part.VALIDATION] = first.validation / steps / (every if isinstance(every, int) and every > 0 else 1)
    if epochs and watch.start_seconds is not None and watch.schedule is not None:
        usual = watch.schedule.tallies[Mode.TIMED].step_seconds
        parts[Part.START] = max(0.0, watch.start_seconds - usual) / (epochs * steps)
    return parts


def used_lines(
    sources: Mapping[str, str], stack: tuple[Frame, ...], facts: TrainingFacts, alone: bool
) -> tuple[Span, ...]:
    """The lines that a training uses, with those of its datasets.

    Args:
        sources: texts of the script and its own modules, by absolute path.
        stack: of the first step, innermost frame first.
        alone: whether the script trains only once.
    """
    found = list(lines_used(sources, stack, everything_before=alone)) if sources else []
    for dataset in facts.chain:
        if dataset.place is not None:
            found.append((*dataset.place, dataset.place[1]))
        if dataset.function is not None:
            found.append(dataset.function)
    return tuple(found)


# Facts on the wire of the measured process --------------------------------------------------------------------------


def _facts(model: Any, watch: FitWatch, translate: Translate) -> TrainingFacts:
    """The facts in the form that a measured process sends."""
    seen, arguments = watch.seen, watch.frame.arguments
    first = arguments.get("initial_epoch") or 0
    found: dict[str, Any] = {
        "backend": watch.backend,
        "versions": _versions(),
        "gpus": _accelerators(watch.backend),
        "chain": [places.stage(stage, translate) for stage in seen.chain],
        "runtime_nodes": seen.nodes,
        "batch_size": seen.rows,
        "new_traces": watch.traced_steps,
        "fit_arguments": {"epochs": max(0, int((arguments.get("epochs") or 1) - first))},
        "epoch_lengths": [epoch.steps for epoch in watch.epochs],
        **_samples(watch, translate),
        "timeline": _timeline(watch),
        **(diagnose.model(SimpleNamespace(fit_model=model), None) or {}),
    }
    if seen.element_spec is not None:
        found["element_spec"] = seen.element_spec
    if "x" in arguments:
        kind, name, path, line = clock.feeder(arguments["x"])
        found["feeder"] = [kind, name, *places.place(path, line, translate)]
    return parse_facts(found)


def _samples(watch: FitWatch, translate: Translate) -> dict[str, Any]:
    """The samples of all slices; those in functions that the step calls count as inside it."""
    main: Counter[Any] = Counter()
    others: Counter[Any] = Counter()
    for sampler in watch.samplers:
        main.update(sampler.main)
        others.update(sampler.others)
    called = functions_inside(watch.functions) if any(path for path, *_ in others) else []
    inside = Counter({key: count for key, count in others.items() if _is_in(key, called)})
    total = sum(sampler.looks for sampler in watch.samplers)
    return {
        "samples": places.samples(total, _hottest(main), _hottest(others - inside), translate),
        "inside_step": places.samples(total, [], _hottest(inside), translate),
    }


def _hottest(samples: Counter[Any]) -> list[list[Any]]:
    return [[*key, count] for key, count in samples.most_common(_HOTTEST)]


def _is_in(key: Sequence[Any], spans: Sequence[Span]) -> bool:
    path, line = key[0], key[1]
    return any(path == where and first <= line <= last for where, first, last in spans)


def _timeline(watch: FitWatch) -> dict[str, Any]:
    """The newest slice of sampled steps."""
    latest = list(watch.samplers[-1].latest) if watch.samplers else []
    if not latest:
        return {}
    return {"main": segments(latest), "steps": [moment for moment in watch.moments if moment >= latest[0][0]]}


def _versions() -> dict[str, str]:
    names = {"tensorflow": "tensorflow", "keras": "keras", "tf_keras": "tf-keras", "jax": "jax", "torch": "torch"}
    return {
        shown: str(sys.modules[name].__version__)
        for name, shown in names.items()
        if hasattr(sys.modules.get(name), "__version__")
    }


def _accelerators(backend: str) -> list[str]:
    """Names of the accelerators that the framework uses."""
    state = SimpleNamespace()
    tf = sys.modules.get("tensorflow")
    if backend == "tensorflow" and tf is not None:
        state.uses_gpu = lambda: bool(tf.config.list_logical_devices("GPU"))
    names: list[str] = diagnose.accelerators(state, backend)
    return names
