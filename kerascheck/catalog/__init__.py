"""The catalogue of rules: what a rule is, which rules there are, and what was measured and published of each."""
