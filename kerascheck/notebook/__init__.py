"""The extension of IPython: ``%load_ext kerascheck`` in Jupyter, Colab, Kaggle and terminal IPython.

``extension`` adds it to a shell and removes it. ``magic`` is
``%kerascheck``. ``client`` asks a separate process, ``linter``, so that the kernel imports no linter and never forks.
"""
