"""Imports: the meaning of names in the source, and insertions below the import block."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import libcst as cst

from kerascheck.knowledge.callables import COMPAT_V1, COMPAT_V2
from kerascheck.knowledge.namespaces import KERAS, OF_KERAS, TENSORFLOW
from kerascheck.syntax.def_use import def_use
from kerascheck.syntax.edits.contract import Edits, insert
from kerascheck.syntax.edits.lines import (
    BLANK_LINE,
    COMMENT_LINE,
    FIRST_LINES,
    in_newlines_of,
    newline_of,
    next_line,
)
from kerascheck.syntax.edits.ranges import end_of_code
from kerascheck.syntax.names import canonical
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.uses import target_names
from kerascheck.syntax.whitespace import NEWLINE

_SET_UP_ROOTS = frozenset("os sys warnings logging matplotlib mpl plt print site locale faulthandler".split())


def dotted_name(node: cst.CSTNode | None) -> str | None:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    return ".".join((node.value, *reversed(parts)))


def _root_name(node: cst.CSTNode) -> str | None:
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None


def _is_import(small: cst.CSTNode) -> bool:
    return isinstance(small, (cst.Import, cst.ImportFrom))


def _is_set_up(small: cst.CSTNode) -> bool:
    """Whether a statement may appear between imports: settings, constants, messages."""
    if isinstance(small, (cst.Pass, cst.Assert, cst.Del, cst.Raise)):
        return True
    if isinstance(small, cst.Expr):
        return isinstance(small.value, (cst.BaseString, cst.BaseNumber)) or (
            isinstance(small.value, cst.Call) and _root_name(small.value) in _SET_UP_ROOTS
        )
    if isinstance(small, cst.Assign):
        if isinstance(small.value, (cst.BaseString, cst.BaseNumber)) or dotted_name(small.value) in (
            "None",
            "True",
            "False",
        ):
            return True
        targets = [target.target for target in small.targets]
        return all(
            (isinstance(target, cst.Name) and target.value.startswith("__"))
            or (not isinstance(target, cst.Name) and _root_name(target) in _SET_UP_ROOTS)
            for target in targets
        )
    return False


def _kind(tree: Tree, statement: cst.CSTNode) -> str | None:
    """Classify a statement: "import" belongs to the import block, "set-up" may appear in it, None ends it."""
    if isinstance(statement, cst.SimpleStatementLine):
        smalls: list[cst.CSTNode] = list(statement.body)
    elif isinstance(statement, (cst.Try, cst.If, cst.With)):
        if isinstance(statement, cst.If) and "__name__" in tree.text[slice(*tree.range_of(statement.test))]:
            return None
        smalls = []
        for node in tree.descendants(statement):
            if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.For, cst.While)):
                return None
            if isinstance(node, cst.BaseSmallStatement):
                smalls.append(node)
    else:
        return None
    if any(_is_import(small) for small in smalls):
        return "import"
    return "set-up" if all(_is_set_up(small) for small in smalls) else None


def _imported_names(statement: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str | None]]:
    """Yield the names that an import binds with their dotted names (None for relative imports)."""
    return ((name, dotted) for _, name, dotted in _import_aliases(statement))


def imports_as_written(tree: Tree) -> Iterator[tuple[cst.ImportAlias, str, str]]:
    """Yield the aliases of ``from ... import`` with name and dotted name, as in :func:`names_as_written`."""
    for statement in tree.imports:
        if isinstance(statement, cst.ImportFrom):
            for alias, name, dotted in _import_aliases(statement):
                if dotted is not None:
                    yield alias, name, dotted.removeprefix(TENSORFLOW) if dotted.startswith(OF_KERAS) else dotted


def _library(statement: cst.Import | cst.ImportFrom) -> str:
    """Return the first library that an import names; empty for a relative import."""
    if isinstance(statement, cst.ImportFrom):
        named = "" if statement.relative else dotted_name(statement.module) or ""
    else:
        named = statement.names[0].evaluated_name
    return named.partition(".")[0]


def _import_aliases(statement: cst.Import | cst.ImportFrom) -> Iterator[tuple[cst.ImportAlias, str, str | None]]:
    if isinstance(statement.names, cst.ImportStar):
        return
    base = ""
    if isinstance(statement, cst.ImportFrom):
        base = (dotted_name(statement.module) or "") + "."
    for alias in statement.names:
        dotted = base + alias.evaluated_name
        if alias.evaluated_alias is not None:
            name = alias.evaluated_alias
        elif base:
            name = dotted[len(base) :]
        else:
            name = dotted = dotted.partition(".")[0]
        yield alias, name, None if getattr(statement, "relative", ()) else dotted


def _is_docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def _last_of_block(tree: Tree) -> int | None:
    """Return the module index of the last statement of the import block; None without such a block."""
    last = None
    for index, statement in enumerate(tree.root.body):
        kind = "import" if index == 0 and _is_docstring(statement) else _kind(tree, statement)
        if kind is None:
            break
        if kind == "import":
            last = index
    return last


def runs_own_code(tree: Tree, statement: cst.CSTNode) -> bool:
    """Whether a top-level statement may call functions of this file; imports and settings between them do not."""
    return def_use(tree).uses(statement).calls and _kind(tree, statement) is None


def end_of_imports(tree: Tree, text: str = "") -> int:
    """Return the module index of the statement before which :func:`insert_after_imports` inserts ``text``."""
    last = _last_import(tree, text)
    return 0 if last is None else last + 1


def _last_import(tree: Tree, text: str) -> int | None:
    """Return the module index of the statement after which ``text`` may go; None at the start of the file."""
    body = tree.root.body
    last = _last_of_block(tree)
    # A later import may bind names that the text uses.
    used = set(re.findall(r"(?<![\w.])[^\W\d]\w*", text))
    bound: dict[str, int] = {}
    for index, statement in enumerate(body):
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(small, (cst.Import, cst.ImportFrom)):
                for name, _ in _imported_names(small):
                    bound.setdefault(name, index)
    later = [index for name, index in bound.items() if name in used]
    return max((index for index in (last, *later) if index is not None), default=None)


def _header_end(tree: Tree) -> int:
    """Return the offset for the first statement of a file without imports and docstring: below the header comments."""
    text, position = tree.text, 0
    while FIRST_LINES.match(text, position):
        position = next_line(text, position)
    end = position
    while COMMENT_LINE.match(text, end):
        end = next_line(text, end)
    # Comments directly above code belong to that code.
    if end > position and end < len(text) and not BLANK_LINE.match(text, end):
        return position
    while end < len(text) and BLANK_LINE.match(text, end):
        end = next_line(text, end)
    return end


def insert_after_imports(tree: Tree, text: str) -> Edits:
    """Insert lines below the import block: docstring, imports, and settings between imports.

    One blank line precedes the text; existing ones below stay. Imports join the block without a blank line. ``text`` goes below a
    later top-level import if it uses a name from it. List the edits of :func:`spelling` first, so the import precedes the text.
    """
    newline = newline_of(tree)
    block = in_newlines_of(tree, text.strip("\r\n")) + newline
    is_import = all(re.match(r"import\b|from\b", line) for line in block.splitlines() if line.strip())
    last = _last_import(tree, text)
    if last is None:
        place, before, joins = _header_end(tree), "", False
    else:
        statement = tree.root.body[last]
        place = next_line(tree.text, end_of_code(tree, statement))
        joins = is_import and not _is_docstring(statement)
        before = "" if joins else newline
    if place and NEWLINE.fullmatch(tree.text[place - 1]) is None:
        before += newline
    is_free = place == len(tree.text) or BLANK_LINE.match(tree.text, place)
    return (insert(place, before + block + ("" if joins or is_free else newline)),)


@dataclass(frozen=True, slots=True)
class Bindings:
    """The names that the imports of a file bind."""

    imports: dict[str, str]
    """Names that only top-level imports bind, with their dotted names as written."""
    taken: frozenset[str]
    """Names that have another meaning somewhere in the file."""
    local: dict[str, str]
    """Names that only imports inside functions bind, with the last dotted name."""
    sources: frozenset[str]
    """All dotted names that any import names."""
    at_run_time: dict[cst.Import | cst.ImportFrom, str]
    """Imports not limited to type checking, with their library; "" for a relative import."""


def bindings_of(tree: Tree) -> Bindings:
    """Return the names that the imports of a file bind; memoised per tree."""
    found: Bindings | None = tree.memory.get(Bindings)
    if found is None:
        found = tree.memory[Bindings] = _find_bindings(tree)
    return found


def _find_bindings(tree: Tree) -> Bindings:
    imports: dict[str, str] = {}
    at_run_time: dict[cst.Import | cst.ImportFrom, str] = {}
    elsewhere: list[tuple[str, str | None]] = []
    sources = set()
    for statement in tree.imports:
        holders = list(tree.ancestors(statement))
        is_local = any(isinstance(holder, (cst.FunctionDef, cst.ClassDef)) for holder in holders)
        is_typing = any(
            isinstance(holder, cst.If) and (dotted_name(holder.test) or "").endswith("TYPE_CHECKING")
            for holder in holders
        )
        if isinstance(statement, cst.ImportFrom) and isinstance(statement.names, cst.ImportStar):
            sources.add(dotted_name(statement.module) or "")
        elif isinstance(statement, cst.Import):
            sources.update(alias.evaluated_name for alias in statement.names)
        if not is_typing:
            at_run_time[statement] = _library(statement)
        for name, dotted in _imported_names(statement):
            sources.add(dotted or "")
            if is_local or is_typing or dotted is None or name in imports:
                elsewhere.append((name, dotted))
            else:
                imports[name] = dotted
    taken = set(_bound_names(tree))
    local = {
        name: dotted for name, dotted in elsewhere if dotted is not None and name not in imports and name not in taken
    }
    for name, dotted in elsewhere:
        if dotted is None or name not in imports or meaning(imports[name]) != meaning(dotted):
            taken.add(name)
    usable = {name: dotted for name, dotted in imports.items() if name not in taken}
    return Bindings(usable, frozenset(taken | set(imports)), local, frozenset(sources), at_run_time)


def meaning(dotted: str) -> str:
    """Return the canonical name of an imported dotted name."""
    # The names that fixes use are the same in the namespace of TensorFlow 1.
    name, _, rest = dotted.partition(COMPAT_V1)
    return canonical("tensorflow" + rest) if not name and dotted != rest else canonical(dotted)


_BINDING = frozenset(
    {
        *(cst.FunctionDef, cst.ClassDef, cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor),
        *(cst.NamedExpr, cst.Del, cst.AsName, cst.Param, cst.MatchAs, cst.MatchStar, cst.MatchMapping),
    }
)


def _bound_names(tree: Tree) -> Iterator[str]:
    """Yield the names that anything except an import binds, in any scope except that of a class."""
    for node in tree.parents:
        if type(node) not in _BINDING:
            continue
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            if not _is_in_class(tree, node):
                yield node.name.value
        elif isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            if not _is_in_class(tree, node) and not _is_missing_import(tree, node):
                yield from target_names(node.target)
        elif isinstance(node, (cst.For, cst.CompFor, cst.NamedExpr)):
            yield from target_names(node.target)
        elif isinstance(node, cst.Del):
            yield from target_names(node.target)
        elif isinstance(node, cst.AsName):
            if not isinstance(tree.parents[node], cst.ImportAlias):
                yield from target_names(node.name)
        elif isinstance(node, cst.Param):
            yield node.name.value
        elif isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
            yield node.name.value
        elif isinstance(node, cst.MatchMapping) and node.rest is not None:
            yield node.rest.value


def _is_in_class(tree: Tree, node: cst.CSTNode) -> bool:
    for holder in tree.ancestors(node):
        if isinstance(holder, (cst.FunctionDef, cst.ClassDef)):
            return isinstance(holder, cst.ClassDef)
    return False


def _is_missing_import(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether this is the ``tf = None`` of a script that also runs without TensorFlow."""
    value = getattr(tree.parents[node], "value", None)
    return dotted_name(value) == "None" and any(
        isinstance(holder, cst.ExceptHandler) for holder in tree.ancestors(node)
    )


