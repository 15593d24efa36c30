"""What runs of the command line keep for the next one, in the project: see :mod:`kerascheck.cache.runs`."""
