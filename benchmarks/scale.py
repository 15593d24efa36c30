"""Measures how time and memory grow with the number of files and with the length and depth of a program.

    python benchmarks/scale.py files [100 1000 10000]
    python benchmarks/scale.py empty [1000 10000 100000]
    python benchmarks/scale.py programs [--sizes 50 100 200 400]

``files`` generates trees. Each folder of fifty files has two training scripts, six modules of layers and forty-two
modules without Keras. ``empty`` generates empty files. There are four runs: without a cache, with an empty cache,
without changes, and with one changed file. The table lists the time, the time per file, the peak memory of the largest
process, and the size of the cache. ``programs`` generates programs of each form and doubles their size each time. The
exponent describes the growth of time with size; 1 is linear. Nothing is asserted; only figures of the same run are
comparable.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_LINT = ["-m", "kerascheck", "check", "--isolated", "--exit-zero", "--output-format", "concise", "."]
_PLAIN, _LAYERS, _FOLDER = 42, 6, 50

_PLAIN_MODULE = '''"""Part {number} of a program."""

import json
import os


class Part{number}:
    def __init__(self, folder, size={number}):
        self.folder, self.size = folder, size

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return json.load(file)

    def total(self, values):
        result = 0
        for value in values:
            if value > self.size:
                result += value
        return result
'''
_LAYER_MODULE = """import tensorflow as tf
from tensorflow import keras


class Block{number}(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(units, activation="relu")
        self.norm = keras.layers.BatchNormalization()

    def call(self, inputs, training=None):
        return self.norm(self.dense(inputs), training=training) + tf.reduce_mean(inputs)


def build(units):
    return keras.Sequential([Block{number}(units), keras.layers.Dense({number})])
"""
_TRAINING = """import tensorflow as tf
from tensorflow import keras

from .layers_{number} import build
from .part_{number} import Part{number}


def load(path):
    return tf.io.decode_jpeg(tf.io.read_file(path)), 0


def main():
    part = Part{number}("data")
    files = part.read("train.json")
    data = tf.data.Dataset.from_tensor_slices(files).map(load).shuffle(1000).batch(32)
    model = build({number} + 8)
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data, epochs=3)


if __name__ == "__main__":
    main()
