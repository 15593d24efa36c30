"""The fallback parser for versions of libcst that kerascheck does not know."""

import contextlib

import libcst as cst
import pytest

from kerascheck.syntax import parse
from kerascheck.syntax.from_ast import FILLED
from kerascheck.syntax.lru_text_cache import LRUTextCache
from kerascheck.syntax.tree import Tree


@contextlib.contextmanager
def unknown_field_in_call():
    """Parse as if ``cst.Call`` had a field that kerascheck does not know."""
    fields = parse.fields_of(FILLED)
    serves = parse.python_parser_serves(FILLED, {**fields, cst.Call: [*fields[cst.Call], "type_arguments"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "_PYTHON_PARSER_SERVES", serves)
        # The usual cache has trees of the other parser.
        patch.setattr("kerascheck.interpreter.module.tree_of", LRUTextCache(Tree, 3_000_000))
        yield
