"""NVIDIA GPUs and drivers: compute capabilities, 16-bit arithmetic, published peaks, minimum versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

TENSOR_CORES_SINCE = (7, 0)
"""Minimum compute capability for float16 matrix multiplication on Tensor Cores (TensorFlow guide "Mixed precision";
``tensorflow/python/keras/mixed_precision/device_compatibility_check.py`` warns below it).
"""

BFLOAT16_SINCE = (8, 0)
"""Minimum compute capability for bfloat16 on Tensor Cores, and for float32 as TensorFloat-32 (CUDA C++ Programming
Guide, table of the supported Tensor Core input types).
"""

VIRTUAL = re.compile(r"-\d+[ABCHQ]$")
"""Suffix of virtual GPUs, which share a card: "GRID T4-8Q", "NVIDIA A100D-10C" (NVIDIA vGPU documentation,
"Virtual GPU Types").
"""

NO_TENSOR_CORES = re.compile(r"\bGTX 16\d\d\b|\bMX ?[45]50\b|\bT(?:400|500|550|600|1000|1200|2000)\b")
"""Names of cards of compute capability 7.5 without Tensor Cores: those of the chips TU116 and TU117 (NVIDIA
"Turing Architecture Whitepaper" and the pages of these cards). A GTX 1660 Ti trained 2 to 4 times more slowly with
mixed_float16 (tensorflow/tensorflow#44191).
"""

CAPABILITIES: tuple[tuple[re.Pattern[str], tuple[int, int]], ...] = tuple(
    (re.compile(pattern), capability)
    for pattern, capability in (
        (r"\bRTX 50[5-9]0|\bRTX PRO \d+ Blackwell", (12, 0)),
        (r"\bB[12]00\b|\bGB200\b", (10, 0)),
        (r"\bH(?:20|100|200|800)\b|\bGH200\b", (9, 0)),
        (r"\bRTX 40[5-9]0|\bL4\b|\bL40S?\b|\bRTX \d000 (?:SFF )?Ada", (8, 9)),
        (r"\bRTX 30[5-9]0|\bRTX 2050|\bA(?:2|10|10G|16|40)\b|RTX A\d{3,4}\b", (8, 6)),
        (r"\bA(?:30|100|800)\b", (8, 0)),
        (
            r"\bRTX 20[678]0|\bGTX 16\d\d|\bT4\b|TITAN RTX|Quadro RTX \d000|Quadro T\d+|"
            r"\bT(?:400|500|550|600|1000|1200)\b|\bMX ?[45]50\b",
            (7, 5),
        ),
        (r"\bV100|TITAN V\b|Quadro GV100", (7, 0)),
        (r"\bGTX 10\d\d|\bP(?:4|40)\b|(?<!GTX )TITAN Xp?\b|\bMX[123]\d0\b|Quadro P\d+", (6, 1)),
        (r"\bP100|Quadro GP100", (6, 0)),
        (r"\bGTX 9\d\d|\bM(?:4|40|60)\b|GTX TITAN X\b", (5, 2)),
        (r"\bGTX 750|\b[89][34]0M\b|\bM10\b", (5, 0)),
        (r"\bK80\b", (3, 7)),
        (r"\bK(?:20|40)|GTX TITAN\b|\bGTX 780", (3, 5)),
        (r"\bGTX 6\d\d|\bGTX 7[67]0|\bK10\b", (3, 0)),
    )
)
"""Compute capability by card name, for drivers that do not report it (NVIDIA: "CUDA GPU Compute
Capability", and its page of legacy GPUs).
"""

LAST_FOR_CAPABILITY: dict[tuple[int, int], str] = {(5, 0): "2.16"}
"""The last TensorFlow that supports cards of a compute capability (``build_info.py``
in the wheels: sm_50 in 2.16.2, sm_60 in 2.17.1).
"""

DRIVERS: tuple[tuple[tuple[int, int], str, str], ...] = (
    ((13, 0), "580", "580"),
    ((12, 0), "525.60.13", "528.33"),
    ((11, 1), "450.80.02", "452.39"),
    ((11, 0), "450.36.06", "451.22"),
    ((10, 2), "440.33", "441.22"),
    ((10, 1), "418.39", "418.96"),
    ((10, 0), "410.48", "411.31"),
    ((9, 0), "384.81", "385.54"),
)
"""Minimum drivers on Linux and Windows by CUDA version, newest first; the Windows driver also serves WSL (CUDA Toolkit
release notes, "Minimum Required Driver Version for CUDA Minor Version Compatibility"; TensorFlow's page on pip
says 525.60.13 and 528.33 for CUDA 12).
"""

SLOWDOWNS: dict[int, str] = {
    0x8: "hardware slowdown",
    0x20: "temperature",
    0x40: "overheating",
    0x80: "power brake",
}
"""NVML's reasons for clocks below the requested ones (nvml.h, ``nvmlClocksEventReason...``). The power cap (0x4) is
omitted: a busy GPU reaches it.
"""


def capability_of(name: str) -> tuple[int, int] | None:
    """Return the compute capability of the card with this name; None if the name does not tell."""
    return next((capability for pattern, capability in CAPABILITIES if pattern.search(name)), None)


def half_types(name: str, capability: tuple[int, int] | None) -> tuple[str, ...] | None:
    """Return the 16-bit types that a card multiplies faster than float32, the preferred one first.

    Empty if there are none; None if unknown.
    """
    capability = capability or capability_of(name)
    if capability is None:
        return None
    if capability < TENSOR_CORES_SINCE or NO_TENSOR_CORES.search(name):
        return ()
    return ("float16", "bfloat16") if capability >= BFLOAT16_SINCE else ("float16",)


def oldest_driver(cuda: tuple[int, int], *, windows: bool) -> str | None:
    """Return the oldest driver for a version of CUDA; None for a CUDA before 9."""
    return next(
        (for_windows if windows else for_linux for since, for_linux, for_windows in DRIVERS if cuda >= since), None
    )


class PublishedPeaks(NamedTuple):
    """The most that a card does, as its maker publishes it."""

    flops: Mapping[str, float]
    """Operations per second of dense products by type, accumulated in float32; "float32" is without Tensor Cores."""
    bytes: float
    """Bytes per second of its memory."""
    source: str


_TERA, _GIGA = 1e12, 1e9
_TYPES = ("float32", "tensorfloat32", "bfloat16", "float16")
_TURING = 'NVIDIA, "Turing Architecture Whitepaper", table 1'
_AMPERE = 'NVIDIA, "A100 Tensor Core GPU Architecture Whitepaper", comparison of data center GPUs'
_A100 = "NVIDIA A100 datasheet"
_H100 = "NVIDIA H100 datasheet"
PEAKS: tuple[tuple[re.Pattern[str], PublishedPeaks], ...] = tuple(
    (
        re.compile(pattern),
        PublishedPeaks(
            {kind: peak * _TERA for kind, peak in zip(_TYPES, peaks) if peak is not None}, gigabytes * _GIGA, source
        ),
    )
    for pattern, peaks, gigabytes, source in (
        (r"\bH200\b", (67, 494.7, 989.4, 989.4), 4800, "NVIDIA H200 datasheet"),
        (r"\bH100 PCIe\b", (51, 378, 756, 756), 2000, _H100),
        (r"\bH100(?: 80GB HBM3|-SXM)", (67, 494.7, 989.4, 989.4), 3350, _H100),
        (r"\bA100.*80GB PCIe|\bA100-PCIE-80GB", (19.5, 156, 312, 312), 1935, _A100),
        (r"\bA100-SXM\d?-80GB", (19.5, 156, 312, 312), 2039, _A100),
        (r"\bA100-(?:SXM\d?|PCIE)-40GB", (19.5, 156, 312, 312), 1555, _A100),
        (r"\bL40S\b", (91.6, 183, 362, 362), 864, "NVIDIA L40S datasheet"),
        (r"\bL40\b", (None, 90, 181, 181), 864, "NVIDIA L40 datasheet"),
        (r"\bL4\b", (None, 60, 120, 120), 300, "NVIDIA L4 datasheet"),
        (r"\bA40\b", (None, 75, 150, 150), 696, "NVIDIA A40 datasheet"),
        (r"\bA30\b", (None, 82, 165, 165), 933, "NVIDIA A30 datasheet"),
        (r"\bA10\b", (None, 62.5, 125, 125), 600, "NVIDIA A10 datasheet"),
        (r"\bRTX 4090(?! (?:Laptop|D))\b", (82.6, 82.6, 165.2, 165.2), 1008, 'NVIDIA, "Ada GPU Architecture", appendix A'),
        (r"\bRTX 3090(?! (?:Ti|Laptop))\b", (35.6, 35.6, 71, 71), 936, 'NVIDIA, "Ampere GA102 GPU Architecture", appendix A'),
        (r"\bV100S-PCIE", (None, None, None, 130), 1134, "NVIDIA V100 datasheet"),
        (r"\bV100-SXM2", (15.7, None, None, 125), 900, _AMPERE),
        (r"\bV100-PCIE", (None, None, None, 112), 900, "NVIDIA V100 datasheet"),
        (r"\bP100-SXM2", (10.6, None, None, 21.2), 720, _AMPERE),
        (r"Quadro RTX 6000", (16.3, None, None, 130.5), 672, _TURING),
        (r"\bRTX 2080 Ti", (13.4, None, None, 53.8), 616, _TURING),
        (r"\bT4\b", (8.1, None, None, 65), 320, "NVIDIA T4 product brief"),
        (r"\bGTX 1080 Ti", (11.3, None, None, None), 484, _TURING),
    )
)  # fmt: skip
"""Published peaks by card name: dense, without sparsity, at the boost clock of the reference design.

Consumer cards (GeForce) halve the products of 16-bit numbers that are accumulated in float32, which training uses.
Datasheets since the A100 print figures with sparsity, which are twice these. TensorRT-LLM of NVIDIA
(``tensorrt_llm/auto_parallel/cluster_info.py``) names the datasheets of most cards. Cards are missing for which no
publication of NVIDIA was at hand; a type is missing where it was not.
"""


def peaks_of(name: str) -> PublishedPeaks | None:
    """Return the peaks of the card with this name; None if they are unknown, or the card is shared."""
    if VIRTUAL.search(name) or "MIG" in name:
        return None
    return next((peaks for pattern, peaks in PEAKS if pattern.search(name)), None)
