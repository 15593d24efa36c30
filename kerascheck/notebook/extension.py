"""Adds the extension to a shell of IPython, and removes it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from kerascheck.notebook.client import LintProcess
from kerascheck.notebook.magic import KerascheckMagic
from kerascheck.runtime.verify.child import dataset_places
from kerascheck.runtime.verify.child.hooks import AfterImport
from kerascheck.runtime.verify.child.patches import Patches
from kerascheck.source.executed_cells import ExecutedCells

_loaded: dict[int, Extension] = {}
"""By the identity of its shell."""


class Extension:
    """All that the extension adds to one shell: magics, events and a process.

    Attributes:
        cells: the executed cells.
        linter: the process that lints; it starts now, so that the first answer need not wait for its imports.
    """

    def __init__(self, shell: Any):
        self._shell = shell
        self._undo: list[Callable[[], object]] = []
        self.cells = ExecutedCells.kept = ExecutedCells(shell)
        self._undo.append(lambda: setattr(ExecutedCells, "kept", None))
        self.linter = LintProcess()
        self._undo.append(self.linter.close)
        self.add_event("pre_run_cell", self.cells.begin)
        self.add_event("post_run_cell", self.cells.end)
        # The magics of the extension; another one registers here.
        kerascheck = KerascheckMagic(shell, self.cells, self.linter)
        self.add_line_magic("kerascheck", kerascheck.run)
        self.add_cell_magic("why", self._why)
        # After the event of the cells.
        self.add_event("post_run_cell", kerascheck.after_cell)
        self.linter.start()
        self._note_datasets()

    def _note_datasets(self) -> None:
        """Note the lines that create datasets, until :meth:`close`: a later cell may train on them."""
        patches = Patches()
        self._undo.append(patches.undo)

        def record(module: object) -> None:
            # A TensorFlow that is unlike those known here must not fail to import because of this.
            with contextlib.suppress(ImportError, AttributeError):
                dataset_places.record(patches, dataset_places.IN_THIS_PROCESS)

        if "tensorflow" in sys.modules:
            record(sys.modules["tensorflow"])
            return
        finder = AfterImport({"tensorflow": [record]})
        patches.on_undo(finder.stop)
        sys.meta_path.insert(0, finder)

    def _why(self, line: str, cell: str) -> None:
        """Run the cell, and say where a step of its training goes.

            %%why
            %%why --layers
            %%why --json why.json --html why.html --after-seconds 60

        The training itself stays the same. The callback kerascheck.callbacks.Why measures calls of fit. A hand-written
        loop is watched.
        """
        from kerascheck.notebook.why import run

        run(self._shell, self.cells, line, cell)

    def add_event(self, name: str, callback: Callable[..., object]) -> None:
        """Register a callback of the shell's events until :meth:`close`."""
        self._shell.events.register(name, callback)
        self._undo.append(lambda: self._shell.events.unregister(name, callback))

    def add_line_magic(self, name: str, function: Callable[[str], object]) -> None:
        """Register a line magic until :meth:`close`; a magic with the same name returns then."""
        self._add_magic("line", name, function)

    def add_cell_magic(self, name: str, function: Callable[[str, str], object]) -> None:
        """Register a cell magic until :meth:`close`; a magic with the same name returns then."""
        self._add_magic("cell", name, function)

    def _add_magic(self, kind: str, name: str, function: Callable[..., object]) -> None:
        magics = self._shell.magics_manager.magics[kind]
        before = magics.get(name)
        self._shell.register_magic_function(function, kind, name)
        self._undo.append(lambda: magics.pop(name, None) if before is None else magics.update({name: before}))

    def close(self) -> None:
        """Remove everything from the shell, the latest first."""
        while self._undo:
            self._undo.pop()()


def load(shell: Any) -> None:
    """Add the extension to ``shell`` unless it is there."""
    if id(shell) not in _loaded:
        _loaded[id(shell)] = Extension(shell)


def unload(shell: Any) -> None:
    """Remove the extension from ``shell`` if it is there."""
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.close()
