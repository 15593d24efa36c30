"""Snapshot of everything about a machine that affects training with Keras: an immutable tree, convertible to JSON.

It contains nothing private: no names of users, hosts, files or folders. Paths are removed from program output.
"""

from __future__ import annotations

import json
import types
import typing
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

FORMAT = 1
"""Version of the JSON format. It increases when older saved snapshots become unreadable."""


class InvalidSnapshot(ValueError):
    """The text is not a valid snapshot; the message names the field and the error."""


@dataclass(frozen=True)
class System:
    """The operating system and its environment."""

    platform: str = "linux"
    """As ``sys.platform``."""
    machine: str = "x86_64"
    """As ``platform.machine()``."""
    wsl: bool = False
    container: bool = False
    hosted: str | None = None
    """"colab" or "kaggle"; None elsewhere."""
    accelerator: str | None = None
    """Accelerator that is not an NVIDIA GPU: "AMD GPU" or "TPU"; None if there is none."""


@dataclass(frozen=True)
class Cpu:
    """Processor cores available to a process."""

    cores: int = 1
    """Logical cores of the machine."""
    usable: int = 1
    """Cores on which the process may be scheduled (``os.sched_getaffinity``)."""
    quota: float | None = None
    """CPU quota of the control group, in cores; None without a limit."""
    amx: bool | None = None
    """Whether the processor multiplies bfloat16 matrices in hardware (``amx_bf16``); None if unknown."""


@dataclass(frozen=True)
class Memory:
    """Main memory, in bytes."""

    total: int | None = None
    available: int | None = None
    limit: int | None = None
    """Memory limit of the control group; None without a limit below the total."""
    swap_used: int = 0
    shared: int | None = None
    """Size of ``/dev/shm``; None if it does not exist."""


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver.

    Attributes:
        version: such as "535.104.05"; None if the driver does not respond.
        cuda: newest CUDA that it supports, (major, minor).
        failure: "mismatch" (library and kernel module differ), "not running", "lost", "silent" (it timed out) or
            "crashed" (its library ended the process); None if the driver responds.
        cards_on_bus: NVIDIA display controllers on the PCI bus, whether or not a driver knows them.
    """

    version: str | None = None
    cuda: tuple[int, int] | None = None
    failure: str | None = None
    cards_on_bus: int = 0


@dataclass(frozen=True)
class Link:
    """A PCIe link: generation and number of lanes."""

    generation: int
    width: int


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA GPU as its driver describes it; fields are None if the driver does not report them."""

    name: str
    capability: tuple[int, int] | None = None
    """Compute capability, (major, minor)."""
    memory: int | None = None
    """Bytes."""
    used: int | None = None
    """Bytes in use by all processes."""
    processes: int = 0
    """Number of compute processes on it."""
    utilisation: float | None = None
    """Share of the last second in which a kernel ran."""
    power_limit: float | None = None
    """Watts."""
    power_default: float | None = None
    slowdowns: tuple[str, ...] = ()
    """Reasons for reduced clocks: words of :data:`kerascheck.knowledge.cards.SLOWDOWNS`."""
    link: Link | None = None
    widest_link: Link | None = None
    persistent: bool | None = None
    """Persistence mode."""
    display: bool | None = None
    """Whether it drives a display."""
    mig: bool = False
    """Whether it is partitioned (Multi-Instance GPU)."""


@dataclass(frozen=True)
class Framework:
    """TensorFlow, JAX or PyTorch in the interpreter that trains.

    Attributes:
        version: of the imported package.
        error: one line that says why it cannot be imported; None if it can.
        gpus: number of GPUs that it sees; None if it was not queried.
        cuda: whether it is built with CUDA; None if unknown.
        cuda_version: version of CUDA in the build, such as "12.5.1".
        cudnn_version: version of cuDNN in the build, such as "9".
        architectures: targets of the GPU code in the build, such as "sm_80" and "compute_90".
        missing: libraries that it failed to load, such as "libcudnn.so.9".
        log: its own messages about GPUs that it does not use.
        tf32: whether float32 matrix multiplication may use TensorFloat-32.
        deterministic: whether all operations are deterministic.
    """

    version: str | None = None
    error: str | None = None
    gpus: int | None = None
    cuda: bool | None = None
    cuda_version: str | None = None
    cudnn_version: str | None = None
    architectures: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    tf32: bool | None = None
    deterministic: bool | None = None


