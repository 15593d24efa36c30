"""Source text served from memory: the script and its local imports run with fixes, without changes on disk."""

import importlib.abc
import importlib.machinery
import io
import linecache
import os
import sys


class MemoryLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from a given text under its real file name."""

    def __init__(self, fullname, path, data):
        """``data``: the source as UTF-8 bytes."""
        super().__init__(fullname, path)
        self._data = data

    def get_data(self, path):
        """Read the module itself from memory, anything else from disk."""
        if os.path.realpath(path) == os.path.realpath(self.path):
            return self._data
        return super().get_data(path)

    def path_stats(self, path):
        # Without a modification time, Python neither uses nor overwrites bytecode of the original file.
        raise OSError("served from memory")

    def source_to_code(self, data, path, *, _optimize=-1):  # type: ignore[override]  # as SourceLoader calls it
        return compile(data.decode("utf-8"), path, "exec", dont_inherit=True, optimize=_optimize)


class MemoryFinder(importlib.abc.MetaPathFinder):
    """Replaces the loader of those modules whose file is in ``texts``."""

    def __init__(self, texts):
        """``texts``: mapping of real path to source text."""
        self._texts = texts

    def find_spec(self, fullname, path, target=None):
        """Find the usual specification of the module, with a memory loader if its text is in memory."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.has_location or spec.origin is None:
            return None
        text = self._texts.get(os.path.realpath(spec.origin))
        if text is None:
            return None
        spec.loader = MemoryLoader(fullname, spec.origin, text.encode("utf-8"))
        spec.cached = None
        return spec


def _show_in_tracebacks(texts):
    """Make tracebacks, ``inspect.getsource`` and AutoGraph see ``texts`` as the content of the files."""
    updatecache = linecache.updatecache

    def update(filename, module_globals=None):
        text = texts.get(os.path.realpath(filename)) if filename and not filename.startswith("<") else None
        if text is None:
            return updatecache(filename, module_globals)
        lines = text.splitlines(keepends=True)
        # An entry without modification time is never checked against the disk.
        linecache.cache[filename] = (len(text), None, lines, filename)
        return lines

    # A cache entry is not enough: AutoGraph discards entries and looks them up again.
    linecache.updatecache = update


def serve(texts):
    """Serve ``texts`` (real path to source text) to imports, tracebacks and processes that re-run the main file."""
    _show_in_tracebacks(texts)
    sys.meta_path.insert(0, MemoryFinder(texts))

    import runpy

    open_code = io.open_code

    def open_served(path):
        text = texts.get(os.path.realpath(path)) if isinstance(path, (str, os.PathLike)) else None
        return open_code(path) if text is None else io.BytesIO(text.encode("utf-8"))

    # multiprocessing's "spawn" runs the main file again through runpy, which reads it with io.open_code.
    runpy.io = _IoWithOpenCode(open_served)  # type: ignore[attr-defined]  # it imports io


class _IoWithOpenCode:
    """The io module as runpy sees it."""

    def __init__(self, open_code):
        self.open_code = open_code

    def __getattr__(self, name):
        return getattr(io, name)
