"""Edits of method chains: swap, move and rearrange calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from kerascheck.finding import Edit
from kerascheck.syntax.edits.contract import CannotEdit, Edits, checked, insert
from kerascheck.syntax.edits.expressions import PRIMARIES, append_method, callee_of, own_line_dot
from kerascheck.syntax.edits.lines import (
    comments_above,
    continues,
    indent_at,
    newline_of,
    next_line,
    past_comment,
    start_of_line,
    starts_line,
    tail_at,
)
from kerascheck.syntax.edits.ranges import Line, dot_of, outer
from kerascheck.syntax.edits.statements import (
    assigned,
    block_of,
    delete_statement,
    is_alone,
    is_name,
    line_of,
    lines_of,
    position_in_block,
    small_statement,
)
from kerascheck.syntax.tree import Tree
from kerascheck.syntax.whitespace import NEWLINE, skip


def _links(call: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield ``call`` and its receivers, outermost first."""
    yield call
    while isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        call = call.func.value
        yield call


def _swapped(text: str, one: tuple[int, int], two: tuple[int, int]) -> Edits:
    return (Edit(*one, text[slice(*two)]), Edit(*two, text[slice(*one)]))


def swap_calls(tree: Tree, inner: cst.Call, outer: cst.Call) -> Edits:
    """Turn ``X.inner(a).outer(b)`` into ``X.outer(b).inner(a)``; comments of calls on their own lines move along.

    The calls belong to one chain, or to two adjacent statements ``x = X.inner(a)`` and ``... x.outer(b)``.
    """
    text = tree.text
    one, two = callee_of(inner), callee_of(outer)
    starts = [tree.range_of(one.attr)[0], tree.range_of(two.attr)[0]]
    ends = [tree.range_of(inner)[1], tree.range_of(outer)[1]]
    headings: Edits = ()
    if any(link is inner for link in list(_links(outer))[1:]):
        dots = [dot_of(tree, one), dot_of(tree, two)]
        if all(starts_line(text, dot) for dot in dots):
            lines = [comments_above(text, start_of_line(text, dot)) for dot in dots]
            starts = [line + len(indent_at(text, line)) for line in lines]
    else:
        headings = _swapped_headings(tree, inner, outer)
    if all(tail_at(text, end) for end in ends):
        ends = [past_comment(text, end) for end in ends]
    return tuple(sorted(headings + _swapped(text, (starts[0], ends[0]), (starts[1], ends[1]))))


def _swapped_headings(tree: Tree, inner: cst.Call, outer: cst.Call) -> Edits:
    """Swap the comments above two adjacent statements if both have some; otherwise they may describe the whole block."""
    first, second = small_statement(tree, inner), small_statement(tree, outer)
    block, line, place = position_in_block(tree, first)
    other_block, other_line, other_place = position_in_block(tree, second)
    follows = (other_line, other_place) == (line, place + 1) or (
        other_line == line + 1 and other_place == 0 and place == len(line_of(tree, first).body) - 1
    )
    name, value = assigned(first)
    if block is not other_block or not follows or name is None or value is not inner:
        raise CannotEdit("not adjacent statements")
    if not is_name(callee_of(outer).value, name):
        raise CannotEdit("the second call is not on the result of the first")
    ranges = []
    for small in (first, second):
        start = start_of_line(tree.text, tree.range_of(small)[0])
        ranges.append((comments_above(tree.text, start), start))
    has_own = line != other_line and all(start < end for start, end in ranges)
    return _swapped(tree.text, *ranges) if has_own else ()


@dataclass(frozen=True, slots=True)
class _Cut:
    """A link cut out of its chain."""

    edit: Edit
    link: str
    """``.name(...)``"""
    above: str
    """The comment lines above with indentation and newlines; only if the link has its own lines."""
    beside: str
    """The trailing comment; only if the link has its own lines."""


