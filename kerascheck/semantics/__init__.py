"""What Keras training code means: the only part of kerascheck that knows libcst, beside the fixers."""

from kerascheck.semantics.module import Module, Project
from kerascheck.semantics.tree import SyntaxProblem, TooDeep, Tree

__all__ = ["Module", "Project", "SyntaxProblem", "TooDeep", "Tree"]
