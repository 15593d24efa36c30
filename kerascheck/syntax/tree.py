"""The syntax tree of a text: libcst's nodes, with exact source layout on demand.

The hot path avoids libcst's metadata providers, visitors and matchers: they are recursive (deep code overflows the stack)
and several times slower than parsing itself.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import libcst as cst
from libcst._nodes.internal import CodegenState

from kerascheck.source.code import without_comments
from kerascheck.source.python import Deep
from kerascheck.syntax.lru_text_cache import LRUTextCache
from kerascheck.syntax.parse import is_skipped, read
from kerascheck.syntax.whitespace import NEWLINE, skip

if TYPE_CHECKING:
    from kerascheck.syntax.from_ast import Converter, Location

_STATEMENTS = (cst.Module, cst.BaseSuite, cst.SimpleStatementLine, cst.BaseSmallStatement, cst.BaseCompoundStatement)
# libcst drops form feeds before code, which would shift all later positions on the line.
_FORM_FEED = re.compile(r"(?m)^\f+")


_LOOKBEHIND = 100
"""Characters before an argument to inspect."""


_Node = TypeVar("_Node", bound=cst.CSTNode)


class SyntaxProblem(Exception):
    """A syntax error from libcst; ``line`` and ``column`` are 1-based."""

    def __init__(self, message: str, line: int, column: int):
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class TooDeep(SyntaxProblem):
    """A text nested too deeply for Python to compile; libcst does not parse it."""

    def __init__(self) -> None:
        super().__init__("nested too deeply", 1, 1)


class _NodeTypes(dict[type, bool]):
    """Cache of whether a type is a node type; an isinstance of libcst's abstract classes takes ten times as long."""

    def __missing__(self, kind: type) -> bool:
        is_node = self[kind] = issubclass(kind, cst.CSTNode)
        return is_node


_IS_NODE = _NodeTypes()
# Compares types: isinstance of an abstract class takes ten times as long, and chains of calls are hundreds of nodes deep.
_INNERMOST = frozenset({
    cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.FunctionDef, cst.ClassDef, cst.If, cst.For, cst.While, cst.With,
    cst.Try, cst.TryStar, cst.Match,
})  # fmt: skip
_LISTED = frozenset({cst.FunctionDef, cst.ClassDef, cst.Import, cst.ImportFrom})


class _Fields(dict[type, Callable[[Any], tuple[object, ...]]]):
    """Cache, by node type, of getters for the fields that may hold significant nodes; leaves have none.

    One getter for all fields takes half the time of one ``getattr`` per field.
    """

    def __missing__(self, cls: type) -> Callable[[Any], tuple[object, ...]]:
        names = [
            field.name
            for field in dataclasses.fields(cls)
            if not is_skipped(field.name) and field.type not in (str, bool)
        ]
        values: Callable[[Any], tuple[object, ...]]
        values = eval(f"lambda node: ({''.join(f'node.{name}, ' for name in names)})")
        self[cls] = values
        if not names:
            _LEAVES.add(cls)
        return values


_LEAVES: set[type] = set()
"""Node types without significant children, as encountered so far."""
_FIELDS = _Fields()


class _SemanticFields(dict[type, list[str]]):
    """Cache, by node type, of the names of the fields that carry meaning."""

    def __missing__(self, cls: type) -> list[str]:
        names = self[cls] = [
            field.name for field in dataclasses.fields(cls) if not is_skipped(field.name) or field.name in _SEMANTIC
        ]
        return names


_SEMANTIC = frozenset({"operator", "star", "asynchronous"})
_SEMANTIC_FIELDS = _SemanticFields()


