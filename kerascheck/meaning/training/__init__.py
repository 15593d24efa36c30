"""Training steps, repeated training, callbacks and predictions."""
