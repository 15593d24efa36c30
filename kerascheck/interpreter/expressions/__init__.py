"""Evaluators of expressions, by topic."""