def _cut_link(tree: Tree, call: cst.Call, keep_comments: bool) -> _Cut:
    text, attribute = tree.text, callee_of(call)
    dot, end = dot_of(tree, attribute), tree.range_of(call)[1]
    receiver_end = outer(tree, attribute.value)[1]
    link = text[dot:end]
    line = start_of_line(text, dot)
    if "\\" in text[receiver_end:dot] or not starts_line(text, dot):
        start = dot if "#" in text[receiver_end:dot] else receiver_end
        return _Cut(Edit(start, end, ""), link, "", "")
    tail = tail_at(text, end)
    if tail is None:
        start = dot if "#" in text[receiver_end:dot] else receiver_end
        return _Cut(Edit(start, end, ""), link, "", "")
    if keep_comments:
        if tail.group(1):
            return _Cut(Edit(dot, tail.start(1), ""), link, "", "")
        return _Cut(Edit(line, next_line(text, end), ""), link, "", "")
    start = comments_above(text, line)
    return _Cut(Edit(start, next_line(text, end), ""), link, text[start:line], tail.group(1) or "")


def _moved_link(tree: Tree, call: cst.Call, after: cst.BaseExpression) -> Edits:
    """Cut the link of ``call`` and append it to ``after``."""
    text, newline = tree.text, newline_of(tree)
    end = tree.range_of(after)[1] if isinstance(after, PRIMARIES) else outer(tree, after)[1]
    following = skip(text, end)
    if text[following : following + 1] == "." and starts_line(text, following):
        # At the head of a chain the next link shows the layout.
        dot: int | None = following
        is_continued = "\\" in text[end:following]
    else:
        dot = own_line_dot(tree, after)
        is_continued = dot is not None and continues(text, start_of_line(text, dot))
    indent = None if dot is None else indent_at(text, dot)
    if indent is None or is_continued:
        cut = _cut_link(tree, call, keep_comments=True)
        content = cut.link if indent is None else f" \\{newline}{indent}{cut.link}"
        if indent is None and not isinstance(after, PRIMARIES):
            insertions = append_method(tree, after, cut.link)
        else:
            insertions = (insert(end, content),)
        return tuple(sorted((*insertions, cut.edit)))
    cut = _cut_link(tree, call, keep_comments=False)
    above = "".join(f"{newline}{indent}{line.strip()}" for line in cut.above.splitlines())
    if tail_at(text, end):
        beside = f"  {cut.beside}" if cut.beside else ""
        content = f"{above}{newline}{indent}{cut.link}{beside}"
    else:
        # A comment beside the link would swallow the code that follows.
        beside = f"{newline}{indent}{cut.beside}" if cut.beside else ""
        content = f"{above}{beside}{newline}{indent}{cut.link}"
    return tuple(sorted((insert(past_comment(text, end), content), cut.edit)))


def move_call(tree: Tree, call: cst.Call, after: cst.BaseExpression) -> Edits:
    """Move the link ``.name(...)`` of ``call`` to directly after ``after``.

    ``after`` is a link or the head of the same chain, or lies in another statement of the same block. A whole statement
    ``x = x.name(...)`` moves as a statement, comments included, behind a statement that assigns ``after`` to ``x``; otherwise only
    its link moves. Returns no edits if ``call`` follows ``after`` already.
    """
    link = callee_of(call)
    if link.value is after:
        return ()
    if any(other is after for other in _links(call)) or any(other is call for other in _links(after)):
        return checked(tree, call, *_moved_link(tree, call, after))
    source, target = small_statement(tree, call), small_statement(tree, after)
    if source is target:
        raise CannotEdit("another chain of the same statement")
    if position_in_block(tree, source)[0] is not position_in_block(tree, target)[0]:
        raise CannotEdit("another block")
    name, value = assigned(source)
    if name is None or value is not call or not is_name(link.value, name):
        return _moved_link(tree, call, after)
    other_name, other_value = assigned(target)
    if other_name == name and other_value is after and is_alone(tree, source) and is_alone(tree, target):
        return _move_line(tree, line_of(tree, source), line_of(tree, target))
    suffix = tree.text[dot_of(tree, link) : tree.range_of(call)[1]]
    return tuple(sorted((*append_method(tree, after, suffix), *delete_statement(tree, source))))


def _move_line(tree: Tree, line: Line, after: Line) -> Edits:
    start, end = lines_of(tree, line)
    start = comments_above(tree.text, start)
    content = tree.text[start:end]
    place = lines_of(tree, after)[1]
    if not NEWLINE.search(tree.text[:place][-1:]):
        content = newline_of(tree) + content.rstrip("\r\n")
    elif not NEWLINE.search(content[-1:]):
        content += newline_of(tree)
    return tuple(sorted((insert(place, content), Edit(start, end, ""))))


