"""Mutates the rules' programs at random, and checks invariants of kerascheck on each.

    python benchmarks/fuzz.py [--minutes 2] [--seed 0] [--jobs 1] [--keep FOLDER]
    python benchmarks/fuzz.py --seed 0 --programs 17-17    # repeat one program

For every program, the exit code is 0, 1 or 2, and 2 only if Python rejects the text. There is no traceback and no
KC998, and each command takes at most 20 s of processor time and 600 MB. With --fix, also with --unsafe-fixes, the
result compiles if the program did, and a second run changes nothing. The last newline, the line endings, the byte
order mark and the lines outside of all edits stay. No error appears, and every finding that is reported as fixed is
gone. After --add-noqa no finding is left, and Python parses the same program.

Each batch runs in a separate process: a crash or a hang ends the batch and names the program. A fault is one line
with the seed and the number of the program. ``--keep`` writes the program, minimised to the fault. The exit code is 1
if there is one.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
_SECONDS = 20  # processor time per command
_MEGABYTES = 600  # peak memory growth per command
_BACKSTOP = 6 << 30  # bytes of address space per process
_BATCH = 20  # programs per process
_SHRINKING_SECONDS = 40
_MOST_MUTATIONS = 6
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Program:
    """One file: its name and its bytes."""

    name: str
    data: bytes


# --- Programs to mutate


@cache
def corpus() -> tuple[str, ...]:
    """The programs of all rules."""
    from cases import read_cases
    from marks import unmarked

    texts = [path.read_text("utf-8") for path in sorted(ROOT.glob("rules/*/*/*.py")) if path.name != "rule.py"]
    for path in sorted(ROOT.glob("rules/*/*/cases.md")):
        for case in read_cases(path):
            texts += [text for each in case.programs for name, text in each.files.items() if name.endswith(".py")]
    return tuple(map(unmarked, texts))


# --- Mutations: each takes a random number generator and a text, and returns another text

_Mutation = Callable[[random.Random, str], str]
_MUTATIONS: list[_Mutation] = []


def _mutation(function: _Mutation) -> _Mutation:
    _MUTATIONS.append(function)
    return function


def _tree(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _blocks(text: str) -> list[list[ast.stmt]]:
    tree = _tree(text)
    if tree is None:
        return []
    found = [getattr(node, name, None) for node in ast.walk(tree) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list) and block]


def _span(statements: list[ast.stmt]) -> tuple[int, int]:
    """Line range of neighbouring statements, from 0, end exclusive."""
    first = min([statements[0].lineno, *(each.lineno for each in getattr(statements[0], "decorator_list", ()))])
    return first - 1, statements[-1].end_lineno or first


def _lines(text: str) -> list[str]:
    return text.split("\n")


def _some(rng: random.Random, text: str) -> tuple[list[str], int, int]:
    """Lines of a text, and the range of some neighbouring statements, or of any lines if it does not parse."""
    lines, blocks = _lines(text), _blocks(text)
    if not blocks:
        start = rng.randrange(len(lines))
        return lines, start, min(start + rng.randint(1, 5), len(lines))
    block = rng.choice(blocks)
    start = rng.randrange(len(block))
    return lines, *_span(block[start : start + rng.choice((1, 1, 2, 5))])


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indented(lines: list[str], indentation: str) -> list[str]:
    return [indentation + line if line.strip() else line for line in lines]


@_mutation
def _delete(rng: random.Random, text: str) -> str:
    lines, start, end = _some(rng, text)
    return "\n".join(lines[:start] + lines[end:])


@_mutation
def _duplicate(rng: random.Random, text: str) -> str:
    lines, start, end = _some(rng, text)
    return "\n".join(lines[:end] + lines[start:end] * rng.choice((1, 1, 3)) + lines[end:])


@_mutation
def _swap(rng: random.Random, text: str) -> str:
    blocks = [block for block in _blocks(text) if len(block) > 1]
    if not blocks:
        return text
    block, lines = rng.choice(blocks), _lines(text)
    number = rng.randrange(len(block) - 1)
    (start, middle), (second, end) = _span(block[number : number + 1]), _span(block[number + 1 : number + 2])
    return "\n".join(lines[:start] + lines[second:end] + lines[middle:second] + lines[start:middle] + lines[end:])


@_mutation
def _one_line(rng: random.Random, text: str) -> str:
    """Join two statements on one line."""
    lines, start, end = _some(rng, text)
    following = lines[end].lstrip() if end < len(lines) else "pass"
    return "\n".join([*lines[: end - 1], f"{lines[end - 1]}; {following}", *lines[end + 1 :]])


_HEADS = (
    "def main():", "class Main:", "async def main():", "if flag:", "if __name__ == '__main__':", "else_ = 0\nwhile True:",
    "for i in range(3):", "for i, (a, *b) in enumerate(rows):", "with open('x') as f:", "with strategy.scope():",
    "try:", "match flag:\n    case [first, *rest] if first:", "@tf.function\ndef step(x=1):", "if (n := 3):",
    "with tf.device('/GPU:0'), strategy.scope():", "class Model(keras.Model):\n    def call(self, x, training=None):",
)  # fmt: skip
_TAILS = {"try:": ("except Exception:", "finally:", "except* ValueError:")}


@_mutation
def _wrap(rng: random.Random, text: str) -> str:
    lines, start, end = (_lines(text), 0, len(_lines(text))) if rng.random() < 0.3 else _some(rng, text)
    indentation, head = _indentation(lines[start]) if start < len(lines) else "", rng.choice(_HEADS)
    *_, last = head.split("\n")
    deep = "    " * rng.choice((1, 1, 1, 2)) if last == head else "    " + _indentation(last) or "    "
    tail = [f"{rng.choice(_TAILS[head])}", "    pass"] if head in _TAILS else []
    if head.startswith(("def main", "class Main")) and rng.random() < 0.7:
        tail = ["", f"{'main' if 'def' in head else 'Main'}()"]
    inner = [line if line.strip() == "" else deep + line for line in lines[start:end]]
    return "\n".join(
        lines[:start] + _indented(head.split("\n"), indentation) + inner + _indented(tail, indentation) + lines[end:]
    )


_NAMES = (
    "größe",
    "x",
    "match",
    "case",
    "type",
    "_",
    "__x",
    "ﬁt",
    "数据",
    "tf",
    "keras",
    "ds",
    "model",
    "self",
    "print",
    "list",
)


@_mutation
def _rename(rng: random.Random, text: str) -> str:
    names = sorted(set(re.findall(r"\b[a-zA-Z_]\w*\b", text)))
    if not names:
        return text
    old, new = rng.choice(names), rng.choice((*_NAMES, rng.choice(names)))
    if rng.random() < 0.5:
        return re.sub(rf"\b{old}\b", new, text)
    places = [match.span() for match in re.finditer(rf"\b{old}\b", text)]
    start, end = rng.choice(places)
    return text[:start] + new + text[end:]


_LITERALS = (
    "0", "-1", "1", "2", "1e400", "10**100", "''", "b'x'", "None", "True", "...", "()", "[]", "{}", "[[]] * 3", "1j", "0x_ff",
    "f'{x!r:>{w}}'", "'\\N{BULLET}'", "r'\\d'", "'''a\nb'''", "*x", "**x", "lambda *a, **k: a", "x if y else z", "float('nan')",
    "9" * 5000, "'a' * 10 ** 9", "range(10**12)", "[*range(3), *y]", "{**a, 'b': 1}", "not x", "await x", "(yield)", "x[1:, ...]",
)  # fmt: skip
_AROUND = (
    "({0})", "(y_ := {0})", "[{0} for _ in range(3)]", "({0} if flag else {0})", "f'{{{0}}}'", "(lambda: {0})()", "print({0})",
    "*[{0}]", "({0},)", "[{0}][0]", "{{'a': {0}}}['a']", "getattr({0}, 'x')", "({0}).copy()", "({0}  # why\n)", "\\\n{0}", "({0}) or {0}",
    "-{0}", "(await {0})", "{{{0} for x in y}}", "next(iter([{0}]))", "(\n    {0}\n)", "tf.identity({0})", "{0}.repeat().cache()",
)  # fmt: skip


def _expression(rng: random.Random, text: str, kinds: tuple[type[ast.expr], ...]) -> tuple[int, int] | None:
    """Character range of an expression on one or several lines."""
    tree = _tree(text)
    if tree is None:
        return None
    # During mutation, all texts use line feeds as line endings.
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    lines = text.split("\n")
    found = [node for node in ast.walk(tree) if isinstance(node, kinds) and node.end_lineno is not None]
    if not found:
        return None
    node = rng.choice(found)

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode(errors="ignore"))

    return offset(node.lineno, node.col_offset), offset(node.end_lineno or 1, node.end_col_offset or 0)


@_mutation
def _literal(rng: random.Random, text: str) -> str:
    place = _expression(rng, text, (ast.Constant, ast.Tuple, ast.List, ast.Name))
    return text if place is None else text[: place[0]] + rng.choice(_LITERALS) + text[place[1] :]


@_mutation
def _around(rng: random.Random, text: str) -> str:
    place = _expression(rng, text, (ast.Call, ast.Attribute, ast.Name, ast.BinOp, ast.Subscript))
    if place is None:
        return text
    return text[: place[0]] + rng.choice(_AROUND).format(text[slice(*place)]) + text[place[1] :]


@_mutation
def _argument(rng: random.Random, text: str) -> str:
    """Add or remove an argument."""
    place = _expression(rng, text, (ast.Call,))
    if place is None or text[place[1] - 1 : place[1]] != ")":
        return text
    end = place[1] - 1
    names = ("training", "name", "batch_size", "num_parallel_calls", "jit_compile", "run_eagerly", "dtype")
    more = rng.choice(("1", "*args", "**kwargs", *(f"{name}={rng.choice(_LITERALS)}" for name in names)))
    comma = "" if text[:end].rstrip().endswith(("(", ",")) else ", "
    return f"{text[:end]}{comma}{more}{rng.choice(('', ',', ' ', ' # why' + chr(10)))}{text[end:]}"


@_mutation
def _chain_in_lines(rng: random.Random, text: str) -> str:
    """Break a chain of method calls over several lines."""
    place = _expression(rng, text, (ast.Call,))
    if place is None:
        return text
    start, end = place
    way = rng.choice(("\n    .", "  # why\n    .", "\n\n        .", " ."))
    if rng.random() < 0.3:
        return text[:start] + text[start:end].replace(").", ") \\\n    .") + text[end:]
    return text[:start] + "(" + text[start:end].replace(").", f"){way}") + "\n)" + text[end:]


@_mutation
def _splice(rng: random.Random, text: str) -> str:
    lines, start, _ = _some(rng, text)
    others, first, last = _some(rng, rng.choice(corpus()))
    taken = others[first:last]
    base = _indentation(taken[0]) if taken else ""
    here = _indentation(lines[start]) if start < len(lines) else ""
    moved = [here + line.removeprefix(base) if line.strip() else line for line in taken]
    return "\n".join(lines[:start] + moved + lines[start:])


@_mutation
def _append(rng: random.Random, text: str) -> str:
    """Concatenate two programs."""
    other = rng.choice(corpus())
    return f"{text}\n{other}" if rng.random() < 0.5 else f"{other}\n{text}"


_SNIPPETS = (
    "xs = [1]\nxs.append(2)\nfor x in xs: model.fit(x)", "d = {}\nd['d'] = 1\nmodel.fit(d)",
    "class A: pass\na = A(); a.a = a", "def f(): return f\nf()()()", "model = [model]\nmodel = model[0]", "del model", "global ds",
    "import tensorflow as tf, keras as tf", "from tensorflow import *", "from . import x", "import os; os.environ['A'] = '1'",
    "match ds:\n    case {'a': [1, *_], **rest} | None:\n        pass", "print(f'{model!r:{width}}' f\"{ds}\")", "ds = ds or ds.batch(2)",
    "while (batch := next(it)):\n    model.train_on_batch(*batch)", "x: int", "type X = int", "def g[T](x: T) -> T: return x",
    "model.fit(*args, **kwargs)", "lambda: (yield)", "if 1:\n\tpass\nelse:\n        pass", "async def h():\n    async for x in y: await x",
    "try:\n    pass\nexcept* ValueError:\n    pass", "def k(a, /, b, *, c): ...", "ds = ds.map(lambda x, /, *y: x).batch(4).prefetch(1)",
    "@property\ndef p(self): return self.p", "nonlocal x", "return", "yield", "# kerascheck: ignore", "# noqa", "# fmt: off", "!ls", "%time x",
    "def r(n):\n    return r(n - 1)\nr(9)", "ds.map(ds.map)", "exec('x = 1')", "assert (x, 'y')", "x = *a, *b", "a, *b = c, d = e",
)  # fmt: skip


_CYCLES = (
    "xs = []\nxs.append(xs)\nfor x in xs: model.fit(x)", "d = {}\nd['d'] = d\nmodel.fit(d)", "x = y = [1]; x[0] = y; y.append(x)",
)  # fmt: skip
"""Containers that contain themselves."""


@_mutation
def _snippet(rng: random.Random, text: str) -> str:
    lines, start, _ = _some(rng, text)
    here = _indentation(lines[start]) if start < len(lines) else ""
    return "\n".join(
        lines[:start]
        + _indented(rng.choice(_SNIPPETS if rng.random() < 0.9 or not _CYCLES else _CYCLES).split("\n"), here)
        + lines[start:]
    )


@_mutation
def _large(rng: random.Random, text: str) -> str:
    """Insert a long line, or deeply nested code."""
    size = rng.choice((20, 60, 90, 500))
    small = min(size, 90)
    code = rng.choice(
        (
            "x = [" + "1, " * size * 10 + "]",
            "x = " + " + ".join(["y"] * size),
            "x = " + "(" * small + "1" + ")" * small,
            "x = " + "[" * small + "]" * small,
            "ds = ds" + ".map(f)" * size,
            "x = " + "f(" * small + ")" * small,
            "x = " + "lambda: " * small + "1",
            "x = '" + "a" * size * 100 + "'",
            "\n".join(" " * depth + "if x:" for depth in range(small)) + "\n" + " " * small + "pass",
            "x = " + "not " * size + "y",
            "# " + "é" * size * 100,
            "x" + "[0]" * size,
            "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(size)),
            "if x: pass\n" + "elif y: pass\n" * size,
            "\n".join(f"x = [x, x]  # {n}" for n in range(size)),
        )
    )
    lines, start, _ = _some(rng, text)
    here = _indentation(lines[start]) if start < len(lines) else ""
    return "\n".join(lines[:start] + _indented(code.split("\n"), here) + lines[start:])


@_mutation
def _cut(rng: random.Random, text: str) -> str:
    start = rng.randrange(len(text) + 1)
    if rng.random() < 0.3:
        return text[:start]
    return text[:start] + text[start + rng.choice((1, 1, 2, 10, 200)) :]


_CHARACTERS = (
    "\f", "\t", " ", "\v", "\x1a", "\u2028", "\ufeff", "\xa0", "é", "😀", "(", ")", "[", "]", "{", "}", ":", "\\\n", "\\", ";", "'''",
    '"', "#", "if ", "lambda ", "@", "*", "**", ",", "=", ":=", "\n", "\n\n", ".", "...", "!", "?", "$", "`", "0", "\x00", "->", "async ",
)  # fmt: skip


@_mutation
def _insert(rng: random.Random, text: str) -> str:
    places = [rng.randrange(len(text) + 1)]
    if rng.random() < 0.5:
        # Insertions at the start or end of a line break the syntax less often.
        places = [match.start() for match in re.finditer(r"^|$", text, re.M)]
    place = rng.choice(places)
    return text[:place] + rng.choice(_CHARACTERS) + text[place:]


@_mutation
def _comment(rng: random.Random, text: str) -> str:
    comments = (
        "# kerascheck: ignore[KC101]",
        "# noqa: KC102",
        "# type: ignore",
        "#",
        "# é",
        "# kerascheck: ignore",
        "# fmt: skip",
    )
    lines = _lines(text)
    number = rng.randrange(len(lines))
    lines[number] += "  " + rng.choice(comments)
    return "\n".join(lines)


@_mutation
def _tabs(rng: random.Random, text: str) -> str:
    return re.sub(r"(?m)^( {4})+", lambda match: "\t" * (len(match[0]) // 4), text)


# --- Encoding into bytes, with all kinds of line endings and encodings

_COOKIES = (
    "utf-8", "latin-1", "cp1252", "ascii", "utf-8-sig", "cp932", "shift_jis", "euc_jp", "gb18030", "utf-7", "unicode_escape",
    "raw_unicode_escape", "idna", "punycode", "iso-2022-jp", "hz", "koi8-r", "mac_roman", "cp037", "utf-16", "utf-32", "rot13", "hex",
    "nonsense", "big5", "cp65001", "charmap", "undefined", "mbcs", "utf_8",
)  # fmt: skip


def program(seed: int, number: int) -> Program:
    """Generate a program from seed and number."""
    rng = random.Random(f"{seed}-{number}")
    text = rng.choice(corpus())
    for _ in range(rng.randint(1, _MOST_MUTATIONS)):
        mutated = rng.choice(_MUTATIONS)(rng, text)
        # kerascheck stops early on unparsable text, so most programs should parse.
        if _tree(mutated) is not None or _tree(text) is None or rng.random() < 0.2:
            text = mutated
    if rng.random() < 0.12:
        return Program("train.ipynb", _notebook(rng, text))
    if rng.random() < 0.1:
        text = text.rstrip("\n") + rng.choice(("", "", "  ", "\\", "\n\n\n", "\t\n", "\f", "#", "\\\n"))
    newline = rng.choice(("\n",) * 8 + ("\r\n", "\r\n", "\r", "mixed"))
    cookie = rng.choice(_COOKIES) if rng.random() < 0.12 else None
    if cookie is not None:
        text = f"# coding: {cookie}\n{text}"
    if newline == "mixed":
        text = re.sub("\n", lambda _: rng.choice(("\n", "\r\n", "\r")), text)
    else:
        text = text.replace("\n", newline)
    data = text.encode("utf-8", "replace")
    if cookie is not None and rng.random() < 0.7:
        with contextlib.suppress(LookupError, UnicodeError):
            data = text.encode(cookie)
    if rng.random() < 0.05:
        data = b"\xef\xbb\xbf" + data
    if rng.random() < 0.02:
        place = rng.randrange(len(data) + 1)
        data = data[:place] + bytes([rng.randrange(256)]) + data[place:]
    return Program("train.py", data)


def _notebook(rng: random.Random, text: str) -> bytes:
    lines, tree = _lines(text), _tree(text)
    starts = [_span([each])[0] for each in tree.body] if tree is not None else list(range(len(lines)))
    cuts = sorted(rng.sample(starts, min(rng.randint(0, 6), len(starts)))) if starts else []
    cells: list[dict[str, Any]] = []
    for start, end in zip([0, *cuts], [*cuts, len(lines)]):
        code = "\n".join(lines[start:end]) + rng.choice(("", "\n", "\n\n"))
        if rng.random() < 0.2:
            magic = rng.choice(
                ("%%time\n", "!pip install x\n", "%matplotlib inline\n", "%%bash\n", "x = !ls\n", "?x\n")
            )
            code = magic + code
        source: Any = code if rng.random() < 0.3 else code.splitlines(True)
        cells.append({"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source})
        if rng.random() < 0.1:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": "text"})
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1, 2)))
    return text.encode("utf-8", "surrogatepass") + rng.choice((b"", b"\n"))


# --- Invariants


@dataclass(frozen=True)
class Fault:
    """A violated invariant."""

    kind: str
    detail: str = ""

    @property
    def key(self) -> str:
        """Key that is equal for similar faults: the text without numbers, which are lines."""
        return f"{self.kind}: {re.sub(r'[0-9]+(?![0-9]*[ )a-z]*KC)', '#', self.detail)}"


@dataclass
class _Ran:
    code: int
    out: str
    err: str
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.report.get("findings", [])
        return found


def refused(data: bytes, name: str) -> bool:
    """Whether Python rejects a program, or one cell of a notebook."""
    if name.endswith(".ipynb"):
        from kerascheck.source import Unreadable, decode
        from kerascheck.source.rewriting import programs

        try:
            texts: list[str | bytes] = list(programs(decode(name, data)))
        except Unreadable:
            return True
    else:
        texts = [data]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for text in texts:
                compile(text, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
            return True
    return False


_BASE = ("check", "--isolated", "--min-severity", "info", "--pedantic", "--extend-select", "ALL", "--no-cache")


class Checker:
    """Checks programs in a separate folder.

    Args:
        note: receives a label of the next step.
    """

    def __init__(self, folder: Path, note: Callable[[str], None] = lambda what: None):
        import kerascheck.lint.workers

        # Forking a process for each program takes longer than checking it.
        kerascheck.lint.workers.can_fork = lambda: False
        self._folder, self._note = folder, note
        (folder / ".git").mkdir(exist_ok=True)

    def faults(self, program: Program) -> Iterator[Fault]:
        """Yield the violated invariants of a program."""
        is_refused = refused(program.data, program.name)
        linted = yield from self._run(program, is_refused, "--output-format", "json")
        if linted is None:
            return
        for options in (("--fix",), ("--fix", "--unsafe-fixes")):
            yield from self._fix(program, linted, options, is_refused)
        if program.name.endswith(".py") and linted.code != 2:
            yield from self._add_noqa(program, is_refused)

    def _path(self, program: Program) -> Path:
        return self._folder / program.name

    def _run(self, program: Program, is_refused: bool, *options: str, write: bool = True) -> Iterator[Fault] | Any:
        """Run a command on a program and yield faults; returns None if no further checks are possible."""
        from command import kerascheck

        what = " ".join(option for option in options if option not in ("--output-format", "json"))
        self._note(what)
        path = self._path(program)
        if write:
            for other in self._folder.glob("train.*"):
                # The other file could import the program.
                other.unlink()
            path.write_bytes(program.data)
        before = _peak()
        ran = kerascheck(*_BASE, *options, path)
        if (grown := _peak() - before) > _MEGABYTES << 20:
            yield Fault("memory", f"{what}: more than {_MEGABYTES} MB ({grown >> 20} MB)")
        if "Traceback (most recent call last)" in ran.err:
            places = re.findall(r'File ".*?([^/"]+)", line \d+, in (\w+)', ran.err)
            last = [line for line in ran.err.splitlines() if line.strip()][-2:]
            yield Fault("traceback", f"{what}: {last[0]} in {' '.join(places[-1]) if places else ''}")
            return None
        if ran.code not in (0, 1, 2):
            yield Fault("exit code", f"{what}: {ran.code}")
            return None
        result = _Ran(ran.code, ran.out, ran.err)
        if "json" in options:
            result.report = json.loads(ran.out)
        errors = [each["message"] for each in result.report.get("errors", ()) if each["code"] == "KC998"]
        if errors or "KC998" in ran.err:
            yield Fault("KC998", "; ".join(errors) or ran.err.strip())
        elif ran.code == 2 and not is_refused and options == ("--output-format", "json"):
            messages = [each["message"] for each in result.report.get("errors", ())] or [ran.err.strip()]
            yield Fault("refused", f"Python reads it: {messages[0][:200]}")
        return result

    def _fix(self, program: Program, linted: _Ran, options: tuple[str, ...], is_refused: bool) -> Iterator[Fault]:
        what, path = " ".join(options), self._path(program)
        ran = yield from self._run(program, is_refused, *options, "--output-format", "json")
        if ran is None:
            return
        after = path.read_bytes()
        fixed = Counter({code: int(number) for number, code in re.findall(r"\b(\d+) x (KC\w+)", ran.err)})
        if bool(fixed) != (after != program.data):
            yield Fault("count", f"{what}: the file {'stays' if fixed else 'changes'} ({_codes(fixed)})")
        again = yield from self._run(program, is_refused, *options, "--output-format", "json", write=False)
        if again is not None and path.read_bytes() != after:
            more = Counter({code: int(number) for number, code in re.findall(r"\b(\d+) x (KC\w+)", again.err)})
            yield Fault("idempotent", f"{what}: a second run changes more ({_codes(fixed)}, then {_codes(more)})")
        if not fixed:
            return
        if not is_refused and refused(after, program.name):
            yield Fault("broken", f"{what}: the result does not compile ({_codes(fixed)})")
        yield from _counted(what, fixed, linted, ran)
        yield from _kept(what, program, after, fixed)
        if program.name.endswith(".py"):
            yield from _untouched(what, program, linted, after, fixed)

    def _add_noqa(self, program: Program, is_refused: bool) -> Iterator[Fault]:
        ran, path = (yield from self._run(program, is_refused, "--add-noqa")), self._path(program)
        if ran is None:
            return
        after = path.read_bytes()
        if not is_refused:
            if refused(after, program.name):
                yield Fault("noqa breaks", "--add-noqa: the result does not compile")
            elif _dump(program.data) != _dump(after):
                yield Fault("noqa changes", "--add-noqa: Python reads another program")
        yield from _kept("--add-noqa", program, after, Counter())
        linted = yield from self._run(program, is_refused, "--output-format", "json", write=False)
        if linted is None:
            return
        named = re.findall(r"(?m)^.*?: (?:(\d+) findings|(KC\w+)) not silenced: ", ran.err)
        left = sum(int(number or 1) for number, _ in named)
        if len(linted.findings) > left:
            yield Fault("noqa leaves", f"--add-noqa: {_codes(Counter(each['code'] for each in linted.findings))}")
        again = yield from self._run(program, is_refused, "--add-noqa", write=False)
        if again is not None and path.read_bytes() != after:
            yield Fault("idempotent", "--add-noqa: a second run changes more")


def _codes(counted: Counter[str]) -> str:
    return ", ".join(sorted(counted)) or "nothing"


def _identities(findings: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((each["code"], each["message"]) for each in findings)


def _counted(what: str, fixed: Counter[str], before: _Ran, after: _Ran) -> Iterator[Fault]:
    """Check that reported fixes are gone and no error is new."""
    old, new = _identities(before.findings), _identities(after.findings)
    gone = {code for code, _ in old - new}
    for code in sorted(fixed):
        if code not in gone and any(code == each for each, _ in old):
            yield Fault("still there", f"{what}: {code} is called fixed, and is still there")
    errors = [Counter(each["code"] for each in ran.findings if each["severity"] == "error") for ran in (before, after)]
    for code in sorted(errors[1] - errors[0]):
        yield Fault("new error", f"{what}: {code} appears after {_codes(fixed)}")


def _kept(what: str, program: Program, after: bytes, fixed: Counter[str]) -> Iterator[Fault]:
    """Check that the last newline, the line endings and the byte order mark stay."""
    before = program.data
    last = [re.search(rb"(?:\r\n|\r|\n)*\Z", data)[0] for data in (before, after)]  # type: ignore[index]
    # A fix may delete or move the last line; the lines before it have their own endings.
    if last[0] and not last[1]:
        yield Fault("end", f"{what}: it ends in {last[1]!r}, not in {last[0]!r} ({_codes(fixed)})")
    if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
        yield Fault("mark", f"{what}: the byte order mark ({_codes(fixed)})")
    if program.name.endswith(".py"):
        kinds = [set(re.findall(rb"\r\n|\r|\n", data)) for data in (before, after)]
        # A text without a line ending does not determine the line endings.
        if kinds[0] and kinds[1] - kinds[0]:
            yield Fault("line ends", f"{what}: {kinds[1] - kinds[0]} are new ({_codes(fixed)})")
    else:
        one, two = (_without_sources(json.loads(data)) for data in (before, after))
        if one != two:
            yield Fault("notebook", f"{what}: more than the code of cells changes ({_codes(fixed)})")


def _without_sources(notebook: Any) -> Any:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = type(cell["source"]).__name__
    return notebook


def _untouched(what: str, program: Program, linted: _Ran, after: bytes, fixed: Counter[str]) -> Iterator[Fault]:
    """Check that the lines outside of all edits stay, in order."""
    fixable = Counter(each["code"] for each in linted.findings if each["fix"])
    # Fixes of later findings may change other lines. In some encodings the lines are not those of the bytes, and an
    # edit can merge a carriage return and a line feed into one line ending.
    if fixed - fixable or b"coding" in program.data[:200] or b"\r" in program.data.replace(b"\r\n", b""):
        return
    touched = set()
    for finding in linted.findings:
        for edit in (finding["fix"] or {}).get("edits", ()):
            touched.update(range(edit["line"], edit["end_line"] + 1))
    ends = re.compile(rb"(?<=\n)|(?<=\r)(?!\n)")
    lines = iter(ends.split(after))
    for number, line in enumerate(ends.split(program.data), 1):
        if number not in touched and not any(other == line for other in lines):
            yield Fault("lines", f"{what}: line {number} is outside of all edits, and changes ({_codes(fixed)})")
            return


def _dump(data: bytes) -> str:
    """Dump of the syntax tree; empty if it is nested too deeply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(data))
        except RecursionError:
            return ""


