"""How far the interpreter goes: beyond these bounds it knows less, and ends."""

from __future__ import annotations

MAX_DEPTH = 24
MAX_VISITS = 24
MAX_CALLS = 2500
MAX_OPTIONS = 8
# Short ones count by their length: projects with a file for each function are no larger than others.
MAX_MODULES = 32
A_WHOLE_MODULE = 6000
MAX_ALIKE = 64
MAX_IMPORT_DEPTH = 5
MAX_ITEMS = 100_000
"""How many items a list, tuple, set or dictionary has, with those of the containers in it, each as often as it is held.

``x = [x, x]`` has twice as many in each line: what is larger is unknown.
"""
MAX_TEXT = 100_000
"""How many characters a text has that is put together, or bits a number that is computed."""
MAX_ROUTES = 1_000
"""How many ways lead from a dataset to its sources: ``ds = ds.concatenate(ds)`` doubles them."""
