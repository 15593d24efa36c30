"""Edits of statements: delete, move and decorate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from kerascheck.finding import Edit
from kerascheck.syntax.edits.contract import CannotEdit, Edits, insert
from kerascheck.syntax.edits.imports import insert_after_imports
from kerascheck.syntax.edits.lines import (
    COMMENT_LINE,
    TAIL,
    comments_above,
    indent_at,
    newline_of,
    next_line,
    past,
    start_of_line,
    starts_line,
    tail_at,
)
from kerascheck.syntax.edits.ranges import Block, Line, end_of_code, outer, start_of
from kerascheck.syntax.tree import Tree


def small_statement(tree: Tree, node: cst.CSTNode) -> cst.BaseSmallStatement:
    for holder in (node, *tree.ancestors(node)):
        if isinstance(holder, cst.BaseSmallStatement):
            return holder
    raise CannotEdit("not in a simple statement")


def line_of(tree: Tree, small: cst.CSTNode) -> Line:
    line = tree.parents[small]
    if not isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        raise CannotEdit("not a simple statement")
    return line


def block_of(tree: Tree, statement: cst.CSTNode) -> Block:
    block = tree.parents[statement]
    if not isinstance(block, (cst.Module, cst.IndentedBlock)):
        raise CannotEdit("not a statement of a block")
    return block


def position_in_block(tree: Tree, small: cst.BaseSmallStatement) -> tuple[cst.CSTNode, int, int]:
    """Return the block of a simple statement, the index of its line, and its index in the line."""
    line = line_of(tree, small)
    inner = next(i for i, other in enumerate(line.body) if other is small)
    if isinstance(line, cst.SimpleStatementSuite):
        return line, 0, inner
    block = block_of(tree, line)
    return block, next(i for i, other in enumerate(block.body) if other is line), inner


def assigned(small: cst.BaseSmallStatement) -> tuple[str, cst.BaseExpression] | tuple[None, None]:
    """Return the single variable that a statement assigns, and its value."""
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
        return small.targets[0].target.value, small.value
    return None, None


def is_alone(tree: Tree, small: cst.BaseSmallStatement) -> bool:
    line = tree.parents[small]
    return isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1


def is_name(node: cst.CSTNode, name: str | None) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def assign_back(tree: Tree, statement: cst.CSTNode, name: str) -> Edits:
    """Turn ``ds.shuffle(10)`` into ``ds = ds.shuffle(10)``; ``statement`` is the expression statement or its line."""
    if isinstance(statement, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) and len(statement.body) == 1:
        statement = statement.body[0]
    if not isinstance(statement, cst.Expr):
        raise CannotEdit("not an expression statement")
    return (insert(outer(tree, statement.value)[0], f"{name} = "),)


def lines_of(tree: Tree, statement: cst.CSTNode) -> tuple[int, int]:
    """Return the range of the whole lines of a statement, comment and newline included.

    Raises:
        CannotEdit: the statement shares a line with other code.
    """
    start, end = start_of(tree, statement), end_of_code(tree, statement)
    if not starts_line(tree.text, start) or not tail_at(tree.text, end):
        raise CannotEdit("shares a line")
    return start_of_line(tree.text, start), next_line(tree.text, end)


def delete_statement(tree: Tree, node: cst.CSTNode) -> Edits:
    """Delete a statement: its whole lines with the trailing comment; ``pass`` replaces the last one of a block.

    Comment lines above it stay. ``node`` is a simple or compound statement, or a line of simple ones.
    """
    return _deleted(tree, [node])


def _deleted(tree: Tree, nodes: Iterable[cst.CSTNode]) -> Edits:
    lines: dict[cst.CSTNode, None] = {}
    parts: dict[Line, list[cst.BaseSmallStatement]] = {}
    for node in nodes:
        if isinstance(node, cst.BaseSmallStatement):
            parts.setdefault(line_of(tree, node), []).append(node)
        elif isinstance(node, cst.SimpleStatementSuite):
            parts[node] = list(node.body)
        else:
            lines[node] = None
    edits: list[Edit] = []
    for holder, chosen in parts.items():
        if len(chosen) < len(holder.body):
            edits += _deleted_parts(tree, holder, chosen)
        elif isinstance(holder, cst.SimpleStatementSuite):
            edits.append(Edit(tree.range_of(chosen[0])[0], tree.range_of(chosen[-1])[1], "pass"))
        else:
            lines[holder] = None
    for line in lines:
        block = block_of(tree, line)
        start, end = lines_of(tree, line)
        if (
            isinstance(block, cst.IndentedBlock)
            and line is block.body[0]
            and all(other in lines for other in block.body)
        ):
            start, end = start_of(tree, line), past(TAIL, tree.text, end_of_code(tree, line))
            edits.append(Edit(start, end, "pass"))
        else:
            edits.append(Edit(start, end, ""))
    return tuple(sorted(edits))


def _deleted_parts(tree: Tree, line: Line, chosen: Sequence[cst.BaseSmallStatement]) -> Iterator[Edit]:
    """Delete some statements of ``a; b; c``, each with one semicolon."""
    body = line.body
    kept_before = body[0]
    for index, part in enumerate(body):
        if not any(part is one for one in chosen):
            kept_before = part
        elif any(other not in chosen for other in body[index + 1 :]):
            yield Edit(tree.range_of(part)[0], tree.range_of(body[index + 1])[0], "")
        else:
            yield Edit(tree.range_of(kept_before)[1], tree.range_of(body[-1])[1], "")
            return


def add_decorator(tree: Tree, function: cst.FunctionDef, decorator: str) -> Edits:
    """Add a decorator line such as ``@tf.function`` below the existing decorators."""
    start = tree.range_of(function)[0]
    place = start_of_line(tree.text, start)
    return (insert(place, tree.text[place:start] + decorator + newline_of(tree)),)


def _insertion_point(tree: Tree, statement: cst.CSTNode) -> tuple[int, str]:
    """Return the insertion offset for lines before ``statement``, and their indentation."""
    if isinstance(tree.parents.get(statement), cst.If) or not starts_line(tree.text, start_of(tree, statement)):
        raise CannotEdit("not at the start of a line")
    start = start_of(tree, statement)
    line = start_of_line(tree.text, start)
    # The first comment of a file describes the file: its licence, its encoding.
    place = comments_above(tree.text, line)
    return (place or line), tree.text[line:start]


def move_statements(
    tree: Tree,
    statements: Sequence[cst.CSTNode],
    *,
    before: cst.CSTNode | None = None,
    after_imports: bool = False,
) -> Edits:
    """Move statements, in source order, before another one or below the imports.

    Comment lines directly above a statement and its trailing comment move along. Lines get the indentation of the new place, except
    inside strings. Give exactly one of ``before`` and ``after_imports``. Returns no edits if the statements are there already.
    """
    if (before is None) is not after_imports:
        raise ValueError("give either before or after_imports")
    text, newline = tree.text, newline_of(tree)
    indent = ""
    if before is not None:
        if isinstance(before, cst.BaseSmallStatement) and is_alone(tree, before):
            before = tree.parents[before]
        place, indent = _insertion_point(tree, before)
    pieces, ranges = [], []
    for statement in sorted(statements, key=lambda node: start_of(tree, node)):
        if isinstance(statement, cst.BaseSmallStatement) and is_alone(tree, statement):
            statement = tree.parents[statement]
        piece, piece_range = _piece(tree, statement, indent)
        pieces.append(piece)
        ranges.append(piece_range)
    content = "".join(piece + newline for piece in pieces)
    if before is None:
        (insertion,) = insert_after_imports(tree, content)
        place = insertion.start
    else:
        insertion = insert(place, content)
    start, end = ranges[0][0], ranges[-1][1]
    is_one_run = all(not text[one[1] : two[0]].strip() for one, two in zip(ranges, ranges[1:]))
    if is_one_run and start <= place <= end:
        return ()
    if is_one_run and not (text[end:place] if place > end else text[place:start]).strip():
        return ()
    # Comments above move too, unlike in a deletion.
    edits = []
    for edit in _deleted(tree, statements):
        above = next((piece for piece in ranges if piece[0] < edit.start < piece[1]), None)
        if above is not None and not edit.content and start_of_line(text, edit.start) == edit.start:
            edit = Edit(above[0], edit.end, "")
        edits.append(edit)
    return tuple(sorted((insertion, *edits)))


def extract_function(
    tree: Tree,
    statements: Sequence[cst.CSTNode],
    name: str,
    *,
    before: cst.CSTNode,
    decorator: str,
    parameters: Sequence[str],
    results: Sequence[str],
) -> Edits:
    """Move adjacent statements of a block into a function, and call it in their place.

    Args:
        statements: whole lines, in source order; comment lines directly above them move along.
        before: the statement around them before which the function is defined.
        decorator: a decorator of the function, with ``@``.
        parameters: the names that the statements read; they are also the arguments.
        results: the names that the function returns and that the call binds.
    """
    newline = newline_of(tree)
    place, indent = _insertion_point(tree, before)
    old = indent_at(tree.text, start_of(tree, statements[0]))
    inner = indent + _unit(tree, before)
    pieces = [_piece(tree, statement, inner) for statement in statements]
    call = f"{name}({', '.join(parameters)})"
    lines = [f"{indent}{decorator}", f"{indent}def {call}:", *(text for text, _ in pieces)]
    if results:
        lines.append(f"{inner}return {', '.join(results)}")
        call = f"{', '.join(results)} = {call}"
    gap = 1 if indent else 2
    is_first = tree.parents.get(before) is not tree.root and block_of(tree, before).body[0] is before
    above = tree.text[:place].replace("\r\n", "\n").replace("\r", "\n")
    blank = 0 if is_first or not above else max(0, gap + 1 - (len(above) - len(above.rstrip("\n"))))
    content = newline * blank + "".join(line + newline for line in lines) + newline * gap
    start, end = pieces[0][1][0], pieces[-1][1][1]
    ending = newline if tree.text[start:end].endswith(("\n", "\r")) else ""
    return insert(place, content), Edit(start, end, f"{old}{call}{ending}")


def _unit(tree: Tree, loop: cst.CSTNode) -> str:
    """The indentation of a statement's body, relative to the statement."""
    body = loop.body if isinstance(loop, (cst.For, cst.While)) else None
    if not isinstance(body, cst.IndentedBlock):
        raise CannotEdit("no indented body")
    first = start_of(tree, body.body[0])
    return indent_at(tree.text, first).removeprefix(indent_at(tree.text, start_of(tree, loop)))


