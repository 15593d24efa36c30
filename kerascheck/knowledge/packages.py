"""Packages of TensorFlow, and the releases and platforms on which they include or find a GPU, with sources."""

from __future__ import annotations

import re

TENSORFLOW = "tensorflow"
TENSORFLOW_CPU = "tensorflow-cpu"
TENSORFLOW_GPU = "tensorflow-gpu"
CUDA_EXTRA = "and-cuda"

CUDA_EXTRA_SINCE = (2, 14)
"""``tensorflow[and-cuda]`` installs the CUDA libraries from this release on (release notes)."""

ONE_PACKAGE_SINCE = (2, 1)
"""The package ``tensorflow`` is built for GPUs from this release on (release notes)."""

GPU_PACKAGE_GONE = (2, 12)
"""Installing ``tensorflow-gpu`` raises an error from this release on (release notes)."""

LAST_ON_WINDOWS = (2, 10)
"""The last release with GPU support on native Windows (release notes of 2.11)."""

PLAIN_IMAGE = re.compile(
    r"(?:docker\.io/)?(?:library/)?(?:python|ubuntu|debian|alpine|fedora|continuumio/(?:miniconda|anaconda)3?|condaforge/\S+|mambaorg/\S+)(?::(?!.*(?:cuda|nvidia|gpu))\S*)?$"
)
"""Images without NVIDIA libraries; images built on others are unknown."""

CPU_BUILD = re.compile(r"=\s*(?:\*_)?(?:mkl|eigen|cpu)\w*")
"""Build strings of conda packages without CUDA."""

OF_NVIDIA = re.compile(r"nvidia|cuda|cudnn")
"""Parts of the names of packages, images and commands that install CUDA."""

SERVERS = frozenset("bottle django fastapi flask gradio gunicorn sanic streamlit tornado uvicorn waitress".split())
"""Packages that serve a model."""

OTHERS_ON_GPU = frozenset({"jax", "jaxlib", "flax", "torch"})
"""Packages that use the GPU, so TensorFlow may only read the data."""

PLUGIN = re.compile(r"tensorflow[-_]directml|tensorflow[-_]metal|intel[-_]extension[-_]for[-_]tensorflow", re.I)
"""Packages that add a device of their own to a TensorFlow without CUDA."""
