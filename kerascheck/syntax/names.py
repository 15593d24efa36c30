"""Canonical dotted names: all public spellings of a TensorFlow or Keras symbol map to one.

``tf.keras.X``, ``tf_keras.X`` and ``keras.X`` are all ``keras.X``. Symbols that moved between releases have their current name.
"""

from __future__ import annotations

from functools import cache

from kerascheck.knowledge.aliases import ALIASES, PREFIXES, VERSION_1, WRITTEN_IN
from kerascheck.knowledge.compat_v1 import MOVED, SHARED, WHOLE_MODULES


@cache
def canonical(dotted: str) -> str:
    """Return the canonical form of a fully qualified dotted name; names of other libraries stay unchanged."""
    before = None
    while before != dotted:
        before = dotted
        for prefix, replacement in PREFIXES:
            if dotted.startswith(prefix) and prefix != replacement:
                dotted = replacement + dotted[len(prefix) :]
                break
        # keras.layers.recurrent.LSTM and keras.layers.core.dense.Dense are keras.layers.LSTM and Dense.
        if WRITTEN_IN.match(dotted):
            dotted = WRITTEN_IN.sub(r"keras.\1.", dotted)
        dotted = _shared(ALIASES.get(dotted, dotted))
    return dotted


def _shared(dotted: str) -> str:
    """Return the name in tf of a symbol of tf.compat.v1, or of a member of its objects; unchanged if tf lacks it."""
    if not dotted.startswith(VERSION_1):
        return dotted
    parts = dotted.removeprefix(VERSION_1).split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in MOVED or name in SHARED or name in WHOLE_MODULES and length < len(parts):
            return ".".join(["tensorflow", MOVED.get(name, name), *parts[length:]])
    return dotted
