"""Runs a function right after a watched module is imported, before the importing code continues."""

import importlib.abc
import sys


class _Announcing(importlib.abc.Loader):
    """Loader of a watched module that then calls the functions from ``functions()``."""

    def __init__(self, loader, functions):
        self._loader = loader
        self._functions = functions

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        for function in self._functions():
            function(module)


class AfterImport(importlib.abc.MetaPathFinder):
    """Watches imports of given names."""

    def __init__(self, functions):
        """``functions``: lists of functions by module name; each is called with the module."""
        self._waiting = functions

    def stop(self):
        """Stop watching."""
        self._waiting = {}
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, fullname, path, target=None):
        """Find the specification through the other finders, and wrap its loader."""
        if fullname not in self._waiting:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    if spec.loader is not None:
                        # Remove the functions only at execution, since a mere look-up does not import.
                        spec.loader = _Announcing(spec.loader, lambda: self._waiting.pop(fullname, ()))
                    return spec
        return None
