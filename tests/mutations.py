"""Rewrites of a program that preserve its results, with the new locations of its statements."""

from __future__ import annotations

import ast
import copy
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from programs import undefined_names

SCRIPT = "train.py"
_BLOCKS = ("body", "orelse", "finalbody")
_MODULE_LEVEL = re.compile(r"\b(?:globals|locals|vars|exec|eval|getattr|setattr|__all__|__file__)\b")
"""Words of programs that look up names by their text, or inspect their namespace."""


class CannotMutate(Exception):
    """The rewrite does not apply to this program, or would change its results."""


@dataclass(frozen=True)
class Text:
    """One file of a program.

    Attributes:
        text: the text; the cells of a notebook each follow a line ``# %%``.
        origins: the number of each statement in the original program, in the order of the text; None for new ones.
    """

    text: str
    origins: tuple[int | None, ...]

    def statement_at(self, cell: int | None, line: int, column: int) -> int | None:
        """The original number of the innermost statement at a location with the line and column numbers of findings."""
        place, found = (cell or 0, line, column - 1), None
        for (start, end), origin in zip(self._ranges, self.origins, strict=True):
            if start <= place < end:
                found = origin
        return found

    @cached_property
    def _ranges(self) -> list[tuple[tuple[int, int, int], tuple[int, int, int]]]:
        ranges = []
        for cell, source in enumerate(cells_of(self.text)):
            for node in statements_of(ast.parse(source)):
                first = min([node, *getattr(node, "decorator_list", ())], key=lambda each: each.lineno)
                # The statement begins with the @ of its decorator.
                start = first.col_offset - (first is not node)
                end = (cell, node.end_lineno or 0, (node.end_col_offset or 0) + 1)
                ranges.append(((cell, first.lineno, start), end))
        return ranges


def cells_of(text: str) -> list[str]:
    """The cells of a notebook; the text of a script."""
    return text.split("# %%\n")[1:] if text.startswith("# %%\n") else [text]


def statements_of(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node, in the order of the text."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        yield from statements_of(node)


Files = dict[str, Text]
Mutation = Callable[[str], Files]
"""A function from the text of a script to the files of the rewritten program; raises :class:`CannotMutate`."""


def script(text: str) -> Files:
    """The unchanged script."""
    return {SCRIPT: Text(text, tuple(range(sum(1 for _ in statements_of(ast.parse(text))))))}


def _tree(text: str) -> ast.Module:
    tree = ast.parse(text)
    for number, node in enumerate(statements_of(tree)):
        node.origin = number  # type: ignore[attr-defined]
    return tree


def _text(tree: ast.Module) -> Text:
    origins = tuple(getattr(node, "origin", None) for node in statements_of(tree))
    return Text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", origins)


def _split(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Split statements into the docstring and imports at the top, and the rest."""
    count = 0
    for node in body:
        is_docstring = count == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not isinstance(node, (ast.Import, ast.ImportFrom)):
            break
        count += 1
    return body[:count], body[count:]


def _statements(source: str) -> list[ast.stmt]:
    return ast.parse(source).body


def _refuse_where(text: str, pattern: re.Pattern[str]) -> None:
    if found := pattern.search(text):
        raise CannotMutate(found[0])


# --- names -----------------------------------------------------------------------------------------


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]):
        self._names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in {ast.Name: ("id",), ast.arg: ("arg",), ast.ExceptHandler: ("name",)}.get(type(node), ()):
            setattr(node, field, self._names.get(getattr(node, field), getattr(node, field)))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not hasattr(node, "is_method"):
            node.name = self._names.get(node.name, node.name)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self._names.get(name, name) for name in node.names]
        return node


def renamed(text: str) -> Files:
    """Rename all variables, parameters and functions, except those that calls and classes name."""
    _refuse_where(text, _MODULE_LEVEL)
    tree = _tree(text)
    bound, kept = _bound_names(tree)
    names = {name: f"name_{number}" for number, name in enumerate(sorted(bound - kept))}
    if not names:
        raise CannotMutate("it binds no name")
    return {SCRIPT: _text(_Rename(names).visit(tree))}


def _bound_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names that a module binds, and the names to keep."""
    bound: set[str] = set()
    kept: set[str] = {"self", "cls"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            kept.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.keyword) and node.arg:
            kept.add(node.arg)
        elif isinstance(node, ast.ClassDef):
            kept.add(node.name)
            kept |= _names_of_class(node)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)):
            raise CannotMutate("match")
    return bound, kept | {name for name in bound if name.startswith("__")}


def _names_of_class(node: ast.ClassDef) -> set[str]:
    names = set()
    for each in node.body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # Keras inspects the names of methods and of their parameters.
            each.is_method = True  # type: ignore[union-attr]
            names |= {each.name} | {part.arg for part in ast.walk(each.args) if isinstance(part, ast.arg)}
        else:
            names |= {part.id for part in ast.walk(each) if isinstance(part, ast.Name)}
    return names


