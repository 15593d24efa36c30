"""Analyses of Keras training code on which the rules build. Below the rules, above the interpreter."""
