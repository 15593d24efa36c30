"""The magic ``%kerascheck``."""

from __future__ import annotations

import itertools
import os
import shlex
from typing import Any

from kerascheck.notebook.client import Answer, Key, LinterFailed, LintProcess, Repair, Report, doctor_report
from kerascheck.source.executed_cells import ExecutedCells

_HELP = """\
Lint the cells that have run so far, in the order of execution.

    %kerascheck                         report all findings
    %kerascheck --select KC1 --pedantic options of 'kerascheck check'
    %kerascheck fix                     write the first cell with a safe fix, fixed, as the next cell
    %kerascheck fix KC101               only the fixes of some rules
    %kerascheck fix --unsafe-fixes      also fixes that may change results
    %kerascheck on                      after each cell, report findings that are new
    %kerascheck off                     stop that
    %kerascheck doctor                  check whether this machine lets Keras train fast

"cell 3:2" is line 2 of In [3]. Magics and shell commands are ignored.
"""


class KerascheckMagic:
    """The magic and its state: whether it is on, and the findings that it has reported."""

    def __init__(self, shell: Any, cells: ExecutedCells, linter: LintProcess):
        self._shell, self._cells, self._linter = shell, cells, linter
        self._known: tuple[Key, ...] = ()
        self._is_on = False
        self._options: tuple[str, ...] = ()

    def run(self, line: str) -> None:
        try:
            arguments = shlex.split(line)
        except ValueError as problem:
            print(f"kerascheck: {problem}")
            return
        command, *rest = arguments or [""]
        if command in ("--help", "-h", "help"):
            print(_HELP, end="")
        elif command == "fix":
            self._fix(rest)
        elif command == "on":
            self._turn_on(rest)
        elif command in ("off", "doctor") and rest:
            print(f"kerascheck: '{command}' takes no options")
        elif command == "off":
            self._is_on = False
        elif command == "doctor":
            print(doctor_report(), end="")
        elif command and not command.startswith("-"):
            print(f"kerascheck: no command '{command}'; use fix, on, off, doctor, or options such as --select")
        else:
            self._print(self._report(arguments))

    run.__doc__ = _HELP

    def after_cell(self, result: Any) -> None:
        """Print new findings, if the magic is on: an event ``post_run_cell``."""
        info = result.info
        if self._is_on and info is not None and info.store_history and not info.silent:
            self._print(self._report(self._options, self._known))

    def _turn_on(self, options: list[str]) -> None:
        # The findings so far are reported once, or the options are refused.
        answer = self._report(tuple(options), ())
        self._print(answer)
        self._is_on, self._options = answer is not None and not answer.is_refusal, tuple(options)

    def _report(self, options: list[str] | tuple[str, ...], known: tuple[Key, ...] | None = None) -> Answer | None:
        answer = self._ask(Report(os.getcwd(), self._cells.source(), tuple(options), known))
        if answer is not None and not answer.is_refusal:
            self._known = answer.keys
        return answer

    def _fix(self, arguments: list[str]) -> None:
        rules = list(itertools.takewhile(lambda each: not each.startswith("-"), arguments))
        options = arguments[len(rules) :]
        if rules:
            options += ["--select", ",".join(rules)]
        answer = self._ask(Repair(os.getcwd(), self._cells.source(), tuple(options)))
        self._print(answer)
        if answer is not None and answer.cell is not None:
            first_line = f"# kerascheck: replaces cell {answer.cell + 1}"
            self._cells.replace_when_run(first_line, answer.cell + 1)
            self._shell.set_next_input(f"{first_line}\n{answer.code}", replace=False)

    def _ask(self, request: Report | Repair) -> Answer | None:
        try:
            return self._linter.ask(request)
        except LinterFailed:
            print("kerascheck: the process that lints ended; the next %kerascheck starts it again")
            return None

    @staticmethod
    def _print(answer: Answer | None) -> None:
        if answer is not None and answer.text:
            print(answer.text)
