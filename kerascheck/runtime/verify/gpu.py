"""GPU activity while scripts run, sampled through NVML (``nvidia-ml-py``, optional).

A separate process queries NVML, because a faulty driver hangs or crashes its caller.
"""

from __future__ import annotations

import json
import os
import select
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kerascheck.knowledge.cards import SLOWDOWNS
from kerascheck.runtime.plain import plain, restored
from kerascheck.runtime.verify.gpu_summary import DeviceSummary, GpuSeries, GpuSummary
from kerascheck.source import deadline

if TYPE_CHECKING:
    from kerascheck.runtime.verify.compare import Comparison

_INTERVAL_SECONDS = 0.5
_PATIENCE_SECONDS = 20.0
"""Seconds until the first answer of the driver. Its first start with several cards takes more than ten."""
_SECONDS_TO_END = 5.0
"""Seconds until the last answer."""
_POWER_CAP = 0x4
_REASONS = {_POWER_CAP: "power limit", **SLOWDOWNS}
"""Bits of ``nvmlClocksEventReasons`` (nvml.h) that say why clocks are lower than the load asks for."""
_MOST_POINTS = 600
"""Maximum number of samples in a series; longer ones are thinned out."""
_OTHERS = 0.05
"""Share of a GPU below which the work of other processes is noise."""
_SLOWED = 0.1
"""Share of samples with low clocks from which a GPU counts as slowed down."""


@dataclass(frozen=True, slots=True)
class DeviceDescription:
    """A GPU, as NVML describes it before anything is measured."""

    index: int
    name: str
    mig: bool
    """Whether it is partitioned."""
    visible: bool
    """Whether CUDA shows it to the scripts."""
    memory_total: int | None
    """Bytes."""
    before: tuple[int, ...]
    """Processes that computed on it before anything was measured: others."""


