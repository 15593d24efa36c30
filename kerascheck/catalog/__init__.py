"""The catalogue of rules: their contract, their registry, and their measured and published gains."""
