"""Recursion that nothing compiles, and calls that only look like recursion."""

import tensorflow as tf


def factorial(n):
    # Plain Python.
    return 1 if n <= 1 else n * factorial(n - 1)


@tf.function
def step(model, x):
    # The method of another object.
    return model.step(x)


class Tree:
    def depth(self):
        return 1 + max((child.depth() for child in self.children), default=0)

    @tf.function
    def call(self, x):
        return sum(child.call(x) for child in self.children)


@tf.function
def outer(x):
    # An inner function that calls back later.
    def retry():
        return outer(x)

    return x, retry is None


print(factorial(5), step(Tree(), 1), outer(1))
