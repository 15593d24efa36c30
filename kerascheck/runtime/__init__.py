"""Measuring: the commands that run a script (``why``, ``verify``) or look at the machine (``doctor``).

The linter gives findings and takes evidence; nothing else of it is known here, and nothing here is known to it.
"""
