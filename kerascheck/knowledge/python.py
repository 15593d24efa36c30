"""Functions of Python and of libraries other than TensorFlow and Keras."""

from __future__ import annotations

import builtins
import re
from functools import cache

from kerascheck.knowledge.callables import GFILE_LISTS, LOAD_IMG, TENSOR_LIBRARIES, having
from kerascheck.knowledge.namespaces import KERAS, TENSORFLOW, TENSORFLOW_DATASETS
from kerascheck.knowledge.symbols import Trait

# The last two are added when Python starts.
BUILTINS = frozenset({*dir(builtins), "exit", "quit"})

COLLECT_GARBAGE = "gc.collect"
LENGTH = "builtins.len"

ENDS_THE_PROGRAM = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})

# Kinds of methods by decorator.
METHOD_KINDS = {
    "builtins.staticmethod": "staticmethod",
    "builtins.classmethod": "classmethod",
    "builtins.property": "property",
    "functools.cached_property": "property",
    "abc.abstractproperty": "property",
}

# Methods that mutate the list, set, dictionary or queue they belong to.
MUTATING_METHODS = frozenset(
    "append appendleft extend extendleft insert add remove discard pop popleft popitem clear update setdefault sort reverse put put_nowait write writelines writerow".split()
)

# Methods of records of settings (argparse, yacs, easydict, ml_collections) that change no setting.
READING_METHODS = frozenset(
    "get items keys values copy clone dump dumps to_dict to_json to_yaml as_dict freeze defrost lock unlock is_frozen is_locked".split()
)


@cache
def changes_elsewhere(name: str) -> bool:
    """Whether a function is named like a mutating method, such as ``wandb.config.update``."""
    changes = name.count(".") > 1 and name.rpartition(".")[2] in MUTATING_METHODS
    return changes and not name.startswith((*TENSOR_LIBRARIES, "numpy."))


# Clock functions.
CLOCKS = frozenset(
    {
        "time.time",
        "time.perf_counter",
        "time.monotonic",
        "time.process_time",
        "time.time_ns",
        "time.perf_counter_ns",
        "timeit.default_timer",
        "datetime.datetime.now",
        "datetime.now",
    }
)

# Functions that return a string, and iterables of strings: lists, the lines of a file, the characters of a string.
_TEXT_METHODS = "capitalize casefold center expandtabs format join ljust lower lstrip removeprefix removesuffix replace rjust rstrip strip swapcase title translate upper zfill"

TEXTS = frozenset(
    {
        "builtins.str", "builtins.repr", "builtins.input", "builtins.chr", "builtins.format", "builtins.open.read", "builtins.open.readline",
        "os.path.join", "os.path.basename", "os.path.dirname", "os.path.abspath", "os.path.normpath", "json.dumps",
    }
) | {f"builtins.str.{method}" for method in _TEXT_METHODS.split()}  # fmt: skip

LISTS_OF_TEXTS = frozenset(
    {
        "builtins.str", "builtins.str.split", "builtins.str.rsplit", "builtins.str.splitlines", "builtins.open", "builtins.open.readlines",
        "os.listdir", "glob.glob", "glob.iglob", *GFILE_LISTS,
    }
)  # fmt: skip

# Methods of arrays, tables and columns that return a list of Python objects: numbers, strings or nested lists.
LISTING_METHODS = frozenset({"tolist", "to_list"})


def item_of(name: str) -> str | None:
    """Return the item type of a list that a function or method returns.

    The result is "builtins.str", or "builtins.object" for mixed kinds; None if the function returns no such list.
    """
    return (
        "builtins.str"
        if name in LISTS_OF_TEXTS
        else "builtins.object"
        if name.rpartition(".")[2] in LISTING_METHODS
        else None
    )


