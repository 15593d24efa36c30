"""Output formats, one per module; each renders findings as text, independent of the analysis."""
