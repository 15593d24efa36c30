"""Files that a program reads over a network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import (
    Call,
    Constant,
    Dataset,
    DatasetOp,
    ExternalInstance,
    IteratorValue,
    SequenceValue,
    Value,
    constant,
    options_of,
)
from kerascheck.knowledge.callables import GFILE_GLOB, READ_FILE
from kerascheck.knowledge.datasets import FOLDERS, FROM_TENSOR_SLICES, LIST_FILES, NETWORK_STORAGE
from kerascheck.knowledge.name_heuristics import MOUNTED_DRIVES, TABLE_FILES
from kerascheck.knowledge.namespaces import KERAS
from kerascheck.meaning.data.array_origins import ingredients
from kerascheck.meaning.data.image_flows import flows_of
from kerascheck.meaning.data.pipelines import Operation, Pipelines
from kerascheck.meaning.program.program import Program

_REMOTE = re.compile(NETWORK_STORAGE)
# The path arguments of operations that make datasets of files.
_PATHS = {LIST_FILES: "file_pattern", FROM_TENSOR_SLICES: "tensors"} | dict.fromkeys(sorted(FOLDERS), "directory")


def reads_remote_files(module: Module, source: DatasetOp) -> bool:
    """Whether a source of records reads several files from network storage.

    Judges literal names. Without them, the program must name such storage, or train on a TPU, which cannot read local
    files.
    """
    for option in options_of(source.given("filenames")):
        if isinstance(option, IteratorValue) and option.kind == "sorted" and len(option.over) == 1:
            option = option.over[0]
        if isinstance(option, SequenceValue) and not option.open:
            names = [constant(item) for item in option.items]
            if len(names) > 1 and any(isinstance(name, str) and _REMOTE.match(name) for name in names):
                return True
            continue
        if isinstance(option, Dataset) and option.stage.name == LIST_FILES:
            found = option.stage.call
        elif isinstance(option, ExternalInstance) and option.name == GFILE_GLOB:
            found = option.call
        else:
            continue
        pattern = (
            found.given("file_pattern" if isinstance(option, Dataset) else "pattern") if found is not None else None
        )
        if isinstance(pattern, Constant):
            if isinstance(pattern.value, str) and _REMOTE.match(pattern.value):
                return True
        elif module.once(Program).uses_tpu or module.once(Program).uses_network_storage:
            return True
    return False


def remote_examples(module: Module) -> Iterator[tuple[Call | Operation, str]]:
    """Training data that reads one file per example from a network drive or bucket in every epoch, with the path."""
    for flow in module.once(flows_of):
        path = _folder_of_flow(flow)
        if path is not None:
            yield flow, path
    pipelines = module.once(Pipelines)
    for op in pipelines.operations(*_PATHS):
        if not op.feeds_training or op.followed_by(pipelines, "cache", "snapshot"):
            continue
        path = _on_drive(op.given(_PATHS[op.name]))
        if path is not None and (op.name.startswith(KERAS) or _reads_whole_files(pipelines, op)):
            yield op, path


def _folder_of_flow(flow: Call) -> str | None:
    """The path on a drive from which an ImageDataGenerator reads images; None if there is none."""
    if flow.attribute not in ("flow_from_directory", "flow_from_dataframe"):
        return None
    path = _on_drive(flow.given("directory"))
    if path is None and flow.attribute == "flow_from_dataframe":
        # The table may contain whole paths, so its own location says nothing about them.
        path = _on_drive(flow.given("dataframe"))
        return None if path is not None and TABLE_FILES.search(path) else path
    return path


def _on_drive(value: Value | None) -> str | None:
    """The first path in a value that is on a drive or in a bucket; None if there is none."""
    texts = (part.value for part in ingredients(value) if isinstance(part, Constant) and isinstance(part.value, str))
    return next((text for text in texts if MOUNTED_DRIVES.match(text)), None)


def _reads_whole_files(pipelines: Pipelines, op: Operation) -> bool:
    """Whether a function after an operation reads whole files."""
    behind = (after.facts for stage in op.stages for after in pipelines.downstream(stage))
    return any(call.name == READ_FILE for facts in behind if facts is not None for call in facts.calls)
