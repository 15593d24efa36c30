"""Operations of a step in PyTorch, by the layers, losses, metrics and optimizers that create them."""

import re
import sys

from .layer_scopes import owners_of
from .patches import Patches

_BACKWARD = "autograd::engine::evaluate_function: "
_USER_SCOPE = 7  # RecordScope::USER_SCOPE in ATen/record_function.h: a scope of Python, not an operation


def traced(repeated, state):
    """Trace the steps that ``repeated`` runs under ``torch.profiler``.

    Returns:
        Their number, their seconds, their operations by thread, and whether the starts of these are unknown.
    """
    patches = Patches()
    state.open_scopes(patches)
    profiler, cuda = sys.modules["torch"].profiler, sys.modules["torch"].cuda.is_available()
    activities = [profiler.ProfilerActivity.CPU] + [profiler.ProfilerActivity.CUDA] * cuda
    try:
        with profiler.profile(activities=activities, acc_events=True) as profile:
            steps, seconds = repeated()
    finally:
        patches.undo()
    return steps, seconds, threads_of(profile.events(), cuda), cuda


def threads_of(events, cuda):
    """Operations as :func:`kerascheck.runtime.verify.child.layer_trace.attributed` reads them, in nanoseconds.

    The name of an operation contains its scopes. A backward operation has those of the forward operation with its
    sequence number; PyTorch numbers both alike.

    Args:
        events: list of ``torch.autograd.profiler_util.FunctionEvent``.
        cuda: take the kernels that each operation launches instead of the operation itself.
    """
    paths: dict = {}
    created: dict = {}  # path of the newest forward operation by thread and sequence number
    threads: dict = {}
    for event in sorted(events, key=lambda each: (each.time_range.start, -each.time_range.end)):
        if event.name.startswith(_BACKWARD):
            path = "gradient_tape/" + created.get((event.fwd_thread, event.sequence_nr), "")
        else:
            parent = event.cpu_parent
            path = paths.get(id(parent), "") + (f"{event.name}/" if owners_of(event.name) else "")
            if event.sequence_nr >= 0 and not path.startswith("gradient_tape/"):
                created[event.thread, event.sequence_nr] = path
        paths[id(event)] = path
        if event.scope == _USER_SCOPE or event.device_type.name != "CPU":
            continue
        kind = re.sub(r"\W", "_", event.name)
        operations = threads.setdefault(f"thread {event.thread}", [])
        if not cuda:
            start = event.time_range.start * 1000
            operations.append((start, start + event.time_range.elapsed_us() * 1000, f"{path}{kind}:{kind}", None, None))
        for kernel in event.kernels if cuda else ():
            # Kernels have no start here; one after the other, since one that ran inside another would be subtracted.
            start = operations[-1][1] if operations else 0.0
            operations.append((start, start + kernel.duration * 1000, f"{path}{kind}:{kind}", None, None))
    return list(threads.items())
