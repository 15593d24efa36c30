"""Traced and compiled code, its compilers, and settings that keep it eager."""
