"""Limits of the interpreter: beyond them it trades precision for termination."""

from __future__ import annotations

MAX_DEPTH = 24
MAX_VISITS = 24
MAX_CALLS = 2500
MAX_OPTIONS = 8
# Shorter modules count in proportion to their length, so one file per function does not make a project larger.
MAX_MODULES = 32
A_WHOLE_MODULE = 6000
MAX_ALIKE = 64
MAX_IMPORT_DEPTH = 5
MAX_ITEMS = 100_000
"""Maximum number of items of a container; nested containers count once per reference.

Each line ``x = [x, x]`` doubles it. Larger containers are UNKNOWN.
"""
MAX_TEXT = 100_000
"""Maximum number of characters of a computed string, or of bits of a computed integer."""
MAX_ROUTES = 1_000
"""Maximum number of routes from a dataset to its sources; ``ds = ds.concatenate(ds)`` doubles the number."""
