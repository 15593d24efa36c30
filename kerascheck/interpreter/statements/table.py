"""Table that maps statement nodes to the functions that run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from kerascheck.interpreter.abstract_state import AbstractState
from kerascheck.interpreter.statements.assignments import (
    run_annotated_assign,
    run_assign,
    run_augmented_assign,
    run_delete,
    run_global,
    run_nonlocal,
)
from kerascheck.interpreter.statements.branches import run_if, run_match, run_try
from kerascheck.interpreter.statements.definitions import run_class_definition, run_function_definition
from kerascheck.interpreter.statements.imports import run_import, run_import_from
from kerascheck.interpreter.statements.loops import run_for, run_while
from kerascheck.interpreter.statements.simple import (
    run_assert,
    run_expression_statement,
    run_jump,
    run_return,
    run_with,
)

STATEMENTS: dict[type[cst.CSTNode], Callable[[AbstractState, Any], bool | None]] = {
    cst.Expr: run_expression_statement,
    cst.Assign: run_assign,
    cst.AnnAssign: run_annotated_assign,
    cst.AugAssign: run_augmented_assign,
    cst.Return: run_return,
    cst.Raise: run_jump,
    cst.Break: run_jump,
    cst.Continue: run_jump,
    cst.Assert: run_assert,
    cst.Del: run_delete,
    cst.Global: run_global,
    cst.Nonlocal: run_nonlocal,
    cst.Import: run_import,
    cst.ImportFrom: run_import_from,
    cst.If: run_if,
    cst.Try: run_try,
    cst.TryStar: run_try,
    cst.With: run_with,
    cst.For: run_for,
    cst.While: run_while,
    cst.FunctionDef: run_function_definition,
    cst.ClassDef: run_class_definition,
    cst.Match: run_match,
}
