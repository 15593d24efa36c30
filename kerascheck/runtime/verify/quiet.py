"""Wait until other programs leave the machine alone."""

from __future__ import annotations

import time
from collections.abc import Callable

from kerascheck.runtime.verify.budget import Progress
from kerascheck.runtime.verify.child.load import CpuLoad
from kerascheck.runtime.verify.verdict import QUIET

_SAMPLE_SECONDS = 2.0
_LIMIT_SECONDS = 600.0


class NotQuiet(Exception):
    """Other programs keep the machine busy; ``str()`` says how much of it, in one line."""


def wait_until_quiet(
    progress: Progress,
    *,
    limit: float = _LIMIT_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
    load: Callable[[], CpuLoad] = CpuLoad,
) -> None:
    """Return once other programs use at most a fifth of the machine, or where the system does not tell.

    Args:
        limit: seconds to wait.

    Raises:
        NotQuiet: the limit is over.
    """
    waited = 0.0
    while True:
        reading = load()
        sleep(_SAMPLE_SECONDS)
        waited += _SAMPLE_SECONDS
        others: float | None = reading.of_others()  # type: ignore[no-untyped-call]
        if others is None or others <= QUIET:
            return
        if waited >= limit:
            raise NotQuiet(f"other programs use {others:.0%} of the machine")
        progress(f"waiting for other programs, which use {others:.0%} of the machine", limit - waited)
