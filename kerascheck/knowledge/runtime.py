"""Automatic behaviour of TensorFlow and Keras by version, with sources.

Rules query this model instead of assuming that a famous mistake costs time: tf.data rewrites pipelines when they are iterated, and
several utilities prefetch by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kerascheck.knowledge.datasets import AUTOTUNE, EXPERIMENTAL_AUTOTUNE
from kerascheck.knowledge.devices import (
    EXPERIMENTAL_GET_VISIBLE_DEVICES,
    EXPERIMENTAL_LIST_LOGICAL_DEVICES,
    EXPERIMENTAL_LIST_PHYSICAL_DEVICES,
    EXPERIMENTAL_RUN_FUNCTIONS_EAGERLY,
    EXPERIMENTAL_SET_VISIBLE_DEVICES,
    GET_VISIBLE_DEVICES,
    LIST_LOGICAL_DEVICES,
    LIST_PHYSICAL_DEVICES,
    LOGICAL_DEVICE_CONFIGURATION,
    RUN_FUNCTIONS_EAGERLY,
    SET_GLOBAL_POLICY,
    SET_LOGICAL_DEVICE_CONFIGURATION,
    SET_VIRTUAL_DEVICE_CONFIGURATION,
    SET_VISIBLE_DEVICES,
    VIRTUAL_DEVICE_CONFIGURATION,
)
from kerascheck.knowledge.layers import PACKAGE
from kerascheck.knowledge.namespaces import KERAS
from kerascheck.knowledge.signatures import Signature, signature_of

NEWEST_TENSORFLOW = (2, 21)

TENSORFLOW_RELEASES = (*((1, minor) for minor in range(16)), *((2, minor) for minor in range(NEWEST_TENSORFLOW[1] + 1)))
KERAS_RELEASES = (
    *((1, minor) for minor in range(3)),
    *((2, minor) for minor in range(16)),
    *((3, minor) for minor in range(16)),
)

LAST_FOR_PYTHON = {(2, 7): (2, 1), (3, 5): (2, 3), (3, 6): (2, 6), (3, 7): (2, 11), (3, 8): (2, 13), (3, 9): (2, 20)}
"""The last TensorFlow with wheels for a version of Python (wheels of the package index, for Linux)."""
_PYTHON_RELEASES = (*LAST_FOR_PYTHON, *((3, minor) for minor in range(10, 15)))

LAST_FOR_NUMPY = {(1, 22): (2, 11), (1, 23): (2, 13), (1, 26): (2, 17)}
"""The last TensorFlow that accepts a NumPy older than this (``Requires-Dist`` of tensorflow-cpu 2.12 to 2.20)."""
_NUMPY_RELEASES = (*((1, minor) for minor in range(7, 27)), *((2, minor) for minor in range(5)))

KERAS_3_SINCE = (2, 16)
"""``tf.keras`` is Keras 3 from TensorFlow 2.16 on (release notes)."""

MAP_PARALLELIZATION_SINCE = (2, 6)
"""The release in which ``map_parallelization`` became a default rewrite.

tensorflow/python/data/ops/options.py: False in 2.5.3, True in 2.6.5.
"""

INJECT_PREFETCH_SINCE = (2, 11)
"""The release in which ``inject_prefetch`` became a default rewrite.

API documentation of 2.10 says False; options.py of 2.11.1 says True.
"""

CUDNN_SINCE: dict[str, dict[str, tuple[int, int] | None]] = {
    # keras/src/backend/*/rnn.py in the tags of the repository: on JAX, lax.scan runs every GRU, and raises nothing (3.14 to 3.15).
    "tensorflow": {"LSTM": None, "GRU": None},
    "jax": {"LSTM": (3, 14)},
    "torch": {"LSTM": (3, 10), "GRU": (3, 14)},
}
"""The recurrent layers with a cuDNN kernel on each backend, with the first Keras that uses it there.

