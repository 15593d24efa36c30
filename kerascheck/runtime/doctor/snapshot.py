"""What a machine is, as far as training with Keras depends on it: one immutable tree, to JSON and back.

Nothing private is in it: no names of users, hosts, files or folders. What programs print is kept without paths.
"""

from __future__ import annotations

import json
import types
import typing
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

FORMAT = 1
"""Number of the JSON format; it grows when a saved snapshot can no longer be read."""


class InvalidSnapshot(ValueError):
    """A text is no snapshot; the message names the field and what is wrong with it."""


@dataclass(frozen=True)
class System:
    """The operating system and what it runs in."""

    platform: str = "linux"
    """As ``sys.platform``."""
    machine: str = "x86_64"
    """As ``platform.machine()``."""
    wsl: bool = False
    container: bool = False
    hosted: str | None = None
    """"colab" or "kaggle"; None elsewhere."""
    accelerator: str | None = None
    """What there is beside GPUs of NVIDIA: "AMD GPU" or "TPU"; None for neither."""


@dataclass(frozen=True)
class Cpu:
    """The processor cores that a process may use."""

    cores: int = 1
    """Logical cores of the machine."""
    usable: int = 1
    """Those that the process may be scheduled on (``os.sched_getaffinity``)."""
    quota: float | None = None
    """Cores' worth of time that the control group allows; None without a limit."""
    amx: bool | None = None
    """Whether it multiplies bfloat16 matrices in hardware (``amx_bf16``); None where that is not known."""


@dataclass(frozen=True)
class Memory:
    """Main memory, in bytes."""

    total: int | None = None
    available: int | None = None
    limit: int | None = None
    """What the control group allows; None without a limit below the total."""
    swap_used: int = 0
    shared: int | None = None
    """Size of ``/dev/shm``; None where there is none."""


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver.

    Attributes:
        version: such as "535.104.05"; None where it does not answer.
        cuda: newest CUDA that it supports, (major, minor).
        failure: why it does not answer: "mismatch" (library and kernel module differ), "not running", "lost", "silent" (it did not answer
            in time) or "crashed" (its library ended the process).
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
    """One NVIDIA GPU, as its driver describes it; None for what it does not answer."""

    name: str
    capability: tuple[int, int] | None = None
    """Compute capability, (major, minor)."""
    memory: int | None = None
    """Bytes."""
    used: int | None = None
    """Bytes in use by all processes."""
    processes: int = 0
    """Compute processes on it."""
    utilisation: float | None = None
    """Share of the last second in which a kernel ran."""
    power_limit: float | None = None
    """Watts."""
    power_default: float | None = None
    slowdowns: tuple[str, ...] = ()
    """Why the clocks are reduced: words of :data:`kerascheck.knowledge.cards.SLOWDOWNS`."""
    link: Link | None = None
    widest_link: Link | None = None
    persistent: bool | None = None
    """Persistence mode."""
    display: bool | None = None
    """Whether a display is driven by it."""
    mig: bool = False
    """Whether it is partitioned (Multi-Instance GPU)."""


@dataclass(frozen=True)
class Framework:
    """TensorFlow, JAX or PyTorch in the interpreter that trains.

    Attributes:
        version: of the imported package.
        error: why it cannot be imported, in one line; None where it can.
        gpus: how many GPUs it offers; None where it was not asked.
        cuda: whether it is built for CUDA; None where that is not known.
        cuda_version: that it is built for, such as "12.5.1".
        cudnn_version: that it is built for, such as "9".
        architectures: GPU code that it carries, such as "sm_80" and "compute_90".
        missing: libraries that it tried to load and did not find, such as "libcudnn.so.9".
        log: what it says itself of the GPUs that it does not use.
        tf32: whether float32 matrices may be multiplied as TensorFloat-32.
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
    """The ``keras`` package, or where there is none the one of TensorFlow."""

    version: str | None = None
    error: str | None = None
    backend: str | None = None
    """"tensorflow", "jax", "torch", ..."""
    backend_from: str | None = None
    """"KERAS_BACKEND" or "keras.json"; None for the default."""


@dataclass(frozen=True)
class Python:
    """The interpreter that trains, and what is installed there.

    Attributes:
        version: such as "3.11.7".
        failure: why the look at it did not end: "timeout", "signal SIGILL", or what it said; None where it ended.
        during: what was being looked at when it failed: a package.
        packages: versions of the distributions that matter, by normalised name.
        requires: what these ask for (``Requires-Dist``), by name.
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
    """Something that a script asks of the machine.

    Attributes:
        what: "policy", "backend", "visible", "data", "processes", "arrays" or "parameters".
        value: the name of a dtype policy, of a backend, or of the type of the file system that data is on; the value of
            ``CUDA_VISIBLE_DEVICES``; a number of
            processes; the bytes of arrays that are kept in memory at the same time, at least; the number of parameters
            of the largest model.
        line: of the script, in a notebook of the cell; None for what stands in another file, or in none.
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
        variables: environment variables that change how frameworks run, with values as far as these are harmless.
        library_path: CUDA libraries in the folders of ``LD_LIBRARY_PATH``, such as "libcudnn.so.8".
        python: None where no interpreter was looked at.
        script: what a script asks for; None where none was given.
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
        """The snapshot of a document that :meth:`to_json` wrote.

        Raises:
            InvalidSnapshot: it is none.
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
    """``value``, from JSON, as an object of the annotated type ``kind``."""
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
