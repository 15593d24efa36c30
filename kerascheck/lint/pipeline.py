"""From files to findings: choose the files worth parsing, have them checked, gather what the rules say.

libcst takes 0.4 s to import and most of a run's time to parse. So files are first
filtered by their bytes, and only those that can hold a finding reach libcst.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kerascheck.cache.memo import Memo
from kerascheck.cache.written import Damaged, write
from kerascheck.cache.written import read as read_back
from kerascheck.catalog import registry
from kerascheck.catalog.rule import CommentsRule, Silence
from kerascheck.finding import UNREADABLE, Applicability, FileError, Finding, Location, Severity, SortKey
from kerascheck.lint.analyze_file import (
    Analysis,
    FileResult,
    fault_of,
    is_left_out,
    placed,
    with_large_stack,
    without_collector,
)
from kerascheck.project.config import Configuration, Settings
from kerascheck.project.discovery import File
from kerascheck.project.import_graph import ImportGraph, project_root
from kerascheck.project.requirements import is_about_tensorflow, kind_of
from kerascheck.project.suppression import Comments, Directive, Suppressions, speaks_to_us
from kerascheck.result import LintResult
from kerascheck.source import Source, Unreadable, decode, dependencies, read
from kerascheck.source.code import without_comments
from kerascheck.source.notebook import header_for
from kerascheck.source.python import is_refused, without_warnings
from kerascheck.source.reading import read_bytes
from kerascheck.source.rewriting import edited, programs
from kerascheck.syntax.search import Searched

if TYPE_CHECKING:
    from kerascheck.fixes.apply import Fixed
    from kerascheck.lint import workers

_FEW = 10
"""Files so few that all are parsed which may have to be."""
_FORK_FROM, _START_FROM = 3, 10
"""Files to parse from which another process pays: one that can be forked, and one that has to import everything."""
_SPREAD_FROM, _FORK_TO_LOOK_FROM = 200, 20
"""Files to look at from which starting processes pays, and from which a forked one does, while this one loads the rules."""
_LOOKED_AT_EACH = 150
"""Files to look at from which another process pays."""
_LIGHT_BYTES = 50_000
"""Largest file that is checked without bounds, where processes are dear."""
_LARGE_BYTES = 300_000
"""Largest text that is looked into before it is checked."""
_CHUNK_BYTES = 400_000
"""Largest chunk that one process takes at once; bounds the memory of the trees that it keeps."""
_CHUNKS_EACH = 16
"""Chunks for each process at least, so that none waits long for the last."""
_PROCESSES = 4
"""In which a session checks a file and those that import it, at most."""
_KEPT_FILES = 200
"""Files whose trees a session keeps, so that its memory is bounded."""


_MOST_ENTRIES = 500
"""Codes in a comment of which each is looked at by itself; nobody writes more, and it takes the square of their number."""


# --- which files are worth parsing ---------------------------------------------------------------


def mentions_keras(data: bytes) -> bool:
    """Whether any rule can have something to say; looked for on every line, for modules that import a re-export.

    All of Keras may come with the star of a module that lies beside; then names tell that are nobody else's.
    """
    return b"keras" in data or b"tensorflow" in data or b"import *" in data and _OF_KERAS.search(data) is not None


_OF_KERAS = re.compile(
    rb"\b(?:fit_generator|predict_generator|train_on_batch|ModelCheckpoint|EarlyStopping|ImageDataGenerator|GradientTape)\("
)


# A loop, a training, or a script's own statement that may call one. In a notebook the statement is a string of JSON.
_RUNS = re.compile(rb"^[ \t]*\"?[ \t]*(?:for|while)\b|\.fit(?:_generator)?\(|^(?:if\b|[a-z_]\w*(?:\.\w+)*\()", re.M)


@registry.remembered
def _methods_called() -> tuple[bytes, ...]:
    """Triggers that are held by a file in whose code they stand: calls of methods, which no rule needs more for."""
    return tuple(
        trigger.encode()
        for trigger in sorted(registry.triggers())
        if re.fullmatch(r"\.\w+\(", trigger) and not registry.needed(trigger)
    )


def _holds_trigger(code: bytes) -> bool:
    # Each byte beyond ASCII is a character: none of them stands in a trigger.
    return any(map(Searched(code.decode("latin-1")).has, registry.triggers()))


def _triggers_in_code(code: str | bytes) -> frozenset[str]:
    """The triggers that stand in the code itself: most that stand in the files of libraries are in docstrings.

    ast gives the answer in a third of the time that libcst takes to parse. What it raises for code that it refuses is raised.
    """
    tree = without_warnings(code)
    words: set[str] = set()
    layers: list[ast.ClassDef] = []
    for node in _nodes(tree):
        cls = node.__class__
        if cls is ast.Name:
            words.add(f"{node.id}(")
        elif cls is ast.Attribute:
            words.add(f".{node.attr}(")
            words.add(f"{_last_name(node.value)}.{node.attr}(")
        elif cls is ast.alias:
            # It may be called by another name.
            words.update((node.name, node.asname or "", f"{node.name.rpartition('.')[2]}("))
        elif cls is ast.ImportFrom:
            words.add(node.module or "")
        elif cls is ast.keyword:
            words.add(node.arg or "")
        elif cls is ast.ClassDef:
            if any(method.name == "call" for method in _methods(node)):
                layers.append(node)
        elif cls is ast.FunctionDef or cls is ast.AsyncFunctionDef:
            words.add(node.name)
        elif cls is ast.Constant and isinstance(node.value, str) and node.value.isidentifier():
            # Names of environment variables.
            words.add(node.value)
    helpers = _helpers(tree) if layers else frozenset()
    if any(_methods_interest_rules(layer, helpers) for layer in layers):
        words.add("call(")
    joined = "\n".join(words)
    return frozenset(
        trigger
        for trigger in registry.triggers()
        if (trigger in words or f".{trigger}" in words if trigger.endswith("(") else trigger in joined)
    )


def _nodes(tree: ast.AST) -> Iterator[Any]:
    """All nodes, and what else their fields hold, in no order: ``ast.walk`` takes three times as long."""
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        yield node
        for field in _NODES_IN[node.__class__]:
            value = getattr(node, field)
            if value.__class__ is list:
                stack += value
            else:
                stack.append(value)


class _Fields(dict[type, tuple[str, ...]]):
    """By the class of a node, the fields in which others may be; none for what is no node."""

    def __missing__(self, cls: type) -> tuple[str, ...]:
        fields = () if cls is ast.Constant else getattr(cls, "_fields", ())
        self[cls] = tuple(field for field in fields if field not in _PLAIN_FIELDS)
        return self[cls]


# What they hold says how a node is used, or is no node.
_PLAIN_FIELDS = frozenset("arg attr ctx id kind level module name op ops type_comment type_ignores".split())
_NODES_IN = _Fields()


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


_NO_STATE = ("Error", "KerasTensor", "TensorShape", "Warning")
_PLAIN_METHODS = frozenset(
    "__init__ build compute_mask compute_output_shape compute_output_spec from_config get_config".split()
)


# What comes from these is no function of the project. Only names of Keras are asked for elsewhere.
_ELSEWHERE = frozenset({"keras", "tensorflow", "tf_keras", "numpy", *sys.stdlib_module_names})


def _helpers(tree: ast.Module) -> frozenset[str]:
    """The functions that the methods of a file may call and that may hold what rules ask about: its own, where they do, and
    what it imports from the project."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(map(_interests_rules, _nodes(node))):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level or (node.module or "").partition(".")[0] not in _ELSEWHERE:
                names.update(alias.asname or alias.name for alias in node.names)
    return frozenset(names)