@dataclass(frozen=True)
class Keras:
    """The ``keras`` package; without it, the Keras of TensorFlow."""

    version: str | None = None
    error: str | None = None
    backend: str | None = None
    """"tensorflow", "jax", "torch", ..."""
    backend_from: str | None = None
    """"KERAS_BACKEND" or "keras.json"; None for the default."""


@dataclass(frozen=True)
class Python:
    """The interpreter that trains, and its packages.

    Attributes:
        version: such as "3.11.7".
        failure: why its examination stopped: "timeout", "signal SIGILL", or an error message; None if it completed.
        during: the package that was being examined at the failure.
        packages: versions of the relevant distributions, by normalised name.
        requires: their requirements (``Requires-Dist``), by name.
        ptxas: whether the assembler of CUDA is found.
        libdevice: whether the device library of CUDA is found.
    """

    version: str | None = None
    failure: str | None = None
    during: str | None = None
    packages: dict[str, str] | None = None
    requires: dict[str, tuple[str, ...]] | None = None
    tensorflow: Framework | None = None
    keras: Keras | None = None
    jax: Framework | None = None
    torch: Framework | None = None
    ptxas: bool | None = None
    libdevice: bool | None = None


@dataclass(frozen=True)
class Demand:
    """A requirement of a script on the machine.

    Attributes:
        what: "policy", "backend", "visible", "data", "processes", "arrays" or "parameters".
        value: depends on ``what``. The name of a dtype policy, of a backend, or of the file system type of the data;
            the value of ``CUDA_VISIBLE_DEVICES``; the number of processes; the minimum bytes of arrays in memory at the
            same time; the number of parameters of the largest model.
        line: of the script, or of the cell in a notebook; None if the demand is not in this file.
        cell: of a notebook, counted from 1; None in scripts.
    """

    what: str
    value: str | int
    line: int | None = None
    cell: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """A machine as it was at one moment.

    Attributes:
        variables: environment variables that affect frameworks, with harmless values; others are masked.
        library_path: CUDA libraries in the folders of ``LD_LIBRARY_PATH``, such as "libcudnn.so.8".
        python: None if no interpreter was examined.
        script: the demands of a script; None without a script.
    """

    system: System = System()
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    driver: Driver | None = None
    gpus: tuple[Gpu, ...] = ()
    variables: dict[str, str] | None = None
    library_path: tuple[str, ...] = ()
    python: Python | None = None
    script: tuple[Demand, ...] | None = None

    def to_json(self) -> str:
        """The snapshot as an indented JSON document."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Snapshot:
        """Parse a document that :meth:`to_json` wrote.

        Raises:
            InvalidSnapshot: the document is invalid.
        """
        try:
            document = json.loads(text)
        except ValueError as problem:
            raise InvalidSnapshot(f"is not JSON: {problem}") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InvalidSnapshot(f'is no snapshot of this version of kerascheck ("format" is not {FORMAT})')
        read: Snapshot = _read({key: value for key, value in document.items() if key != "format"}, cls, "the snapshot")
        return read


def _read(value: Any, kind: Any, where: str) -> Any:
    """Convert a JSON ``value`` to an object of the annotated type ``kind``."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        if not isinstance(value, dict):
            raise InvalidSnapshot(f"{where} must be an object")
        if unknown := sorted(value.keys() - hints.keys()):
            raise InvalidSnapshot(f"{where} has no field {unknown[0]!r}")
        try:
            return kind(
                **{
                    field.name: _read(value[field.name], hints[field.name], field.name)
                    for field in fields(kind)
                    if field.name in value
                }
            )
        except TypeError:
            raise InvalidSnapshot(f"{where} lacks a field") from None
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        for each in arguments:
            if each is not type(None) and _fits(value, each):
                return _read(value, each, where)
        raise InvalidSnapshot(f"{where!r} cannot be {json.dumps(value)[:60]}")
    if not _fits(value, kind):
        raise InvalidSnapshot(f"{where!r} cannot be {json.dumps(value)[:60]}")
    if origin is tuple:
        kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else arguments
        if len(kinds) != len(value):
            raise InvalidSnapshot(f"{where!r} must have {len(kinds)} items")
        return tuple(_read(item, each, where) for item, each in zip(value, kinds, strict=True))
    if origin is dict:
        return {str(key): _read(item, arguments[1], where) for key, item in value.items()}
    return float(value) if kind is float else value


def _fits(value: Any, kind: Any) -> bool:
    origin = typing.get_origin(kind)
    if is_dataclass(kind) or origin is dict:
        return isinstance(value, dict)
    if origin is tuple:
        return isinstance(value, list)
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    return isinstance(value, (int, float) if kind is float else kind)
