"""The machine class that evidence is tied to."""

from __future__ import annotations

import os
import platform
from typing import Any


def machine() -> dict[str, Any]:
    """System, processor architecture and number of cores, as evidence files keep them."""
    return {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
