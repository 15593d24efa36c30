"""Text to syntax tree: libcst's nodes, with all details of how a statement is written where that matters.

libcst's metadata providers, visitors and matchers are kept off the hot path: they are
recursive (deep code overflows them) and several times slower than the parse itself.
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
    from kerascheck.syntax.from_ast import Place, Reader

_STATEMENTS = (cst.Module, cst.BaseSuite, cst.SimpleStatementLine, cst.BaseSmallStatement, cst.BaseCompoundStatement)
# libcst forgets form feeds before code, which would shift every position behind them on the line.
_FORM_FEED = re.compile(r"(?m)^\f+")


_NEAR = 100
"""Characters before an argument that are looked at."""


_Node = TypeVar("_Node", bound=cst.CSTNode)


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
            if not is_skipped(field.name) and field.type not in (str, bool)
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


class _Meaning(dict[type, list[str]]):
    """For a type of nodes, the names of the fields that say what it means."""

    def __missing__(self, cls: type) -> list[str]:
        names = self[cls] = [
            field.name for field in dataclasses.fields(cls) if not is_skipped(field.name) or field.name in _MEANT
        ]
        return names


_MEANT = frozenset({"operator", "star", "asynchronous"})
_MEANING = _Meaning()


def alike(one: object, other: object) -> bool:
    """Whether two nodes mean the same, however they are written; ``deep_equals`` of libcst compares white space, too."""
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
            stack.extend((getattr(one, name), getattr(other, name)) for name in _MEANING[type(one)])
        elif one != other:
            return False
    return True


def _register(node: cst.CSTNode, parents: dict[cst.CSTNode, cst.CSTNode]) -> list[cst.CSTNode]:
    """Add to ``parents`` what stands below a node that libcst has made; gives the functions, classes and imports among it, in source order."""
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
    """Finds out where in the text nodes stand, while libcst turns them back to text: in half of the time of its own
    ``PositionProvider``, which also visits every node and counts lines and columns.

    Attributes:
        root: what it turns back.
        ranges: every node to its start and end, in characters, as ``PositionProvider`` bounds it.
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


