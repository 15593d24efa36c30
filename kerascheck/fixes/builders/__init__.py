"""Builders of fixes: each takes a semantic object and returns a fix, or None if it cannot rewrite the code."""
