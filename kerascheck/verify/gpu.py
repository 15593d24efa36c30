"""What the GPU does while scripts run, through NVML (``nvidia-ml-py``, optional)."""

from __future__ import annotations

import statistics
import threading
from types import ModuleType
from typing import Any

_INTERVAL_SECONDS = 0.5


class Sampler:
    """Samples every GPU in a thread, as a context manager; without NVML or GPU it does nothing."""

    def __init__(self, nvml: ModuleType | None = None) -> None:
        """``nvml``: a module like ``pynvml``; None: the installed one, if there is one."""
        self._nvml = nvml
        self._samples: list[dict[str, float]] = []
        self._name = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Sampler:
        if self._nvml is None:
            try:
                import pynvml
            except ImportError:
                return self
            self._nvml = pynvml
        try:
            self._nvml.nvmlInit()
            handles = [self._nvml.nvmlDeviceGetHandleByIndex(i) for i in range(self._nvml.nvmlDeviceGetCount())]
            if not handles:
                return self
            name = self._nvml.nvmlDeviceGetName(handles[0])
            self._name = name.decode() if isinstance(name, bytes) else name
        except Exception:  # no driver
            return self
        self._thread = threading.Thread(target=self._sample, args=(handles,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _sample(self, handles: list[Any]) -> None:
        while not self._done.wait(_INTERVAL_SECONDS):
            for handle in handles:
                try:
                    self._samples.append(self._look(handle))
                except Exception:  # a query that this card does not answer
                    continue

    def _look(self, handle: Any) -> dict[str, float]:
        nvml = self._nvml
        rates = nvml.nvmlDeviceGetUtilizationRates(handle)
        return {
            "utilisation": rates.gpu / 100,
            "memory_bytes": nvml.nvmlDeviceGetMemoryInfo(handle).used,
            "watts": nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
            "megahertz": nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        }

    def summary(self) -> dict[str, Any] | None:
        """Median of every quantity while the GPU was in use, its name, and the number of samples; None without samples."""
        busy = [s for s in self._samples if s["utilisation"] > 0] or self._samples
        if not busy:
            return None
        return {"name": self._name, "samples": len(busy)} | {
            key: statistics.median(sample[key] for sample in busy) for key in busy[0]
        }
