"""The list of all checks, and the diagnosis that runs them."""

from __future__ import annotations

from collections.abc import Callable

from kerascheck.runtime.doctor.checks import frameworks, gpu, machine, script
from kerascheck.runtime.doctor.checks.common import Result, Status, Verdict
from kerascheck.runtime.doctor.snapshot import Snapshot

CHECKS: tuple[Callable[[Snapshot], Verdict | None], ...] = (
    gpu.gpu_seen,
    gpu.driver_running,
    gpu.driver,
    gpu.gpu_build,
    gpu.hidden_gpus,
    gpu.compute_capability,
    gpu.library_path,
    gpu.cuda_packages,
    gpu.cuda_libraries,
    frameworks.interpreter,
    frameworks.tensorflow_installed,
    frameworks.keras_installed,
    frameworks.two_keras,
    frameworks.requirements,
    frameworks.native_windows,
    frameworks.metal,
    gpu.slowdown,
    gpu.gpu_memory,
    gpu.gpu_shared,
    gpu.power_limit,
    gpu.pcie,
    gpu.persistence,
    gpu.mig,
    gpu.compilers,
    gpu.half_precision,
    gpu.tf32,
    gpu.switches,
    machine.cpu_quota,
    machine.memory_limit,
    machine.swap,
    machine.shared_memory,
    machine.threads,
    machine.determinism,
    script.script_precision,
    script.script_backend,
    script.script_visible,
    script.script_data,
    script.script_workers,
    script.script_memory,
    script.script_model,
)


def diagnose(snapshot: Snapshot) -> list[Result]:
    """Run all checks on a snapshot. Returns problems first, then advice, then the results that are ok."""
    results = []
    for check in CHECKS:
        verdict = check(snapshot)
        if verdict is not None:
            results.append(
                Result(check.__name__.replace("_", "-"), verdict.status, verdict.seen, verdict.todo, verdict.asked)
            )
    order = list(Status)
    return sorted(results, key=lambda result: order.index(result.status))
