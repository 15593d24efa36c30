"""The cell magic ``%%why``: run a cell, and say where its training spends its time."""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import io
import shlex
import sys
import tokenize
from collections.abc import Mapping
from contextlib import ExitStack
from types import ModuleType
from typing import Any, NoReturn

from kerascheck.callbacks import Why
from kerascheck.runtime.live import code, outlet
from kerascheck.runtime.live.code import TrainingCode, code_of_cells
from kerascheck.runtime.live.linting import Linting, NotLinted
from kerascheck.runtime.live.loop_watch import LoopWatch
from kerascheck.runtime.live.report import Report, failed, made
from kerascheck.runtime.verify.child.hooks import AfterImport
from kerascheck.runtime.verify.child.patches import Patches
from kerascheck.runtime.verify.child.probes.keras import definer
from kerascheck.runtime.verify.findings import Linted
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.lines import Lines
from kerascheck.source.executed_cells import ExecutedCells

_KERAS = ("keras", "tf_keras")


def run(shell: Any, cells: ExecutedCells, line: str, cell: str) -> None:
    """Run a cell as it would run without the magic, and show where its training spends its time.

    Args:
        shell: the shell of IPython.
        cells: the executed cells.
        line: the rest of the magic's line.
        cell: the code below it.

    Raises:
        UsageError: the line is invalid; IPython shows it without a traceback.
        BaseException: what the cell raises.
    """
    options = _parsed(line)
    ran = cells.source().cells
    # The cell that runs now is the last one. Some versions of IPython count on before it runs, others after it.
    running = _Cell(shell, cell, ran[-1].index + 1 if ran else shell.execution_count)
    training = code_of_cells(cells, running.name)
    patches, fits, loops = Patches(), _Fits(options), LoopWatch()
    with ExitStack() as stack:
        stack.callback(setattr, code, "running", code.running)
        code.running = training
        stack.callback(fits.close)
        stack.callback(patches.undo)
        fits.watch(patches)
        with loops:
            running.execute()
    if not fits.were_measured:
        outlet.publish([_of_loop(loops, training)], {"log_dir": None, "verbose": 1, **options})
    for change in [*patches.remaining, *loops.stays_changed]:
        print(f"kerascheck: {change}")


def _of_loop(loops: LoopWatch, training: TrainingCode) -> Report:
    """The report of a hand-written loop."""
    if loops.failure is not None:
        return failed(loops.failure)
    linted, notes = Linted("", {}, ()), []
    try:
        linted = Linting(training.subject or "").result()
    except NotLinted as problem:
        notes.append(f"the code was not linted: {problem}")
    step = loops.account({path: source.text for path, source in linted.sources.items()}, training.translate)
    if step is None:
        return failed("no training ran in this cell")
    return made(diagnose(step, linted.findings, Lines(linted.sources)), linted, notes)


# The cell -----------------------------------------------------------------------------------------------------------


class _Cell:
    """The code below the magic.

    Args:
        number: the execution count of the cell.
    """

    def __init__(self, shell: Any, text: str, number: int) -> None:
        self._shell = shell
        self._code: str = shell.transform_cell(text)
        self.name: str = shell.compile.cache(self._code, number)
        """The file name of its code objects."""

    def execute(self) -> None:
        """Run it as IPython does: the value of an expression at its end is displayed, unless a semicolon follows."""
        shell = self._shell
        tree = shell.transform_ast(shell.compile.ast_parse(self._code, filename=self.name))
        shows = tree.body and isinstance(tree.body[-1], ast.Expr) and not _ends_with_semicolon(self._code)
        last = [tree.body.pop()] if shows else []
        for part, mode in ((tree, "exec"), (ast.Interactive(last), "single")):
            exec(shell.compile(part, self.name, mode), shell.user_global_ns, shell.user_ns)


def _ends_with_semicolon(code: str) -> bool:
    """Whether the last token of valid code is a semicolon."""
    ignored = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(code).readline) if each.type not in ignored]
    return bool(tokens) and tokens[-1].string == ";"


class _Parser(argparse.ArgumentParser):
    """Raises an error instead of ending the kernel."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(f"%%why: {message}")


def _parsed(line: str) -> dict[str, Any]:
    """Options of the callback from the magic's line."""
    parser = _Parser(add_help=False)
    for name, kind in (("json", str), ("html", str), ("after-seconds", float)):
        parser.add_argument(f"--{name}", type=kind)
    parser.add_argument("--layers", action="store_true")
    return vars(parser.parse_args(shlex.split(line)))


# Calls of fit -------------------------------------------------------------------------------------------------------


class _Fits:
    """The calls of ``fit`` in a cell; all have the same callback.

    Args:
        options: arguments of the callback.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._why: Why | None = None

    @property
    def were_measured(self) -> bool:
        """Whether there is a report."""
        return self._why is not None and bool(self._why.reports)

    def watch(self, patches: Patches) -> None:
        """Give the callback to every call of ``fit``, also in a Keras that the cell imports."""
        patch = functools.partial(self._patch, patches)
        for name in _KERAS:
            if hasattr(sys.modules.get(name), "Model"):
                patch(sys.modules[name])
        finder = AfterImport({name: [patch] for name in _KERAS if name not in sys.modules})
        patches.on_undo(finder.stop)
        sys.meta_path.insert(0, finder)

    def close(self) -> None:
        """Stop measuring."""
        if self._why is not None:
            self._why.close()

    def _patch(self, patches: Patches, keras: ModuleType) -> None:
        if not hasattr(getattr(keras, "Model", None), "fit"):
            return
        owner = definer(keras.Model, "fit")
        original = owner.fit
        signature = inspect.signature(original)

        @functools.wraps(original)
        def fit(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return original(*args, **kwargs)  # raises the error for invalid arguments
            bound.arguments["callbacks"] = self._with_callback(bound.arguments.get("callbacks"))
            return original(*bound.args, **bound.kwargs)

        patches.set(owner, "fit", fit)

    def _with_callback(self, given: Any) -> Any:
        """The callbacks and ours; a list that has one, and a ``CallbackList``, stay as they are."""
        if hasattr(given, "callbacks"):
            return given
        callbacks = list(given) if isinstance(given, (list, tuple)) else [given] if given is not None else []
        if any(isinstance(each, Why) for each in callbacks):
            return given
        self._why = self._why or Why(**self._options)
        return [*callbacks, self._why]
