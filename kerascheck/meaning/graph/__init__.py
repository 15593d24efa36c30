"""What is traced into graphs, what compiles it, and what keeps it eager."""