def alike(one: object, other: object) -> bool:
    """Whether two nodes have the same meaning, whatever their layout.

    libcst's ``deep_equals`` compares white space too.
    """
    stack = [(one, other)]
    while stack:
        one, other = stack.pop()
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            if len(one) != len(other):
                return False
            stack.extend(zip(one, other))
        elif type(one) is not type(other):
            return False
        elif isinstance(one, cst.CSTNode):
            stack.extend((getattr(one, name), getattr(other, name)) for name in _SEMANTIC_FIELDS[type(one)])
        elif one != other:
            return False
    return True


def _register(node: cst.CSTNode, parents: dict[cst.CSTNode, cst.CSTNode]) -> list[cst.CSTNode]:
    """Record the parents of all nodes below one that libcst parsed.

    Returns the functions, classes and imports among them, in source order.
    """
    fields, is_node, leaves = _FIELDS, _IS_NODE, _LEAVES
    listed: list[cst.CSTNode] = []
    stack: list[cst.CSTNode] = [node]
    while stack:
        node = stack.pop()
        cls = type(node)
        if cls in _LISTED:
            listed.append(node)
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
    return listed


class _Offsets(CodegenState):
    """Records the offsets of nodes while libcst generates code.

    This takes half the time of libcst's ``PositionProvider``, which also visits every node and counts lines and columns.

    Attributes:
        root: the node to generate.
        ranges: start and end of every node, in characters, as ``PositionProvider`` defines them.
    """

    def __init__(self, root: cst.Module):
        super().__init__(root.default_indent, root.default_newline)
        self.root = root
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
    """Records the range of the node itself; another node may define its start or end."""

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


