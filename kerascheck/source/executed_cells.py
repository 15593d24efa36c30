"""The cells that a shell has executed, as one notebook."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, ClassVar

from kerascheck.source import Source, display_path
from kerascheck.source.notebook import as_python, commands_in, joined

_SESSION_NAMES = ("__vsc_ipynb_file__", "__session__")
"""Variables in which front ends give the path of the notebook."""
_SESSION_VARIABLE = "JPY_SESSION_NAME"
_DEFAULT_NAME = "notebook.ipynb"


@dataclass(frozen=True)
class Run:
    """One execution of a cell."""

    number: int
    """The execution count: 3 for ``In [3]``."""
    code: str
    """The cell as written, with its magics."""
    transformed: str
    """The Python code that IPython compiled; its lines differ from those of ``code``."""
    cell_id: str | None
    """The cell's identity, if the front end gives one."""


class ExecutedCells:
    """The cells that a shell has executed, in the order of execution; a later run of a cell replaces the earlier.

    Code that IPython could not compile is left out. The cell that runs now is the last one.
    """

    kept: ClassVar[ExecutedCells | None] = None
    """The cells of this process that the extension keeps; it alone sees identities of cells."""

    def __init__(self, shell: Any):
        self._shell = shell
        self._runs: list[Run] = []
        self._successors: dict[int, int] = {}
        self._announced: dict[str, int] = {}
        self._running: Any = None
        raw, parsed = self._history()
        for number in range(1, len(raw)):
            self._add(Run(number, raw[number], parsed[number] if number < len(parsed) else "", None))

    # --- events of IPython ----------------------------------------------------------------------------------

    def begin(self, info: Any) -> None:
        """Note the cell that IPython runs now: an event ``pre_run_cell``."""
        self._running = info if info.store_history and not info.silent else None

    def end(self, result: Any) -> None:
        """Add the cell that has run: an event ``post_run_cell``."""
        self._running = None
        info, number = result.info, result.execution_count
        if info is None or not info.store_history or info.silent or number is None:
            return
        # The cell that loads the extension is in the history already.
        self._runs = [run for run in self._runs if run.number != number]
        if result.error_before_exec is None:
            self._add(self._run_of(info, number))

    def replace_when_run(self, first_line: str, number: int) -> None:
        """Let the next cell that begins with ``first_line`` replace the run with an execution count."""
        self._announced[first_line] = number

    # --- answers --------------------------------------------------------------------------------------------

    def source(self) -> Source:
        """Return the cells as a notebook; the index of a cell is its execution count less 1."""
        runs = self._all()
        commands = "\n".join(filter(None, (commands_in(run.code, as_python(run.code)) for run in runs)))
        source = Source(display_path(self._path()), "", cells=(), commands=commands)
        return joined(source, [(run.number - 1, run.code) for run in runs])

    def locate(self, filename: str, line: int) -> int | None:
        """Convert a line of compiled code to a line of the whole ``source().text``.

        Args:
            filename: the ``co_filename`` of a code object.
            line: counted from 1 in the code that IPython compiled.

        Returns:
            The 1-based line; None for other files, and for code of a run that a later one has replaced.
        """
        run = self._compiled_as(filename)
        if run is None:
            return None
        line = _written_line(run, line)
        return self.source().lines_above(run.number - 1) + line

    # --- the runs ---------------------------------------------------------------------------------------------

    def _add(self, run: Run) -> None:
        self._runs, self._successors = self._with(run)

    def _all(self) -> list[Run]:
        """The runs, with the cell that runs now."""
        if self._running is None:
            return self._runs
        number = len(self._history()[0]) - 1
        # The history of the cell that loads the extension has it already.
        return self._with(self._run_of(self._running, number))[0]

    def _with(self, run: Run) -> tuple[list[Run], dict[int, int]]:
        """The runs and their successors after ``run`` is added."""
        if not run.code.strip():
            return self._runs, self._successors
        announced = self._announced.get(run.code.split("\n", 1)[0])
        kept, successors = [], dict(self._successors)
        for other in self._runs:
            is_same = other.cell_id == run.cell_id if other.cell_id and run.cell_id else other.code == run.code
            if other.number != run.number and not is_same and other.number != announced:
                kept.append(other)
            elif other.code == run.code:
                successors[other.number] = run.number
        return [*kept, run], successors

    def _run_of(self, info: Any, number: int) -> Run:
        parsed = self._history()[1]
        # The history has no newlines at the end of a cell.
        code = info.raw_cell.rstrip("\n")
        return Run(
            number, code, parsed[number] if number < len(parsed) else code, getattr(info, "cell_id", None) or None
        )

    def _history(self) -> tuple[Sequence[str], Sequence[str]]:
        """The written and the compiled code of each execution count."""
        history = self._shell.history_manager
        return history.input_hist_raw, history.input_hist_parsed

    def _compiled_as(self, filename: str) -> Run | None:
        """The run whose code was compiled under a name."""
        runs = {run.number: run for run in self._all()}
        number = getattr(self._shell.compile, "_filename_map", {}).get(filename)
        if number is not None:
            while number not in runs and number in self._successors:
                number = self._successors[number]
            return runs.get(number)
        name_of = getattr(self._shell.compile, "get_code_name", None)
        if name_of is None:
            return None
        return next((run for run in runs.values() if name_of(run.code, run.transformed, run.number) == filename), None)

    def _path(self) -> str:
        """The notebook's path, as far as the front end gives it."""
        given = [self._shell.user_ns.get(name) for name in _SESSION_NAMES]
        for path in (*given, os.environ.get(_SESSION_VARIABLE)):
            if isinstance(path, str) and path.endswith(".ipynb"):
                path = os.path.abspath(path)
                # Some front ends give a path on the server, whose folder is elsewhere.
                return path if os.path.isdir(os.path.dirname(path)) else os.path.abspath(os.path.basename(path))
        return os.path.abspath(_DEFAULT_NAME)


def of_this_process() -> ExecutedCells | None:
    """The cells that this process has executed; None outside of IPython."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return None if shell is None else ExecutedCells.kept or ExecutedCells(shell)


def _written_line(run: Run, line: int) -> int:
    """The line of the written code for a line of the compiled code."""
    written, compiled = run.code.split("\n"), run.transformed.rstrip("\n").split("\n")
    # IPython drops blank lines at the beginning, and joins the lines of a command.
    blank = next((number for number, text in enumerate(written) if text.strip()), 0)
    if len(written) - blank == len(compiled):
        return min(line + blank, len(written))
    for matched, start, length in SequenceMatcher(None, compiled, written, autojunk=False).get_matching_blocks():
        if matched <= line - 1 < matched + length:
            return start + line - matched
    return min(line + blank, len(written))
