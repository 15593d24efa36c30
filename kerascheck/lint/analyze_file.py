"""Check one file: parse it, run the rules on it, and locate their diagnoses."""

from __future__ import annotations

import ast
import contextlib
import gc
import os
import re
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kerascheck.catalog import registry
from kerascheck.catalog.rule import RequirementsRule, Rule, Silence
from kerascheck.finding import (
    INTERNAL,
    UNREADABLE,
    Applicability,
    FileError,
    Finding,
    Fix,
    Location,
    Related,
    Severity,
    Unproven,
)
from kerascheck.lint.limits import MEGABYTES, SECONDS, SECONDS_PER_LINE, Unlimited
from kerascheck.project.config import Settings
from kerascheck.project.discovery import File, matches
from kerascheck.project.requirements import RequirementsFile, kind_of
from kerascheck.project.suppression import Directive, Suppressions, speaks_to_us, suppressions
from kerascheck.source import Cell, Source, Unreadable, decode, dependencies, read
from kerascheck.source.notebook import header_for, without
from kerascheck.source.python import is_about_depth, usual_recursion_limit
from kerascheck.source.rewriting import suited

if TYPE_CHECKING:
    from kerascheck.catalog.registry import RuleSpec
    from kerascheck.catalog.rule import Diagnosis, Located
    from kerascheck.interpreter.project import Project
    from kerascheck.meaning.module import Module

TOO_DEEP = "could not be analysed: it is nested too deeply"
TOO_LARGE = f"could not be analysed: it takes more than {MEGABYTES} MB of memory; leave it out with 'exclude'"
TOO_SLOW = f"could not be analysed: it takes more than {SECONDS:.0f} s and {1000 * SECONDS_PER_LINE:.0f} s per 1,000 lines; leave it out with 'exclude'"
_KEPT_CHARACTERS = 4_000_000
"""Most characters of text whose trees a process keeps; the trees take some thirty times as many bytes."""
_STACK_SIZES = (512 << 20, 256 << 20, 64 << 20)
_LONGEST_CAUSE = 200
"""Most characters of an exception's text that an error message quotes."""
_RECURSION_LIMIT = 100_000

_Result = TypeVar("_Result")


