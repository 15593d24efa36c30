"""Checks of a script's demands on the machine. Each returns None without a script."""

from __future__ import annotations

import re

from kerascheck.knowledge.cards import NO_TENSOR_CORES, half_types
from kerascheck.runtime.doctor.checks.common import (
    TITLES,
    Verdict,
    advice,
    framework,
    ok,
    packages,
    problem,
    shows_none,
    size,
)
from kerascheck.runtime.doctor.snapshot import Demand, Snapshot

_SLOW_FILE_SYSTEMS = re.compile(r"nfs\d?|cifs|smb\d?|smbfs|9p|drvfs|v9fs|fuse(?:\..*|blk)?|afs|davfs")
"""File systems on which opening a file takes a request to another machine or operating system. ``fuseblk`` is NTFS
through a user-space driver."""
_LEAST_PER_PARAMETER, _USUAL_PER_PARAMETER = 8, 16
"""Bytes per parameter in float32 training: the weight and its gradient; with Adam also its two moments."""


def _of(machine: Snapshot, what: str) -> list[Demand]:
    return [demand for demand in machine.script or () if demand.what == what and isinstance(demand.value, str)]


def _largest(machine: Snapshot, what: str) -> tuple[int, Demand] | None:
    """The largest number among the script's demands of a kind, with that demand."""
    numbers = [
        (demand.value, demand)
        for demand in machine.script or ()
        if demand.what == what and isinstance(demand.value, int)
    ]
    return max(numbers, key=lambda each: each[0], default=None)


def script_precision(machine: Snapshot) -> Verdict | None:
    """A 16-bit policy that is no faster on this machine."""
    asked = next((demand for demand in reversed(_of(machine, "policy"))), None)
    if asked is None or not str(asked.value).startswith("mixed_"):
        return None
    kind, found = str(asked.value).removeprefix("mixed_"), framework(machine)
    if not machine.gpus and machine.system.accelerator is not None:
        return None
    if not machine.gpus and (found is None or not found.gpus):
        if kind == "bfloat16" and machine.cpu.amx:
            return ok("mixed_bfloat16 has hardware of its own on this CPU (AMX)")
        return problem(
            f"{asked.value} makes training slower on a CPU, and there is no GPU.",
            "Remove the policy for runs on this machine.",
            asked,
        )
    for gpu in machine.gpus:
        types = half_types(gpu.name, gpu.capability)
        if types is None or kind in types:
            continue
        if types:
            return advice(f"The {gpu.name} has no fast {kind}.", f"Use mixed_{types[0]}.", asked)
        if NO_TENSOR_CORES.search(gpu.name):
            return problem(
                f"The {gpu.name} has no Tensor Cores: {asked.value} was 2 to 4 times slower on such a card.",
                "Remove the policy.",
                asked,
            )
        return advice(
            f"The {gpu.name} has no Tensor Cores: {asked.value} saves memory, but hardly any time.",
            "Keep it only if memory is short.",
            asked,
        )
    return ok(f"{asked.value} of the script gains on this GPU") if machine.gpus else None


def script_backend(machine: Snapshot) -> Verdict | None:
    """A backend that the script chooses but that is not installed."""
    asked = next(iter(_of(machine, "backend")), None)
    if asked is None or machine.python is None or machine.python.packages is None or asked.value not in TITLES:
        return None
    if asked.value in packages(machine) or any(name.startswith(f"{asked.value}-") for name in packages(machine)):
        return None
    return problem(
        f"The script runs Keras on {TITLES[str(asked.value)]}, which is not installed.",
        "Install it, or choose another backend.",
        asked,
    )


def script_visible(machine: Snapshot) -> Verdict | None:
    """GPUs that the script hides from itself."""
    asked = next(iter(reversed(_of(machine, "visible"))), None)
    if asked is None or not shows_none(machine, str(asked.value)):
        return None
    count = f"{len(machine.gpus)} GPU{'s' * (len(machine.gpus) > 1)}"
    if asked.value in ("", "-1"):
        return problem(f"The script hides every GPU from itself; this machine has {count}.", "Delete this line.", asked)
    return problem(
        f"The script may only see GPU {asked.value}, and this machine has {count}, numbered from 0: it trains on the CPU.",
        "Delete this line, or name a GPU that is there.",
        asked,
    )


def script_data(machine: Snapshot) -> Verdict | None:
    """One file per example, on a file system that is slow for many files."""
    for asked in _of(machine, "data"):
        if _SLOW_FILE_SYSTEMS.fullmatch(str(asked.value)):
            return advice(
                f"Every example is a file of its own, on a file system that is slow for that ({asked.value}).",
                "Copy the data to a local disk first, as one archive.",
                asked,
            )
    return None


def script_workers(machine: Snapshot) -> Verdict | None:
    """More worker processes than cores."""
    cores = min(machine.cpu.usable, machine.cpu.quota or machine.cpu.usable)
    found = _largest(machine, "processes")
    if found is None or found[0] <= max(cores, 1):
        return None
    return advice(
        f"The script starts {found[0]} worker processes for {cores:g} cores.",
        f"Use {max(int(cores), 1)} at most.",
        found[1],
    )


def script_memory(machine: Snapshot) -> Verdict | None:
    """Arrays and caches that exceed main memory."""
    room, found = machine.memory.limit or machine.memory.available, _largest(machine, "arrays")
    if found is None or room is None or found[0] <= 0.8 * room:
        return None
    seen = f"The data takes at least {size(found[0])} in memory, of {size(room)} that may be used."
    return problem(seen, "Read it in batches: cache to a file, or stream it with tf.data.", found[1])


def script_model(machine: Snapshot) -> Verdict | None:
    """A model that exceeds GPU memory."""
    room, found = min((gpu.memory for gpu in machine.gpus if gpu.memory), default=None), _largest(machine, "parameters")
    if found is None or room is None:
        return None
    count, asked = found
    seen = f"The model of {count:,} parameters takes"
    if count * _LEAST_PER_PARAMETER > room:
        least = size(count * _LEAST_PER_PARAMETER)
        return problem(
            f"{seen} {least} for weights and gradients alone, and the GPU has {size(room)}.",
            "Train a smaller model, or on a larger GPU.",
            asked,
        )
    if count * _USUAL_PER_PARAMETER > room:
        usual = size(count * _USUAL_PER_PARAMETER)
        return advice(
            f"{seen} {usual} with Adam, before activations, and the GPU has {size(room)}.",
            "Use an optimizer with less state, or a larger GPU.",
            asked,
        )
    return None