@dataclass(frozen=True, slots=True)
class Described:
    """Message of the process that asks NVML: the driver's version and the GPUs."""

    driver: str | None
    devices: tuple[DeviceDescription, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A look at a GPU; None for what NVML does not report."""

    seconds: float
    """Since the sampler began."""
    utilisation: float | None
    """0 to 1."""
    memory_bytes: int | None
    watts: float | None
    megahertz: int | None
    slowed: tuple[str, ...]
    """Reasons for lowered clocks."""
    processes: Mapping[int, float] | None
    """Share of the GPU's time that each process used since the last look, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Message of the process that asks NVML: one look at each GPU."""

    samples: tuple[Sample, ...]
    """In the order of :attr:`Described.devices`."""
    family: Mapping[int, bool | None]
    """Whether each process seen on a GPU descends from kerascheck; None where it had ended."""


@dataclass(slots=True)
class _Device:
    about: DeviceDescription
    handle: Any = None
    """Of NVML; None where another process asks it."""
    samples: list[Sample] = field(default_factory=list)
    last_seen: int = 0
    """Time stamp of NVML's newest sample of processes, in microseconds."""


class Sampler:
    """Context manager that samples every GPU while it is active; without NVML or a GPU it does nothing."""

    def __init__(self, nvml: ModuleType | None = None, me: int | None = None) -> None:
        """Prepare to query NVML.

        Args:
            nvml: a module like ``pynvml``, queried by a thread of this process; None: the installed one, queried by
                another process.
            me: the process whose descendants are the scripts; None: this one.
        """
        self._nvml = nvml
        self._me = os.getpid() if me is None else me
        self._devices: list[_Device] = []
        self._driver: str | None = None
        self._family: dict[int, bool | None] = {}
        """For each process seen on a GPU, whether it descends from this one."""
        self._start = 0.0
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._apart: _Apart | None = None
        self.failure: str | None = None
        """Reason why sampling ended early, for display; None if it did not, or if there is no GPU."""

    def __enter__(self) -> Sampler:
        if self._nvml is not None:
            if self.begin():
                self._thread = threading.Thread(target=self._sample, daemon=True)
                self._thread.start()
        else:
            from kerascheck.runtime.doctor.nvidia import is_installed

            if is_installed():
                self._apart = _Apart(self._take)
                self.failure = self._apart.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._apart is not None:
            self.failure = self._apart.end() or self.failure
        self.end()

    def begin(self) -> bool:
        """Initialise NVML and describe the GPUs; returns whether there is one."""
        try:
            self._ask("nvmlInit", may_fail=False)
            handles = [
                (index, self._ask("nvmlDeviceGetHandleByIndex", index))
                for index in range(self._ask("nvmlDeviceGetCount", may_fail=False))
            ]
            self._devices = [
                self._device(index, handle) for index, handle in handles if handle is not None
            ]  # None: a lost GPU
        except Exception:  # no driver
            return False
        self._driver = _word(self._ask("nvmlSystemGetDriverVersion"))
        self._start = time.monotonic()
        return bool(self._devices)

    def end(self) -> None:
        """Shut NVML down."""
        if self._nvml is not None:
            self._ask("nvmlShutdown")

    def described(self) -> Described:
        """The driver and the GPUs."""
        return Described(self._driver, tuple(device.about for device in self._devices))

    def looked(self) -> Looked:
        """One look at each GPU."""
        return Looked(tuple(self._look(device) for device in self._devices), self._family)

    def _take(self, message: Described | Looked) -> None:
        """Take a message of another process."""
        if isinstance(message, Described):
            self._driver = message.driver
            self._devices = [_Device(about) for about in message.devices]
            return
        self._family = dict(message.family)
        for device, sample in zip(self._devices, message.samples):
            device.samples.append(sample)

    def _ask(self, name: str, *arguments: Any, may_fail: bool = True) -> Any:
        """Query NVML; None if the card or driver does not support the query and it ``may_fail``."""
        try:
            return getattr(self._nvml, name)(*arguments)
        except Exception:
            if may_fail:
                return None
            raise

    def _device(self, index: int, handle: Any) -> _Device:
        mig, memory = self._ask("nvmlDeviceGetMigMode", handle), self._ask("nvmlDeviceGetMemoryInfo", handle)
        uuid, shown = _word(self._ask("nvmlDeviceGetUUID", handle)), os.environ.get("CUDA_VISIBLE_DEVICES")
        running = self._ask("nvmlDeviceGetComputeRunningProcesses", handle) or ()
        about = DeviceDescription(
            index,
            _word(self._ask("nvmlDeviceGetName", handle)) or "NVIDIA GPU",
            mig=bool(mig and mig[0]),
            visible=is_visible(index, uuid, shown),
            memory_total=getattr(memory, "total", None),
            before=tuple(sorted(process.pid for process in running)),
        )
        return _Device(about, handle)

    def _sample(self) -> None:
        while not self._done.wait(_INTERVAL_SECONDS):
            for device in self._devices:
                device.samples.append(self._look(device))

    def _look(self, device: _Device) -> Sample:
        handle = device.handle
        rates, memory = self._ask("nvmlDeviceGetUtilizationRates", handle), self._ask("nvmlDeviceGetMemoryInfo", handle)
        watts = self._ask("nvmlDeviceGetPowerUsage", handle)
        clock = self._ask("nvmlDeviceGetClockInfo", handle, getattr(self._nvml, "NVML_CLOCK_SM", 1))
        reasons = self._ask("nvmlDeviceGetCurrentClocksEventReasons", handle)
        if reasons is None:  # older drivers and packages use this name
            reasons = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", handle)
        return Sample(
            seconds=time.monotonic() - self._start,
            utilisation=None if rates is None else rates.gpu / 100,
            memory_bytes=None if memory is None else memory.used,
            watts=None if watts is None else watts / 1000,
            megahertz=clock,
            slowed=tuple(word for bit, word in _REASONS.items() if (reasons or 0) & bit),
            processes=self._processes(device),
        )

    def _processes(self, device: _Device) -> dict[int, float] | None:
        """Share of the GPU's time that each process used since the last sample, 0 to 1; None if not reported."""
        answer = self._ask("nvmlDeviceGetProcessUtilization", device.handle, device.last_seen)
        if answer is None:
            return None
        newest: dict[int, Any] = {}
        for process in answer:
            if process.timeStamp > device.last_seen and process.timeStamp >= getattr(
                newest.get(process.pid), "timeStamp", 0
            ):
                newest[process.pid] = process
                if process.pid not in self._family:  # while it exists
                    self._family[process.pid] = _descends(process.pid, self._me)
        device.last_seen = max([device.last_seen, *(process.timeStamp for process in newest.values())])
        return {pid: process.smUtil / 100 for pid, process in newest.items()}

    def _is_foreign(self, pid: int, device: _Device) -> bool:
        # Inside a container the numbers may be those of the host: then only who was there before us is known to be
        # another.
        return pid in device.about.before or (self._family.get(pid) is False and any(self._family.values()))

    def summary(self) -> GpuSummary | None:
        """Summarise the samples; None if there are none."""
        devices = [_summary(device, self._is_foreign) for device in self._devices if device.samples]
        if not devices:
            return None
        _mark_used(devices)
        first = next((device for device in devices if device.used), devices[0])
        return GpuSummary(
            devices,
            trouble(devices),
            first.name,
            first.samples,
            utilisation=first.utilisation,
            memory_bytes=first.memory_bytes,
            watts=first.watts,
            megahertz=first.megahertz,
            driver=self._driver,
        )


class _Apart:
    """The process that queries NVML, from the view of kerascheck."""

    def __init__(self, take: Callable[[Described | Looked], None]) -> None:
        """``take`` gets each message, from another thread."""
        self._take = take
        self._answered = threading.Event()
        self._ending = False
        self._process: subprocess.Popen[bytes] | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)

    def begin(self) -> str | None:
        """Start the process and wait for the description of the GPUs; returns the failure for display, or None."""
        try:
            self._process = subprocess.Popen(
                deadline.call(__name__, "watch", os.getpid()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for kerascheck
            )
        except OSError as problem:
            return f"the GPU was not watched: {problem.strerror or problem}"
        self._reader.start()
        if self._answered.wait(_PATIENCE_SECONDS):
            return None
        self._ending = True
        deadline.kill(self._process)
        return f"the NVIDIA driver did not answer within {_PATIENCE_SECONDS:g} s: the GPU was not watched"

    def end(self) -> str | None:
        """End the process; returns the reason why it stopped early for display, or None."""
        process = self._process
        if process is None or self._ending:
            return None
        assert process.stdin is not None, "it is a pipe"
        try:
            process.stdin.close()
        except OSError:
            pass
        try:
            code = process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            deadline.kill(process)
            return "the NVIDIA driver stopped answering: the GPU was not watched until the end"
        self._reader.join(_SECONDS_TO_END)
        return "the NVIDIA driver's library (NVML) crashed: the GPU was not watched until the end" if code < 0 else None

    def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None, "it was started with a pipe"
        for line in self._process.stdout:
            try:
                message = _parsed(line)
            except ValueError:
                continue  # output of a library, or cut off at the end of the process
            self._take(message)
            self._answered.set()
        self._answered.set()  # the process has ended and sends nothing more


def watch(parent: int) -> None:
    """Print the answers of NVML until standard input ends; :class:`_Apart` calls it in another process.

    ``parent``: the process of kerascheck, whose descendants are the scripts.
    """
    try:
        import pynvml
    except ImportError:  # cannot be in the working directory, from which nothing is imported here
        return
    sampler = Sampler(pynvml, parent)
    if not sampler.begin():
        return
    _print(sampler.described())
    while not select.select([sys.stdin], [], [], _INTERVAL_SECONDS)[0]:
        _print(sampler.looked())
    sampler.end()


def _parsed(line: bytes) -> Described | Looked:
    """The message on a line; raises ValueError if it is none."""
    content = json.loads(line)
    is_description = isinstance(content, dict) and "devices" in content
    message: Described | Looked = restored(Described if is_description else Looked, content, "the message")
    return message


def _print(message: Described | Looked) -> None:
    sys.stdout.write(json.dumps(plain(message)) + "\n")
    sys.stdout.flush()


def _word(text: str | bytes | None) -> str | None:
    return text.decode() if isinstance(text, bytes) else text


def is_visible(index: int, uuid: str | None, named: str | None) -> bool:
    """Whether CUDA shows a GPU to the script, given the value of ``CUDA_VISIBLE_DEVICES``; None: it is not set."""
    if named is None:
        return True
    for word in named.split(","):
        word = word.strip()
        if word == str(index) or (uuid and word.startswith("GPU-") and uuid.startswith(word)):
            return True
        if word.startswith("MIG-"):
            return True  # the partition does not identify its GPU
        if not word.isdecimal() and not word.startswith("GPU-"):
            return False  # CUDA ignores everything after the first invalid entry
    return False


def _descends(pid: int, me: int) -> bool | None:
    """Whether a process descends from the process ``me``; None if there is no process with this id."""
    while pid > 1:
        if pid == me:
            return True
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
                pid = int(stream.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return None
    return False


def _summary(device: _Device, is_foreign: Callable[[int, _Device], bool]) -> DeviceSummary:
    def used(foreign: bool) -> float | None:
        known = [sample.processes for sample in busy if sample.processes is not None]
        return (
            statistics.fmean(sum(v for pid, v in each.items() if is_foreign(pid, device) == foreign) for each in known)
            if known
            else None
        )

    busy = [sample for sample in device.samples if sample.utilisation] or device.samples
    reasons = {reason for sample in busy for reason in sample.slowed}
    return DeviceSummary(
        device.about.index,
        device.about.name,
        len(busy),
        utilisation=_median(sample.utilisation for sample in busy),
        memory_bytes=_median(sample.memory_bytes for sample in busy),
        watts=_median(sample.watts for sample in busy),
        megahertz=_median(sample.megahertz for sample in busy),
        memory_total_bytes=device.about.memory_total,
        slowed={reason: sum(reason in sample.slowed for sample in busy) / len(busy) for reason in sorted(reasons)},
        own=used(foreign=False),
        others=used(foreign=True),
        mig=device.about.mig,
        visible=device.about.visible,
        time=_series(device.samples),
    )


def _median(values: Iterator[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _series(samples: Sequence[Sample]) -> GpuSeries:
    kept = samples[:: -(-len(samples) // _MOST_POINTS)]
    return GpuSeries(
        seconds=[sample.seconds for sample in kept],
        utilisation=[sample.utilisation for sample in kept],
        memory_bytes=[sample.memory_bytes for sample in kept],
        watts=[sample.watts for sample in kept],
        megahertz=[sample.megahertz for sample in kept],
    )


def _mark_used(devices: Sequence[DeviceSummary]) -> None:
    """Mark the GPUs on which the scripts computed.

    If processes are not reported, these are the busy ones that CUDA shows.
    """
    by_process = any(device.own for device in devices)
    for device in devices:
        is_busy = device.visible and bool(device.utilisation or device.mig)
        device.used = bool(device.own) if by_process else is_busy


def trouble(devices: Sequence[DeviceSummary]) -> str | None:
    """Explain why times measured on the used GPUs are unreliable, for display; None if they are reliable."""
    for device in devices:
        if not device.used:
            continue
        name = f"GPU {device.index}" if len(devices) > 1 else "the GPU"
        if device.mig:
            return (
                f"{name} is partitioned (MIG): what its other tenants do cannot be seen, "
                "and they share its power and its clocks"
            )
        if (device.others or 0.0) > _OTHERS:
            return f"other processes used {device.others:.0%} of {name} meanwhile"
        slowed = {
            reason: share for reason, share in device.slowed.items() if reason in SLOWDOWNS.values() and share > _SLOWED
        }
        if slowed:
            reason = max(slowed, key=slowed.__getitem__)
            return f"{name} lowered its clocks ({reason}) {slowed[reason]:.0%} of the time"
    return None


def doubted(comparison: Comparison, summary: GpuSummary | None, failure: str | None = None) -> Comparison:
    """``comparison``, without verdicts on speed if its GPUs were in ``trouble``.

    ``failure``: failure of the sampler, which becomes a note.
    """
    from kerascheck.runtime.verify.verdict import Status

    used = bool(comparison.scout.facts.gpus)
    if failure is not None:
        comparison.notes.append(failure)
    elif summary is None and used:
        comparison.notes.append(
            "the GPU was not watched, for nvidia-ml-py is missing: what other processes did on it was not seen"
        )
    if summary is not None and summary.trouble and used:
        for verdict in comparison.verdicts:
            if verdict.status in (Status.CONFIRMED, Status.NO_EFFECT, Status.SLOWER, Status.INCONCLUSIVE):
                verdict.status, verdict.reason = Status.INCONCLUSIVE, f"no verdict: {summary.trouble}"
    return comparison


def lines(summary: GpuSummary) -> Iterator[str]:
    """GPU activity for display: a line for each used GPU and for each unused one."""
    for device in summary.devices:
        name = f"{device.name} ({device.index})" if len(summary.devices) > 1 else device.name
        if not device.used and len(summary.devices) > 1:
            yield f"{name}: not used"
            continue
        found = [
            text.format(getattr(device, key) / unit)
            for key, text, unit in (
                ("utilisation", "{:.0%} busy", 1), ("memory_bytes", "{:.3g} GB of memory", 1e9), ("watts", "{:.0f} W", 1), ("megahertz", "{:.0f} MHz", 1),
            )
            if getattr(device, key) is not None
        ]  # fmt: skip
        slowed = [f"clocks lowered {share:.0%} of the time ({reason})" for reason, share in device.slowed.items()]
        looks = f"medians of {device.samples} looks at it, while it was used"
        yield (
            f"{name}: {', '.join([*found, *slowed])} ({looks})"
            if found
            else f"{name}: partitioned (MIG), its use cannot be seen"
        )
    if summary.trouble:
        yield f"No verdict: {summary.trouble}."