class _Qualify(ast.NodeTransformer):
    """Writes ``d.Dataset`` for ``tf.data.Dataset``."""

    def __init__(self, module: str, attribute: str, name: str):
        self._module, self._attribute, self._name = module, attribute, name
        self.found = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr == self._attribute and isinstance(node.value, ast.Name) and node.value.id == self._module:
            self.found = True
            return ast.Name(self._name, node.ctx)
        return node


_SUBMODULES = {"tensorflow": "data", "keras": "layers"}


def aliased(text: str) -> Files:
    """Alias every import, and ``tf.data`` and ``keras.layers`` separately."""
    _refuse_where(text, _MODULE_LEVEL)
    tree = _tree(text)
    names: dict[str, str] = {}
    modules: dict[str, str] = {}
    count: dict[str, int] = {}
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    for node in imports:
        for alias in node.names:
            if alias.name == "*" or "." in alias.name and alias.asname is None:
                continue
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            old = alias.asname or alias.name
            count[old] = count.get(old, 0) + 1
            names[old] = f"alias_{len(names)}"
            if alias.name in _SUBMODULES and (isinstance(node, ast.Import) or node.module == "tensorflow"):
                modules[old] = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
    plain = {(alias.asname or alias.name).partition(".")[0] for n in imports for alias in n.names}
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, (ast.arg, ast.keyword)) and node.arg}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))}
    dotted = {
        alias.name.partition(".")[0] for n in imports for alias in n.names if "." in alias.name and not alias.asname
    }
    names = {old: new for old, new in names.items() if count[old] == 1 and old not in bound | dotted and old in plain}
    if not names:
        raise CannotMutate("it imports nothing")
    for node in imports:
        for alias in node.names:
            old = alias.asname or alias.name
            if old in names:
                alias.asname = names[old]
    tree = _Rename(names).visit(tree)
    top, rest = _split(tree.body)
    for old, module in sorted(modules.items()):
        submodule = _SUBMODULES[module.rpartition(".")[2]]
        name = f"sub_{submodule}_{old}"
        # A later import may depend on earlier statements, so the aliases follow all imports.
        if any(names.get(old, old) in ast.unparse(node) for node in top):
            qualify = _Qualify(names.get(old, old), submodule, name)
            rest = [qualify.visit(node) for node in rest]
            if qualify.found:
                top += _statements(f"from {module} import {submodule} as {name}")
    tree.body = top + rest
    return {SCRIPT: _text(tree)}


# --- where the code is -----------------------------------------------------------------------------


def _movable(text: str) -> tuple[ast.Module, list[ast.stmt], list[ast.stmt]]:
    _refuse_where(text, _MODULE_LEVEL)
    tree = _tree(text)
    top, rest = _split(tree.body)
    if not rest or any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in rest):
        raise CannotMutate("nothing can be moved")
    return tree, top, rest


def in_main(text: str) -> Files:
    """Move all code below the imports into a function that is called once."""
    tree, top, rest = _movable(text)
    for node in rest:
        for each in ast.walk(node):
            if isinstance(each, ast.Global):
                raise CannotMutate("global")
    # In a function, `del x` has another meaning, as does a class that reads a name that it binds itself.
    (main,) = _statements("def main(): pass")
    main.body = rest  # type: ignore[attr-defined]
    tree.body = [*top, main, *_statements("main()")]
    return {SCRIPT: _text(tree)}


def in_guard(text: str) -> Files:
    """Move all code below the imports under ``if __name__ == "__main__"``."""
    tree, top, rest = _movable(text)
    if "__name__" in text:
        raise CannotMutate("__name__")
    (guard,) = _statements("if __name__ == '__main__': pass")
    guard.body = rest  # type: ignore[attr-defined]
    tree.body = [*top, guard]
    return {SCRIPT: _text(tree)}


