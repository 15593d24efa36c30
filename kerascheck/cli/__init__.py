"""The command line: one module for each command, and the modules that they share."""

ARGUMENTS = "kerascheck.arguments"
"""The key of the given arguments in click's ``meta``."""
COMPLETE_VARIABLE = "_KERASCHECK_COMPLETE"
"""The environment variable of a shell's completion request; click derives the name from that of the program."""
