"""Python functions that TensorFlow calls from inside a compiled step."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from kerascheck.knowledge.private_modules import SCRIPT_OPS
from kerascheck.runtime.verify.child.frames import is_user_code

_PYTHON_OPS = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
"""Operations of ``tf.numpy_function`` and ``tf.py_function`` (tensorflow/python/ops/script_ops.py)."""


def functions_inside(steps: Iterable[Any]) -> list[tuple[str, int, int]]:
    """Path, first and last line of the script's functions that compiled steps call.

    Args:
        steps: objects made by ``tf.function``.
    """
    script_ops = sys.modules.get(SCRIPT_OPS)
    if script_ops is None:
        return []
    found: dict[tuple[str, int, int], None] = {}
    for token in _tokens(steps):
        with contextlib.suppress(AttributeError):  # another version of TensorFlow keeps them elsewhere
            code = _code_of(script_ops._py_funcs.get(token))
            if code is not None and is_user_code(code):
                last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
                found[code.co_filename, code.co_firstlineno, last] = None
    return list(found)


def _tokens(steps: Iterable[Any]) -> Iterator[str]:
    """Keys of the Python functions in the graphs of ``steps``."""
    for step in steps:
        with contextlib.suppress(AttributeError):  # without a graph so far, or another version of TensorFlow
            for concrete in step._list_all_concrete_functions():
                graph = concrete.graph.as_graph_def()
                nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
                yield from (node.attr["token"].s.decode() for node in nodes if node.op in _PYTHON_OPS)


def _code_of(function: Any) -> CodeType | None:
    """The code of a registered function; an ``EagerFunc`` holds it, AutoGraph wraps it."""
    function = getattr(function, "_func", function)
    with contextlib.suppress(ValueError):  # wrapped in a circle
        function = inspect.unwrap(function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code if isinstance(code, CodeType) else None
