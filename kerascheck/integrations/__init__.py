"""Plugins of kerascheck for other programs."""
