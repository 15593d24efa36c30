"""Files to text: discovery, encodings, notebooks, suppression comments."""

from kerascheck.source.text import Cell, Source, Unreadable, decode, display_path, read

__all__ = ["Cell", "Source", "Unreadable", "decode", "display_path", "read"]
