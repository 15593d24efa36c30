"""What is known of Python's own functions and of libraries beside TensorFlow and Keras."""

from __future__ import annotations

import builtins
import re
from functools import cache

from kerascheck.knowledge.callables import GFILE_LISTS, LOAD_IMG, TENSOR_LIBRARIES, having
from kerascheck.knowledge.namespaces import KERAS, TENSORFLOW, TENSORFLOW_DATASETS
from kerascheck.knowledge.symbols import Trait

# The last two are put there when Python starts.
BUILTINS = frozenset({*dir(builtins), "exit", "quit"})

ENDS_THE_PROGRAM = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})

# What a decorator makes of a method.
METHOD_KINDS = {
    "builtins.staticmethod": "staticmethod",
    "builtins.classmethod": "classmethod",
    "builtins.property": "property",
    "functools.cached_property": "property",
    "abc.abstractproperty": "property",
}

# Methods that change the list, set, dictionary, queue or file they belong to.
MUTATING_METHODS = frozenset(
    "append appendleft extend extendleft insert add remove discard pop popleft popitem clear update setdefault sort reverse put put_nowait write writelines writerow".split()
)


@cache
def changes_elsewhere(name: str) -> bool:
    """Whether a function is named like a method that changes what it belongs to, as ``wandb.config.update``."""
    changes = name.count(".") > 1 and name.rpartition(".")[2] in MUTATING_METHODS
    return changes and not name.startswith((*TENSOR_LIBRARIES, "numpy."))


# Readings of a clock.
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

# What gives a text, and what gives texts one by one: lists of them, the lines of a file, the letters of a text.
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

# Methods of arrays, and of tables and their columns, that make a list of what Python has for their items: numbers, texts or lists of these.
LISTING_METHODS = frozenset({"tolist", "to_list"})


def item_of(name: str) -> str | None:
    """What the items of a list are that a function or method of this name gives: "builtins.str", "builtins.object" for one kind or another; None for no such list."""
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
"""What goes through every combination of the items of several lists."""

SPLITTERS = {
    f"sklearn.model_selection.{name}": folds
    for name, folds in {
        "KFold": 5, "StratifiedKFold": 5, "GroupKFold": 5, "StratifiedGroupKFold": 5, "TimeSeriesSplit": 5,
        "ShuffleSplit": 10, "StratifiedShuffleSplit": 10, "GroupShuffleSplit": 5,
    }.items()
}  # fmt: skip
"""What cuts data into folds, with the default of ``n_splits``: how many pairs ``split`` gives. Source: documentation of scikit-learn 1.5."""

_IMAGE_READERS = frozenset(
    {
        "cv2.imread", "PIL.Image.open", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread", "tifffile.imread",
        "matplotlib.image.imread", "matplotlib.pyplot.imread", "scipy.misc.imread",
    }
)  # fmt: skip
IMAGE_READERS = _IMAGE_READERS | {LOAD_IMG}
"""Functions that read and decode one image file. All of them leave Python's lock while they wait and decode."""

FILE_READERS = (
    IMAGE_READERS
    | having(Trait.READS_FILE)
    | {"numpy.load", "numpy.fromfile", "soundfile.read", "scipy.io.wavfile.read", "nibabel.load"}
)
"""Functions that read a file, and decode it, without holding Python's lock."""

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
"""Functions that wait for a network or a clock, while other threads run."""

# What reads a file and takes it apart in Python, or holds its lock; FILE_READERS has the others.
FILE_OPENERS = frozenset(
    {
        "cv2.VideoCapture", "librosa.load", "scipy.io.loadmat", "pydicom.dcmread", "pydicom.read_file", "SimpleITK.ReadImage", "rasterio.open",
        "h5py.File", "pickle.load", "joblib.load", "pandas.read_csv", "pandas.read_parquet", "pandas.read_pickle", "wave.open", "pathlib.Path.read_bytes",
        "pathlib.Path.read_text",
    }
)  # fmt: skip

# Libraries whose functions give the same for the same file or array, and methods of texts, files, paths and arrays.
SAME_EACH_TIME = (
    TENSORFLOW, TENSORFLOW_DATASETS, KERAS, "builtins.", "numpy.", "math.", "json.", "csv.", "re.", "string.", "unicodedata.", "os.path.",
    "cv2.", "PIL.Image", "imageio.", "skimage.", "scipy.", "librosa.", "nltk.", "sentencepiece.", "soundfile.", "wave.", "nibabel.", "pydicom.", "SimpleITK.",
    "rasterio.", "tifffile.", "h5py.", "pickle.", "joblib.load", "pandas.", "pathlib.", "struct.", "gzip.", "io.",
)  # fmt: skip

# Functions of these libraries that draw: of TensorFlow and Keras, the state tells.
DRAWS = re.compile(r"(?!tensorflow|keras).*(?:rand|shuffle|permut|rvs|\b(?:sample|choice)s?\b)", re.I)

# Decorators that keep what a function returns.
KEEPERS = frozenset({"cache", "lru_cache", "memoize"})

# Methods that give the same for the same text, file or array.
OF_VALUES = frozenset(
    "astype copy decode encode item lower numpy read readline readlines replace reshape split splitlines strip tolist transpose".split()
)
