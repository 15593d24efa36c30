"""What is known of libraries, as data with its sources; tests compare it with what is installed."""
