"""kerascheck inside other programs."""
