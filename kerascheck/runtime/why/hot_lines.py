"""Lines of Python with many samples of the profiler, from one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kerascheck.runtime.verify.messages import Place, TrainingFacts
from kerascheck.runtime.verify.samples import FitStart, MainSample, Samples, ThreadSample
from kerascheck.runtime.why.step import HotLine, Part

_PARTS: Mapping[str, Part] = {
    "input": Part.INPUT,
    "tracing": Part.TRACING,
    "callback": Part.CALLBACKS,
    "between epochs": Part.BETWEEN_EPOCHS,
    "python": Part.PYTHON,
    "executing": Part.COMPUTE,
}
"""Part of a step by the activity of the main thread."""


def main_lines(samples: Samples) -> dict[Part, list[HotLine]]:
    """Lines of the script in the main thread, by part."""
    found: dict[Part, list[ThreadSample]] = {}
    for sample in samples.main:
        if sample.path is not None:
            found.setdefault(_PARTS[sample.kind], []).append(sample.in_thread)
    return {part: _merged(seen, samples.total) for part, seen in found.items()}


def input_lines(facts: TrainingFacts, place: Place | None) -> list[HotLine]:
    """Lines that other threads ran, and that the main thread ran while it requested data.

    Args:
        place: line that trains.
    """
    samples = facts.samples
    inside = {(line.path, line.function) for line in inside_lines(facts, place)}
    seen = [sample for sample in samples.others if (sample.path, sample.function) not in inside]
    trains = {(sample.path, sample.function) for sample in samples.main if _is_at(sample, place)}
    for sample in samples.main:
        # A loop that waits inside TensorFlow for its next element runs no Python. Its header may be another line.
        is_loop = _is_at(sample, place) or (sample.path, sample.function) in trains
        waits = is_loop and sample.library == "tensorflow"
        if sample.kind == "input" and not waits:
            seen.append(sample.in_thread)
    return _merged(seen, samples.total)


def inside_lines(facts: TrainingFacts, place: Place | None) -> list[HotLine]:
    """Lines of the script that ran during steps on one batch: TensorFlow calls them from inside the step."""
    if facts.has_eager_switch:  # the whole step is Python
        return []
    samples = facts.inside_step
    seen = [sample for sample in samples.others if sample.path is not None]
    seen += [sample.in_thread for sample in samples.main if sample.path is not None and not _is_at(sample, place)]
    return _merged(seen, samples.total)


def start_lines(start: FitStart, place: Place | None) -> list[HotLine]:
    """Lines of the script that ran before the end of the first step, except the call of ``fit`` itself."""
    seen = [sample.in_thread for sample in start.main if sample.path is not None and not _is_at(sample, place)]
    return _merged(seen, start.total)


def _is_at(sample: MainSample, place: Place | None) -> bool:
    return (sample.path, sample.line) == place


def _merged(seen: Iterable[ThreadSample], total: int) -> list[HotLine]:
    """Merge the samples of each line of the script, or of each library function; busiest first."""
    counts: Counter[tuple[str, int, str, str | None]] = Counter()
    libraries: dict[tuple[str, int, str, str | None], Counter[str | None]] = {}
    for sample in seen:
        library = None if sample.path else sample.library
        key = (sample.path or "", (sample.line or 0) if sample.path else 0, sample.function, library)
        counts[key] += sample.count
        libraries.setdefault(key, Counter())[sample.library] += sample.count
    lines = [
        HotLine(
            path, line, function, libraries[path, line, function, library].most_common(1)[0][0], count / max(1, total)
        )
        for (path, line, function, library), count in counts.items()
    ]
    return sorted(lines, key=lambda line: -line.share)
