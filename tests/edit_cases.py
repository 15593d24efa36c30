"""Nodes of a text, and the effect of edits on it."""

import io
import tokenize

import libcst as cst

from kerascheck.finding import Applicability, Edit, Fix
from kerascheck.fixes.apply import compose
from kerascheck.syntax.tree import Tree


def call(tree, name, nth=0):
    """The nth call, in source order, of a function or method called ``name``."""
    found = [
        node
        for node in tree.descendants(tree.root)
        if isinstance(node, cst.Call)
        and name
        == (node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", None))
    ]
    return sorted(found, key=lambda node: tree.range_of(node)[1])[nth]


def node(tree, text, kind=cst.CSTNode):
    """The outermost node with exactly this text."""
    for found in tree.descendants(tree.root):
        start, end = tree.range_of(found)
        if isinstance(found, kind) and tree.text[start:end] == text and not isinstance(found, cst.Module):
            return found
    raise LookupError(text)


def small(tree, text):
    return node(tree, text, cst.BaseSmallStatement)


def compound(tree, kind):
    return next(found for found in tree.descendants(tree.root) if isinstance(found, kind))


def applied(text, build):
    """``text`` after the edits; asserts that they are valid."""
    tree = Tree(text)
    made = build(tree)
    assert all(isinstance(edit, Edit) for edit in made)
    if not made:
        return text
    result, fixes = compose(text, [Fix(Applicability.SAFE, "", tuple(made))])
    assert fixes, f"the edits overlap: {made}"
    Tree(result)
    return result


def comments_of(text):
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def check(before, after, build, comments=True):
    """Check that the edits turn ``before`` into ``after``, with either newline, and lose no comment."""
    assert applied(before, build) == after
    assert applied(before.replace("\n", "\r\n"), build) == after.replace("\n", "\r\n") or "\n" not in before
    if comments:
        assert comments_of(before) == comments_of(after)
