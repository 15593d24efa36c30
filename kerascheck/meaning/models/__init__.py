"""The models that a program builds, and their precision."""
