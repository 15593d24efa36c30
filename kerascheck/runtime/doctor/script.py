"""Demands of a script on its machine, inferred by the linter's engine without running the script."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from kerascheck.knowledge.datasets import FOLDERS, IMAGE_DATASET_FROM_DIRECTORY, LIST_FILES
from kerascheck.knowledge.devices import SET_GLOBAL_POLICY, SET_VISIBLE_DEVICES
from kerascheck.runtime.doctor.snapshot import Demand

if TYPE_CHECKING:
    from kerascheck.interpreter.values import Call, Value
    from kerascheck.meaning.data.pipelines import Operation
    from kerascheck.meaning.module import Module

_DIRECTORIES = {**dict.fromkeys(FOLDERS, "directory"), LIST_FILES: "file_pattern"}
"""Functions that read one file per example, with the name of the first parameter, which locates the files."""
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
_FLOAT, _DOUBLE = 4, 8
_IMAGE_NAMES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
"""Suffixes of the files that ``image_dataset_from_directory`` reads (keras/src/utils/image_dataset_utils.py)."""
_NUMBERS = re.compile(r"(?:-?\d+(?:,-?\d+)*)?")
"""Values of ``CUDA_VISIBLE_DEVICES`` that name GPUs by number, or none."""
_MOST_FILES = 2_000_000
_MOUNT = re.compile(r"^\S+ \S+ \S+ \S+ (?P<folder>\S+) .*? - (?P<kind>\S+) ")


def demands(path: str | os.PathLike[str]) -> tuple[Demand, ...]:
    """Return the demands of the script at ``path`` in the order of its lines.

    Folders named in the script are looked up on this machine.

    Raises:
        OSError, kerascheck.source.Unreadable, ValueError: the script cannot be read or parsed.
        kerascheck.project.config.ConfigError: the configuration of its folder is invalid.
    """
    from kerascheck.lint.analyze_file import Analysis, FileResult, with_large_stack
    from kerascheck.project.config import Configuration
    from kerascheck.source import display_path, read

    shown = display_path(os.path.abspath(path))
    source, settings = read(shown), Configuration().for_file(path)

    def look() -> tuple[Demand, ...]:
        checked = FileResult(shown)
        module = Analysis([source]).load(source, settings, checked)
        if module is None:
            raise ValueError(checked.errors[0].message)
        found = dict.fromkeys(_demands(module))
        return tuple(sorted(found, key=lambda demand: (demand.cell or 0, demand.line or 0)))

    return with_large_stack(look)


def _demands(module: Module) -> Iterator[Demand]:
    yield from _settings(module)
    yield from _workers(module)
    yield from _data(module)
    yield from _arrays(module)
    trained = [model.parameters for model in module.models if model.is_trained and model.parameters]
    if trained:
        yield Demand("parameters", max(trained), None)


def _at(module: Module, call: Call | Operation) -> tuple[int | None, int | None]:
    """The line of a call, and its cell in a notebook; None if the call is in another module."""
    if call.module is not module:
        return None, None
    place = module.source.locate(*module.range_of(call.node))
    return place.line, place.cell_number


def _settings(module: Module) -> Iterator[Demand]:
    """The dtype policy, the backend and the GPUs that the script certainly chooses."""
    from kerascheck.interpreter.values import SequenceValue, constant
    from kerascheck.meaning.program.device_use import SET_VARIABLE
    from kerascheck.meaning.program.policies import policy_set_by

    for call in module.run.calls:
        if any(call.path.conditions(within="program")):
            continue
        if call.name == SET_GLOBAL_POLICY:
            policy = policy_set_by(call)
            if isinstance(policy, str):
                yield Demand("policy", policy, *_at(module, call))
        elif call.name in SET_VARIABLE and constant(call.given("key")) == "KERAS_BACKEND":
            backend = constant(call.given("value"))
            if isinstance(backend, str):
                yield Demand("backend", backend, *_at(module, call))
        elif call.name in SET_VARIABLE and constant(call.given("key")) == "CUDA_VISIBLE_DEVICES":
            visible = constant(call.given("value"))
            if isinstance(visible, str) and _NUMBERS.fullmatch(visible):
                yield Demand("visible", visible, *_at(module, call))
        elif call.name == SET_VISIBLE_DEVICES and constant(call.given("device_type"), "GPU") == "GPU":
            devices = call.given("devices")
            if isinstance(devices, SequenceValue) and not devices.items and not devices.open:
                yield Demand("visible", "", *_at(module, call))


def _workers(module: Module) -> Iterator[Demand]:
    """Processes that the script starts to prepare batches."""
    from kerascheck.interpreter.values import constant

    for call in module.program.model_calls("fit", "fit_generator"):
        if constant(call.given("use_multiprocessing")) is True:
            workers = constant(call.given("workers"), 1)
            yield Demand("processes", workers if isinstance(workers, int) else 1, *_at(module, call))
    for call in module.run.calls:
        if call.name == "torch.utils.data.DataLoader":
            workers = constant(call.keyword("num_workers"))
            if isinstance(workers, int) and workers > 0:
                yield Demand("processes", workers, *_at(module, call))
        elif call.attribute == "__init__" and constant(call.keyword("use_multiprocessing")) is True:
            workers = constant(call.keyword("workers"), 1)
            yield Demand("processes", workers if isinstance(workers, int) else 1, *_at(module, call))


def _data(module: Module) -> Iterator[Demand]:
    """File systems from which examples are read one file each, and the sizes of caches of decoded images."""
    for op in module.pipelines.operations(*_DIRECTORIES):
        if not op.feeds_training:
            continue
        folder = _folder(module, op.given(_DIRECTORIES[op.name]))
        if folder is None:
            continue
        kind = file_system(folder)
        if kind is not None and not op.followed_by(module.pipelines, "cache", "snapshot"):
            yield Demand("data", kind, *_at(module, op))
        if op.name == IMAGE_DATASET_FROM_DIRECTORY and _is_cached_in_memory(module, op):
            size = _size_of_pictures(op, folder)
            if size:
                yield Demand("arrays", size, *_at(module, op))
    for flow in module.image_flows:
        if flow.attribute == "flow_from_directory":
            folder = _folder(module, flow.given("directory"))
            kind = None if folder is None else file_system(folder)
            if kind is not None:
                yield Demand("data", kind, *_at(module, flow))


def _folder(module: Module, value: Value | None) -> Path | None:
    """The folder that a literal names if it exists, relative to the current folder or else to the script."""
    from kerascheck.interpreter.values import constant

    name = constant(value)
    if not isinstance(name, str):
        return None
    # Of a glob pattern, keep the part before the first wildcard.
    plain = re.split(r"[*?\[]", name)[0]
    plain = plain if plain == name else plain.rpartition("/")[0]
    found = (Path(base, os.path.expanduser(plain)) for base in (os.getcwd(), module.folder))
    return next((folder for folder in found if folder.exists()), None)


def file_system(folder: Path, mounts: str | None = None) -> str | None:
    """The type of a folder's file system, such as "ext4" or "fuse.sshfs"; None if unknown.

    Args:
        mounts: the text of ``/proc/self/mountinfo``; None: read it.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
    place = os.path.realpath(folder)
    best, kind = "", None
    for line in mounts.splitlines():
        match = _MOUNT.match(line)
        mounted = match["folder"].replace("\\040", " ") if match else None
        if (
            match
            and mounted
            and (place == mounted or place.startswith(mounted.rstrip("/") + "/"))
            and len(mounted) >= len(best)
        ):
            best, kind = mounted, match["kind"]
    return kind


