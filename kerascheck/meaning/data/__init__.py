"""Datasets, their mapped functions, and the arrays and images in them."""
