"""One module per output format; each turns findings into text and knows nothing of how they were found."""