@dataclass
class FileResult:
    """The result of checking one file, before the settings of the reported files apply."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    directives: tuple[Directive, ...] = ()
    """The directives of the file, if some address kerascheck and the whole file could be checked."""
    silenced: set[tuple[Directive, str]] = field(default_factory=set)
    """Directives of this file and of its imports, with the codes that they suppressed."""
    follows_from: Collection[int] | None = None
    """The numbers of its dependencies (:mod:`kerascheck.source.dependencies`).

    None if they are unknown, or if another check of the same file may end differently."""
    obeys_comments: bool = True
    """Whether comments suppress its findings."""


class Analysis:
    """Checks files that may import each other, and keeps their parsed modules.

    Args:
        overrides: sources that replace files on disk.
        noqa: whether ``noqa`` comments suppress findings.
        limits: the time and memory limits of each file.
    """

    def __init__(self, overrides: Iterable[Source] = (), *, noqa: bool = True, limits: Unlimited = Unlimited()):
        self._limits = limits
        self._overrides = {os.path.realpath(source.path): source for source in overrides}
        self._noqa = noqa
        self._projects: dict[Settings, Project[Module]] = {}
        self._suppressions: dict[str, Suppressions] = {}

    def _read(self, path: str | Path) -> Source:
        return self._overrides.get(os.path.realpath(path)) or read(path)

    @property
    def is_full(self) -> bool:
        """Whether the kept modules exceed their memory limit."""
        return sum(project.parsed_characters for project in self._projects.values()) > _KEPT_CHARACTERS

    def make_room(self) -> None:
        """Drop the kept modules if they exceed their memory limit."""
        if self.is_full:
            self._projects.clear()
            gc.collect()

    def _project(self, settings: Settings) -> Project[Module]:
        if settings not in self._projects:
            from kerascheck.interpreter.project import Project
            from kerascheck.meaning.module import Module

            self._projects[settings] = Project(settings, self._read, Module, self._limits.extend)
        return self._projects[settings]

    def check(self, file: File) -> FileResult:
        """Run the selected rules on one file."""
        result = FileResult(file.path, obeys_comments=file.settings.obeys_comments)
        self._limits.begin()
        tracker = dependencies.current_tracker()
        try:
            with dependencies.on_behalf_of(file.path):
                self._check(file, result)
            if (
                tracker is not None
                and file.content is None
                and not any(error.code == INTERNAL for error in result.errors)
            ):
                result.follows_from = tracker.asked_by(dependencies.of_file(file.path))
        except MemoryError:
            self._limits.end()
            self._projects.clear()
            result.errors.append(FileError(UNREADABLE, Location(file.path, None, 1, 1, 1, 1), TOO_LARGE))
        finally:
            self._limits.end()
        return result

    def _check(self, file: File, result: FileResult) -> None:
        try:
            source = (
                self._read(file.path) if file.content is None else replace(decode(file.path, file.content), piped=True)
            )
        except Unreadable as problem:
            place = Location(file.path, None, problem.line, problem.column, problem.line, problem.column)
            result.errors.append(FileError(UNREADABLE, place, problem.message))
            return
        self._limits.extend(source.text)
        if kind_of(file.path) is not None:
            from kerascheck.knowledge.runtime import LONG_NUMBER

            if (long := LONG_NUMBER.search(source.text)) is not None:
                message = f"has a number of {len(long[0])} digits, which is no version"
                self._refuse(result, source, message, long.start())
                return
            asked_for = RequirementsFile(source)
            for spec in registry.enabled(file.settings.selections):
                if spec.kind is RequirementsRule:
                    self._run(spec, lambda: spec.rule_as(RequirementsRule).check(asked_for), source, result)
            self._remember_directives(result, source)
            return
        try:
            module = self.load(source, file.settings, result)
        except MemoryError:
            raise
        except BaseException as problem:  # noqa: BLE001 - a panic of libcst's native parser is no Exception
            self._fault(result, source, "the analysis", problem)
            return
        if module is not None:
            asked: list[tuple[RuleSpec, Diagnosis]] = []
            for spec in self._concerned(module, file.settings, result):
                self._run(spec, lambda: said_of(spec, module), module.source, result, asked)
            self._add_reordered(module, asked, file.settings, result)
            self._remember_directives(result, source)
        if source.path in result.sources:
            # Reports show the whole text, including cells that were left out.
            result.sources[source.path] = source

    def _concerned(self, module: Module, settings: Settings, result: FileResult) -> list[RuleSpec]:
        """The rules with a trigger in one of the modules that the program runs."""
        held: set[str] = set()
        try:
            for each in module.run.modules:
                held |= each.once(_triggers_in)
        except RecursionError:
            self._refuse(result, module.source, TOO_DEEP, 0)
        except MemoryError:
            raise
        except Exception as problem:  # noqa: BLE001 - a fault costs the file, not the run
            self._fault(result, module.source, "the analysis", problem)
        specs = registry.enabled(settings.selections)
        return [spec for spec in specs if spec.kind is Rule and not held.isdisjoint(spec.triggers)]

    def _suppressions_of(self, source: Source) -> Suppressions:
        if source.path not in self._suppressions:
            self._suppressions[source.path] = suppressions(source, noqa=self._noqa)
        return self._suppressions[source.path]

    def _remember_directives(self, result: FileResult, source: Source) -> None:
        if result.obeys_comments and not result.errors and speaks_to_us(source.text):
            result.directives = self._suppressions_of(source).directives
            result.sources[source.path] = source

    def load(self, source: Source, settings: Settings, result: FileResult) -> Module | None:
        """Parse ``source`` into a module; None if nothing can be parsed.

        Leaves out notebook cells that cannot be parsed, and adds an error for each to ``result``.
        """
        from kerascheck.syntax.tree import SyntaxProblem, TooDeep

        project = self._project(settings)
        for cell, what, where in _broken_cells(source):
            self._refuse(result, source, what, where)
            source = without(source, cell)
        while True:
            try:
                module = project.load(source)
                # libcst does not check escapes. Other code that only libcst accepts may be valid in a newer Python.
                problem = _problem(source.text) if source.cells is None and _ESCAPE.search(source.text) else None
                if problem is None or not problem[0].startswith(_BAD_ESCAPE):
                    return module
                message, offset = problem
            except (TooDeep, RecursionError):
                self._refuse(result, source, TOO_DEEP, 0)
                return None
            except SyntaxProblem as problem:
                message, offset = _plain(problem.message), source.offset(problem.line, problem.column)
            if source.cells is None:
                # Python may parse what libcst cannot.
                unread = f"could not be analysed: the parser gave up, although Python reads it ({message.removeprefix(_REFUSED)})"
                self._refuse(result, source, *(_problem(source.text) or (unread, offset)))
                return None
            # Python parses every cell, so ask libcst.
            faulty = (each for each in source.cells if not _is_read(_alone(source, each)))
            refused = next(faulty, None) or source.cell_at(offset)
            assert refused is not None, "a text without cells is empty, and parses"
            before = source.text
            self._refuse(result, source, message, max(offset, refused.start) if offset < refused.end else refused.start)
            source = without(source, refused)
            if source.text == before:
                return None

    def _refuse(self, result: FileResult, source: Source, message: str, offset: int) -> None:
        result.errors.append(FileError(UNREADABLE, source.locate(offset, offset), message))
        result.sources[source.path] = source

    def _run(
        self,
        spec: RuleSpec,
        check: Callable[[], Iterator[Diagnosis | Silence]],
        source: Source,
        result: FileResult,
        asked: list[tuple[RuleSpec, Diagnosis]] | None = None,
    ) -> None:
        """Run the ``check`` of a rule; unsuppressed diagnoses with a reorder request go to ``asked``."""
        started = time.perf_counter()
        try:
            for diagnosis in check():
                if isinstance(diagnosis, Silence):
                    continue
                finding = self._locate(spec, diagnosis, result)
                if finding is None:
                    continue
                if asked is not None and diagnosis.reorder is not None:
                    asked.append((spec, diagnosis))
                else:
                    self._add(finding, diagnosis, result)
        except MemoryError:
            raise
        except RecursionError:
            if not result.errors:
                self._refuse(result, source, TOO_DEEP, 0)
        except Exception as problem:  # noqa: BLE001 - a fault of one rule costs that rule, not the run
            result.errors.append(fault_of(spec, source, problem))
        result.seconds[spec.code] = result.seconds.get(spec.code, 0.0) + time.perf_counter() - started

    def _add(self, finding: Finding, diagnosis: Diagnosis, result: FileResult) -> None:
        result.findings.append(finding)
        result.sources[finding.location.path] = diagnosis.at.module.source

    def _add_reordered(
        self, module: Module, asked: Sequence[tuple[RuleSpec, Diagnosis]], settings: Settings, result: FileResult
    ) -> None:
        """Add the diagnoses with reorder requests; conflicting ones become one finding."""
        if not asked:
            return
        from kerascheck.lint.resolve_conflicts import resolve_conflicts

        def takes_part(spec: RuleSpec, diagnosis: Diagnosis) -> bool:
            left_out = is_left_out(settings, diagnosis.at.module.source.path, spec.code, spec.name)
            return not left_out and is_shown(diagnosis, spec.code, settings)

        shown: list[tuple[RuleSpec, Diagnosis]] = []
        hidden: list[tuple[RuleSpec, Diagnosis]] = []
        for each in asked:
            (shown if takes_part(*each) else hidden).append(each)
        try:
            for spec, diagnosis in hidden:
                if diagnosis.tally is not None:
                    self._add(placed(spec, diagnosis)[0], diagnosis, result)
            for (spec, diagnosis), joined in resolve_conflicts(module, shown):
                finding, _ = placed(spec, diagnosis)
                covers = tuple(placed(*each)[0].sort_key for each in joined)
                self._add(replace(finding, covers=covers), diagnosis, result)
        except MemoryError:
            raise
        except RecursionError:
            if not result.errors:
                self._refuse(result, module.source, TOO_DEEP, 0)
        except Exception as problem:  # noqa: BLE001 - as for the rules
            self._fault(result, module.source, "the order of chains", problem)

    def _fault(self, result: FileResult, source: Source, what: str, problem: BaseException) -> None:
        result.errors.append(_fault(source, what, problem, "kerascheck"))

    def _locate(self, spec: RuleSpec, diagnosis: Diagnosis, result: FileResult) -> Finding | None:
        """The finding with its location; None if a comment suppresses it."""
        finding, lines = placed(spec, diagnosis)
        if not result.obeys_comments:
            return finding
        silencing = self._suppressions_of(diagnosis.at.module.source).silencing(spec.code, spec.name, lines)
        result.silenced.update((directive, spec.code) for directive in silencing)
        return None if silencing else finding


def _triggers_in(module: Module) -> frozenset[str]:
    return frozenset(filter(module.says, registry.triggers()))


def fault_of(spec: RuleSpec, source: Source, problem: BaseException) -> FileError:
    """The error for a file on which a rule failed; it names who ships the rule."""
    return _fault(source, f"rule {spec.code} ({spec.name})", problem, spec.by or "kerascheck")


def _fault(source: Source, what: str, problem: BaseException, whose: str) -> FileError:
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    message = (
        f"{what} failed: {type(problem).__name__}: {str(problem)[:_LONGEST_CAUSE]} ({os.path.basename(frame.filename)}:{frame.lineno}); "
        f"this is a fault of {whose}: please report it with this line and the file"
    )
    return FileError(INTERNAL, source.locate(0, 0), " ".join(message.split()))


def said_of(spec: RuleSpec, module: Module, *, in_side_code: bool = False) -> Iterator[Diagnosis | Silence]:
    """Run a rule on a module; yields nothing if the rule does not apply.

    Args:
        spec: the rule.
        module: the module.
        in_side_code: keep findings about the speed of code for debugging and benchmarks; else they become reasons for
            silence.
    """
    from kerascheck.interpreter.module import Module as InterpretedModule
    from kerascheck.meaning.program.side_code import side_code_around

    if not spec.applies.to(module):
        return
    for said in spec.rule_as(Rule).check(module):
        place = said.at.module
        if spec.speed and not in_side_code and not isinstance(said, Silence) and said.severity < Severity.ERROR:
            assert isinstance(place, InterpretedModule), "rules about code report places in code"
            side = side_code_around(module, place.tree, said.at.node)
            if side is not None:
                yield Silence(said.at, f"`{side}` marks code for debugging or a benchmark")
                continue
        yield said


def is_shown(found: Finding | Diagnosis, code: str, settings: Settings) -> bool:
    """Whether pedantic findings are shown, this one is not pedantic, or the settings name its rule ``code``."""
    if settings.pedantic or not found.pedantic:
        return True
    is_repaired = found.tally is None or found.tally.repaired_since
    return not is_repaired and code in registry.named(settings.selections)


def is_left_out(settings: Settings, path: str, code: str, name: str) -> bool:
    """Whether ``per-file-ignores`` leaves the findings of a rule out of a file."""
    absolute = os.path.abspath(path)
    return any(
        matches(pattern, absolute) and registry.ignored_by(selectors, code, name)
        for pattern, selectors in settings.per_file_ignores
    )


def placed(spec: RuleSpec, diagnosis: Diagnosis) -> tuple[Finding, set[int]]:
    """The finding with its location, and the lines on which a comment suppresses it (:func:`lines_of`)."""
    module = diagnosis.at.module
    source: Source = module.source
    start, end = module.range_of(diagnosis.at.node)
    first, last = module.statement_range(diagnosis.at.node)
    statement = source.locate(first, last)
    related = tuple(
        Related(place.module.source.locate(*place.module.range_of(place.node)), message)
        for place, message in diagnosis.related
    )
    finding = Finding(
        spec.code,
        spec.name,
        diagnosis.severity,
        source.locate(start, end),
        diagnosis.message,
        diagnosis.because,
        # Fixes do not apply to a piped text, or to one whose data was left out.
        None
        if diagnosis.fix is None or source.piped or source.without_data != source.text
        else suited(source, _proven(diagnosis.fix), start),
        related,
        (statement.line, statement.end_line),
        diagnosis.pedantic,
        diagnosis.tally,
    )
    return finding, lines_of(diagnosis.at)


def _proven(fix: Fix) -> Fix:
    """Make a fix unsafe if it has no proofs, such as one that a third-party rule builds by hand."""
    if fix.applicability is not Applicability.SAFE or fix.obligations:
        return fix
    return replace(fix, applicability=Applicability.UNSAFE, unproven=(Unproven("none", "its rule proves nothing"),))


def lines_of(at: Located) -> set[int]:
    """The first line of a semantic object, and the first and last lines of its statement."""
    module = at.module
    first, last = module.statement_range(at.node)
    return {module.source.line_of(offset) for offset in (module.range_of(at.node)[0], first, last)}


_ESCAPE = re.compile(r"\\[NUux]")
_REFUSED = "does not parse: "
_BAD_ESCAPE = (f"{_REFUSED}(unicode error)", f"{_REFUSED}(value error)")
_PYTHON_2 = re.compile(
    r"\s*print\s+[^\s(=]|\s*print\s*>>|\s*exec\s+['\"\w]|\s*except\s+[\w.()\s,]+,\s*\w+\s*:|\s*raise\s+[\w.]+\s*,|"
    r"def\s+\w+\(.*\(\w+(?:,\s*\w+)+\)"
)
# Expressions of Python 2 and what Python 3 has in their place. Prose has some of these characters, too.
_EXPRESSIONS_OF_2 = (
    (re.compile(r"<>"), "!="),
    (re.compile(r"\b0+(\d+)\b"), r"\1"),
    (re.compile(r"\bur(?=['\"])"), "r"),
    (re.compile(r"`([^`]+)`"), r"repr(\1)"),
    (re.compile(r"\b(\d+)[lL]\b"), r"\1"),
)


def _problem(code: str, *, compiled: bool = False) -> tuple[str, int] | None:
    """This Python's error message for ``code``, clearer than libcst's, and its offset; None if it parses.

    Args:
        compiled: whether to compile the code too, as a notebook cell, which may use ``await`` at top level.
    """
    with usual_recursion_limit(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(code)
            if compiled:
                compile(tree, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return None
        except SyntaxError as problem:
            if is_about_depth(problem):
                return TOO_DEEP, 0
            message, line, column = problem.msg, problem.lineno or 1, problem.offset or 1
        except (RecursionError, MemoryError):
            return TOO_DEEP, 0
        except ValueError:
            return None
    source = Source("", code)
    offset = source.offset(line, column)
    if _is_python_2(source.line_text(offset)):
        return "Python 2 code: kerascheck reads Python 3 (2to3 converts most of it)", offset
    return f"{_REFUSED}{message}", offset


def _is_python_2(line: str) -> bool:
    """Whether a line that does not parse is a statement of Python 2, or becomes one of Python 3 by new expressions."""
    if _PYTHON_2.match(line):
        return True
    new = line.strip()
    for old, modern in _EXPRESSIONS_OF_2:
        new = old.sub(modern, new)
    if new == line.strip():
        return False
    try:
        ast.parse(f"{new.removeprefix('el')} pass" if new.endswith(":") else new)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _plain(message: str) -> str:
    """libcst's message without the position, which is reported separately."""
    first = message.strip().partition("\n")[0]
    return _REFUSED + re.sub(r"^(?:parser error: )?(?:error at \d+:\d+: )?", "", first)


