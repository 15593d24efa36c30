"""Abstract interpretation of Python: values, execution paths, and a record of calls and dataset operations."""
