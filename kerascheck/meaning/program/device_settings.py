"""Device settings that come too late, after TensorFlow has initialised the devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExternalInstance, Value, constant
from kerascheck.knowledge.devices import DEVICE_SETTINGS, LIST_PHYSICAL_DEVICES, SET_VISIBLE_DEVICES
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.program.device_start import initialising_call
from kerascheck.meaning.program.device_use import SET_VARIABLE
from kerascheck.meaning.program.program import Program

# TensorFlow reads them once, when the runtime starts.
_VARIABLES = frozenset({"CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH"})
# Then the setting is meant for child processes, which read their environment when they start.
_CHILDREN = re.compile(r"\b(?:subprocess|multiprocessing|os\.system|Popen|Pool)\b")


@dataclass(frozen=True, slots=True)
class LateSetting:
    """A device setting after the initialisation of the devices.

    Attributes:
        call: the call that makes the setting.
        started: the call that initialised the devices.
        variable: the environment variable that is set; None for a function of TensorFlow.
    """

    call: Call
    started: Call
    variable: str | None = None


def late_settings(module: Module) -> Iterator[LateSetting]:
    """The device settings that a program makes too late: environment variables first, then functions of TensorFlow."""
    if not module.mentions(_CHILDREN):
        yield from _late_variables(module)
    program = module.once(Program)
    for call in program.calls(*sorted(DEVICE_SETTINGS)):
        # All CPUs are visible by default, and TensorFlow accepts an unchanged value.
        if call.name == SET_VISIBLE_DEVICES and _are_all_cpus(call.given("devices")):
            continue
        is_executed = program.is_executed(call.path)
        # Code without a caller in this file may never run, and code with callers elsewhere may have run before.
        if call.module is not module and not is_executed:
            continue
        started = initialising_call(module, call)
        if started is not None and (is_executed or not program.is_executed(started.path)):
            yield LateSetting(call, started)


def _late_variables(module: Module) -> Iterator[LateSetting]:
    program = module.once(Program)
    said = set()
    for call in module.once(CallIndex).named(*SET_VARIABLE):
        name, value = constant(call.given("key")), constant(call.given("value"))
        is_said_before = (name, value) in said
        said.add((name, value))
        if name not in _VARIABLES or is_said_before or not program.is_executed(call.path):
            continue
        started = initialising_call(module, call)
        if started is not None:
            yield LateSetting(call, started, name)


def _are_all_cpus(devices: Value | None) -> bool:
    """Whether a value is the result of ``list_physical_devices("CPU")``."""
    return (
        isinstance(devices, ExternalInstance)
        and devices.name == LIST_PHYSICAL_DEVICES
        and devices.call is not None
        and constant(devices.call.given("device_type")) == "CPU"
    )
