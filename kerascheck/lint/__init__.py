"""Linting: from the files of a run to its findings, and to files with their fixes."""
