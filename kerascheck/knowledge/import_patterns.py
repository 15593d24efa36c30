"""Regular expressions for import statements, for searches of code as text."""

from __future__ import annotations

_EARLIER_NAMES = r"(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[\s\\]*)*"
IMPORTS = rf"(?:^|;)\s*(?:from\s+|import\s+{_EARLIER_NAMES})"
"""The start of an import, up to the name of the module, for a pattern with ``re.M``.

``import numpy, torch`` and ``import os; import torch`` import ``torch``, too.
"""

TOP_LEVEL_IMPORTS = rf"^(?:[^\s#'\"][^\n'\"]*;[ \t]*)?(?:from[ \t]+|import[ \t]+{_EARLIER_NAMES})"
"""The same for statements without indentation, which run whenever the module is imported."""