None as release: every Keras.
"""

MULTI_GPU_MODEL = "keras.utils.multi_gpu_model"
"""A function of TensorFlow up to 2.3 that copies a model to several GPUs; the copies share its weights."""

REMOVED: dict[str, str | None] = {
    # Tested with TensorFlow 2.21 and Keras 3.15: each of these raises AttributeError.
    "tensorflow.Session": "tf.function",
    "tensorflow.ConfigProto": "tf.config",
    "tensorflow.GPUOptions": "tf.config.experimental.set_memory_growth",
    MULTI_GPU_MODEL: "tf.distribute.MirroredStrategy",
    "keras.layers.CuDNNLSTM": "keras.layers.LSTM",
    "keras.layers.CuDNNGRU": "keras.layers.GRU",
    "keras.backend.set_session": None,
    "keras.backend.get_session": None,
    "keras.mixed_precision.experimental.set_policy": SET_GLOBAL_POLICY,
    "tensorflow.data.Dataset.make_one_shot_iterator": "iter",
    "tensorflow.data.make_one_shot_iterator": "iter",
    "tensorflow.distribute.Strategy.experimental_run_v2": "Strategy.run",
}
"""Names that TensorFlow or Keras removed, with their replacements."""

REMOVED_NAMESPACES: dict[str, str | None] = {
    # Tested like REMOVED. Members have the same name in the replacement namespace.
    "tensorflow.contrib": None,
    "keras.mixed_precision.experimental": "keras.mixed_precision",
    "keras.layers.experimental.preprocessing": PACKAGE,
    "keras.backend.tensorflow_backend": None,
    "keras.wrappers.scikit_learn": None,
}

GONE_SINCE: dict[str, tuple[int, int]] = {
    "keras.mixed_precision.experimental": (2, 9),
    "keras.wrappers.scikit_learn": (2, 13),
}
"""Namespaces of REMOVED_NAMESPACES with the first TensorFlow 2 without them. Source: the wheels of Keras 2.8 to 2.15."""

VARIABLE_ACCESS = frozenset({"keras.backend.set_value", "keras.backend.get_value"})
"""Functions of Keras 2 that read and write variables, such as the learning rate."""

OLD_NAMESPACES: dict[str, tuple[int, int]] = {"keras.mixed_precision.experimental": (2, 4)}
"""Namespaces of REMOVED_NAMESPACES that were deprecated before removal.

Each with the release whose notes (RELEASE.md) name the new one.
"""

NEWEST_BESIDE = {
    "tensorflow_addons": ("tensorflow", "<2.16"),
    "keras_contrib": ("keras", "<2.4"),
    "bert4keras": ("keras", "<=2.3.1"),
}
"""Modules that work only with older versions of a package, with the package and its versions.

TensorFlow Addons 0.23, the last release, fails to import with Keras 3. keras_contrib extends the Keras with several
backends; its CRF uses ``backend.slice``, which tf.keras lacks (keras-contrib issue 559). bert4keras requires its version
in its setup.py.
"""

ONLY_TENSORFLOW_1 = (
    "app", "flags", "gfile", "layers", "logging", "python_io",
    "assign", "assign_add", "assign_sub", "div", "log", "Print", "random_normal", "random_uniform", "set_random_seed",
    "sparse_tensor_to_dense", "to_double", "to_float", "to_int32", "to_int64",
    "AUTO_REUSE", "FixedLenFeature", "VarLenFeature", "ceil", "count_nonzero", "decode_csv", "decode_raw", "get_variable", "is_nan", "lin_space", "parse_example",
    "parse_single_example", "random_crop", "random_shuffle", "read_file", "string_split", "string_to_number", "truncated_normal", "variable_scope",
    "GraphOptions", "OptimizerOptions", "RunMetadata", "RunOptions", "Summary", "get_default_graph", "get_default_session",
)  # fmt: skip
"""Namespaces and functions of TensorFlow 1 that other versions lack (tested like REMOVED).

