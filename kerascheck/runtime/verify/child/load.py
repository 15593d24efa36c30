"""Load of the machine by other programs."""

import os


class CpuLoad:
    """Share of the machine that other programs use between two readings (Linux; None elsewhere)."""

    def __init__(self):
        self._start = self._read()

    @staticmethod
    def _read():
        try:
            with open("/proc/stat", "rb") as stream:
                user, nice, system, idle, iowait, *rest = map(int, stream.readline().split()[1:])
        except (OSError, ValueError):
            return None
        used = os.times()
        return user + nice + system + sum(rest[:3]), idle + iowait, (used.user + used.system) * os.sysconf("SC_CLK_TCK")

    def of_others(self):
        """Share of all processor time that other programs used, 0 to 1."""
        now = self._read()
        if self._start is None or now is None:
            return None
        busy, idle, own = (b - a for a, b in zip(self._start, now))
        return max(0.0, min(1.0, (busy - own) / (busy + idle))) if busy + idle else None
