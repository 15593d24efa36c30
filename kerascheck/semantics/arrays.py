"""NumPy arrays and the files behind them: what reads them, without a dataset of tf.data."""

from __future__ import annotations

from collections.abc import Iterator

from kerascheck.semantics.values import Call, Group, Iteration, Made, Mapping, Method, Value, options_of

IMAGE_READERS = frozenset(
    {
        "cv2.imread", "PIL.Image.open", "keras.utils.load_img", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread",
        "skimage.io.imread", "tifffile.imread", "matplotlib.image.imread", "matplotlib.pyplot.imread", "scipy.misc.imread",
    }
)
"""Functions that read and decode one image file. All of them leave Python's lock while they wait and decode."""

_FILE_READERS = IMAGE_READERS | {"numpy.load", "numpy.fromfile", "tensorflow.io.read_file", "soundfile.read", "nibabel.load"}
_REMOTE = frozenset(
    {
        "urllib.request.urlopen", "requests.get", "requests.post", "requests.Session.get", "requests.Session.post", "httpx.get", "time.sleep",
        "boto3.client.get_object", "google.cloud.storage.Blob.download_as_bytes",
    }
)


def reads_file(call: Call) -> bool:
    """Whether a call reads a file, and decodes it, without holding Python's lock.

    What parses or computes in Python is not one of them: other threads do not run beside it.
    """
    return call.name in _FILE_READERS


def waits(call: Call) -> bool:
    """Whether a call waits for a network or a clock, while other threads run."""
    return call.name in _REMOTE


def ingredients(value: Value | None, depth: int = 12) -> Iterator[Value]:
    """A value and everything that it was computed from: arguments of the functions that made it, operands, items."""
    seen: set[int] = set()
    pending = [(option, depth) for option in options_of(value)]
    while pending:
        current, left = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if left:
            pending += [(option, left - 1) for inner in _parts(current) for option in options_of(inner)]


def _parts(value: Value) -> list[Value]:
    if isinstance(value, Method):
        return [value.receiver]
    if isinstance(value, Group):
        return value.items
    if isinstance(value, Mapping):
        return list(value.items.values())
    if isinstance(value, Iteration):
        return value.over
    if isinstance(value, Made):
        made = [*value.call.arguments.values(), value.call.receiver] if value.call is not None else []
        return [*value.attributes.values(), *made]
    return []
