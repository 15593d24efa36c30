"""Checks on processor, memory and environment."""

from __future__ import annotations

from kerascheck.runtime.doctor.checks.common import Verdict, advice, ok, packages, size, tensorflow
from kerascheck.runtime.doctor.snapshot import Snapshot

_FREELY_SHARED = 128 << 20
"""Default size of /dev/shm in a Docker container (docker run, --shm-size)."""


def cpu_quota(machine: Snapshot) -> Verdict | None:
    """A CPU quota of the control group, which the number of schedulable cores does not show."""
    cpu = machine.cpu
    if cpu.quota is not None and cpu.quota < 0.95 * cpu.usable:
        budget = max(1, int(cpu.quota))
        return advice(
            f"{cpu.usable} cores can be seen, but the control group allows the time of {cpu.quota:g}: tf.data's "
            f"AUTOTUNE plans with {cpu.usable}.",
            f"Set options.autotune.cpu_budget = {budget}, or raise the limit.",
        )
    of = f" of {cpu.cores}" if cpu.usable < cpu.cores else ""
    return ok(
        f"{cpu.usable}{of} CPU core{'s' * (cpu.usable != 1)}"
        + (f", {size(machine.memory.total)} of memory" if machine.memory.total else "")
    )


def memory_limit(machine: Snapshot) -> Verdict | None:
    """A memory limit of the control group that is below tf.data's own limit."""
    memory = machine.memory
    if memory.limit is None or memory.available is None or memory.limit >= memory.available / 2:
        return None
    return advice(
        f"The control group allows {size(memory.limit)}, but tf.data may buffer up to about "
        f"{size(memory.available / 2)}, half of what the host has free.",
        f"Set options.autotune.ram_budget = {memory.limit // 2}, and cache no more than that.",
    )


def swap(machine: Snapshot) -> Verdict | None:
    memory = machine.memory
    if (
        not memory.total
        or memory.available is None
        or memory.swap_used < 0.05 * memory.total
        or memory.available > 0.1 * memory.total
    ):
        return None
    return advice(
        f"{size(memory.swap_used)} of memory are swapped out; {size(memory.available)} are free.",
        "End other programs, or keep less in memory.",
    )


def shared_memory(machine: Snapshot) -> Verdict | None:
    """A small ``/dev/shm``, through which PyTorch workers pass batches."""
    shared = machine.memory.shared
    if (
        shared is None
        or shared >= _FREELY_SHARED
        or "torch" not in packages(machine)
        and not _starts_processes(machine)
    ):
        return None
    return advice(
        f"/dev/shm has {size(shared)}: workers of a DataLoader, and shared_memory, pass batches through it.",
        "Start the container with --shm-size=8g or --ipc=host.",
    )


def _starts_processes(machine: Snapshot) -> bool:
    return any(demand.what == "processes" for demand in machine.script or ())


def threads(machine: Snapshot) -> Verdict | None:
    """A runtime that is limited to one thread."""
    variables, found = machine.variables or {}, tensorflow(machine)
    if machine.cpu.usable < 4 or found is None:
        return None
    if variables.get("TF_NUM_INTRAOP_THREADS") != "1":
        return None
    return advice(
        f"TF_NUM_INTRAOP_THREADS=1 leaves {machine.cpu.usable - 1} of {machine.cpu.usable} cores idle in operations "
        "on the CPU, also of the input.",
        "Unset it.",
    )


def determinism(machine: Snapshot) -> Verdict | None:
    found = tensorflow(machine)
    if (machine.variables or {}).get("TF_DETERMINISTIC_OPS", "").lower() not in ("1", "true") and not (
        found is not None and found.deterministic
    ):
        return None
    return advice(
        "TF_DETERMINISTIC_OPS makes every operation deterministic, which slows training down.",
        "Unset it where runs need not repeat bit by bit.",
    )