"""


def write_tree(root: Path, files: int) -> None:
    """Write a tree of about ``files`` Python files."""
    for folder in range(max(1, files // _FOLDER)):
        package = root / f"package_{folder}"
        package.mkdir(parents=True)
        for number in range(_PLAIN):
            (package / f"part_{number}.py").write_text(_PLAIN_MODULE.format(number=number))
        for number in range(_LAYERS):
            (package / f"layers_{number}.py").write_text(_LAYER_MODULE.format(number=number))
        for number in range(_FOLDER - _PLAIN - _LAYERS):
            (package / f"train_{number}.py").write_text(_TRAINING.format(number=number))


def write_empty(root: Path, files: int) -> None:
    """Write ``files`` empty files, a hundred per folder."""
    for number in range(files):
        folder = root / f"package_{number // 100}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"part_{number}.py").touch()


def files(counts: list[int], write: Callable[[Path, int], None]) -> None:
    """Print the table of trees."""
    print(f"{'files':>8} {'run':>12} {'seconds':>9} {'ms per file':>12} {'MB of memory':>13} {'MB of cache':>12}")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / ".git").mkdir()
            write(root, count)
            for run in ("no cache", "cold", "warm", "one changed"):
                if run == "one changed":
                    next(root.glob("package_0/part_*.py")).write_text("import os\n")
                seconds, kilobytes = _measured(folder, ["--no-cache"] if run == "no cache" else [])
                kept = sum(each.stat().st_size for each in (root / ".kerascheck" / "cache").glob("*"))
                print(
                    f"{count:8} {run:>12} {seconds:9.2f} {1000 * seconds / count:12.2f} {kilobytes / 1024:13.0f} {kept / 2**20:12.1f}",
                    flush=True,
                )


def _measured(folder: str, options: list[str]) -> tuple[float, int]:
    """Run time in seconds, and peak memory of the largest process in kilobytes."""
    # A separate process, because the system reports the peak memory over all ended children.
    measure = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
    measure += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    command = [sys.executable, "-c", measure, sys.executable, *_LINT[:-1], *options, "."]
    started = time.perf_counter()
    output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return time.perf_counter() - started, int(output)


_HEADER = "import tensorflow as tf\nfrom tensorflow import keras\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
_FIT = "model.compile('adam', 'mse')\nmodel.fit(ds)\n"
_SOURCE = "ds = tf.data.Dataset.from_tensor_slices(load())\n"


def _nested(header: Callable[[int], str], size: int, depth: int = 80) -> str:
    """``size`` compound statements, nested up to ``depth``, which Python still accepts."""
    lines = []
    for number in range(size):
        lines.append("    " * (number % depth) + header(number))
        if number % depth == depth - 1 or number == size - 1:
            lines.append("    " * (number % depth + 1) + "model.fit(ds)")
    return "\n".join(lines) + "\n"


def _calls_twice(size: int) -> str:
    functions = [f"def f{n}(x):\n    return f{n + 1}(x) + f{n + 1}(x)\n" for n in range(size)]
    return "".join(functions) + f"def f{size}(x):\n    return model.predict(x)\nf0(load())\n"


_PROGRAMS: dict[str, Callable[[int], str]] = {
    "statements in a row": lambda n: "".join(f"a{i} = tf.reduce_mean(a{i - 1})\n" for i in range(1, 10 * n)),
    "operations in a chain": lambda n: _SOURCE + f"ds = ds{'.map(load).batch(8)' * n}\n" + _FIT,
    "operations by reassignment": lambda n: _SOURCE + "ds = ds.map(load)\n" * n + _FIT,
    "nested conditions": lambda n: _SOURCE + _nested(lambda i: f"if c{i}:", n),
    "nested loops": lambda n: _SOURCE + _nested(lambda i: f"for i{i} in range({i}):", n),
    "conditions in a row": lambda n: _SOURCE + "".join(f"if c{i}:\n    ds = ds.map(f{i})\n" for i in range(n)) + _FIT,
    "elif": lambda n: "if a:\n    x = 0\n" + "".join(f"elif a{i}:\n    x = {i}\n" for i in range(n)) + "model.fit(x)\n",
    "functions that call the next twice": _calls_twice,
    "callers of one function": lambda n: (
        "def f(x):\n    return model.predict(x)\n"
        + "".join(f"def g{i}(x):\n    return f(x)\ng{i}(1)\n" for i in range(n))
    ),
    "layers": lambda n: f"big = keras.Sequential([{'keras.layers.Dense(8), ' * n}])\nbig.compile('adam')\nbig.fit(x)\n",
    "classes, each of the one before": lambda n: (
        "class C0(keras.layers.Layer):\n    def call(self, x):\n        return x\n"
        + "".join(
            f"class C{i}(C{i - 1}):\n    def more{i}(self, x):\n        return self.call(x)\n" for i in range(1, n)
        )
    ),
    "steps with a tape": lambda n: "".join(
        f"def step{i}(x):\n    with tf.GradientTape() as tape:\n        loss = model(x)\n    tape.gradient(loss, w)\n"
        f"for x in ds:\n    step{i}(x)\n"
        for i in range(n)
    ),
}


def programs(sizes: list[int]) -> None:
    """Print the table of programs."""
    print(f"{'program':36} " + " ".join(f"{f'{size}: ms':>10}" for size in sizes) + "   exponents")
    with tempfile.TemporaryDirectory() as folder:
        for name, write in _PROGRAMS.items():
            times = []
            for size in sizes:
                path = Path(folder) / "program.py"
                path.write_text(_HEADER + write(size))
                times.append(min(_processor_seconds(path) for _ in range(2)))
            # Baseline of every run, without the program.
            path.write_text(_HEADER + _FIT)
            start = _processor_seconds(path)
            own = [max(each - start, 1e-3) for each in times]
            exponents = [
                math.log(b / a) / math.log(n / m) for a, b, m, n in zip(own, own[1:], sizes, sizes[1:]) if b > 0.02
            ]
            shown = ", ".join(f"{each:.1f}" for each in exponents)
            print(f"{name:36} " + " ".join(f"{1000 * each:10.0f}" for each in own) + f"   {shown}", flush=True)


def _processor_seconds(path: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *_LINT[:-1], "--no-cache", str(path)], stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("files").add_argument("counts", type=int, nargs="*", default=[100, 1000, 10_000])
    commands.add_parser("empty").add_argument("counts", type=int, nargs="*", default=[1000, 10_000, 100_000])
    commands.add_parser("programs").add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 400])
    arguments = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")
    if arguments.command == "programs":
        programs(arguments.sizes)
    else:
        files(arguments.counts, write_tree if arguments.command == "files" else write_empty)


if __name__ == "__main__":
    main()