PASS_THROUGH_ITERATORS = frozenset(
    {
        "tqdm.tqdm",
        "tqdm.auto.tqdm",
        "tqdm.notebook.tqdm",
        "tqdm.tqdm_notebook",
        "tqdm.autonotebook.tqdm",
        "tqdm.std.tqdm",
        "tqdm",
        "rich.progress.track",
        "alive_progress.alive_it",
        "fastprogress.progress_bar",
        "fastprogress.master_bar",
        "fastprogress.fastprogress.progress_bar",
        "fastprogress.fastprogress.master_bar",
        "progressbar.progressbar",
    }
)

GRIDS = frozenset({"itertools.product", "sklearn.model_selection.ParameterGrid"})
"""Functions that iterate over all combinations of several lists."""

SPLITTERS = {
    f"sklearn.model_selection.{name}": folds
    for name, folds in {
        "KFold": 5, "StratifiedKFold": 5, "GroupKFold": 5, "StratifiedGroupKFold": 5, "TimeSeriesSplit": 5,
        "ShuffleSplit": 10, "StratifiedShuffleSplit": 10, "GroupShuffleSplit": 5,
    }.items()
}  # fmt: skip
"""Splitters of data into folds, with the default of ``n_splits``: the number of pairs from ``split``.

Source: documentation of scikit-learn 1.5.
"""

_IMAGE_READERS = frozenset(
    {
        "cv2.imread", "PIL.Image.open", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread", "tifffile.imread",
        "matplotlib.image.imread", "matplotlib.pyplot.imread", "scipy.misc.imread",
    }
)  # fmt: skip
IMAGE_READERS = _IMAGE_READERS | {LOAD_IMG}
"""Functions that read and decode one image file. All release the GIL while they wait and decode."""

FILE_READERS = (
    IMAGE_READERS
    | having(Trait.READS_FILE)
    | {"numpy.load", "numpy.fromfile", "soundfile.read", "scipy.io.wavfile.read", "nibabel.load"}
)
"""Functions that read and decode a file without holding the GIL."""

WAITING = frozenset(
    {
        "urllib.request.urlopen",
        "requests.get",
        "requests.post",
        "requests.Session.get",
        "requests.Session.post",
        "httpx.get",
        "time.sleep",
        "boto3.client.get_object",
        "google.cloud.storage.Blob.download_as_bytes",
    }
)
"""Functions that wait for a network or a clock, without holding the GIL."""

# Functions that read a file and parse it in Python, or hold the GIL; FILE_READERS has the others.
FILE_OPENERS = frozenset(
    {
        "cv2.VideoCapture", "librosa.load", "scipy.io.loadmat", "pydicom.dcmread", "pydicom.read_file", "SimpleITK.ReadImage", "rasterio.open",
        "h5py.File", "pickle.load", "joblib.load", "pandas.read_csv", "pandas.read_parquet", "pandas.read_pickle", "wave.open", "pathlib.Path.read_bytes",
        "pathlib.Path.read_text",
    }
)  # fmt: skip

# Libraries with deterministic functions of a file or array, and methods of strings, files, paths and arrays.
SAME_EACH_TIME = (
    TENSORFLOW, TENSORFLOW_DATASETS, KERAS, "builtins.", "numpy.", "math.", "json.", "csv.", "re.", "string.", "unicodedata.", "os.path.",
    "cv2.", "PIL.Image", "imageio.", "skimage.", "scipy.", "librosa.", "nltk.", "sentencepiece.", "soundfile.", "wave.", "nibabel.", "pydicom.", "SimpleITK.",
    "rasterio.", "tifffile.", "h5py.", "pickle.", "joblib.load", "pandas.", "pathlib.", "struct.", "gzip.", "io.",
)  # fmt: skip

# Functions of these libraries that draw random numbers; for TensorFlow and Keras see State.
DRAWS = re.compile(r"(?!tensorflow|keras).*(?:rand|shuffle|permut|rvs|\b(?:sample|choice)s?\b)", re.I)

# Decorators that memoise a function.
KEEPERS = frozenset({"cache", "lru_cache", "memoize"})

# Deterministic methods of strings, files and arrays.
OF_VALUES = frozenset(
    "astype copy decode encode item lower numpy read readline readlines replace reshape split splitlines strip tolist transpose".split()
)
