"""kerascheck: the linter for Keras training code that proves its findings."""

__version__ = "0.1.0"
