"""Traced and compiled code, its compilers, and switches that keep it eager."""
