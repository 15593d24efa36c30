"""The models that a program builds, and the precision they compute in."""
