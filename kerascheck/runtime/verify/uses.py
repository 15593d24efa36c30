"""The lines of a script that a training uses: a backward slice over names (Weiser 1981) from its call or loop.

The slice only assigns findings to trainings, so both kinds of error are cheap. Because of a superfluous line, a finding
is measured in a training before its own. Because of a missing line, it is not measured.
"""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kerascheck.runtime.verify.messages import Frame, Span

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Scope = ast.Module | _Definition
_IMPORTS = (ast.Import, ast.ImportFrom)
TRAINS = frozenset({"fit", "fit_generator", "train_on_batch", "apply_gradients", "stateless_apply"})
"""Names of methods that train."""
_FITS = frozenset({"fit", "fit_generator", "train_on_batch"})
_NOT_RUN = frozenset({"validation_data"})
"""Arguments of ``fit`` that a measured run ignores."""


def lines_used(sources: Mapping[str, str], stack: Sequence[Frame], *, everything_before: bool = False) -> list[Span]:
    """The lines used by the training whose first step had the stack ``stack``, innermost frame first.

    Args:
        sources: the script and its own modules, by absolute path.
        everything_before: include all code that runs before the training, for scripts that train only once.
    """
    program = _Program(sources)
    with contextlib.suppress(RecursionError):  # a call chain that is too long: use the lines found so far
        program.use_stack(stack, everything_before)
    return program.spans()


def lines_of_training(sources: Mapping[str, str], stack: Sequence[Frame]) -> list[Span]:
    """Lines of a training: its loops, or the statements that lead to its ``fit``."""
    program = _Program(sources)
    return [
        (module.path, _first_line(region), _end_line(region))
        for module, _, region in program.regions(stack)
        if region is not None
    ]


class _Module:
    """A parsed module of the script."""

    def __init__(self, path: str, text: str) -> None:
        """Parse the module; raises the errors of ``ast.parse``."""
        self.path, self.tree, self._lines = path, ast.parse(text), text.splitlines()
        tree = self.tree
        self.definitions: dict[str, _Definition] = {}
        """Functions and classes by name, without methods."""
        self.class_of: dict[ast.AST, ast.ClassDef] = {}
        """Classes by method."""
        self.imports: dict[str, tuple[str, str | None]] = {}
        """(module, name in it or None) by the bound name."""
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self.class_of.update({part: node for part in node.body if isinstance(part, _DEFINITIONS)})
            elif isinstance(node, _IMPORTS):
                self.imports.update(_imported(node))
        for node in ast.walk(tree):
            if isinstance(node, _DEFINITIONS) and node not in self.class_of:
                self.definitions.setdefault(node.name, node)

    def first_line(self, node: ast.stmt) -> int:
        """First line of a statement, including decorators and the comments directly above."""
        line = _first_line(node)
        while line > 1 and line - 2 < len(self._lines) and self._lines[line - 2].lstrip().startswith("#"):
            line -= 1
        return line