class Tree:
    """A parsed text with parents and positions.

    The nodes carry the meaning of the program; :meth:`written` returns those with white space, commas and parentheses.

    Attributes:
        text: the original text with its newlines.
        root: the ``libcst.Module``.
        parents: the parent of every significant node except the root.
        functions, classes, imports: nodes of these kinds in source order.
        memory: analyses of the tree by class, with the lifetime of the tree.
    """

    def __init__(self, text: str):
        self.text = text
        self._parsed = _FORM_FEED.sub("", text) if "\f" in text else text
        # Layout and ranges of the statements requested so far.
        self._written: dict[cst.CSTNode, cst.CSTNode] = {}
        self._ranges: dict[cst.CSTNode, tuple[int, int]] = {}
        self._codes: dict[cst.CSTNode, str] = {}
        self._converter: Converter | None = None
        self.memory: dict[type, Any] = {}
        self.root: cst.Module
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.functions: list[cst.FunctionDef] = []
        self.classes: list[cst.ClassDef] = []
        self.imports: list[cst.Import | cst.ImportFrom] = []
        try:
            converter = self._converter = read(self._parsed, _register)
        except Deep:
            raise TooDeep from None
        if converter is None:
            self._parse()
        else:
            self.root, self.parents = converter.root, converter.parents
            self.functions, self.classes, self.imports = converter.functions, converter.classes, converter.imports

    def _parse(self) -> None:
        """Parse with libcst."""
        try:
            self.root = cst.parse_module(self._parsed)
        except cst.ParserSyntaxError as problem:
            raise SyntaxProblem(problem.message, problem.raw_line, problem.raw_column + 1) from None
        for node in _register(self.root, self.parents):
            if isinstance(node, cst.FunctionDef):
                self.functions.append(node)
            elif isinstance(node, cst.ClassDef):
                self.classes.append(node)
            elif isinstance(node, (cst.Import, cst.ImportFrom)):
                self.imports.append(node)

    @staticmethod
    def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the significant children of ``node``, in source order."""
        for value in _FIELDS[type(node)](node):
            if isinstance(value, (tuple, list)):
                yield from (item for item in value if _IS_NODE[type(item)])
            elif _IS_NODE[type(value)]:
                yield value  # type: ignore[misc]

    def descendants(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield ``node`` and its significant descendants, in source order, without recursion."""
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
        """Yield the ancestors of ``node``, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def enclosing(self, node: cst.CSTNode, *kinds: type[_Node]) -> _Node | None:
        """The innermost node of these kinds that holds ``node``; None if there is none."""
        return next((outer for outer in self.ancestors(node) if isinstance(outer, kinds)), None)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the innermost statement line or compound statement around ``node``, or ``node`` itself."""
        parents = self.parents
        while type(node) not in _INNERMOST and (parent := parents.get(node)) is not None:
            node = parent
        return node

    @functools.cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in NEWLINE.finditer(self.text))]

    def range_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return start and end (exclusive) of ``node`` in characters, without surrounding parentheses and white space."""
        location = None if self._converter is None else self._converter.locations.get(node) or self._derived(node)
        if location is not None:
            assert self._converter is not None
            start, end = self._converter.range_of(location)
        else:
            if node not in self._ranges:
                self._locate(node)
            start, end = self._ranges[node]
        if self._form_feeds:
            start += bisect_right(self._form_feeds, start)
            end += bisect_right(self._form_feeds, end)
        # The last statement may end on a line beyond the text.
        return min(start, len(self.text)), min(end, len(self.text))

    def _derived(self, node: cst.CSTNode) -> Location | None:
        """Derive the location of a node from its neighbours if Python's parser provides none."""
        converter, parent = self._converter, self.parents.get(node)
        if converter is None or parent is None:
            return None
        if isinstance(node, cst.Name) and isinstance(parent, cst.Attribute) and parent.attr is node:
            location = converter.locations.get(parent)
            # A dotted name of an import has one location as a whole.
            return None if location is None else (location[2], location[3] - len(node.value), location[2], location[3])
        if isinstance(node, cst.Arg):
            location = converter.locations.get(node.value)
            return location if location is not None and not self._may_be_in_parentheses(node.value, location) else None
        if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)) and node.body:
            first, last = converter.locations.get(node.body[0]), converter.locations.get(node.body[-1])
            return None if first is None or last is None else (*first[:2], *last[2:])
        return None

    def _may_be_in_parentheses(self, node: cst.CSTNode, location: Location) -> bool:
        """Whether an expression may have parentheses of its own; those of a call do not belong to its argument."""
        converter, arg = self._converter, self.parents[node]
        assert converter is not None
        start, end = converter.range_of(location)
        if not self._parsed.startswith(")", skip(self._parsed, end)):
            return False
        first = max(0, start - _LOOKBEHIND)
        before = first + len(self._parsed[first:start].rstrip(" \t")) - 1
        call = self.parents.get(arg)
        if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call):
            return True
        func = converter.locations.get(call.func)
        opens = func is not None and skip(self._parsed, converter.range_of(func)[1]) == before
        return not opens and self._parsed[before] not in ",="

    def is_parenthesised(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` has parentheses of its own."""
        parent = self.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.attr is node:
            return False
        location = None if self._converter is None else self._converter.locations.get(node)
        # The answer requires libcst to parse the whole statement.
        return (location is None or self._may_be_in_parentheses(node, location)) and bool(self.written(node).lpar)

    def written(self, node: _Node) -> _Node:
        """Return ``node`` with its layout: white space, comments, commas and parentheses. :meth:`range_of` accepts it too."""
        if self._converter is None:
            return node
        if node not in self._written:
            self._locate(node)
        return self._written[node]  # type: ignore[return-value]

    def _locate(self, node: cst.CSTNode) -> None:
        """Determine ranges and layout of the top-level statement that holds a node, and of all nodes in it."""
        statement = node
        while (parent := self.parents.get(statement)) is not None and parent is not self.root:
            statement = parent
        if self._converter is None or parent is None:
            state = _Offsets(self.root if self._converter is None else cst.parse_module(self._parsed))
            state.root._codegen(state)
            self._record(self.root, state.root, state, 0)
            return
        first, last = self._lines_of(statement)
        try:
            root = cst.parse_module(self._parsed[first:last])
        except cst.ParserSyntaxError as problem:
            # Python accepts this text: libcst rejects some mixtures of tabs and spaces.
            raise SyntaxProblem(problem.message, problem.raw_line, problem.raw_column + 1) from None
        state = _Offsets(root)
        root._codegen(state)
        self._record(statement, root.body[0], state, first)

    def _lines_of(self, statement: cst.CSTNode) -> tuple[int, int]:
        """Return the range of the lines of a top-level statement, decorators included."""
        assert self._converter is not None
        starts = self._converter.starts
        first, _, last, _ = self._converter.locations[statement]
        first = self._converter.decorator_lines.get(statement, first)
        # A continued line may be empty.
        while last < len(starts) and self._parsed[starts[last - 1] : starts[last]].rstrip("\r\n").endswith("\\"):
            last += 1
        return starts[first - 1], starts[last] if last < len(starts) else len(self._parsed)

    def _record(self, node: cst.CSTNode, written: cst.CSTNode, state: _Offsets, shift: int) -> None:
        """Record layout and ranges of all nodes below a node."""
        self._ranges.update((each, (start + shift, end + shift)) for each, (start, end) in state.ranges.items())
        stack = [(node, written)]
        while stack:
            node, written = stack.pop()
            self._written[node] = written
            self._ranges.setdefault(node, self._ranges[written])
            stack.extend(zip(self.children(node), self.children(written), strict=True))

    @functools.cached_property
    def newline(self) -> str:
        """The newline of the first line."""
        newline = NEWLINE.search(self._parsed)
        return "\n" if newline is None else newline[0]

    @functools.cached_property
    def indent(self) -> str:
        """The indentation of the first block; four spaces if there is none."""
        block = next((node for node in self.descendants(self.root) if isinstance(node, cst.IndentedBlock)), None)
        if block is None:
            return "    "
        start = self.range_of(block.body[0])[0]
        return self.text[max(self.text.rfind(end, 0, start) for end in "\r\n") + 1 : start]

    @functools.cached_property
    def _form_feeds(self) -> list[int]:
        """Offsets of form feeds removed before parsing, in the parsed text."""
        left_out = [place for found in _FORM_FEED.finditer(self.text) for place in range(*found.span())]
        return [place - before for before, place in enumerate(left_out)]

    @functools.cached_property
    def imported_names(self) -> frozenset[str]:
        """The names that imports bind, except those of ``import *``."""
        listed = (
            alias
            for imported in self.imports
            if not isinstance(imported.names, cst.ImportStar)
            for alias in imported.names
        )
        return frozenset(alias.evaluated_alias or alias.evaluated_name for alias in listed)

    def code_of(self, node: cst.CSTNode) -> str:
        """Return the code of ``node``, comments and docstrings blanked out.

        This avoids locating the node in the text, which takes far longer.
        """
        code = self._codes.get(node)
        if code is None:
            is_expression = not isinstance(node, _STATEMENTS)
            code = self._codes[node] = without_comments(self._code_of(node), expression=is_expression)
        return code

    def _code_of(self, node: cst.CSTNode) -> str:
        if self._converter is None:
            return self.root.code_for_node(node)
        location = self._converter.parenthesised.get(node) or self._converter.locations.get(node)
        if location is None:
            if node not in self._ranges:
                self._locate(node)
            start, end = self._ranges[node]
            return self._parsed[start:end]
        start, end = self._converter.range_of(location)
        if node in self._converter.decorator_lines:
            start = self._converter.starts[self._converter.decorator_lines[node] - 1]
        return self._parsed[start:end]

    def statement_range(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the range of the innermost statement; for a compound statement, of its header with decorators."""
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
        """Return the 1-based line on which ``node`` starts."""
        return bisect_right(self._line_starts, self.range_of(node)[0])


tree_of = LRUTextCache(Tree, 3_000_000)
"""The tree of a text, from a cache of the most recent texts. Raises :class:`SyntaxProblem`."""
