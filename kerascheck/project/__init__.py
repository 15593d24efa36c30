"""The project of a file: its settings, its files, their imports, and the required versions."""