def _peak() -> int:
    """Peak memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def shortened(checker: Checker, program: Program, fault: Fault, seconds: float = _SHRINKING_SECONDS) -> Program:
    """Minimise a program: remove the lines that the fault does not need."""
    if program.name.endswith(".ipynb"):
        return program
    deadline = time.monotonic() + seconds
    lines, size = re.split(rb"(?<=\n)", program.data), 0
    size = max(len(lines) // 2, 1)
    while True:
        start, is_shorter = 0, False
        while start < len(lines) and time.monotonic() < deadline:
            trial = lines[:start] + lines[start + size :]
            smaller = Program(program.name, b"".join(trial))
            if any(each.key == fault.key for each in checker.faults(smaller)):
                lines, is_shorter = trial, True
            else:
                start += size
        if time.monotonic() >= deadline or size == 1 and not is_shorter:
            return Program(program.name, b"".join(lines))
        size = max(size // 2, 1)


# --- Processes


def _child(seed: int, first: int, last: int) -> None:
    """Check programs; print one JSON line per step, and read the keys of known faults from standard input."""
    known = set(json.load(sys.stdin))
    out = sys.stdout
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (_BACKSTOP, resource.getrlimit(resource.RLIMIT_AS)[1]))

    def tell(**what: Any) -> None:
        print(json.dumps(what), file=out, flush=True)

    with tempfile.TemporaryDirectory() as folder:

        def note(what: str) -> None:
            # The timer includes threads. There is no handler, because it would have to wait for native code.
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            tell(step=what)

        checker = Checker(Path(folder), note)
        for number in range(first, last + 1):
            tell(program=number)
            made = program(seed, number)
            for fault in list(checker.faults(made)):
                text = made
                if fault.key not in known:
                    known.add(fault.key)
                    text = shortened(checker, made, fault)
                tell(fault=[fault.kind, fault.detail], number=number, name=text.name, data=text.data.hex())
    tell(done=True)


@dataclass
class _Batch:
    """Result of the process of a batch."""

    first: int
    faults: list[tuple[int, Fault, Program]] = field(default_factory=list)
    reached: int = 0
    """Number of the last program that it started."""
    done: bool = False


COMMAND = [sys.executable, str(Path(__file__).resolve())]
"""Command that runs a batch, without its options."""


def _batch(seed: int, first: int, last: int, known: list[str]) -> _Batch:
    result, step = _Batch(first, reached=first), ""
    options = ["--seed", str(seed), "--child", f"{first}-{last}"]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*COMMAND, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(known))
            process.stdin.close()
        for line in process.stdout:
            message = json.loads(line)
            result.reached = message.get("program", result.reached)
            step = message.get("step", step)
            result.done = result.done or "done" in message
            if "fault" in message:
                text = Program(message["name"], bytes.fromhex(message["data"]))
                result.faults.append((message["number"], Fault(*message["fault"]), text))
        code = process.wait()
        if not result.done:
            errors.seek(0)
            said = " ".join(errors.read()[-300:].split())
            why = f"takes more than {_SECONDS} s" if code == -signal.SIGPROF else f"ends the process ({code}): {said}"
            fault = Fault("process", f"{step}: {why}")
            result.faults.append((result.reached, fault, program(seed, result.reached)))
    return result


def _numbers(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def _batches(options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    if options.programs is not None:
        first, last = options.programs
        yield from ((start, min(start + _BATCH - 1, last)) for start in range(first, last + 1, _BATCH))
        return
    deadline, start = time.monotonic() + 60 * options.minutes, 0
    while time.monotonic() < deadline:
        yield start, start + _BATCH - 1
        start += _BATCH


def main(arguments: list[str] | None = None) -> int:
    """Run the fuzzer; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--programs", type=_numbers, metavar="FIRST-LAST", help="these programs, however long it takes")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where programs with faults are written")
    parser.add_argument("--child", type=_numbers, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        _child(options.seed, *options.child)
        return 0
    known: dict[str, int] = {}
    checked = 0

    def take(batch: _Batch, last: int, left: list[tuple[int, int]]) -> None:
        nonlocal checked
        checked += batch.reached - batch.first + 1
        if not batch.done and batch.reached < last:
            left.append((batch.reached + 1, last))
        for number, fault, text in batch.faults:
            known[fault.key] = known.get(fault.key, 0) + 1
            if known[fault.key] == 1:
                print(f"seed {options.seed}, program {number}: {fault.kind}: {fault.detail}", flush=True)
                if options.keep is not None:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    name = f"{fault.kind.replace(' ', '_')}_{options.seed}_{number}{Path(text.name).suffix}"
                    (options.keep / name).write_bytes(text.data)

    left: list[tuple[int, int]] = []
    batches = _batches(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        running: dict[Any, int] = {}
        while True:
            while len(running) < options.jobs and (each := left.pop() if left else next(batches, None)) is not None:
                running[pool.submit(_batch, options.seed, *each, list(known))] = each[1]
            if not running:
                break
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                take(future.result(), running.pop(future), left)
    print(f"{checked} programs, {sum(known.values())} faults of {len(known)} kinds")
    return int(bool(known))


if __name__ == "__main__":
    sys.exit(main())
