"""Builders of the fixes that rules offer, the proofs of their safety, and their application."""
