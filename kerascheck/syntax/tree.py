"""Text to syntax tree: one parse, one explicit walk, positions on demand.

libcst's metadata providers, visitors and matchers are kept off the hot path: they are
recursive (deep code overflows them) and several times slower than the parse itself.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

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
# By their types: an abstract class is asked for its instances ten times as slowly, and chains of calls are hundreds of nodes deep.
_INNERMOST = frozenset({
    cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.FunctionDef, cst.ClassDef, cst.If, cst.For, cst.While, cst.With,
    cst.Try, cst.TryStar, cst.Match,
})  # fmt: skip
_LISTED = frozenset({cst.FunctionDef, cst.ClassDef, cst.Import, cst.ImportFrom})


class _Fields(dict[type, Callable[[Any], tuple[object, ...]]]):
    """For a type of nodes, what gives the values of those of its fields in which significant nodes may stand: nothing of leaves.

    One expression for all fields takes half of the time of a ``getattr`` for each.
    """

    def __missing__(self, cls: type) -> Callable[[Any], tuple[object, ...]]:
        names = [
            field.name
            for field in dataclasses.fields(cls)
            if field.name not in _INSIGNIFICANT
            and not field.name.startswith("whitespace")
            and field.type not in (str, bool)
        ]
        values: Callable[[Any], tuple[object, ...]]
        values = eval(f"lambda node: ({''.join(f'node.{name}, ' for name in names)})")
        self[cls] = values
        if not names:
            _LEAVES.add(cls)
        return values


_LEAVES: set[type] = set()
"""Types of nodes that were met and hold no significant ones."""
_FIELDS = _Fields()


_VALIDATE = cst.CSTNode.__post_init__


def _parse(text: str) -> cst.Module:
    """What libcst makes of a text, without its checks of each node: what the parser makes is well formed, and the checks
    take a fifth of its time (libcst 1.8)."""
    try:
        cst.CSTNode.__post_init__ = staticmethod(bool)  # type: ignore[assignment, method-assign]  # a call that does nothing
        return cst.parse_module(text)
    finally:
        cst.CSTNode.__post_init__ = _VALIDATE  # type: ignore[method-assign]


class _Offsets(CodegenState):
    """Finds out where in the text nodes stand, while libcst turns them back to text: in half of the time of its own
    ``PositionProvider``, which also visits every node and counts lines and columns.

    Attributes:
        ranges: every node to its start and end, in characters, as ``PositionProvider`` bounds it.
    """

    def __init__(self, root: cst.Module):
        super().__init__(root.default_indent, root.default_newline)
        self.ranges: dict[cst.CSTNode, tuple[int, int]] = {}
        self.position = 0
        self._starts: list[int] = []

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.position += len(token)

    def add_token(self, value: str) -> None:
        self.position += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append(self.position)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        if node not in self.ranges:
            self.ranges[node] = start, self.position

    def record_syntactic_position(  # type: ignore[override]  # a generator takes longer
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Recorded:
        return _Recorded(self, node, start_node, end_node)


class _Recorded:
    """The part of a node's text that is the node itself; another node may tell where it starts or ends."""

    __slots__ = ("_end_node", "_node", "_start", "_start_node", "_state")

    def __init__(
        self, state: _Offsets, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ):
        self._state, self._node, self._start_node, self._end_node = state, node, start_node, end_node

    def __enter__(self) -> None:
        self._start = self._state.position

    def __exit__(self, *raised: object) -> None:
        ranges = self._state.ranges
        ranges[self._node] = (
            self._start if self._start_node is None else ranges[self._start_node][0],
            self._state.position if self._end_node is None else ranges[self._end_node][1],
        )


_KEPT_CHARACTERS = 1_000_000
_kept: dict[str, Tree] = {}