def _methods_interest_rules(cls: ast.ClassDef, helpers: frozenset[str]) -> bool:
    """Whether a layer's ``call``, or a method that it may use, holds what rules ask about: what makes objects, loops over a range, prints.

    Most layers hold none of it, and those of a library are many.
    """
    return any(
        _interests_rules(node, helpers)
        for method in _methods(cls)
        if method.name not in _PLAIN_METHODS
        for node in _nodes(method)
    )


def _methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    return [node for node in cls.body if isinstance(node, ast.FunctionDef)]


def _interests_rules(node: Any, helpers: frozenset[str] = frozenset()) -> bool:
    if node.__class__ is not ast.Call:
        return False
    name = _last_name(node.func)
    return name[:1].isupper() and not name.endswith(_NO_STATE) or name in ("print", "range") or name in helpers


def _may_trigger(code: bytes) -> _Kind:
    """What the triggers in the code say of a file."""
    if not _only_names() or speaks_to_us(code):
        return _Kind.PARSE
    written = _without_comments(code)
    if any(trigger in written for trigger in _methods_called()):
        return _Kind.PARSE
    try:
        held = _triggers_in_code(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Whatever is wrong with it, parsing it says so.
        return _Kind.PARSE
    if not held:
        return _Kind.NOTHING
    needs = [registry.needed(trigger) for trigger in held]
    return _Kind.PARSE if not all(needs) or _holds_one(code, frozenset().union(*needs)) else _Kind.IF_USED


def _holds_one(code: bytes, words: Iterable[str]) -> bool:
    return any(word.encode() in code for word in words)


@registry.remembered
def _only_names() -> bool:
    """Whether every trigger is a name, a method or the start of a call, as it can be looked for in the syntax tree; one of
    somebody's rules that is not has all files parsed that hold it."""
    return all(re.fullmatch(r"(?:\w*\.)?\w+\(?", trigger) for trigger in registry.triggers())


def _candidate(data: bytes, calls: bool = False) -> bool:
    """Whether any rule can find something in a file with this content; ``calls``: it imports a file that rules ask about.

    The words are looked for in all of it first, since most files lack them even there.
    """
    return _has_words(data, calls) and _has_words(_without_comments(data), calls) or speaks_to_us(data)


@functools.lru_cache(maxsize=1)
def _without_comments(code: bytes) -> bytes:
    return without_comments(code.decode("latin-1")).encode("latin-1")


def _has_words(code: bytes, calls: bool) -> bool:
    return mentions_keras(code) and _holds_trigger(code) or calls and _RUNS.search(code) is not None


# --- checking many files ---------------------------------------------------------------------------


@without_collector()
def lint(
    files: Sequence[File],
    configuration: Configuration,
    *,
    jobs: int | None = None,
    noqa: bool = True,
    part: Sequence[File] | None = None,
    memo: Memo | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LintResult:
    """Lint files of one run.

    Args:
        files: all files of the run.
        configuration: finds the settings of further files that import these.
        jobs: processes to use at most; the number of usable processors where None.
        noqa: whether ``noqa`` comments silence findings.
        part: those of ``files`` to report on, as linting all of them would; all where None.
        memo: what an earlier run worked out, and where this one adds to it.
        progress: called with the number of files done and of those that have to be parsed.

    Raises:
        ConfigError: the settings of a file select an unknown rule.
    """
    for settings in {file.settings for file in files}:
        registry.validate(settings)
    jobs = jobs or processors()
    known: dict[str, ImportGraph] = {}

    def prepare(file: File) -> None:
        """What this process can do while others look for more files to parse than this one."""
        _load([file.settings])
        if _is_in_graph(file):
            known.update(_graphs([file], configuration, memo))

    chosen = [each for each in _choose(files, jobs, memo, prepare) if each[1] is not _Kind.NOTHING]
    graphs = _graphs((file for file, *_ in chosen if _is_in_graph(file)), configuration, memo, known)
    # A few are parsed in any case: what they find may be in what they import, of which this run need not know.
    few = len(chosen) <= _FEW
    candidates = [
        (file, size)
        for file, kind, size in chosen
        if few or kind is _Kind.PARSE or not _is_in_graph(file) or _is_used(file.path, graphs, memo)
    ]
    on_disk = [file for file, _ in candidates if _is_in_graph(file)]
    candidates += _choose_callers(_importers(on_disk, graphs), memo)
    if part is not None:
        candidates = _concerning(part, candidates, graphs)
    results, candidates = _recalled(candidates, noqa, memo)
    total = len(results) + len(candidates)
    keys = {file.path: _key(file, noqa) for file, _ in candidates} if memo is not None else {}

    def gather(result: FileResult) -> None:
        results.append(result)
        if memo is not None and result.follows_from is not None:
            memo.keep(keys[result.path], _written(result), result.follows_from)
        if progress is not None:
            progress(min(len(results), total), total)

    if candidates:
        from kerascheck.lint import workers

        jobs = min(jobs, 1 + len(candidates) // (_FORK_FROM if workers.can_fork() else _START_FROM))
        chunks = _chunks(candidates, jobs)
        if workers.can_fork():
            # A single process imports that itself: this one then has less to share with it, and to take apart at its end.
            if jobs > 1 or len(candidates) > _FEW:
                _load({file.settings for file, _ in candidates} if jobs > 1 else ())
        elif jobs == 1:
            # To start a process would take longer than most files do.
            light = list(_chunks([each for each in candidates if each[1] <= _LIGHT_BYTES]))
            chunks = _chunks([each for each in candidates if each[1] > _LIGHT_BYTES])
            analysis = Analysis(noqa=noqa)

            def work() -> None:
                for chunk in light:
                    for file in chunk:
                        gather(analysis.check(file))
                    analysis.make_room()

            with_large_stack(work)
        if chunks:
            with contextlib.closing(workers.Pool(jobs)) as processes:
                processes.check([(chunk, noqa, ()) for chunk in chunks], gather)
    outcome = _merge(files if part is None else part, results)
    elsewhere = set() if part is None else {file.path for file in files} - {file.path for file in part}
    outcome.errors = _once_per_folder(error for error in outcome.errors if error.location.path not in elsewhere)
    return outcome


def _once_per_folder(errors: Iterable[FileError]) -> list[FileError]:
    """The same errors, but one for a folder that has vanished meanwhile with all of its files."""
    found: dict[FileError, None] = {}
    for error in errors:
        gone, folder = "", error.location.path
        while error.code == UNREADABLE and (folder := os.path.dirname(folder)) and not os.path.lexists(folder):
            gone = folder
        found[_vanished(gone) if gone else error] = None
    return list(found)


def _vanished(folder: str) -> FileError:
    return FileError(UNREADABLE, Location(folder, None, 1, 1, 1, 1), "vanished while it was linted")


_Kept = tuple[list[Finding], list[FileError], tuple[Directive, ...], list[tuple[Directive, str]], list[str]]
"""What is kept of a check: findings, errors, directives, what they silenced, and the paths of sources."""


def _key(file: File, noqa: bool) -> str:
    return f"check {file.path} {noqa} {dependencies.digest(repr(file.settings).encode('utf-8', 'surrogateescape'))}"


def _written(result: FileResult) -> Any:
    silenced = sorted(result.silenced, key=lambda each: (each[0].path, each[0].start, each[1]))
    return write((result.findings, result.errors, result.directives, silenced, tuple(result.sources)))


def _recalled(
    candidates: Sequence[tuple[File, int]], noqa: bool, memo: Memo | None
) -> tuple[list[FileResult], list[tuple[File, int]]]:
    """What an earlier run found in files that would be checked alike, and the other files."""
    if memo is None:
        return [], list(candidates)
    found, others = [], []
    read_once = functools.cache(read)
    for file, size in candidates:
        known = memo.recall(_key(file, noqa)) if file.content is None else None
        try:
            if known is None:
                raise Damaged
            findings, errors, directives, silenced, paths = read_back(_Kept, known)
            sources = {path: read_once(path) for path in paths}
        except (Damaged, Unreadable):
            others.append((file, size))
            continue
        found.append(FileResult(file.path, findings, errors, sources, {}, directives, set(silenced), ()))
    return found, others


def _load(selected: Iterable[Settings]) -> None:
    """Import what checking needs, once for all processes; one alone runs the files of the rules that it needs, see ``selected``."""
    import kerascheck.meaning.module  # noqa: F401

    for settings in selected:
        for spec in registry.enabled(settings.selections):
            # What fails is told for each file that the rule is run on.
            with contextlib.suppress(Exception):
                spec.rule  # noqa: B018


class Session:
    """Lints one text after the other, as editors and flake8 hand them over.

    Args:
        configuration: finds the settings of files.
        noqa: whether ``noqa`` comments silence findings.
        keep: whether files stay as they are meanwhile, so that what was found in one is remembered.
        jobs: processes to use at most, where they can be had for next to nothing; the number of usable processors, up to four,
            where None: each keeps the trees that it needs.
    """

    def __init__(self, configuration: Configuration, *, noqa: bool = True, keep: bool = True, jobs: int | None = None):
        self._configuration, self._noqa, self._keep = configuration, noqa, keep
        self._jobs = jobs or min(_PROCESSES, processors())
        self._graphs: dict[str, ImportGraph] = {}
        self._analysis = Analysis(noqa=noqa)
        self._pool: workers.Pool | None = None
        self._results: dict[str, FileResult] = {}

    def lint(self, source: Source, unsaved: Sequence[Source] = ()) -> LintResult:
        """Lint a text that need not be what is on disk at its path, beside other ``unsaved`` ones; raises :class:`ConfigError`."""
        file = self._file(source)
        if (outcome := self._plain_outcome(source, file)) is not None:
            return outcome
        return _merge([file], self._check(source, [file, *self._callers(source.path)], unsaved))

    def steps(self, source: Source, unsaved: Sequence[Source] = ()) -> Iterator[tuple[LintResult, bool]]:
        """What :meth:`lint` gives, in steps: first of the text by itself, then with more and more of the files that import it, as many
        at a time as there are processes; and whether that is all. Whoever waits for no more of them need not ask for the next.
        Raises :class:`ConfigError`.
        """
        file = self._file(source)
        if (outcome := self._plain_outcome(source, file)) is not None:
            yield outcome, True
            return
        results = self._check(source, [file], unsaved)
        # Who imports what is worked out once for a project, and may take as long as to check a file.
        if project_root(source.path) not in self._graphs or self._importers(source.path):
            yield _merge([file], results, are_all=False), False
        others = self._callers(source.path)
        for start in range(0, len(others), self._jobs):
            if start:
                yield _merge([file], results, are_all=False), False
            results = results + self._check(source, others[start : start + self._jobs], unsaved)
        yield _merge([file], results), True

    def _file(self, source: Source) -> File:
        settings = self._configuration.for_file(source.path)
        registry.validate(settings)
        return File(source.path, settings)

    def _plain_outcome(self, source: Source, file: File) -> LintResult | None:
        """What there is to say of a text that no rule about code has a word to say on; None for any other."""
        if kind_of(source.path) is not None:
            return _merge([file], [Analysis([source], noqa=self._noqa).check(file)])
        may_interest = (
            _kind_of_code(source.text.encode("utf-8", "surrogatepass")) is not _Kind.NOTHING
            if source.cells is None
            else _holds_interest(source)
        )
        return None if may_interest else LintResult(files=1)

    def _callers(self, path: str) -> list[File]:
        return [other for other, _ in _choose_callers(self._importers(path))]

    def _importers(self, path: str) -> list[File]:
        if not os.path.isfile(path):
            return []
        root = project_root(path)
        if root not in self._graphs:
            self._graphs[root] = ImportGraph(root, self._configuration)
        return self._graphs[root].importers([path])

    def _check(self, source: Source, files: Sequence[File], unsaved: Sequence[Source]) -> list[FileResult]:
        if unsaved or not self._keep or not is_on_disk(source):
            return self._run(files, [source, *unsaved])
        if len(self._results) > _KEPT_FILES:
            self._results, self._analysis = {}, Analysis(noqa=self._noqa)
        new = [file for file in files if file.path not in self._results]
        self._results.update((result.path, result) for result in self._run(new))
        return [self._results[file.path] for file in files]

    def _run(self, files: Sequence[File], sources: Sequence[Source] = ()) -> list[FileResult]:
        from kerascheck.lint import workers

        if self._pool is None and not workers.can_fork():
            analysis = Analysis(sources, noqa=self._noqa) if sources else self._analysis
            return with_large_stack(lambda: [analysis.check(file) for file in files])
        if self._pool is None:
            _load({file.settings for file in files})
            self._pool = workers.Pool(self._jobs)
        found: list[FileResult] = []
        # One after the other: most scripts that import a file take far longer than it does, and none knows how long.
        parts = [list(files)] if self._jobs == 1 else [[file] for file in files]
        self._pool.check([(part, self._noqa, tuple(sources)) for part in parts], found.append)
        return found


def is_on_disk(source: Source) -> bool:
    """Whether the file holds ``source``, but for the newlines, which some programs translate."""
    try:
        there = read(source.path).text
    except Unreadable:
        return False
    return there == source.text or there.replace("\r\n", "\n").replace("\r", "\n") == source.text


def fix(
    source: Source,
    file: File,
    outcome: LintResult,
    *,
    unsafe: bool,
    unsaved: Sequence[Source] = (),
    keep_reported: Callable[[Source, Sequence[Finding]], list[Finding]] | None = None,
) -> Fixed[Source]:
    """Apply the fixes of a file's findings, as far as ``unsafe`` allows, to its text.

    Args:
        outcome: the run in which the findings were made: other files whose check found
            something in this one are checked again with every change.
        unsaved: sources to use instead of what is on disk.
        keep_reported: selects the findings of a changed text to fix; None: all.
    """
    from kerascheck.fixes.apply import apply_fixes

    def find(changed: Source) -> list[Finding | FileError]:
        found = _of_changed(changed, file, outcome, unsaved)
        return [*found.findings, *found.errors]

    is_python = kind_of(source.path) is None
    return with_large_stack(
        lambda: apply_fixes(
            source, find, unsafe, is_python=is_python, edited=edited, programs=programs, keep_reported=keep_reported
        )
    )


def of_changed(changed: Source, file: File, outcome: LintResult) -> list[Finding]:
    """The findings of another text of a file, those included that other files make.

    Args:
        outcome: the run in which the findings of the file were made.
    """
    return with_large_stack(lambda: _of_changed(changed, file, outcome)).findings


def _of_changed(changed: Source, file: File, outcome: LintResult, unsaved: Sequence[Source] = ()) -> LintResult:
    others = [File(path, file.settings) for path in sorted(outcome.checked_from.get(file.path, ()))]
    analysis = Analysis([changed, *unsaved])
    return _merge([file], [analysis.check(each) for each in (file, *others)])


def _is_in_graph(file: File) -> bool:
    return kind_of(file.path) is None and file.content is None


def _graphs(
    candidates: Iterable[File], configuration: Configuration, memo: Memo | None, known: Mapping[str, ImportGraph] = {}
) -> dict[str, ImportGraph]:
    """The import graphs of the projects of ``candidates``, by root; of those that are ``known`` these."""
    folders = {os.path.dirname(file.path): file.path for file in candidates}
    roots = dict.fromkeys(map(project_root, folders.values()))
    remember = None if memo is None else lambda name, work_out: memo.once(name, list[str], work_out)
    return {root: known[root] if root in known else ImportGraph(root, configuration, remember) for root in roots}


def _importers(candidates: Iterable[File], graphs: Mapping[str, ImportGraph]) -> list[File]:
    """Files beyond ``candidates`` that import one of them: they are checked for what they say about these."""
    known = {os.path.abspath(file.path) for file in candidates}
    roots: dict[str, list[str]] = {}
    root_of = functools.cache(lambda folder: project_root(os.path.join(folder, "any.py")))
    for file in candidates:
        roots.setdefault(root_of(os.path.dirname(file.path)), []).append(file.path)
    found: dict[str, File] = {}
    for root, paths in roots.items():
        for importer in graphs[root].importers(paths):
            path = os.path.abspath(importer.path)
            if path not in known:
                registry.validate(importer.settings)
                found[path] = importer
    return list(found.values())


def _concerning(
    part: Iterable[File], candidates: Sequence[tuple[File, int]], graphs: Mapping[str, ImportGraph]
) -> list[tuple[File, int]]:
    """Of all ``candidates`` those that can say something about ``part``: itself, and what imports it; and of what is in no graph all."""
    reaching = {os.path.abspath(file.path) for file in part}
    size = -1
    # An import may lead from one project into another.
    while size != len(reaching):
        size = len(reaching)
        reaching = reaching.union(*(graph.reaching(reaching) for graph in graphs.values()))
    known = {path for graph in graphs.values() for path in graph.paths}
    others = {os.path.abspath(file.path) for file, _ in candidates} & (known - reaching)
    return [each for each in candidates if os.path.abspath(each[0].path) not in others]


class _Kind(enum.Enum):
    """What has to be done with a file."""

    NOTHING = enum.auto()
    IF_USED = enum.auto()
    """Parsed if a file that imports it holds what the rules about it need, see :attr:`Rule.needs`."""
    PARSE = enum.auto()


_Sized = tuple[_Kind, int]
"""What has to be done with a file, and its size."""


def _choose(
    files: Sequence[File],
    jobs: int = 1,
    memo: Memo | None = None,
    meanwhile: Callable[[File], None] = lambda file: None,
) -> list[tuple[File, _Kind, int]]:
    """What has to be done with each file, and its size; ``meanwhile`` gets the first that is to be parsed, where others look for the rest."""
    kinds = {file.path: kind for file in files if file.content is None and (kind := _recalled_kind(file.path, memo))}
    paths = [file.path for file in files if file.content is None and file.path not in kinds]
    if jobs > 1 and _pays_to_spread(len(paths)):
        from kerascheck.lint import workers

        by_path = {file.path: file for file in files}
        # What is told of requirements is no reason to begin with anything.
        paths.sort(key=lambda path: kind_of(path) is not None)
        found = workers.spread(
            functools.partial(_classify_elsewhere, is_tracked=memo is not None),
            paths,
            min(jobs, 1 + len(paths) // _LOOKED_AT_EACH),
            tells=lambda result: result[0][0] is _Kind.PARSE,
            meanwhile=lambda path: meanwhile(by_path[path]),
        )
        for path, result in zip(paths, found):
            # What ends a process is checked where that costs no other file.
            kinds[path], deps = result or ((_Kind.PARSE, 0), [])
            if memo is not None and result is not None:
                numbers = [memo.tracker.add(dep) for dep in deps if dep is not None]
                memo.keep(f"kind {path}", write(kinds[path]), numbers)
    else:
        kinds.update((path, _remembered_kind(path, memo)) for path in paths)
    return [(file, *_kind_of(file, kinds)) for file in files]


def _pays_to_spread(files: int) -> bool:
    """Whether that many files are so many that other processes are to look at them."""
    if files <= min(_SPREAD_FROM, _FORK_TO_LOOK_FROM):
        return False
    from kerascheck.lint import workers

    return files > _SPREAD_FROM or workers.can_fork()


def _kind_of(file: File, kinds: Mapping[str, _Sized]) -> _Sized:
    return kinds[file.path] if file.content is None else _classify_content(file.path, file.content)


def _classify_elsewhere(path: str, is_tracked: bool) -> tuple[_Sized, list[dependencies.Dependency | None]]:
    """Run :func:`_classify` in another process, with its dependencies if ``is_tracked``."""
    if not is_tracked:
        return _classify(path), []
    tracker = dependencies.DependencyTracker()
    with dependencies.tracking(tracker):
        return _classify(path), tracker.dependencies


def _choose_callers(files: Iterable[File], memo: Memo | None = None) -> list[tuple[File, int]]:
    """Of files that import what is checked, those that are to be parsed too, with their sizes: a loop that plays a game
    with an agent need not name Keras, nor need a script that fits a model of one module to the data of another."""
    classified = [(file, *_remembered_kind(file.path, memo, calls=True)) for file in files]
    return [(file, size) for file, kind, size in classified if kind is _Kind.PARSE]


def _recalled_kind(path: str, memo: Memo | None) -> _Sized | None:
    known = None if memo is None else memo.recall(f"kind {path}")
    try:
        return None if known is None else read_back(_Sized, known)
    except Damaged:
        return None


def _remembered_kind(path: str, memo: Memo | None, calls: bool = False) -> _Sized:
    """:func:`_classify`, as far as it is to be done again."""
    if memo is None:
        return _classify(path, calls)
    return memo.once(f"{'caller' if calls else 'kind'} {path}", _Sized, lambda: _classify(path, calls))


def _classify(path: str, calls: bool = False) -> tuple[_Kind, int]:
    """What to do with the file at ``path``, and its size; ``calls``: it imports a file that rules ask about."""
    try:
        data = read_bytes(path)
    except OSError:
        # Read again, and reported, where every other problem of a file is.
        return _Kind.PARSE, 0
    return _classify_content(path, data, calls)


def _classify_content(path: str, data: bytes, calls: bool = False) -> tuple[_Kind, int]:
    if kind_of(path) is not None:
        return (_Kind.PARSE if is_about_tensorflow(data) else _Kind.NOTHING), len(data)
    if path.endswith(".ipynb"):
        return (_Kind.PARSE if _may_interest(path, data, calls) else _Kind.NOTHING), len(data)
    return _kind_of_code(data, calls), len(data)


def _kind_of_code(code: bytes, calls: bool = False) -> _Kind:
    """Whether code has to be parsed: for what rules may find in it, or to say what is wrong with it."""
    if len(code) > _LARGE_BYTES:
        # Python's parser needs more time and memory for it than one file may take here.
        parse = _has_words(code, calls)
    elif _candidate(code, calls):
        if not calls:
            return _may_trigger(code)
        parse = True
    else:
        parse = is_refused(code)
    return _Kind.PARSE if parse else _Kind.NOTHING


def _is_used(path: str, graphs: Mapping[str, ImportGraph], memo: Memo | None) -> bool:
    """Whether a file that imports the one at ``path``, directly or not, holds what rules need to find something in that."""
    graph = graphs[project_root(path)]
    return any(_remembered_use(importer, memo) for importer in graph.reaching([path]) - {os.path.abspath(path)})


def _remembered_use(path: str, memo: Memo | None) -> bool:
    return _uses(path) if memo is None else memo.once(f"uses {path}", bool, lambda: _uses(path))


def _uses(path: str) -> bool:
    """Whether a file holds a word that any rule needs."""
    try:
        code = read_bytes(path)
    except OSError:
        return True
    return any(_holds_one(code, registry.needed(trigger)) for trigger in registry.triggers())


def _may_interest(path: str, data: bytes, calls: bool) -> bool:
    """The same for a notebook."""
    try:
        return _holds_interest(decode(path, data), calls)
    except Unreadable:
        return True


def _holds_interest(notebook: Source, calls: bool = False) -> bool:
    # One cell after the other: a quote that is left open in one of them hides nothing of the others.
    cells = [notebook.text[cell.start : cell.end] for cell in notebook.cells or ()]
    code = "\n".join(map(without_comments, cells)).encode("utf-8", "surrogatepass")
    if _has_words(code, calls) or speaks_to_us(notebook.text):
        return True
    return len(code) <= _LARGE_BYTES and any(is_refused(header_for(cell) + cell) for cell in cells)


def _chunks(candidates: Sequence[tuple[File, int]], jobs: int = 1) -> list[list[File]]:
    """Files of a folder together, since they tend to import each other; the heaviest chunks first."""
    largest = _CHUNK_BYTES
    if jobs > 1:
        largest = min(largest, sum(size for _, size in candidates) // (jobs * _CHUNKS_EACH))
    folders: dict[tuple[str, Settings], list[tuple[File, int]]] = {}
    for file, size in candidates:
        folders.setdefault((os.path.dirname(file.path), file.settings), []).append((file, size))
    chunks: list[tuple[int, list[File]]] = []
    for members in folders.values():
        chunk: list[File] = []
        weight = 0
        for file, size in sorted(members, key=lambda member: -member[1]):
            if chunk and weight + size > largest:
                chunks.append((weight, chunk))
                chunk, weight = [], 0
            chunk.append(file)
            weight += size
        chunks.append((weight, chunk))
    chunks.sort(key=lambda item: (-item[0], item[1][0].path))
    return [chunk for _, chunk in chunks]


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _merge(files: Sequence[File], results: Iterable[FileResult], *, are_all: bool = True) -> LintResult:
    """Bring together what the checks gave: each finding once, in a requested file, as that file's settings want it.

    Where these are not all, nothing is said of comments: what one silences may be found yet.
    """
    # Of two findings that weigh the same that of the first path is kept, whichever process was faster.
    results = sorted(results, key=lambda result: result.path)
    about_comments = _judge_comments(files, results) if are_all else {}
    outcome = LintResult(files=len(files))
    requested = {file.path: file for file in files}
    real = functools.cache(lambda: {os.path.realpath(file.path): file.path for file in files})
    best: dict[SortKey, Finding] = {}
    for result in results:
        outcome.errors += result.errors
        for code, seconds in result.seconds.items():
            outcome.seconds[code] = outcome.seconds.get(code, 0.0) + seconds
        for finding in (*result.findings, *about_comments.get(result.path, ())):
            path = found_in = finding.location.path
            if path not in requested:
                # The same file may be known by another name when it was reached through an import.
                path = real().get(os.path.realpath(path), path)
                if path not in requested:
                    continue
                finding = replace(finding, location=replace(finding.location, path=path))
            settings = requested[path].settings
            if not _wanted(finding, settings):
                continue
            if finding.fix is not None and finding.code in registry.fixed_on_request(settings.selections):
                finding = replace(finding, fix=replace(finding.fix, applicability=Applicability.ON_REQUEST))
            outcome.sources[path] = result.sources[found_in]
            if result.path != path:
                outcome.checked_from.setdefault(path, set()).add(result.path)
            known = best.get(finding.sort_key)
            best[finding.sort_key] = finding if known is None else _joined(known, finding)
        for error in result.errors:
            if error.location.path in result.sources:
                outcome.sources.setdefault(error.location.path, result.sources[error.location.path])
    # What one check found alone another may have joined with more.
    covered = {key for finding in best.values() for key in finding.covers if key != finding.sort_key}
    outcome.findings = sorted(
        (finding for key, finding in best.items() if key not in covered), key=lambda finding: finding.sort_key
    )
    outcome.errors.sort(key=lambda error: (error.sort_key, error.message))
    outcome.is_certain = all(result.follows_from is not None for result in results)
    return outcome


def _judge_comments(files: Sequence[File], results: Sequence[FileResult]) -> dict[str, list[Finding]]:
    """What the rules about comments find in each file, now that every file has been checked that can find something in another."""
    found: dict[str, list[Finding]] = {}
    silenced: dict[tuple[str, int], set[str]] = {}
    for result in results:
        for directive, code in result.silenced:
            silenced.setdefault((os.path.realpath(directive.path), directive.start), set()).add(code)
    settings = {file.path: file.settings for file in files}
    for result in results:
        if not result.directives or result.path not in settings:
            continue
        directives, source = result.directives, result.sources[result.path]
        for long in [each for each in directives if len(each.entries) > _MOST_ENTRIES]:
            message = f"this comment has {len(long.entries)} codes: which of them silence nothing is not looked for"
            result.errors.append(FileError(UNREADABLE, source.locate(long.start, long.end), message))
        directives = tuple(each for each in directives if len(each.entries) <= _MOST_ENTRIES)
        specs = registry.enabled(settings[result.path].selections)
        real = os.path.realpath(result.path)
        comments = Comments(
            source,
            directives,
            {each: frozenset(silenced.get((real, each.start), ())) for each in directives},
            frozenset(spec.code for spec in specs),
            registry.rule_specs(),
        )
        written = Suppressions(each for each in directives if each.entries)
        for spec in specs:
            if spec.kind is not CommentsRule:
                continue
            try:
                for diagnosis in spec.rule_as(CommentsRule).check(comments):
                    if isinstance(diagnosis, Silence):
                        continue
                    finding, lines = placed(spec, diagnosis)
                    # A comment that silences everything does not mean what is said about itself.
                    if not written.silencing(spec.code, spec.name, lines):
                        found.setdefault(result.path, []).append(finding)
            except Exception as problem:  # noqa: BLE001 - a fault of one rule costs that rule, not the run
                result.errors.append(fault_of(spec, result.sources[result.path], problem))
    return found


def _joined(one: Finding, other: Finding) -> Finding:
    """The weightier of two findings at one place; its fix is safe only where both checks prove it."""
    kept, left = (one, other) if _weight(one) >= _weight(other) else (other, one)
    if kept.fix is None or left.fix is None or not left.fix.unproven or kept.fix.unproven == left.fix.unproven:
        return kept
    unproven = tuple(dict.fromkeys((*kept.fix.unproven, *left.fix.unproven)))
    applicability = Applicability.UNSAFE if kept.fix.applicability is Applicability.SAFE else kept.fix.applicability
    return replace(kept, fix=replace(kept.fix, applicability=applicability, unproven=unproven))


def _weight(finding: Finding) -> tuple[int, Severity, bool, bool, str, str]:
    """Which of two findings at one place to keep, whatever order the files were checked in."""
    return (
        len(finding.covers),
        finding.severity,
        not finding.pedantic,
        finding.fix is not None,
        finding.because or "",
        finding.message,
    )


def _wanted(finding: Finding, settings: Settings) -> bool:
    if finding.severity < settings.min_severity or finding.pedantic and not settings.pedantic:
        return False
    if not any(spec.code == finding.code for spec in registry.enabled(settings.selections)):
        return False
    return not is_left_out(settings, finding.location.path, finding.code, finding.name)
