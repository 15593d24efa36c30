"""Text to syntax tree: one parse, one explicit walk, positions on demand.

libcst's metadata providers, visitors and matchers are kept off the hot path: they are
recursive (deep code overflows them) and several times slower than the parse itself.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from bisect import bisect_right
from collections.abc import Iterator

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from kerascheck.source.code import without_comments
from kerascheck.source.python import Verdict, verdict

_INSIGNIFICANT = frozenset(
    "lpar rpar comma semicolon equal colon operator ops dot lbracket rbracket lbrace rbrace header footer "
    "leading_lines lines_after_decorators trailing_whitespace indent default_indent default_newline "
    "encoding has_trailing_newline star posonly_ind asynchronous".split()
)
_STATEMENTS = (cst.Module, cst.BaseSuite, cst.SimpleStatementLine, cst.BaseSmallStatement, cst.BaseCompoundStatement)
_NEWLINE = re.compile(r"\r\n?|\n")
# libcst forgets form feeds before code, which would shift every position behind them on the line.
_FORM_FEED = re.compile(r"(?m)^\f+")


class SyntaxProblem(Exception):
    """A text that libcst cannot parse; ``line`` and ``column`` are 1-based."""

    def __init__(self, message: str, line: int, column: int):
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class TooDeep(SyntaxProblem):
    """A text that is nested too deeply for Python to compile: libcst is not tried on it."""

    def __init__(self) -> None:
        super().__init__("nested too deeply", 1, 1)


class _NodeTypes(dict[type, bool]):
    """Whether a type is one of nodes; an isinstance of libcst's abstract classes is ten times slower."""

    def __missing__(self, kind: type) -> bool:
        is_node = self[kind] = issubclass(kind, cst.CSTNode)
        return is_node


_IS_NODE = _NodeTypes()
_LISTED = frozenset({cst.FunctionDef, cst.ClassDef, cst.Import, cst.ImportFrom})


def _significant_fields(cls: type) -> tuple[str, ...]:
    return tuple(
        field.name
        for field in dataclasses.fields(cls)
        if field.name not in _INSIGNIFICANT and not field.name.startswith("whitespace")
    )


def _past_form_feeds(text: str, position: int) -> int:
    found = _FORM_FEED.match(text, position)
    return position if found is None else found.end()


class Tree:
    """A parsed text with parents and positions.

    Attributes:
        text: the text as given, newlines unchanged.
        root: the ``libcst.Module``.
        parents: every significant node but the root to the node that holds it.
        functions, classes, imports: nodes of these kinds in source order.
    """

    def __init__(self, text: str):
        self.text = text
        if verdict(text) is Verdict.DEEP:
            raise TooDeep
        try:
            self.root = cst.parse_module(_FORM_FEED.sub("", text) if "\f" in text else text)
        except cst.ParserSyntaxError as problem:
            raise SyntaxProblem(problem.message, problem.raw_line, problem.raw_column + 1) from None
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.functions: list[cst.FunctionDef] = []
        self.classes: list[cst.ClassDef] = []
        self.imports: list[cst.Import | cst.ImportFrom] = []
        self._ranges: dict[cst.CSTNode, tuple[int, int]] | None = None
        self._walk()

    _FIELDS: dict[type, tuple[str, ...]] = {}

    def _walk(self) -> None:
        fields, parents, is_node = self._FIELDS, self.parents, _IS_NODE
        stack: list[cst.CSTNode] = [self.root]
        while stack:
            node = stack.pop()
            cls = type(node)
            if cls in _LISTED:
                self._list(node)
            names = fields.get(cls)
            if names is None:
                names = fields[cls] = _significant_fields(cls)
            children: list[cst.CSTNode] = []
            for name in names:
                value = getattr(node, name)
                kind = type(value)
                if kind is tuple or kind is list:
                    for item in value:
                        if is_node[type(item)]:
                            parents[item] = node
                            children.append(item)
                elif is_node[kind]:
                    parents[value] = node
                    children.append(value)
            children.reverse()
            stack.extend(children)

    def _list(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.FunctionDef):
            self.functions.append(node)
        elif isinstance(node, cst.ClassDef):
            self.classes.append(node)
        elif isinstance(node, (cst.Import, cst.ImportFrom)):
            self.imports.append(node)

    def children(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The significant nodes directly below ``node``, in source order."""
        for name in self._FIELDS[type(node)]:
            value = getattr(node, name)
            kind = type(value)
            if kind is tuple or kind is list:
                yield from (item for item in value if _IS_NODE[type(item)])
            elif _IS_NODE[kind]:
                yield value

    def descendants(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """``node`` and everything significant below it, in source order, without recursion."""
        stack = [node]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(list(self.children(node))))

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes that hold ``node``, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The innermost statement line or compound statement that holds ``node`` (or ``node`` itself)."""
        while not isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.BaseCompoundStatement)):
            parent = self.parents.get(node)
            if parent is None:
                break
            node = parent
        return node

    @functools.cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    def range_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end (exclusive) of ``node`` in characters of the text, parentheses and white space around it excluded."""
        if self._ranges is None:
            # The last statement may end on a line that the text does not have.
            starts = [
                _past_form_feeds(self.text, start) if self.text.startswith("\f", start) else start
                for start in self._line_starts
            ]
            starts.append(len(self.text))
            positions = MetadataWrapper(self.root, unsafe_skip_copy=True).resolve(PositionProvider)
            self._ranges = {
                key: (starts[r.start.line - 1] + r.start.column, starts[r.end.line - 1] + r.end.column)
                for key, r in positions.items()
            }
        return self._ranges[node]

    @functools.cached_property
    def imported_names(self) -> frozenset[str]:
        """The names that the imports bind, those of a star not among them."""
        listed = (
            alias
            for imported in self.imports
            if not isinstance(imported.names, cst.ImportStar)
            for alias in imported.names
        )
        return frozenset(alias.evaluated_alias or alias.evaluated_name for alias in listed)

    def code_of(self, node: cst.CSTNode) -> str:
        """The code of ``node``, comments and docstrings blanked out, without finding out where in the text it stands, which takes far longer."""
        return without_comments(self.root.code_for_node(node), expression=not isinstance(node, _STATEMENTS))

    def statement_range(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of the innermost statement; of a compound statement its header, decorators included."""
        statement = self.statement(node)
        start, end = self.range_of(statement)
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and statement.decorators:
            start = min(start, self.range_of(statement.decorators[0])[0])
        body = getattr(statement, "body", None)
        if isinstance(body, cst.BaseSuite):
            end = max(start, self.range_of(body)[0])
            end = len(self.text[:end].rstrip()) if end > start else end
        return start, end

    def line_of(self, node: cst.CSTNode) -> int:
        """The 1-based line of the text on which ``node`` starts."""
        return bisect_right(self._line_starts, self.range_of(node)[0])