def tree_of(text: str) -> Tree:
    """The tree of a text, the same as before where that is among the last that were asked for, up to a million characters: an
    editor asks about a file that changes, among many that do not. Raises :class:`SyntaxProblem`."""
    tree = _kept.pop(text, None)
    if tree is None:
        tree = Tree(text)
        for other in list(_kept):
            if sum(map(len, _kept)) + len(text) <= _KEPT_CHARACTERS:
                break
            del _kept[other]
    _kept[text] = tree
    return tree


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
            self._parsed = _FORM_FEED.sub("", text) if "\f" in text else text
            self.root = _parse(self._parsed)
        except cst.ParserSyntaxError as problem:
            raise SyntaxProblem(problem.message, problem.raw_line, problem.raw_column + 1) from None
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.functions: list[cst.FunctionDef] = []
        self.classes: list[cst.ClassDef] = []
        self.imports: list[cst.Import | cst.ImportFrom] = []
        # Of the statements that were asked about; of all nodes where that is not enough.
        self._ranges: dict[cst.CSTNode, tuple[int, int]] = {}
        self._codes: dict[cst.CSTNode, str] = {}
        self._walk()

    def _walk(self) -> None:
        fields, parents, is_node, leaves = _FIELDS, self.parents, _IS_NODE, _LEAVES
        stack: list[cst.CSTNode] = [self.root]
        while stack:
            node = stack.pop()
            cls = type(node)
            if cls in _LISTED:
                self._list(node)
            children: list[cst.CSTNode] = []
            for value in fields[cls](node):
                kind = type(value)
                if kind is tuple or kind is list:
                    for item in value:  # type: ignore[attr-defined]
                        kind = type(item)
                        if is_node[kind]:
                            parents[item] = node
                            if kind not in leaves:
                                children.append(item)
                elif is_node[kind]:
                    parents[value] = node  # type: ignore[index]
                    if kind not in leaves:
                        children.append(value)  # type: ignore[arg-type]
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
        for value in _FIELDS[type(node)](node):
            if isinstance(value, (tuple, list)):
                yield from (item for item in value if _IS_NODE[type(item)])
            elif isinstance(value, cst.CSTNode):
                yield value

    def descendants(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """``node`` and everything significant below it, in source order, without recursion."""
        fields, is_node = _FIELDS, _IS_NODE
        stack = [node]
        while stack:
            node = stack.pop()
            yield node
            for value in reversed(fields[type(node)](node)):
                kind = type(value)
                if kind is tuple or kind is list:
                    stack.extend(item for item in reversed(value) if is_node[type(item)])  # type: ignore[call-overload]
                elif is_node[kind]:
                    stack.append(value)  # type: ignore[arg-type]

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes that hold ``node``, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The innermost statement line or compound statement that holds ``node`` (or ``node`` itself)."""
        parents = self.parents
        while type(node) not in _INNERMOST and (parent := parents.get(node)) is not None:
            node = parent
        return node

    @functools.cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    def range_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end (exclusive) of ``node`` in characters of the text, parentheses and white space around it excluded."""
        if node not in self._ranges:
            self._locate(node)
        start, end = self._ranges[node]
        if self._form_feeds:
            start += bisect_right(self._form_feeds, start)
            end += bisect_right(self._form_feeds, end)
        # The last statement may end on a line that the text does not have.
        return min(start, len(self.text)), min(end, len(self.text))

    def _locate(self, node: cst.CSTNode) -> None:
        """Find out where the statement of the module that holds a node stands, with all that is in it."""
        statement: cst.CSTNode | None = node
        while statement is not None and statement not in self._starts:
            statement = self.parents.get(statement)
        state = _Offsets(self.root)
        if statement is None:
            self.root._codegen(state)
            self._ranges = state.ranges
            return
        statement._codegen(state)
        shift = self._starts[statement] - state.ranges[statement][0]
        self._ranges.update((each, (start + shift, end + shift)) for each, (start, end) in state.ranges.items())

    @functools.cached_property
    def _starts(self) -> dict[cst.CSTNode, int]:
        """Where the statements of the module start in the text that was parsed, decorators excluded: Python's parser tells, in
        a fraction of the time that it takes to turn them all back to text. Empty where the two parsers differ."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told = ast.parse(self._parsed).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        lines = [0, *(match.end() for match in _NEWLINE.finditer(self._parsed))]
        starts: dict[cst.CSTNode, int] = {}
        count = 0
        for statement in self.root.body:
            if count >= len(told) or told[count].col_offset:
                return {}
            starts[statement] = lines[told[count].lineno - 1]
            count += len(statement.body) if isinstance(statement, cst.SimpleStatementLine) else 1
        return starts if count == len(told) else {}

    @functools.cached_property
    def _form_feeds(self) -> list[int]:
        """Where form feeds were left out before parsing, in positions of the text that was parsed."""
        left_out = [place for found in _FORM_FEED.finditer(self.text) for place in range(*found.span())]
        return [place - before for before, place in enumerate(left_out)]

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
        code = self._codes.get(node)
        if code is None:
            written = self.root.code_for_node(node)
            code = self._codes[node] = without_comments(written, expression=not isinstance(node, _STATEMENTS))
        return code

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
