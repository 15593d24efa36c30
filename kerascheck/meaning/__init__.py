"""What Keras training code means: what rules ask of it. Below the rules, above the interpreter."""