class Tree:
    """A parsed text with parents and positions.

    The nodes say what the program means; :meth:`written` gives those with white space, commas and parentheses.

    Attributes:
        text: the text as given, newlines unchanged.
        root: the ``libcst.Module``.
        parents: every significant node but the root to the node that holds it.
        functions, classes, imports: nodes of these kinds in source order.
        memory: analyses of the tree by their classes, for as long as it lives.
    """

    def __init__(self, text: str):
        self.text = text
        self._parsed = _FORM_FEED.sub("", text) if "\f" in text else text
        # How it is written, and where, of the statements that were asked about.
        self._written: dict[cst.CSTNode, cst.CSTNode] = {}
        self._ranges: dict[cst.CSTNode, tuple[int, int]] = {}
        self._codes: dict[cst.CSTNode, str] = {}
        self._reader: Reader | None = None
        self.memory: dict[type, Any] = {}
        self.root: cst.Module
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.functions: list[cst.FunctionDef] = []
        self.classes: list[cst.ClassDef] = []
        self.imports: list[cst.Import | cst.ImportFrom] = []
        try:
            reader = self._reader = read(self._parsed, _register)
        except Deep:
            raise TooDeep from None
        if reader is None:
            self._parse()
        else:
            self.root, self.parents = reader.root, reader.parents
            self.functions, self.classes, self.imports = reader.functions, reader.classes, reader.imports

    def _parse(self) -> None:
        """Have libcst make the nodes."""
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
        """The significant nodes directly below ``node``, in source order."""
        for value in _FIELDS[type(node)](node):
            if isinstance(value, (tuple, list)):
                yield from (item for item in value if _IS_NODE[type(item)])
            elif _IS_NODE[type(value)]:
                yield value  # type: ignore[misc]

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
        return [0, *(match.end() for match in NEWLINE.finditer(self.text))]

    def range_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end (exclusive) of ``node`` in characters of the text, parentheses and white space around it excluded."""
        told = None if self._reader is None else self._reader.told.get(node) or self._derived(node)
        if told is not None:
            assert self._reader is not None
            start, end = self._reader.range_of(told)
        else:
            if node not in self._ranges:
                self._locate(node)
            start, end = self._ranges[node]
        if self._form_feeds:
            start += bisect_right(self._form_feeds, start)
            end += bisect_right(self._form_feeds, end)
        # The last statement may end on a line that the text does not have.
        return min(start, len(self.text)), min(end, len(self.text))

    def _derived(self, node: cst.CSTNode) -> Place | None:
        """Where a node stands that Python's parser has none for, as far as others tell."""
        reader, parent = self._reader, self.parents.get(node)
        if reader is None or parent is None:
            return None
        if isinstance(node, cst.Name) and isinstance(parent, cst.Attribute) and parent.attr is node:
            told = reader.told.get(parent)
            # A dotted name of an import is told as a whole.
            return None if told is None else (told[2], told[3] - len(node.value), told[2], told[3])
        if isinstance(node, cst.Arg):
            told = reader.told.get(node.value)
            return told if told is not None and not self._may_be_in_parentheses(node.value, told) else None
        if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)) and node.body:
            first, last = reader.told.get(node.body[0]), reader.told.get(node.body[-1])
            return None if first is None or last is None else (*first[:2], *last[2:])
        return None

    def _may_be_in_parentheses(self, node: cst.CSTNode, told: Place) -> bool:
        """Whether an expression may stand in parentheses of its own; those of a call are none of its argument's."""
        reader, arg = self._reader, self.parents[node]
        assert reader is not None
        start, end = reader.range_of(told)
        if not self._parsed.startswith(")", skip(self._parsed, end)):
            return False
        first = max(0, start - _NEAR)
        before = first + len(self._parsed[first:start].rstrip(" \t")) - 1
        call = self.parents.get(arg)
        if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call):
            return True
        func = reader.told.get(call.func)
        opens = func is not None and skip(self._parsed, reader.range_of(func)[1]) == before
        return not opens and self._parsed[before] not in ",="

    def is_parenthesised(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` stands in parentheses of its own."""
        parent = self.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.attr is node:
            return False
        told = None if self._reader is None else self._reader.told.get(node)
        # libcst parses the whole statement for the answer.
        return (told is None or self._may_be_in_parentheses(node, told)) and bool(self.written(node).lpar)

    def written(self, node: _Node) -> _Node:
        """``node`` as it is written: with its white space, comments, commas and parentheses, which :meth:`range_of` takes, too."""
        if self._reader is None:
            return node
        if node not in self._written:
            self._locate(node)
        return self._written[node]  # type: ignore[return-value]

    def _locate(self, node: cst.CSTNode) -> None:
        """Find out where the statement of the module that holds a node stands, with all that is in it, and how it is written."""
        statement = node
        while (parent := self.parents.get(statement)) is not None and parent is not self.root:
            statement = parent
        if self._reader is None or parent is None:
            state = _Offsets(self.root if self._reader is None else cst.parse_module(self._parsed))
            state.root._codegen(state)
            self._note(self.root, state.root, state, 0)
            return
        first, last = self._lines_of(statement)
        try:
            root = cst.parse_module(self._parsed[first:last])
        except cst.ParserSyntaxError as problem:
            # Python reads it: libcst does not take all mixtures of tabs and spaces.
            raise SyntaxProblem(problem.message, problem.raw_line, problem.raw_column + 1) from None
        state = _Offsets(root)
        root._codegen(state)
        self._note(statement, root.body[0], state, first)

    def _lines_of(self, statement: cst.CSTNode) -> tuple[int, int]:
        """Where the lines of a statement of the module start and end, decorators included."""
        assert self._reader is not None
        starts = self._reader.starts
        first, _, last, _ = self._reader.told[statement]
        first = self._reader.decorated.get(statement, first)
        # A line may go on with nothing.
        while last < len(starts) and self._parsed[starts[last - 1] : starts[last]].rstrip("\r\n").endswith("\\"):
            last += 1
        return starts[first - 1], starts[last] if last < len(starts) else len(self._parsed)

    def _note(self, node: cst.CSTNode, written: cst.CSTNode, state: _Offsets, shift: int) -> None:
        """Remember how what is below a node is written, and where."""
        self._ranges.update((each, (start + shift, end + shift)) for each, (start, end) in state.ranges.items())
        stack = [(node, written)]
        while stack:
            node, written = stack.pop()
            self._written[node] = written
            self._ranges.setdefault(node, self._ranges[written])
            stack.extend(zip(self.children(node), self.children(written), strict=True))

    @functools.cached_property
    def newline(self) -> str:
        """What ends its first line."""
        newline = NEWLINE.search(self._parsed)
        return "\n" if newline is None else newline[0]

    @functools.cached_property
    def indent(self) -> str:
        """What indents its first block; four spaces where it has none."""
        block = next((node for node in self.descendants(self.root) if isinstance(node, cst.IndentedBlock)), None)
        if block is None:
            return "    "
        start = self.range_of(block.body[0])[0]
        return self.text[max(self.text.rfind(end, 0, start) for end in "\r\n") + 1 : start]

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
            is_expression = not isinstance(node, _STATEMENTS)
            code = self._codes[node] = without_comments(self._code_of(node), expression=is_expression)
        return code

    def _code_of(self, node: cst.CSTNode) -> str:
        if self._reader is None:
            return self.root.code_for_node(node)
        told = self._reader.around.get(node) or self._reader.told.get(node)
        if told is None:
            if node not in self._ranges:
                self._locate(node)
            start, end = self._ranges[node]
            return self._parsed[start:end]
        start, end = self._reader.range_of(told)
        if node in self._reader.decorated:
            start = self._reader.starts[self._reader.decorated[node] - 1]
        return self._parsed[start:end]

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


tree_of = LRUTextCache(Tree, 3_000_000)
"""The tree of a text, the same as before where that is among the last. Raises :class:`SyntaxProblem`."""
