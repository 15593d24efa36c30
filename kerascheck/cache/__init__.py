"""The cache of command-line runs, stored in the project: see :mod:`kerascheck.cache.runs`."""
