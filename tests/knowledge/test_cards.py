"""Properties of NVIDIA's cards and drivers."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from kerascheck.knowledge.cards import SLOWDOWNS, TENSOR_CORES_SINCE, capability_of, half_types, oldest_driver

# NVIDIA's pages "CUDA GPU Compute Capability" and "Legacy CUDA GPU Compute Capability".
CAPABILITIES = {
    "NVIDIA GeForce RTX 5090": (12, 0), "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": (12, 0), "NVIDIA B200": (10, 0),
    "NVIDIA H100 80GB HBM3": (9, 0), "NVIDIA H200": (9, 0), "NVIDIA GH200 480GB": (9, 0), "NVIDIA H20": (9, 0),
    "NVIDIA GeForce RTX 4090": (8, 9), "NVIDIA GeForce RTX 4060 Laptop GPU": (8, 9), "NVIDIA L4": (8, 9), "NVIDIA L40S": (8, 9),
    "NVIDIA RTX 6000 Ada Generation": (8, 9), "NVIDIA RTX 5000 Ada Generation": (8, 9), "NVIDIA RTX 4000 SFF Ada Generation": (8, 9),
    "NVIDIA GeForce RTX 3060": (8, 6), "NVIDIA GeForce RTX 2050": (8, 6), "NVIDIA A10G": (8, 6), "NVIDIA RTX A6000": (8, 6), "NVIDIA RTX A500": (8, 6),
    "NVIDIA A100-SXM4-40GB": (8, 0), "NVIDIA A30": (8, 0),
    "NVIDIA GeForce RTX 2080 Ti": (7, 5), "NVIDIA GeForce GTX 1660 Ti": (7, 5), "NVIDIA GeForce GTX 1650": (7, 5), "Tesla T4": (7, 5), "NVIDIA TITAN RTX": (7, 5),
    "Quadro RTX 3000": (7, 5), "Quadro RTX 4000": (7, 5), "Quadro RTX 5000": (7, 5), "Quadro T1000": (7, 5), "NVIDIA T600": (7, 5),
    "Tesla V100-SXM2-16GB": (7, 0), "NVIDIA TITAN V": (7, 0),
    "NVIDIA GeForce GTX 1070": (6, 1), "NVIDIA GeForce GTX 1080 Ti": (6, 1), "Quadro P1000": (6, 1), "Tesla P4": (6, 1), "NVIDIA TITAN Xp": (6, 1),
    "Tesla P100-PCIE-16GB": (6, 0),
    "NVIDIA GeForce GTX 960": (5, 2), "Tesla M60": (5, 2), "NVIDIA GeForce GTX TITAN X": (5, 2), "NVIDIA GeForce GTX 750 Ti": (5, 0),
    "Tesla K80": (3, 7), "Tesla K40c": (3, 5), "NVIDIA Unheard-of 1": None,
}  # fmt: skip
WITHOUT_TENSOR_CORES = [name for name in CAPABILITIES if "GTX 16" in name or name in ("Quadro T1000", "NVIDIA T600")]


@pytest.mark.parametrize(("name", "capability"), CAPABILITIES.items())
def test_compute_capability_by_name(name, capability):
    assert capability_of(name) == capability


@pytest.mark.parametrize(("name", "capability"), CAPABILITIES.items())
def test_16_bit_types_by_compute_capability(name, capability):
    if capability is None:
        expected = None
    elif name in WITHOUT_TENSOR_CORES or capability < (7, 0):
        expected = ()
    else:
        expected = ("float16", "bfloat16") if capability >= (8, 0) else ("float16",)
    assert half_types(name, None) == half_types(name, capability) == expected


def test_the_drivers_capability_overrides_the_name():
    assert half_types("NVIDIA Unheard-of 1", (8, 0)) == ("float16", "bfloat16")


@pytest.mark.parametrize(
    ("cuda", "linux", "windows"),
    [
        ((12, 5), "525.60.13", "528.33"),
        ((13, 0), "580", "580"),
        ((11, 2), "450.80.02", "452.39"),
        ((10, 1), "418.39", "418.96"),
        ((8, 0), None, None),
    ],
)
def test_oldest_driver_by_cuda_version(cuda, linux, windows):
    assert (oldest_driver(cuda, windows=False), oldest_driver(cuda, windows=True)) == (linux, windows)


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs TensorFlow")
def test_tensorflow_warns_below_the_same_capability():
    # TensorFlow's own code, read instead of imported.
    # Importing it would make it search further folders.
    folder = find_spec("tensorflow").submodule_search_locations[0]
    check = Path(folder, "python", "keras", "mixed_precision", "device_compatibility_check.py").read_text(
        encoding="utf-8"
    )
    assert f"cc >= {TENSOR_CORES_SINCE}" in check


def test_clock_reasons_equal_those_of_nvml():
    nvml = pytest.importorskip("pynvml")
    reasons = (
        nvml.nvmlClocksEventReasonHwSlowdown,
        nvml.nvmlClocksEventReasonSwThermalSlowdown,
        nvml.nvmlClocksEventReasonHwThermalSlowdown,
    )
    assert tuple(SLOWDOWNS) == (*reasons, nvml.nvmlClocksEventReasonHwPowerBrakeSlowdown)