class _Program:
    """The modules of a script, and the lines found to be used so far."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._modules: dict[str, _Module] = {}
        for path, text in sources.items():
            try:
                self._modules[path] = _Module(path, text)
            except (SyntaxError, ValueError, RecursionError):
                continue
        self._used: set[Span] = set()
        self._done: set[ast.AST | tuple[object, str]] = set()
        """Definitions that are used as a whole or on the stack, and followed names with their module or class."""

    def spans(self) -> list[Span]:
        """The used lines, in order."""
        return sorted(self._used)

    def regions(self, stack: Sequence[Frame]) -> list[tuple[_Module, _Scope, ast.stmt | None]]:
        """The module and function of each frame, and its statement: the outermost loop around its line, if any."""
        known = [(self._modules[frame.path], frame) for frame in stack if frame.path in self._modules]
        scopes = [(module, _scope(module.tree, frame), frame.line) for module, frame in known]
        return [(module, scope, _region(scope, line)) for module, scope, line in scopes]

    def use_stack(self, stack: Sequence[Frame], everything: bool) -> None:
        """Mark the code that the training at ``stack`` uses, see :func:`lines_used`."""
        regions = self.regions(stack)
        looping = max((index for index, (_, _, region) in enumerate(regions) if isinstance(region, _LOOPS)), default=-1)
        # A function may contain several trainings. Outside of loops, only those on this stack are used.
        self._done |= {
            scope for index, (_, scope, _) in enumerate(regions) if index >= looping or isinstance(scope, ast.Module)
        }
        free: dict[str, set[str]] = {}
        for index, (module, scope, region) in enumerate(regions):
            if index < looping and not isinstance(scope, ast.Module):
                self._use_whole(module, scope)
            elif region is not None:
                also = free.pop(module.path, ()) if isinstance(scope, ast.Module) else ()
                needed = self._slice(module, scope, region, everything, also)
                if not isinstance(scope, ast.Module):
                    free.setdefault(module.path, set()).update(needed)
        for path, names in free.items():
            self._use_names(self._modules[path], names)

    def _slice(
        self, module: _Module, scope: _Scope, region: ast.stmt, everything: bool = False, also: Iterable[str] = ()
    ) -> set[str]:
        """Slice backward from ``region`` through ``scope``.

        Marks the statements that define its names and ``also``, and returns the names used.
        """
        statements = list(_statements(scope.body))
        around = next((blocks for statement, blocks in statements if statement is region), ())
        pending, followed, used = {*_names(region), *also}, set(), [region]
        self._used.add((module.path, _first_line(region), _end_line(region)))
        for statement, blocks in reversed(statements):
            if statement.lineno >= region.lineno or isinstance(statement, (*_DEFINITIONS, *_IMPORTS)):
                continue
            if not everything and not self._matters(module, statement, set(map(_key, pending)), used):
                continue
            self._use(module, statement)
            used.append(statement)
            followed |= pending
            if isinstance(statement, ast.Assign) and set(blocks) <= set(around):
                # Earlier values of the name are irrelevant.
                gone = {
                    _key(node.id)
                    for target in statement.targets
                    for node in ast.walk(target)
                    if isinstance(node, ast.Name)
                }
                pending = {name for name in pending if _key(name) not in gone}
            pending |= set(_names(statement, header=True))
        followed |= pending
        self._use_definitions(module, followed)
        if isinstance(scope, ast.Module):
            self._done |= {(module, _key(name)) for name in followed}
        elif scope in module.class_of:
            self._use_attributes(
                module, module.class_of[scope], {_key(name) for name in followed if name.startswith("self.")}
            )
        return followed

    def _matters(self, module: _Module, statement: ast.stmt, needed: set[str], used: Sequence[ast.stmt]) -> bool:
        bound = _bound(statement)
        if set(map(_key, bound)) & needed:
            return True
        if _is_compound(statement):
            return any(statement.lineno <= other.lineno <= _end_line(statement) for other in used)
        if any("." in name and self._is_library(module, name) for name in bound):
            return True  # sets process state, such as os.environ[...] = ...
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
            return False
        called = _dotted(statement.value.func) or ""
        if called.rpartition(".")[2] in TRAINS:
            return False
        if self._is_library(module, called) or _key(called) in needed:
            return True  # such as tf.config.run_functions_eagerly(True), model.compile(...)
        found = self._resolve(module, called)
        return found is not None and not _trains(found[1])

    def _use(self, module: _Module, statement: ast.stmt) -> None:
        self._used.add((module.path, statement.lineno, _last_line(statement)))

    def _use_whole(self, module: _Module, definition: _Definition) -> None:
        if definition in self._done:
            return
        self._done.add(definition)
        if isinstance(definition, ast.ClassDef) and _trains(definition):
            return  # a class that calls fit itself: the attributes determine what its trainings use
        self._used.add((module.path, module.first_line(definition), _end_line(definition)))
        self._use_names(module, set(_names(definition)))

    def _use_names(self, module: _Module, names: Iterable[str]) -> None:
        """Mark the functions and classes that ``names`` refer to, and the definitions of module variables."""
        self._use_definitions(module, names)
        for name in map(_key, names):
            if (module, name) in self._done or name in module.definitions or name in module.imports:
                continue
            self._done.add((module, name))
            for statement, _ in _statements(module.tree.body):
                if not isinstance(statement, (*_DEFINITIONS, *_IMPORTS)) and _gives_value(statement, {name}):
                    self._use(module, statement)
                    self._use_names(module, set(_names(statement, header=True)))

    def _use_definitions(self, module: _Module, names: Iterable[str]) -> None:
        for name in names:
            if (found := self._resolve(module, name)) is not None:
                self._use_whole(*found)

    def _use_attributes(self, module: _Module, owner: ast.ClassDef, names: Iterable[str]) -> None:
        """Mark called methods, and definitions of the attributes of an object in all methods of its class."""
        for name in names:
            if (owner, name) in self._done:
                continue
            self._done.add((owner, name))
            for method in owner.body:
                if not isinstance(method, _FUNCTIONS) or method in self._done:
                    continue
                if f"self.{method.name}" == name:
                    if not _trains(method):
                        self._use_whole(module, method)
                    self._use_attributes(module, owner, {_key(n) for n in _names(method) if n.startswith("self.")})
                    continue
                for statement, _ in _statements(method.body):
                    if not isinstance(statement, _DEFINITIONS) and _gives_value(statement, {name}):
                        self._use_names(module, self._slice(module, method, statement))

    def _resolve(self, module: _Module, name: str) -> tuple[_Module, _Definition] | None:
        """Resolve a dotted name to a function or class of the script, with its module."""
        root, _, rest = name.partition(".")
        if root in module.definitions:
            return module, module.definitions[root]
        if root not in module.imports:
            return None
        target, member = module.imports[root]
        for dotted, wanted in ((f"{target}.{member}", rest.split(".")[0]), (target, member or rest.split(".")[0])):
            other = self._file_of(dotted)
            if other is not None and wanted in other.definitions:
                return other, other.definitions[wanted]
        return None

    def _file_of(self, dotted: str) -> _Module | None:
        """Find the script's module for an imported dotted name, by the end of its path."""
        parts = dotted.strip(".").split(".")
        tail = os.path.join(os.sep, *parts)
        ends = (f"{tail}.py", os.path.join(tail, "__init__.py"))
        return (
            next((module for path, module in self._modules.items() if path.endswith(ends)), None) if parts[0] else None
        )

    def _is_library(self, module: _Module, name: str) -> bool:
        root = name.split(".")[0]
        return root in module.imports and self._resolve(module, name) is None


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, str | None]]]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield (
                alias.asname or alias.name.split(".")[0],
                (alias.name if alias.asname else alias.name.split(".")[0], None),
            )
        else:
            yield alias.asname or alias.name, (node.module or "", alias.name)


