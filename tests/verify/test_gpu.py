"""The GPU sampler against a made-up NVML."""

import time
import types

import pytest

from kerascheck.verify.gpu import Sampler


def nvml(count=1, **broken):
    module = types.SimpleNamespace(
        NVML_CLOCK_SM=1,
        nvmlInit=lambda: None,
        nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda handle: b"Made Up 9000",
        nvmlDeviceGetUtilizationRates=lambda handle: types.SimpleNamespace(gpu=50),
        nvmlDeviceGetMemoryInfo=lambda handle: types.SimpleNamespace(used=7),
        nvmlDeviceGetPowerUsage=lambda handle: 300_000,
        nvmlDeviceGetClockInfo=lambda handle, kind: 1500,
    )
    vars(module).update(broken)
    return module


def fail(*_):
    raise RuntimeError("not supported")


def sample(module, monkeypatch):
    monkeypatch.setattr("kerascheck.verify.gpu._INTERVAL_SECONDS", 0.001)
    with Sampler(module) as sampler:
        deadline = time.monotonic() + 5
        while not sampler.summary() and time.monotonic() < deadline and module.nvmlDeviceGetPowerUsage is not fail:
            time.sleep(0.001)
    return sampler.summary()


def test_medians_are_told(monkeypatch):
    summary = sample(nvml(), monkeypatch)
    assert summary.pop("samples") >= 1
    assert summary == {"name": "Made Up 9000", "utilisation": 0.5, "memory_bytes": 7, "watts": 300, "megahertz": 1500}


@pytest.mark.parametrize("broken", [{"count": 0}, {"nvmlInit": fail}, {"nvmlDeviceGetPowerUsage": fail}], ids=str)
def test_without_a_usable_gpu_there_is_nothing(broken, monkeypatch):
    if broken.get("count") == 0:
        monkeypatch.setattr("time.monotonic", iter([0, 10]).__next__)
    assert sample(nvml(**broken), monkeypatch) is None
