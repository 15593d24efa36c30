"""Measurement of a training in its own process: the callback ``Why``, and ``%%why`` in a notebook.

Nothing here starts the training or changes its results. The callback wraps two objects that belong to one call of
``fit``: the model's ``train_function`` and the ``CallbackList``. Both get their own methods back after the measurement.
"""
