"""Locations in the program, formatted for people."""

from __future__ import annotations

import libcst as cst

from kerascheck.interpreter.values import ModuleLike


def line(module: ModuleLike, node: cst.CSTNode) -> str:
    """Format the location of a node: "line 12", or "cell 3, line 2" in a notebook."""
    location = module.source.locate(*module.range_of(node))
    return f"line {location.line}" if location.cell is None else f"cell {location.cell_number}, line {location.line}"
