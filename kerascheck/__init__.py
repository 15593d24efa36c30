"""kerascheck: the linter for Keras training code that proves its findings."""

__version__ = "0.1.0"
REPOSITORY = ""
"""Address of the repository, without a slash at its end; empty until it is published. No other file states it."""
SITE = ""
"""Address of the documentation, without a slash at its end and without a version; empty until it is published."""


def load_ipython_extension(shell: object) -> None:
    """Add ``%kerascheck`` to an IPython shell: ``%load_ext kerascheck`` calls this."""
    _call("load", shell)


def unload_ipython_extension(shell: object) -> None:
    """Remove all that :func:`load_ipython_extension` added: ``%unload_ext kerascheck`` calls this."""
    _call("unload", shell)


def _call(name: str, shell: object) -> None:
    # By name: the root package imports nothing, since every other package imports it.
    from importlib import import_module

    getattr(import_module("kerascheck.notebook.extension"), name)(shell)
