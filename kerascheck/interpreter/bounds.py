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
