"""The syntax of a program: its tree, names, conditions, and edits of its text."""
