"""Limits of the interpreter: beyond them it gives up precision to terminate."""

from __future__ import annotations

MAX_DEPTH = 24
MAX_VISITS = 24
MAX_CALLS = 2500
MAX_OPTIONS = 8
# Shorter modules count by their length in characters, so one file per function does not make a project larger.
MAX_MODULES = 32
A_WHOLE_MODULE = 6000
MAX_ALIKE = 64
MAX_IMPORT_DEPTH = 5
MAX_ITEMS = 100_000
"""Maximum number of items of a container; nested containers count each time they are held.

``x = [x, x]`` doubles it in each line; larger containers are UNKNOWN.
"""
MAX_TEXT = 100_000
"""Maximum number of characters of a computed text, or of bits of a computed integer."""
MAX_ROUTES = 1_000
"""Maximum number of routes from a dataset to its sources: ``ds = ds.concatenate(ds)`` doubles them."""
