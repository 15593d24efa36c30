"""The project that a file belongs to: its settings, its files, what they import, the versions that it requires."""