def with_helpers(text: str) -> Files:
    """Move functions and classes that do not depend on the script into a second module."""
    tree, top, rest = _movable(text)
    defined: dict[str, list[ast.stmt]] = {}
    for node in rest:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.setdefault(node.name, []).append(node)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    moved = {
        name: nodes[0]
        for name, nodes in defined.items()
        if len(nodes) == 1
        and name not in bound
        and not any(isinstance(each, (ast.Global, ast.Import, ast.ImportFrom)) for each in ast.walk(nodes[0]))
    }
    imports = [node for node in top if isinstance(node, (ast.Import, ast.ImportFrom))]
    while moved:
        helpers = ast.Module([*copy.deepcopy(imports), *moved.values()], [])
        missing = undefined_names(ast.unparse(ast.fix_missing_locations(helpers)))
        bad = [
            name
            for name, node in moved.items()
            if missing & {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        ]
        if not bad:
            break
        for name in bad:
            del moved[name]
    if not moved:
        raise CannotMutate("it has no such function")
    # The copied imports are new statements: findings about imports belong to the script.
    for node in statements_of(helpers):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            del node.origin  # type: ignore[attr-defined]
    tree.body = [
        *top,
        *_statements(f"from helpers import {', '.join(moved)}"),
        *(node for node in rest if node not in moved.values()),
    ]
    return {SCRIPT: _text(tree), "helpers.py": _text(helpers)}


def as_notebook(text: str) -> Files:
    """Put the imports, each definition, and the code between definitions into separate cells."""
    tree = _tree(text)
    groups: list[list[ast.stmt]] = []
    kind: object = None
    for node in tree.body:
        is_definition = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))
        new = object() if is_definition else isinstance(node, (ast.Import, ast.ImportFrom))
        if new is not kind:
            groups.append([])
            kind = new
        groups[-1].append(node)
    parts = [_text(ast.Module(group, [])) for group in groups]
    text = "".join(f"# %%\n{part.text}" for part in parts)
    return {"train.ipynb": Text(text, tuple(origin for part in parts for origin in part.origins))}


# --- what only people read -------------------------------------------------------------------------


class _Annotate(ast.NodeTransformer):
    def __init__(self) -> None:
        self._not_own: list[set[str]] = [set()]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        own = ast.walk(node)
        self._not_own.append({n for each in own if isinstance(each, (ast.Global, ast.Nonlocal)) for n in each.names})
        self.generic_visit(node)
        self._not_own.pop()
        for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            if each.arg not in ("self", "cls") and each.annotation is None:
                each.annotation = ast.Name("object", ast.Load())
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Name) or target.id in self._not_own[-1]:
            return node
        annotated = ast.AnnAssign(target, ast.Name("object", ast.Load()), node.value, 1)
        annotated.origin = node.origin  # type: ignore[attr-defined]
        return annotated


def annotated(text: str) -> Files:
    """Annotate assignments to names, and parameters, with a type."""
    return {SCRIPT: _text(_Annotate().visit(_tree(text)))}


def with_unused(text: str) -> Files:
    """Add unused imports and an unused function."""
    tree = _tree(text)
    top, rest = _split(tree.body)
    tree.body = [
        *top,
        *_statements("import math as unused_math\nfrom collections import OrderedDict as UnusedDict"),
        *_statements("def unused(value):\n    return unused_math.floor(value)"),
        *rest,
    ]
    return {SCRIPT: _text(tree)}


def reformatted(text: str) -> Files:
    """Remove comments and blank lines, change quotes, and put each statement on one line."""
    return {SCRIPT: _text(_tree(text))}


def one_argument_a_line(text: str) -> Files:
    """Break lines after each comma and opening bracket inside brackets."""
    depth, lines, pieces, end = 0, text.splitlines(keepends=True), [], (1, 0)
    in_string = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        in_string += kind.endswith("STRING_START") - kind.endswith("STRING_END")
        if kind != "OP" or in_string:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
        if depth and token.string in ("(", "[", "{", ","):
            pieces += [_between(lines, end, token.end), "\n"]
            end = token.end
    broken = "".join(pieces) + _between(lines, end, (len(lines) + 1, 0))
    return {SCRIPT: Text(broken, script(text)[SCRIPT].origins)}


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    middle = "".join(lines[first : last - 1])
    return lines[first - 1][left:] + middle + (lines[last - 1][:right] if last <= len(lines) else "")


def spaced(text: str) -> Files:
    """Insert a blank line and a comment before each statement, and use Windows line endings."""
    first_lines = {
        min([node, *getattr(node, "decorator_list", ())], key=lambda each: each.lineno).lineno
        for node in statements_of(ast.parse(text))
    }
    lines = text.split("\n")
    inserted = []
    for number, line in enumerate(lines, 1):
        indentation = line[: len(line) - len(line.lstrip())]
        before = lines[number - 2].rstrip() if number > 1 else ""
        # The comment has no words: a rule may honour a comment that explains the next line.
        if number in first_lines and not before.endswith("\\") and not before.lstrip().startswith("#"):
            inserted += ["", f"{indentation}# --", ""]
        inserted.append(line)
    return {SCRIPT: Text("\r\n".join(inserted), script(text)[SCRIPT].origins)}


OF_TREES: tuple[Mutation, ...] = (
    renamed,
    aliased,
    in_main,
    in_guard,
    with_helpers,
    as_notebook,
    annotated,
    with_unused,
)
"""Mutations to compare with the reformatted program, since they reformat it."""
OF_TEXTS: tuple[Mutation, ...] = (reformatted, one_argument_a_line, spaced)
"""Mutations to compare with the unchanged program."""
