"""The repairs that rules offer."""
