"""Statements, by topic."""