def _broken_cells(source: Source) -> Iterator[tuple[Cell, str, int]]:
    """The cells of a notebook that do not parse by themselves: cell, message and offset."""
    for cell in source.cells or ():
        code = _alone(source, cell)
        if (problem := _problem(code, compiled=True)) is not None:
            message, offset = problem
            # A cell that does not parse here may be valid in a newer Python; libcst decides.
            if message.startswith((TOO_DEEP, *_BAD_ESCAPE)) or _problem(code) is None or not _is_read(code):
                yield cell, message, max(cell.end - len(code) + offset, cell.start)


def _alone(source: Source, cell: Cell) -> str:
    """The code of a cell, below the header that it needs."""
    code = source.without_data[cell.start : cell.end]
    return header_for(code) + code


def _is_read(code: str) -> bool:
    """Whether libcst parses some code."""
    from kerascheck.syntax.tree import SyntaxProblem, Tree

    try:
        Tree(code)
    except SyntaxProblem:
        return False
    return True


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Pause garbage collection: trees are large and live long, and scanning them takes a fifth of the run time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def with_large_stack(function: Callable[[], _Result]) -> _Result:
    """Run ``function`` in a thread with a stack large enough to parse deeply nested code."""
    outcome: list[_Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as problem:  # noqa: BLE001 - raised again in the thread that waits
            failure.append(problem)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        thread = _start_thread(run)
        if thread is None:
            return function()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome[0]


def _start_thread(run: Callable[[], None]) -> threading.Thread | None:
    """Start a thread with the largest stack that fits the address space; None if none fits."""
    for size in _STACK_SIZES:
        previous = threading.stack_size()
        try:
            threading.stack_size(size)
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            return thread
        except (RuntimeError, ValueError):
            continue
        finally:
            threading.stack_size(previous)
    return None
