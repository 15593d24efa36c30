"""Lines of the script behind the code that AutoGraph generates (TensorFlow)."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping

from kerascheck.knowledge.private_modules import AUTOGRAPH_API
from kerascheck.runtime.verify.messages import Place


def origins() -> Mapping[Place, Place]:
    """The script's path and line by those of generated code, for all functions converted so far.

    AutoGraph keeps its results in a cache (tensorflow/python/autograph/pyct/cache.py and transpiler.py); empty for
    versions that keep them elsewhere.
    """
    api = sys.modules.get(AUTOGRAPH_API)
    found: dict[Place, Place] = {}
    with contextlib.suppress(AttributeError, RuntimeError):  # RuntimeError: a thread converts a function meanwhile
        for converted in list(api._TRANSPILER._cache._cache.values()):  # type: ignore[union-attr]
            for factory in list(converted.values()):
                for generated, origin in factory.source_map.items():
                    found[generated.filename, generated.lineno] = origin.loc.filename, origin.loc.lineno
    return found
