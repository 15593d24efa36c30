"""The written program: its tree, names, conditions, and edits of its text."""
