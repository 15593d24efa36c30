"""Abstract interpretation of Python: values, where code runs, and a record of calls and dataset operations."""
