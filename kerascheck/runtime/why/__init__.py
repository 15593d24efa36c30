"""Why a training is slow: one run of the script, and where its steps go."""