def _scope(tree: ast.Module, frame: Frame) -> _Scope:
    """The function that a frame runs; the module for module code and for functions without statements (lambdas)."""
    inner = (
        [n for n in ast.walk(tree) if isinstance(n, _DEFINITIONS) and _first_line(n) <= frame.line <= _end_line(n)]
        if frame.first_line
        else []
    )
    exact = [n for n in inner if frame.first_line in (n.lineno, _first_line(n))]
    found = exact or sorted(inner, key=lambda n: n.lineno)
    return found[-1] if found else tree


def _region(scope: _Scope, line: int) -> ast.stmt | None:
    """The outermost loop of ``scope`` around a line, else the innermost statement."""
    found = [
        (s, blocks)
        for s, blocks in _statements(scope.body)
        if _first_line(s) <= line <= _end_line(s) and not isinstance(s, _DEFINITIONS)
    ]
    loop = next((s for s, _ in found if isinstance(s, _LOOPS)), None)
    return loop or (found[-1][0] if found else None)


def _statements(
    body: Iterable[ast.stmt], blocks: tuple[object, ...] = ()
) -> Iterator[tuple[ast.stmt, tuple[object, ...]]]:
    """The statements of a scope in order, each with its blocks; those of a block follow their compound statement."""
    for statement in body:
        yield statement, blocks
        if isinstance(statement, _DEFINITIONS):
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, ())
            # The body of a "with" always runs.
            yield from _statements(
                inner, blocks if isinstance(statement, (ast.With, ast.AsyncWith)) else (*blocks, (id(statement), name))
            )
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(part.body, (*blocks, (id(part), "")))


def _is_compound(statement: ast.stmt) -> bool:
    return hasattr(statement, "body") or hasattr(statement, "cases")


def _end_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _last_line(statement: ast.stmt) -> int:
    """Last line of a statement; for a compound statement, of its header."""
    if not _is_compound(statement):
        return _end_line(statement)
    first = (getattr(statement, "body", None) or getattr(statement, "cases", []))[0]
    return max(statement.lineno, getattr(first, "lineno", statement.lineno + 1) - 1)


def _header(statement: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that are not statements."""
    for _, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and not isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                yield part


def _names(node: ast.AST, header: bool = False) -> Iterator[str]:
    """Dotted names that are read in ``node``, or only in the header of a compound statement."""
    pending = list(_header(node)) if header else [node]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.keyword) and current.arg in _NOT_RUN:
            continue
        dotted = _dotted(current)
        if dotted is not None:
            if not isinstance(current, ast.Name) or isinstance(current.ctx, ast.Load):
                yield dotted
            continue
        pending.extend(ast.iter_child_nodes(current))


def _dotted(node: ast.AST) -> str | None:
    """``a.b.c`` for such an expression, else None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _bound(statement: ast.stmt) -> set[str]:
    """Dotted names that a statement binds or modifies: targets, and names bound in a header."""
    targets: list[ast.AST] = []
    for part in _header(statement):
        for node in ast.walk(part):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(
                node.ctx, (ast.Store, ast.Del)
            ):
                targets.append(node)
    names = set()
    for target in targets:
        while isinstance(target, ast.Subscript):
            target = target.value
        names.add(_dotted(target) or "")
    return names - {""}


def _key(name: str) -> str:
    """The owner of a dotted name: its variable, or the attribute of the object whose method contains it."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "self" else parts[0]


def _gives_value(statement: ast.stmt, keys: set[str]) -> bool:
    """Whether a statement assigns one of ``keys``, or calls a method of it that does not train."""
    if keys & set(map(_key, _bound(statement))):
        return True
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    called = _dotted(statement.value.func) or ""
    return _key(called) in keys and called.rpartition(".")[2] not in TRAINS


def _trains(definition: ast.AST) -> bool:
    """Whether code calls ``fit`` or similar on another object. Custom steps that apply gradients do not."""
    return any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in _FITS
        and not isinstance(n.func.value, ast.Call)
        for n in ast.walk(definition)
    )
