"""A GPU's own view of some steps: kernels, copies and gaps, from the planes that CUPTI fills.

Names of threads: "Stream #13(Compute)", "Stream #14(MemcpyH2D)"; the statistic "memcpy_details" has "size:" and bytes
(``xla/backends/profiler/gpu/cupti_collector.cc``). The host's plane has the events of the allocators
(``xla/tsl/framework/bfc_allocator.cc``, read by ``xplane_to_memory_profile.cc``).
"""

import collections
import re

from .intervals import covered, minus, seconds_of, union
from .xplane import is_copy, is_stream

_DEVICE = re.compile(r"^/device:GPU:(\d+)")
_TO_DEVICE = re.compile(r"MemcpyH2D|HtoD", re.IGNORECASE)
_COLLECTIVE = re.compile(r"nccl|ncclKernel|AllReduce|rccl", re.IGNORECASE)
_SIZE = re.compile(r"\bsize:(\d+)")
_MOST_KERNELS = 8
_ALLOCATIONS = ("MemoryAllocation", "MemoryDeallocation")
_ALLOCATOR = re.compile(r"^GPU_(\d+)_")


def devices_of(planes):
    """(Number, threads) of each GPU."""
    return [(int(found[1]), threads) for name, threads in planes if (found := _DEVICE.match(name))]


def views(planes, steps):
    """Facts about each GPU in a trace of nothing but steps on one batch, which wait for no data."""
    devices = devices_of(planes)
    times = [
        t
        for _, threads in devices
        for name, events in threads
        if is_stream(name)
        for e in events
        for t in (e.start, e.end)
    ]
    return [view(device, [], (min(times), max(times)), steps) for device in devices] if times else []


def memory_peaks(host):
    """Peak and limit of each GPU's allocator in bytes, by number of the GPU; the peak counts since the process began."""
    found: dict = {}
    for _, events in host:
        for event in events:
            allocator = _ALLOCATOR.match(str(event.stats.get("allocator_name"))) if event.name in _ALLOCATIONS else None
            if allocator:
                stats = event.stats
                limit = sum(int(stats.get(f"bytes_{part}") or 0) for part in ("reserved", "allocated", "available"))
                known = found.setdefault(int(allocator[1]), {"peak_bytes": 0, "limit_bytes": 0})
                known["peak_bytes"] = max(known["peak_bytes"], int(stats.get("peak_bytes_in_use") or 0))
                known["limit_bytes"] = max(known["limit_bytes"], limit if "bytes_available" in stats else 0)
    return found


def view(device, waiting, window, steps):
    """Facts about one GPU per step, see :class:`kerascheck.runtime.verify.gpu_view.GpuView`.

    Args:
        device: from :func:`devices_of`.
        waiting: times in which the host waits for data.
        window: (start, end) of the steps.
        steps: number of steps.
    """
    number, threads = device
    events = [e for name, each in threads if is_stream(name) for e in each if window[0] <= e.start < window[1]]
    kernels = [e for e in events if not is_copy(e.name)]
    copies = [
        e for e in events if is_copy(e.name) and _TO_DEVICE.search(e.name + str(e.stats.get("memcpy_details", "")))
    ]
    busy = union((e.start, e.end) for e in kernels)
    idle = minus([window], busy)
    for_data = covered(idle, waiting)
    copied = union((e.start, e.end) for e in copies)
    by_name: dict = collections.defaultdict(float)
    for e in kernels:
        by_name[e.name] += (e.end - e.start) / 1e9 / steps
    longest = sorted(map(list, by_name.items()), key=lambda each: -each[1])[:_MOST_KERNELS]
    return {
        "number": number,
        "busy_seconds": seconds_of(busy) / steps,
        "waiting_for_data_seconds": seconds_of(for_data) / steps,
        "waiting_for_host_seconds": (seconds_of(idle) - seconds_of(for_data)) / steps,
        "kernels": len(kernels) / steps,
        "kernel_seconds": sum(e.end - e.start for e in kernels) / 1e9 / len(kernels) if kernels else 0.0,
        "copied_bytes": sum(_bytes(e) for e in copies) / steps,
        "copy_seconds": seconds_of(copied) / steps,
        "hidden_copy_seconds": seconds_of(covered(copied, busy)) / steps,
        "collective_seconds": seconds_of(union((e.start, e.end) for e in kernels if _COLLECTIVE.search(e.name)))
        / steps,
        "longest_kernels": longest,
    }


def _bytes(event):
    found = _SIZE.search(str(event.stats.get("memcpy_details", "")))
    return int(found[1]) if found else 0
