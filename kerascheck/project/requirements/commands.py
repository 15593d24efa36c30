"""Install commands and base images of Dockerfiles, notebooks and shell scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Some images define a variable for the command with its options.
_INSTALL = re.compile(
    r"(?:\b(?:pip3?|uv|conda|mamba|micromamba)\s+(?:-\S+\s+)*(?:pip\s+)?(?:install|add|create)\b|\$\{?\w*(?:PIP|CONDA)_?INSTALL\w*\}?)(?P<words>(?:[^\r\n;&|#\\]|\\r?\n|\.)*)"
)
_WORD = re.compile(r"[^\s\"'\\]+")
# The images of TensorFlow, and third-party images named after its packages or Keras, with a version.
LIBRARY_IMAGE = re.compile(
    r"/?(?:[\w.-]+/)*(?:tensorflow(?:-gpu|-cpu)?|(?P<package>keras)):(?P<version>[123]\.\d+(?:\.\d+)?)(?:$|-)"
)
# Images until 2019, and later ones tagged tf1, have TensorFlow 1 (release notes of the images). Tags name year and month.
NVIDIA_IMAGE = re.compile(r"nvcr\.io/nvidia/tensorflow:(?P<year>\d\d)\.(?P<month>\d\d)(?:-tf(?P<version>\d))?")
# The deep learning images of AWS, "tensorflow-training:2.7.1-gpu-py38", and of Google, "tf2-gpu.2-6" and "tf-gpu.2-8".
CLOUD_IMAGE = re.compile(
    r"(?:[\w.-]+/)+(?:tensorflow-(?:training|inference):(?P<version>[12]\.\d+)(?=[.-])"
    r"|tf2?-(?:gpu|cpu)\.(?P<major>[12])-(?P<minor>\d+))"
)
_PYTHON_IMAGE = re.compile(r"(?:docker\.io/)?(?:library/)?python:(?P<version>\d+\.\d+)(?![\d])")
FROM_IMAGE = re.compile(r"(?mi)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)")
_ARGUMENT = re.compile(r"(?mi)^[ \t]*ARG[ \t]+(?P<name>\w+)=[\"']?(?P<default>[^\s\"']*)")
_USED = re.compile(r"\$(?:(?P<bare>\w+)|\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\})")


def base_images(text: str) -> Iterator[str]:
    """The base images of a Dockerfile; build arguments have their defaults."""
    defaults = {match["name"]: match["default"] for match in _ARGUMENT.finditer(text)}
    for image in FROM_IMAGE.finditer(text):
        yield _USED.sub(
            lambda used: defaults.get(used["bare"] or used["name"]) or used["default"] or used[0], image["image"]
        )


def pythons(text: str) -> Iterator[str]:
    """The versions of the official Python images that a Dockerfile starts from."""
    for image in base_images(text):
        if match := _PYTHON_IMAGE.match(image):
            yield match["version"]


def installs(text: str) -> Iterator[tuple[int, int, str, str]]:
    """The ranges of installed packages in shell commands: start, end, "pip" or "conda", and an empty group."""
    commented = [match.span() for match in re.finditer(r"(?m)^[ \t]*#[^\r\n]*", text)]
    for install in _INSTALL.finditer(text):
        by = "conda" if re.match(r"[$\w{]*(?:conda|mamba)", install[0], re.I) else "pip"
        for word in _WORD.finditer(text, install.start("words"), install.end("words")):
            if word[0][0].isalpha() and not any(start <= word.start() < end for start, end in commented):
                yield word.start(), word.end(), by, ""