Names in REMOVED are no hint at the version, but reported.
"""

DEPRECATED: dict[str, str | None] = {
    # Tested with TensorFlow 2.21: these exist, and those with a replacement are the same object under it, except
    # experimental_run_functions_eagerly, which does what run_functions_eagerly does (eager_function_run.py).
    EXPERIMENTAL_AUTOTUNE: AUTOTUNE,
    EXPERIMENTAL_LIST_PHYSICAL_DEVICES: LIST_PHYSICAL_DEVICES,
    EXPERIMENTAL_LIST_LOGICAL_DEVICES: LIST_LOGICAL_DEVICES,
    EXPERIMENTAL_SET_VISIBLE_DEVICES: SET_VISIBLE_DEVICES,
    EXPERIMENTAL_GET_VISIBLE_DEVICES: GET_VISIBLE_DEVICES,
    VIRTUAL_DEVICE_CONFIGURATION: LOGICAL_DEVICE_CONFIGURATION,
    SET_VIRTUAL_DEVICE_CONFIGURATION: SET_LOGICAL_DEVICE_CONFIGURATION,
    EXPERIMENTAL_RUN_FUNCTIONS_EAGERLY: RUN_FUNCTIONS_EAGERLY,
    "tensorflow.data.experimental.map_and_batch": None,
    "tensorflow.data.experimental.parallel_interleave": None,
    "tensorflow.data.experimental.shuffle_and_repeat": None,
    "tensorflow.data.experimental.unbatch": None,
}
"""Names that still exist, with the current name; None if more than the name changes."""

ONE_OBJECT = frozenset(
    name for name, new in DEPRECATED.items() if new is not None and name != EXPERIMENTAL_RUN_FUNCTIONS_EAGERLY
)
"""Names of DEPRECATED that are the very object of their new name (tests/knowledge/test_runtime.py compares them)."""

NEW_NAMES_SINCE = (2, 4)
"""The first release with all current names of DEPRECATED. Source: its API documentation; AUTOTUNE came last."""
# The list of names in the API documentation of 2.1.
_DEVICES_NAMED_SINCE = (2, 1)


@dataclass(frozen=True, slots=True)
class Runtime:
    """The versions for which a module is analysed.

    Attributes:
        tensorflow: (major, minor).
        keras: major version of Keras, 2 or 3.
        backend: "tensorflow", "jax" or "torch".
        multi_backend_keras: Keras before 2.4, a separate package whose ``fit`` and ``predict`` loop over NumPy arrays.
        newest_keras: (major, minor) of the newest Keras that the requirements allow.
    """

    tensorflow: tuple[int, int] = NEWEST_TENSORFLOW
    keras: int = 3
    backend: str = "tensorflow"
    multi_backend_keras: bool = False
    newest_keras: tuple[int, int] = KERAS_RELEASES[-1]

    @property
    def cudnn_layers(self) -> frozenset[str]:
        """The recurrent layers that the backend runs with cuDNN if their arguments allow it. See :data:`CUDNN_SINCE`."""
        layers = CUDNN_SINCE[self.backend]
        return frozenset(
            layer for layer, since in layers.items() if since is None or self.keras >= 3 and self.newest_keras >= since
        )

    @property
    def autotune(self) -> str:
        """The name of AUTOTUNE in this version (``tf.data.AUTOTUNE`` since 2.4, release notes)."""
        return "tf.data.AUTOTUNE" if self.tensorflow >= (2, 4) else "tf.data.experimental.AUTOTUNE"

    @property
    def builds_graphs(self) -> bool:
        """Whether code runs once, to build a graph: in TensorFlow 1, or in Keras as a separate package."""
        return self.multi_backend_keras or self.tensorflow < (2, 0)

    @property
    def tensorflow_version(self) -> str:
        return ".".join(map(str, self.tensorflow))

    @property
    def keras_release(self) -> tuple[int, int]:
        """(major, minor) of the Keras with the relevant interface, if the versions tell.

        ``tf.keras`` 2 has the version of its TensorFlow.
        """
        if self.keras >= 3:
            return self.keras, 0
        return (1, 0) if self.multi_backend_keras else self.tensorflow

    def signature_of(self, name: str | None, attribute: str | None = None) -> Signature:
        """Return the signature of a callable in these versions, by its canonical name, or by that of a method.

        See :func:`~kerascheck.knowledge.signatures.signature_of`.
        """
        return signature_of(name, attribute, self.tensorflow, self.keras_release)

    @property
    def parallelizes_stateless_maps(self) -> bool:
        """Whether iteration parallelises a ``map`` without ``num_parallel_calls`` over a stateless function."""
        return self.tensorflow >= MAP_PARALLELIZATION_SINCE

    @property
    def injects_prefetch(self) -> bool:
        """Whether a ``prefetch`` is appended after a synchronous last operation."""
        return self.tensorflow >= INJECT_PREFETCH_SINCE

    def lacks(self, name: str) -> bool:
        """Whether it certainly lacks a name in REMOVED, or has the new name in DEPRECATED.

        Where the release that removed a name is unknown, the name is not missing before Keras 3, nor one of Keras's own in Keras 2. The new
        names all exist from :data:`NEW_NAMES_SINCE` on, those of the devices from 2.1, and the methods of datasets from 2.0.
        """
        if name in DEPRECATED and DEPRECATED[name] is None:
            return self.tensorflow >= (2, 0)
        if name in DEPRECATED:
            return self.tensorflow >= (
                _DEVICES_NAMED_SINCE if name.startswith("tensorflow.config.experimental.") else NEW_NAMES_SINCE
            )
        since = next((date for namespace, date in GONE_SINCE.items() if f"{name}.".startswith(f"{namespace}.")), None)
        if since is not None and self.tensorflow >= since:
            return True
        return self.tensorflow >= KERAS_3_SINCE and (self.keras >= 3 or not name.startswith(KERAS))


TENSORFLOW_MONTHS = {
    (2, 0): (2019, 9), (2, 1): (2020, 1), (2, 2): (2020, 5), (2, 3): (2020, 7), (2, 4): (2020, 12), (2, 5): (2021, 5),
    (2, 6): (2021, 8), (2, 7): (2021, 11), (2, 8): (2022, 2), (2, 9): (2022, 5), (2, 10): (2022, 9), (2, 11): (2022, 11),
    (2, 12): (2023, 3), (2, 13): (2023, 7), (2, 14): (2023, 9), (2, 15): (2023, 11), (2, 16): (2024, 3), (2, 17): (2024, 7),
    (2, 18): (2024, 10), (2, 19): (2025, 3), (2, 20): (2025, 8), (2, 21): (2026, 3),
}  # fmt: skip
"""Year and month in which a release of TensorFlow was uploaded. Source: the package index; 2.16 began with 2.16.1."""


def released_from(year: int, month: int) -> tuple[int, int] | None:
    """The first release of TensorFlow in a month or later: what was made that month has an older one. None: there is none."""
    return min((release for release, date in TENSORFLOW_MONTHS.items() if date >= (year, month)), default=None)


def newest_allowed(specifier: str, releases: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
    """Return the newest of ``releases`` that a PEP 440 specifier such as ">=2.8,<2.11" allows; None if none.

    Releases are (major, minor).
    """
    return _first_allowed(specifier, releases[::-1])


def oldest_allowed(specifier: str, releases: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
    """Return the oldest of them; see :func:`newest_allowed`."""
    return _first_allowed(specifier, releases)


LONG_NUMBER = re.compile(r"\d{200,}")
"""Never part of a version; Python rejects numbers of more than 4,300 digits."""


def _first_allowed(specifier: str, releases: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
    if LONG_NUMBER.search(specifier):
        return None
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        wanted = SpecifierSet(specifier)
    except InvalidSpecifier:
        return None
    if len(wanted) == 1 and (exact := re.match(r"={2,3}(\d+)\.(\d+)(?:\.|$)", specifier)):
        # Also a release candidate, which satisfies no release.
        wanted_release = int(exact[1]), int(exact[2])
        return wanted_release if wanted_release in releases else None
    for major, minor in releases:
        # Patch releases change nothing in this model, but an exact pin names one.
        if any(wanted.contains(f"{major}.{minor}.{patch}") for patch in range(6)):
            return major, minor
    return None


def newest_for_python(specifiers: Iterable[str]) -> tuple[int, int] | None:
    """Return the newest TensorFlow for the newest Python that some specifiers allow.

    None if that is unknown, or the newest of all.
    """
    allowed = [newest_allowed(specifier, _PYTHON_RELEASES) for specifier in specifiers]
    pythons = [python for python in allowed if python is not None]
    return LAST_FOR_PYTHON.get(max(pythons)) if pythons and len(pythons) == len(allowed) else None


def newest_for_numpy(specifiers: Iterable[str]) -> tuple[int, int] | None:
    """Return the newest TensorFlow for the newest NumPy that some specifiers allow.

    None if that is unknown, or the newest of all.
    """
    allowed = [newest_allowed(specifier, _NUMPY_RELEASES) for specifier in specifiers]
    newest = max((numpy for numpy in allowed if numpy is not None), default=None)
    if newest is None or None in allowed:
        return None
    return next((last for numpy, last in LAST_FOR_NUMPY.items() if newest < numpy), None)


def parse_version(text: str) -> tuple[int, int]:
    """("2.16.1") -> (2, 16); raises ValueError for anything that is no version."""
    match = re.fullmatch(r"\s*(\d+)\.(\d+)(?:\.\d+)*\s*", text)
    if match is None:
        raise ValueError(f"not a version: {text!r} (write it like 2.{NEWEST_TENSORFLOW[1]})")
    return int(match[1]), int(match[2])
