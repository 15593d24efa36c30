"""Builders of fixes, each one call: from a semantic object to a fix, or None where the code has no form that it can rewrite."""
