"""Expressions, by topic."""
