"""Datasets, the functions they map, and the arrays and images they are made of."""