def _is_cached_in_memory(module: Module, op: Operation) -> bool:
    return any(
        after.name == "cache" and after.given("filename") is None
        for stage in op.stages
        for after in module.pipelines.downstream(stage)
    ) and op.followed_by(module.pipelines, "cache")


def _size_of_pictures(op: Operation, folder: Path) -> int | None:
    """Bytes of all images of a folder as ``image_dataset_from_directory`` loads them; None without a literal size."""
    from kerascheck.interpreter.values import SequenceValue, constant

    given, mode = op.given("image_size"), op.given("color_mode")
    sides = (
        [256, 256]
        if given is None
        else [constant(item) for item in given.items]
        if isinstance(given, SequenceValue) and not given.open
        else []
    )
    channels = 3 if mode is None else _CHANNELS.get(str(constant(mode)))
    if len(sides) != 2 or not all(isinstance(side, int) for side in sides) or channels is None:
        return None
    count = 0
    for _, _, names in os.walk(folder):
        count += sum(name.lower().endswith(_IMAGE_NAMES) for name in names)
        if count > _MOST_FILES:
            break
    share = constant(op.given("validation_split"), 0)
    if op.given("subset") is not None:
        count = int(count * (1 - share)) if isinstance(share, float) else 0
    return count * prod(sides) * channels * _FLOAT


def _arrays(module: Module) -> Iterator[Demand]:
    """Arrays that the script creates and trains on, if their sizes are literals."""
    from kerascheck.interpreter.array_shapes import array_size
    from kerascheck.meaning.data.array_origins import made_as_double

    for call in module.program.model_calls("fit"):
        # Take the larger one: both may be parts of one array. An unknown type counts as a byte per number.
        size = max(
            (array_size(value) or 0) * (_DOUBLE if made_as_double(value) is not None else 1)
            for value in (call.given("x"), call.given("y"))
        )
        if size:
            yield Demand("arrays", size, *_at(module, call))