def names_as_written(tree: Tree, ending: Collection[str]) -> Iterator[tuple[cst.CSTNode, str]]:
    """Yield names and attributes of imports, each with the dotted name in the spelling of that import.

    Unlike :func:`kerascheck.syntax.names.canonical` this keeps old spellings apart. Only ``tensorflow.keras`` becomes ``keras``, and
    ``tensorflow.compat.v2`` becomes ``tensorflow``. Names that imports bind to different objects, such as TensorFlow 1 and 2, are
    omitted.

    Args:
        tree: the tree of the module.
        ending: last parts of the wanted dotted names, or any parts of the dotted name that an import binds.
    """
    sources: dict[str, set[str | None]] = {}
    for statement in tree.imports:
        for name, dotted in _imported_names(statement):
            sources.setdefault(name, set()).add(dotted)
    wanted = {
        name
        for name, meanings in sources.items()
        if any(not set(ending).isdisjoint((dotted or "").split(".")) for dotted in meanings)
    } | set(ending)
    usable: dict[str, str] | None = None
    stars = {
        dotted.removeprefix(TENSORFLOW) for statement in tree.imports
        if isinstance(statement, cst.ImportFrom) and isinstance(statement.names, cst.ImportStar) and (dotted := dotted_name(statement.module))
    }  # fmt: skip
    for node, parent in tree.parents.items():
        if type(node) is cst.Name:
            last = node.value
        elif type(node) is cst.Attribute:
            last = node.attr.value
        else:
            continue
        if last not in wanted:
            continue
        if isinstance(parent, (cst.ImportAlias, cst.ImportFrom, cst.AsName)):
            continue
        root, _, rest = (dotted_name(node) or "").partition(".")
        if root not in sources:
            # ``import *`` from a module of Keras may bind a bare name that nothing else binds.
            is_value = not isinstance(parent, (cst.Attribute, cst.Arg)) or parent.value is node
            if stars and isinstance(node, cst.Name) and is_value and root not in bindings_of(tree).taken:
                yield from ((node, f"{star}.{root}") for star in sorted(stars) if star.startswith(KERAS))
            continue
        if usable is None:
            usable = _unambiguous(tree, sources)
        is_member = isinstance(parent, cst.Attribute) and parent.attr is node
        if root in usable and not is_member and not (isinstance(parent, cst.Arg) and parent.keyword is node):
            dotted = (usable[root] + ("." + rest if rest else "")).replace(COMPAT_V2, "tensorflow", 1)
            yield node, dotted.removeprefix(TENSORFLOW) if dotted.startswith(OF_KERAS) else dotted


def _unambiguous(tree: Tree, sources: Mapping[str, Collection[str | None]]) -> dict[str, str]:
    """Return the usable names of imports with a single source, each with its dotted name."""
    bindings = bindings_of(tree)
    return {name: dotted for name, dotted in (bindings.local | bindings.imports).items() if len(sources[name]) == 1}
