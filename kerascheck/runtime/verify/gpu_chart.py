"""Chart of what a GPU did while a script ran, for the HTML reports."""

from __future__ import annotations

from collections.abc import Iterator

from kerascheck.runtime.verify.gpu_summary import DeviceSummary


def over_time(device: DeviceSummary) -> Iterator[str]:
    """How busy a GPU was, and how full its memory, from the first sample to the last."""
    seconds, total = device.time.seconds, device.memory_total_bytes
    memory = [used / total if used is not None and total else None for used in device.time.memory_bytes]
    length = max(seconds[-1] - seconds[0], 1.0)
    paths = []
    for shares, color in ((device.time.utilisation, "after"), (memory, "before")):
        points = [
            f"{1000 * (at - seconds[0]) / length:.1f},{100 - 100 * share:.1f}"
            for at, share in zip(seconds, shares)
            if share is not None
        ]
        if points:
            paths.append(
                f'<polyline fill="none" stroke="var(--{color})" stroke-width="2" vector-effect="non-scaling-stroke" points="{" ".join(points)}"/>'
            )
    if not paths:
        return
    grid = "".join(
        f'<line x1="0" x2="1000" y1="{y}" y2="{y}" stroke="var(--line)" vector-effect="non-scaling-stroke"/>'
        for y in (0, 50, 100)
    )
    ticks = "".join(f"<span>{length * share:.3g}{' s' if share else ''}</span>" for share in (0, 0.5, 1))
    name = f"GPU {device.index}, from 0 to 100%: "
    yield (
        f'<figure><svg class="chart" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="{name}busy, and memory in use">'
        f'{grid}{"".join(paths)}</svg><div class="axis">{ticks}</div><figcaption>{name}'
        '<span class="key after"></span>busy, <span class="key before"></span>memory in use</figcaption></figure>'
    )
