"""Diagnosis of a slow training: one run of the script, and a breakdown of its step time."""
