"""Reading of files: discovery, encodings, notebooks, suppression comments."""

from kerascheck.source.reading import decode, display_path, read
from kerascheck.source.text import Cell, Source, Unreadable

__all__ = ["Cell", "Source", "Unreadable", "decode", "display_path", "read"]
