"""Files that are read over a network."""

from __future__ import annotations

import re

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Const, Dataset, Group, Iteration, Made, Stage, constant, options_of
from kerascheck.knowledge.callables import GFILE_GLOB
from kerascheck.knowledge.datasets import LIST_FILES, NETWORK_STORAGE
from kerascheck.meaning.program.program import Program

_REMOTE = re.compile(NETWORK_STORAGE)


def reads_remote_files(module: Module, source: Stage) -> bool:
    """Whether a source of records reads several files of network storage: by their literal names, or, where these are
    not literal, because the program names such storage or trains on a TPU, which reads no local files."""
    for option in options_of(source.given("filenames")):
        if isinstance(option, Iteration) and option.kind == "sorted" and len(option.over) == 1:
            option = option.over[0]
        if isinstance(option, Group) and not option.open:
            names = [constant(item) for item in option.items]
            if len(names) > 1 and any(isinstance(name, str) and _REMOTE.match(name) for name in names):
                return True
            continue
        if isinstance(option, Dataset) and option.stage.name == LIST_FILES:
            found = option.stage.call
        elif isinstance(option, Made) and option.name == GFILE_GLOB:
            found = option.call
        else:
            continue
        pattern = (
            found.given("file_pattern" if isinstance(option, Dataset) else "pattern") if found is not None else None
        )
        if isinstance(pattern, Const):
            if isinstance(pattern.value, str) and _REMOTE.match(pattern.value):
                return True
        elif module.once(Program).uses_tpu or module.once(Program).uses_network_storage:
            return True
    return False