def _piece(tree: Tree, statement: cst.CSTNode, indent: str) -> tuple[str, tuple[int, int]]:
    """Return a statement with its comments, reindented, without its last newline; and its current range."""
    text = tree.text
    start, end = start_of(tree, statement), end_of_code(tree, statement)
    if isinstance(statement, cst.BaseSmallStatement):
        end = tree.range_of(statement)[1]
        old = indent_at(text, start)
        return _reindented(tree, statement, start, end, old, indent), (start, end)
    start, end = lines_of(tree, statement)
    old = indent_at(text, start)
    start = comments_above(text, start)
    if start == 0 and COMMENT_LINE.match(text):
        start = start_of_line(text, start_of(tree, statement))
    body = _reindented(tree, statement, start + len(indent_at(text, start)), end, old, indent)
    return body.rstrip("\r\n"), (start, end)


def _reindented(tree: Tree, statement: cst.CSTNode, start: int, end: int, old: str, new: str) -> str:
    strings = [
        tree.range_of(node)
        for node in tree.descendants(statement)
        if isinstance(node, (cst.SimpleString, cst.FormattedString))
    ]
    parts, position = [new], start
    while position < end:
        following = min(next_line(tree.text, position), end)
        line = tree.text[position:following]
        in_string = any(first < position < last for first, last in strings)
        if position > start and not in_string and line.startswith(old) and line.strip():
            line = new + line[len(old) :]
        parts.append(line)
        position = following
    return "".join(parts)
