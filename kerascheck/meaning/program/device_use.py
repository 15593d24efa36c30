"""Devices of a program: hidden GPUs, TPUs, strategies, and memory limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from kerascheck.interpreter.values import (
    Call,
    ExecutionPath,
    SequenceValue,
    constant,
)
from kerascheck.knowledge.classes import (
    class_of,
)
from kerascheck.knowledge.devices import (
    CLUSTER_RESOLVER_TPU_CLUSTER_RESOLVER,
    DEVICE,
    ENABLE_OP_DETERMINISM,
    EXPERIMENTAL_TPU_STRATEGY,
    GPU_SHARING_PACKAGES,
    SCHEDULER_VARIABLES,
    SERVER,
    SET_VISIBLE_DEVICES,
    STRATEGY,
    TPU_EXPERIMENTAL_INITIALIZE_TPU_SYSTEM,
    TPU_STRATEGY,
)
from kerascheck.knowledge.name_heuristics import (
    GPU_LISTS,
    MEMORY_LIMITS,
)
from kerascheck.meaning.program.trainings import Trainings
from kerascheck.project.requirements import lets_memory_grow, wants_cpu

_SCHEDULER = re.compile("|".join(map(re.escape, SCHEDULER_VARIABLES)))
_SEVERAL_GPUS = re.compile(r"[1-9]")
_TPU = re.compile(r"TPUStrategy|TPUClusterResolver|initialize_tpu_system")
_TPU_CALLS = (
    TPU_STRATEGY,
    EXPERIMENTAL_TPU_STRATEGY,
    CLUSTER_RESOLVER_TPU_CLUSTER_RESOLVER,
    TPU_EXPERIMENTAL_INITIALIZE_TPU_SYSTEM,
)
_CPU_DEVICE = re.compile(r"/?(?:device:)?cpu(?:\s*:\s*\d+)?", re.I)
SET_VARIABLE = ("os.environ.__setitem__", "os.environ.setdefault", "os.putenv")


class DeviceUse(Trainings):
    """The devices that a program uses, and their settings."""

    @cached_property
    def environment(self) -> dict[str, object]:
        """Variables that the program sets through os.environ; the value is None if it is not a literal."""
        found: dict[str, object] = {}
        for call in self._calls.named(*SET_VARIABLE):
            key = constant(call.given("key"))
            if isinstance(key, str):
                found[key] = constant(call.given("value"))
        return found

    @cached_property
    def limits_memory(self) -> bool:
        """Whether the program, its image or its environment mentions memory growth or a memory limit."""
        return self._mentions(MEMORY_LIMITS) or lets_memory_grow(self._module.source.path)

    @cached_property
    def gpu_sharing(self) -> str | None:
        """A clause that says why others need memory of the GPUs that the program uses; None if nothing shows that."""
        for module in self._modules:
            for name, level in module.import_names:
                package = name.partition(".")[0]
                if level == 0 and package in GPU_SHARING_PACKAGES:
                    return GPU_SHARING_PACKAGES[package].format(package=package)
        if self._mentions(_SCHEDULER):
            return "it runs under a scheduler, which shares machines among users"
        visible = self.environment.get("CUDA_VISIBLE_DEVICES")
        if isinstance(visible, str) and _SEVERAL_GPUS.search(visible):
            return f'it runs on a machine with several GPUs (CUDA_VISIBLE_DEVICES is "{visible}")'
        if self._calls.named(SERVER):
            return "tf.distribute.Server serves other processes"
        return None

    @cached_property
    def uses_tpu(self) -> bool:
        """Whether the program names a set-up function for TPUs, possibly among other devices."""
        return self._mentions(_TPU)

    @cached_property
    def needs_tpu(self) -> bool:
        """Whether the program always sets up a TPU: without a condition, and without a handler that continues."""
        calls = self._calls.with_prefix(*_TPU_CALLS)
        return self.uses_tpu and not (calls and all(map(_may_be_left_out, calls)))

    @cached_property
    def pins_cpu(self) -> bool:
        """Whether the script hides the GPUs from itself without an option, or requires a CPU build of TensorFlow."""
        hides = any(hides and not _is_option(call.path) for call, hides in self._visible_devices())
        return hides or wants_cpu(self._module.source.path)

    @cached_property
    def hides_gpus(self) -> Call | None:
        """The call that certainly hides every GPU from the program; None if a condition or a computed value decides."""
        found = None
        for call, hides in self._visible_devices():
            if not hides:
                return None
            # Module-level code of an imported module counts, too.
            if call.path.root.function is None and not any(call.path.conditions(within="program")):
                found = found or call
        return found

    @cached_property
    def gpu_choices(self) -> list[Call]:
        """The calls that choose visible GPUs, without those that hide all of them if the user asks for that."""
        return [call for call, hides in self._visible_devices() if not (hides and _is_option(call.path))]

    def _visible_devices(self) -> Iterator[tuple[Call, bool]]:
        """The calls that choose visible GPUs, each with whether they certainly choose none."""
        for call in self._calls.named(*SET_VARIABLE, SET_VISIBLE_DEVICES):
            if call.name != SET_VISIBLE_DEVICES:
                if constant(call.given("key")) == "CUDA_VISIBLE_DEVICES":
                    visible = constant(call.given("value"))
                    yield call, isinstance(visible, str) and visible.strip() in ("", "-1")
            else:
                devices = call.given("devices")
                none = isinstance(devices, SequenceValue) and not devices.items and not devices.open
                yield call, none and constant(call.given("device_type"), "GPU") == "GPU"

    def cpu_device(self, path: ExecutionPath) -> Call | None:
        """The ``tf.device`` that places an execution path on the CPU.

        Returns None if there is none, or if the nearest one names another device.
        """
        devices = {call.node: call for call in self._calls.named(DEVICE)}
        for manager in path.managers(within="program"):
            for item in manager.node.items if isinstance(manager.node, cst.With) else ():
                if item.item in devices:
                    name = constant(devices[item.item].given("device_name"))
                    return devices[item.item] if isinstance(name, str) and _CPU_DEVICE.fullmatch(name) else None
        return None

    @cached_property
    def is_deterministic(self) -> bool:
        """Whether the program requests deterministic operations, which slow down parallel random maps."""
        return "TF_DETERMINISTIC_OPS" in self.environment or bool(self._calls.named(ENABLE_OP_DETERMINISM))

    @cached_property
    def distributes(self) -> bool:
        """Whether the program creates a strategy of ``tf.distribute``."""
        return any(class_of(call.name) == STRATEGY for call in self._calls if call.name and call.attribute is None)


def _is_option(path: ExecutionPath) -> bool:
    """Whether the user chooses an execution path, by a condition on more than the presence of GPUs."""
    for condition in path.conditions(within="program"):
        if condition.test is not None:
            names = (
                node.value for node in condition.module.tree.descendants(condition.test) if isinstance(node, cst.Name)
            )
            if not any(map(GPU_LISTS.search, names)):
                return True
    return False


def _may_be_left_out(call: Call) -> bool:
    """Whether a program can continue without a call: it is conditional, or in a try whose handler does not raise."""
    tries = (each.node for each in call.path.tries(within="program"))
    handlers = (node.handlers for node in tries if isinstance(node, (cst.Try, cst.TryStar)))
    return any(call.path.conditions(within="program")) or any(not all(map(_raises, each)) for each in handlers)


def _raises(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    last = handler.body.body[-1]
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)