@dataclass(frozen=True, slots=True)
class Slot:
    """The new content at the position of a link.

    Attributes:
        link: the link that moves here.
        text: its new text from the method name on; None keeps the old text.
        added: links to append, such as ".cache()".
    """

    link: cst.Call
    text: str | None = None
    added: tuple[str, ...] = ()


def arrange_links(tree: Tree, links: Sequence[cst.Call], slots: Sequence[Slot]) -> Edits:
    """Reorder adjacent links of one chain, which may span several statements of a block.

    Comments move along if all links have their own lines.

    Args:
        tree: the tree of the module.
        links: adjacent links in their current order of execution.
        slots: the new content for each position.

    Raises:
        CannotEdit: a statement in between uses or changes a name that the moved links use.
    """
    _check_links(tree, links, [slot for link, slot in zip(links, slots) if slot.link is not link])
    text, pieces = tree.text, {link: link_range(tree, link) for link in links}
    own_lines = (
        all(starts_line(text, dot_of(tree, callee_of(link))) for link in links)
        and len({id(small_statement(tree, link)) for link in links}) == 1
    )
    with_comments = all(tail_at(text, tree.range_of(link)[1]) for link in links)
    result: list[Edit] = []
    for link, slot in zip(links, slots):
        (start, end), (new_start, new_end) = pieces[link], pieces[slot.link]
        above = beside = ""
        if own_lines:
            lines = [start_of_line(text, dot_of(tree, callee_of(each))) for each in (link, slot.link)]
            heads = [comments_above(text, line) + len(indent_at(text, comments_above(text, line))) for line in lines]
            above, start = text[heads[1] : new_start], heads[0]
        if with_comments:
            beside, end = text[new_end : past_comment(text, new_end)], past_comment(text, end)
        own = slot.text if slot.text is not None else text[new_start:new_end]
        if own_lines and slot.added:
            if continues(text, lines[0]):
                raise CannotEdit("lines that end in a backslash")
            indent = newline_of(tree) + indent_at(text, dot_of(tree, callee_of(link)))
            content = above + own + beside + "".join(indent + more for more in slot.added)
        else:
            content = above + own + "".join(slot.added) + beside
        if content != text[start:end]:
            result += checked(tree, link, Edit(start, end, content))
    return tuple(sorted(result))


def link_range(tree: Tree, link: cst.Call) -> tuple[int, int]:
    """Return the range of a link from its method name on."""
    return tree.range_of(callee_of(link).attr)[0], tree.range_of(link)[1]


def _check_links(tree: Tree, links: Sequence[cst.Call], moved: Sequence[Slot]) -> None:
    """Raise CannotEdit unless the links are consecutive and no statement in between conflicts with them."""
    statements: dict[cst.BaseSmallStatement, None] = {}
    for before, link in zip(links, links[1:]):
        first, second = small_statement(tree, before), small_statement(tree, link)
        statements |= {first: None, second: None}
        if first is second:
            if not any(inner is before for inner in _links(link)):
                raise CannotEdit("not one chain")
            continue
        name, value = assigned(first)
        *_, head = _links(link)
        if value is None or not any(inner is before for inner in _links(value)) or not is_name(head, name):
            raise CannotEdit("not one chain")
    if len(statements) < 2:
        return
    lines = [line_of(tree, statement) for statement in statements]
    blocks = {id(block): block for block in (block_of(tree, line) for line in lines)}
    if len(blocks) != 1 or any(len(line.body) != 1 for line in lines):
        raise CannotEdit("not statements of one block")
    (block,) = blocks.values()
    names = {assigned(statement)[0] for statement in statements} - {None}
    places = [index for index, line in enumerate(block.body) if line in lines]
    between = [line for line in block.body[places[0] : places[-1] + 1] if line not in lines]
    used = {
        node.value
        for slot in moved
        for arg in slot.link.args
        for node in (arg, *tree.descendants(arg))
        if isinstance(node, cst.Name)
    }
    mentioned = {node.value for line in between for node in tree.descendants(line) if isinstance(node, cst.Name)}
    if used & names or mentioned & (names | used):
        raise CannotEdit("what stands between uses or changes what they use")
