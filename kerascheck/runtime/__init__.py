"""Runtime measurements: commands that run a script (``why``, ``verify``) or examine the machine (``doctor``).

The linter supplies findings and accepts evidence. Otherwise, the linter and this package are independent of each other.
"""
