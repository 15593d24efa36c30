"""Measures recall: the share of planted anti-patterns that kerascheck finds in differently written code.

    python benchmarks/recall.py                      # the rules' own examples, rewritten in many ways
    python benchmarks/recall.py --plant FOLDER...    # anti-patterns planted into the files of these folders

The first part moves the code of each slow.py into functions, classes, other modules and notebooks, under other names.
kerascheck must still find everything that is marked. The second part plants one anti-pattern at a time into third-party
training files (it removes an argument, swaps two operations, adds a call) and expects a finding on that line.
Prints the share found, by rule and by kind of change, and lists the misses with --misses.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import random
import re
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from kerascheck.catalog.registry import rule_specs
from kerascheck.cli.main import main as kerascheck
from kerascheck.interpreter.project import Project
from kerascheck.interpreter.target import Target
from kerascheck.meaning.module import Module
from kerascheck.project.config import Settings
from kerascheck.source import read
from kerascheck.syntax.tree import SyntaxProblem

MARK = re.compile(r"# *(KC\d{3}(?::\w+)?(?: +KC\d{3}(?::\w+)?)*)[ \t]*$")
Files = dict[str, str]
Place = tuple[str, int | None, int, str]
"""File, cell, line and code of a finding."""


def lint(folder: Path, files: Files, codes: str) -> set[Place]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        kerascheck(
            [
                "--isolated",
                "--pedantic",
                "--select",
                codes,
                "--output-format",
                "json",
                "--exit-zero",
                *(str(folder / name) for name in files),
            ]
        )
    for name in files:
        (folder / name).unlink()
    return {(Path(f["path"]).name, f["cell"], f["line"], f["code"]) for f in json.loads(out.getvalue())["findings"]}


def marked(name: str, text: str, cell: int | None = None) -> Iterator[Place]:
    for number, line in enumerate(text.splitlines(), 1):
        if match := MARK.search(line):
            for code in match[1].split():
                yield name, cell, number, code.partition(":")[0]


# --- the same code, written differently ---------------------------------------------------------------------


def _is_import(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], (cst.Import, cst.ImportFrom)
    )


def _docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString)
    )


def _wrapped(text: str, head: str, foot: str) -> str:
    """Put all statements except the leading imports below ``head``, indented."""
    tree = cst.parse_module(text)
    body = list(tree.body)
    if any(isinstance(node, (cst.Global, cst.Nonlocal)) for statement in body for node in _walk(statement)):
        return text
    last = max((i for i, statement in enumerate(body) if _is_import(statement) or _docstring(statement)), default=-1)
    # Statements between imports, such as environment variables, stay in place.
    inner = cst.Module(body=body[last + 1 :]).code
    depth = "    " * head.count("\n    def") + "    "
    indented = _indented(inner, depth)
    return tree.with_changes(body=body[: last + 1]).code + f"\n\n{head}\n{indented}\n\n{foot}\n"


def _indented(code: str, by: str) -> str:
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.STRING:
            inside.update(range(token.start[0] + 1, token.end[0] + 1))
    return "\n".join(
        line if not line.strip() or i in inside else by + line for i, line in enumerate(code.splitlines(), 1)
    )


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _walk(child)


class _Rename(cst.CSTTransformer):
    """Renames variables; attributes and keywords of the same name stay."""

    def __init__(self, names: dict[str, str]):
        self._names = names

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        return updated.with_changes(attr=original.attr)

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        return updated.with_changes(keyword=original.keyword)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        new = self._names.get(original.value)
        return updated if new is None else cst.parse_expression(new)


def _renamed(text: str, names: dict[str, str], imports: dict[str, str]) -> str:
    """``text`` with other names for its libraries; unchanged if it imports them in another way."""
    for old, new in imports.items():
        if not re.search(rf"^{re.escape(old)}$", text, re.M):
            return text
        text = re.sub(rf"^{re.escape(old)}$", new, text, flags=re.M)
    return cst.parse_module(text).visit(_Rename(names)).code


def _split(text: str, star: bool) -> Files:
    """Move functions and classes that do not depend on the script into a separate module."""
    tree = cst.parse_module(text)
    imports = [s for s in tree.body if _is_import(s)]
    defined = {s.name.value: s for s in tree.body if isinstance(s, (cst.FunctionDef, cst.ClassDef))}
    moved = {
        name: s
        for name, s in defined.items()
        if not {n.value for n in _walk(s) if isinstance(n, cst.Name)} & _assigned(tree)
    }
    while True:
        rest = {name for name in defined if name not in moved}
        stay = {name for name, s in moved.items() if {n.value for n in _walk(s) if isinstance(n, cst.Name)} & rest}
        if not stay:
            break
        moved = {name: s for name, s in moved.items() if name not in stay}
    if not moved:
        return {"main.py": text}
    helpers = cst.Module(body=[*imports, *moved.values()]).code
    last = max(i for i, s in enumerate(tree.body) if _is_import(s))
    bring = cst.parse_statement("from helpers import *" if star else f"from helpers import {', '.join(moved)}")
    body = [s for s in (*tree.body[: last + 1], bring, *tree.body[last + 1 :]) if s not in moved.values()]
    return {"main.py": tree.with_changes(body=body).code, "helpers.py": helpers}


def _assigned(tree: cst.Module) -> set[str]:
    """Names that the script's own statements bind."""
    found = set()
    for statement in tree.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) or _is_import(statement):
            continue
        for node in _walk(statement):
            if isinstance(node, (cst.AssignTarget, cst.For, cst.AugAssign, cst.NamedExpr)):
                found |= {n.value for n in _walk(node.target) if isinstance(n, cst.Name)}
            elif isinstance(node, cst.AsName):
                found |= {n.value for n in _walk(node) if isinstance(n, cst.Name)}
    return found


def _notebook(text: str) -> tuple[Files, list[Place]]:
    """Notebook with one cell per statement, and the locations of the marks."""
    cells, places = [], []
    for statement in cst.parse_module(text).body:
        code = cst.Module(body=[statement]).code.strip("\n")
        places += marked("main.ipynb", code, len(cells))
        cells.append({"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "execution_count": None})
    return {"main.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})}, places


TF, KERAS = "import tensorflow as tf", "from tensorflow import keras"
WAYS: dict[str, Callable[[str], Files]] = {
    "as it is": lambda text: {"main.py": text},
    "in main()": lambda text: {"main.py": _wrapped(text, "def main():", 'if __name__ == "__main__":\n    main()')},
    "in a method": lambda text: {
        "main.py": _wrapped(text, "class Experiment:\n    def run(self):", "Experiment().run()")
    },
    "import tensorflow": lambda text: {"main.py": _renamed(text, {"tf": "tensorflow"}, {TF: "import tensorflow"})},
    "import ... as K": lambda text: {
        "main.py": _renamed(text, {"keras": "K"}, {KERAS: "import tensorflow.keras as K"})
    },
    "import keras as K": lambda text: {
        "main.py": _renamed(text, {"keras": "K"}, {"import keras": "import keras as K"})
    },
    "tf.keras": lambda text: {"main.py": _renamed(text, {"keras": "tf.keras"}, {TF: TF, KERAS: "import os"})},
    "other module": lambda text: _split(text, star=False),
    "other module, *": lambda text: _split(text, star=True),
}


def rewritten(folder: Path) -> Iterator[tuple[str, str, bool, str]]:
    """Yield rule, rewriting, whether kerascheck found it, and a description."""
    for spec in rule_specs():
        slow = spec.folder / "slow.py"
        if not slow.is_file():
            continue
        text = slow.read_text(encoding="utf-8")
        versions: dict[str, tuple[Files, list[Place]]] = {}
        for way, write in WAYS.items():
            files = write(text)
            if way == "as it is" or files != {"main.py": text}:
                versions[way] = files, [place for name, code in files.items() for place in marked(name, code)]
        versions["in a notebook"] = _notebook(text)
        for way, (files, places) in versions.items():
            # Rules about comments depend on the findings of all rules.
            found = lint(folder, files, "ALL" if spec.reads == "comments" else spec.code)
            for place in places:
                if place[3] == spec.code:
                    yield spec.code, way, place in found, f"{slow.parent.name}: {place[:3]}"


# --- anti-patterns planted into third-party code -----------------------------------------------------------

_TRAINS = re.compile(r"\.fit\(|GradientTape")
_KERAS = re.compile(
    r"^\s*(?:from|import)\s+(?:tf_)?keras\b|\bkeras\.|tensorflow\.(?:python\.)?keras|tensorflow\s+import\s+.*\bkeras\b",
    re.M,
)
_SILENCED = re.compile(r"^\s*#\s*(?:flake8|ruff|kerascheck)\s*:\s*(?:noqa|skip-file|ignore)", re.M | re.I)
"""A comment that suppresses findings in the whole file."""
_HELD_OUT = re.compile(r"val|test|eval|pred", re.I)
_CALL = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
"""A call's parentheses, nested up to three deep."""


def _around(tree: ast.Module, line: int) -> list[ast.AST]:
    """Nodes that contain a line, outermost first."""
    return [
        node
        for node in ast.walk(tree)
        if getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or 0)
    ]


def _unconditional(tree: ast.Module, line: int) -> bool:
    """Whether no condition except the ``__name__`` guard surrounds a line: the rules ignore switches."""
    conditions = [node for node in _around(tree, line) if isinstance(node, (ast.If, ast.IfExp, ast.ExceptHandler))]
    return all(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in conditions)


def _is_compiled(nodes: list[ast.AST]) -> bool:
    return any(
        "function" in ast.unparse(decorator)
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    )


def _is_looped_step(tree: ast.Module, line: int) -> bool:
    """Whether the function at a line is an eager step: it opens a tape, runs in a loop, and is not compiled."""
    step = next(
        (node for node in _around(tree, line) if isinstance(node, ast.FunctionDef) and node.lineno == line), None
    )
    tapes = [
        node
        for node in ast.walk(step or ast.Module([], []))
        if isinstance(node, ast.Attribute) and node.attr == "GradientTape"
    ]
    tapes = [node for node in tapes if not _is_compiled(_around(tree, node.lineno))]
    return bool(tapes) and any(
        node in tapes
        or isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", None)) == step.name
        and not _is_compiled(_around(tree, node.lineno))
        for loop in ast.walk(tree)
        if isinstance(loop, (ast.For, ast.While))
        for node in ast.walk(loop)
    )


@dataclass(frozen=True)
class Planter:
    """A change that turns a line into an anti-pattern.

    Attributes:
        code: the rule that should report it.
        kind: description of the change, for the report.
        pattern: matches places for the change, within one line.
        becomes: replacement of the match; if it adds a line, the first group of ``pattern`` is the indentation.
        line: line of ``becomes`` with the finding, from 0.
        needs: pattern that the file must also contain.
        unless: pattern that the file must not contain, because the rule does not apply there.
        anywhere: whether it also matters in code for held-out data.
        place: whether the rule applies at a line of the changed file.
        keras: first major version of Keras with the problem; the project's requirements decide.
    """

    code: str
    kind: str
    pattern: str
    becomes: str
    line: int = 0
    needs: str = ""
    unless: str = r"\0"
    anywhere: bool = True
    place: Callable[[ast.Module, int], bool] = lambda tree, line: True
    keras: int = 2


_COMPILE = r"^([ \t]*)(?:self\.)?model\.compile\((?=[^\n]*\)[ \t]*$)"
_AFTER_IMPORT = r"^()import tensorflow as tf$"
_SOURCE = r"from_tensor_slices|from_generator|TFRecordDataset|tfds\.load|list_files|_from_directory"
"""Recognisable sources of datasets."""
_TRAINS_WHEN_RUN = r"^[^\s#].*\.(?:fit|train_on_batch)\(|^if __name__|^(?:for|with) "
_BUFFERED_SOURCE = r"_from_directory|tfds\.load"
"""Sources that already end in a prefetch."""
_KERAS_MODEL = (
    r"\bmodel\s*=\s*(?:[\w.]+\.)?(?:Sequential|Model|load_model|(?:build|create|make|get|define)_\w+|\w*[a-z_]model)\("
)
"""A Keras model, by the name of its constructor: files that compare libraries also have other models."""
_WITHOUT_XLA = r"(?:layers|preprocessing)\.Random[A-Z]|StringLookup|IntegerLookup|TextVectorization|Hashing|py_function|numpy_function|tf\.image\.|tf\.strings\.|[Ss]trategy|CUDA_VISIBLE_DEVICES|jit_compile"
"""Operations that XLA does not compile, and settings that disable it."""
_GPUS_CHOSEN = r"CUDA_VISIBLE_DEVICES|set_visible_devices"
"""Another line that selects the GPUs."""
_APART = r"\bgym|gymnasium|strategy|distribute|placeholder|Session\("
"""Reinforcement learning, several devices, and the graphs of TensorFlow 1."""
PLANTERS = [
    Planter(
        "KC101",
        "argument removed",
        r",\s*num_parallel_calls\s*=\s*[\w.]+(?=\s*\))",
        "",
        needs=r"tf\.image\.random_|tf\.random\.",
        anywhere=False,
    ),
    Planter(
        "KC101",
        "argument replaced",
        r"(?<=num_parallel_calls=)(?:tf\.data\.)?(?:experimental\.)?AUTOTUNE",
        "1",
        needs=_SOURCE,
        anywhere=False,
    ),
    Planter(
        "KC102", "operation removed", rf"\.prefetch{_CALL}$", "", needs=_SOURCE, unless=_BUFFERED_SOURCE, anywhere=False
    ),
    Planter(
        "KC125", "operations swapped", rf"(\.batch{_CALL})(\.prefetch{_CALL})$", r"\2\1", needs=_SOURCE, anywhere=False
    ),
    Planter(
        "KC128",
        "result dropped",
        rf"^([ \t]*)(\w+)\s*=\s*(\2\.(?:prefetch|shuffle|batch|repeat){_CALL})$",
        r"\1\3",
        needs=_SOURCE,
    ),
    Planter("KC114", "operations swapped", rf"(\.cache\(\))(\.shuffle{_CALL})", r"\2\1", needs=_SOURCE, anywhere=False),
    Planter(
        "KC115", "operations swapped", rf"(\.shuffle{_CALL})(\.batch{_CALL})", r"\2\1", needs=_SOURCE, anywhere=False
    ),
    Planter(
        "KC124",
        "call added",
        _AFTER_IMPORT,
        "import tensorflow as tf\ntf.config.experimental.enable_op_determinism()",
        line=1,
        needs=_TRAINS_WHEN_RUN,
        unless=_APART,
    ),
    Planter("KC208", "argument added", r"(?<=LSTM\()(\d+)", r"\1, recurrent_dropout=0.2"),
    Planter(
        "KC302",
        "call added",
        _COMPILE,
        r'\1tf.keras.mixed_precision.set_global_policy("mixed_float16")\n\g<0>',
        needs=r"^import tensorflow as tf$",
        place=_unconditional,
    ),
    Planter(
        "KC305",
        "call added",
        _AFTER_IMPORT,
        'import tensorflow as tf\ntf.keras.backend.set_floatx("float16")',
        line=1,
        needs=_TRAINS_WHEN_RUN,
        unless=_APART,
    ),
    Planter(
        "KC308",
        "call added",
        _AFTER_IMPORT,
        'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "-1"\nimport tensorflow as tf',
        line=1,
        needs=_TRAINS_WHEN_RUN,
        unless=rf"{_APART}|{_GPUS_CHOSEN}",
    ),
    Planter("KC309", "argument added", _COMPILE, r"\g<0>run_eagerly=True, ", place=_unconditional),
    Planter(
        "KC310",
        "argument added",
        _COMPILE,
        r"\g<0>jit_compile=False, ",
        unless=_WITHOUT_XLA,
        place=_unconditional,
        keras=3,
    ),
    Planter(
        "KC312",
        "call added",
        rf"(?s){_AFTER_IMPORT}(?!.*memory_growth)",
        'import tensorflow as tf\ngpus = tf.config.list_physical_devices("GPU")\ntf.config.experimental.set_memory_growth(gpus[0], True)',
        line=2,
    ),
    Planter(
        "KC401",
        "decorator removed",
        r"^[ \t]*@tf\.function\n([ \t]*)def (?=\w*train\w*\()",
        r"\1def ",
        needs="apply_gradients",
        place=_is_looped_step,
    ),
    Planter(
        "KC405",
        "wrapped in a loop",
        r"(?<=[= (])model\.predict\((\w+)\)",
        r"[model.predict(each[None]) for each in \1]",
        needs=_KERAS_MODEL,
    ),
    Planter(
        "KC412",
        "argument added",
        r"(?<!\w)ModelCheckpoint\((?!(?:[^()]|\([^()]*\))*(?:filepath|save_freq|period|best_only))",
        r"\g<0>save_freq=10, filepath=",
        needs=r"callbacks",
        unless=r"class ModelCheckpoint",
        place=_unconditional,
    ),
    Planter(
        "KC412",
        "argument added",
        r"(?<!\w)TensorBoard\((?![^)]*(?:log_dir|histogram_freq))",
        r"\g<0>histogram_freq=1, log_dir=",
        place=_unconditional,
    ),
    Planter(
        "KC414",
        "argument added",
        r"^([ \t]*)(?:\w+ = )?(?:self\.)?model\.fit\((?=[^\n]*\)[ \t]*$)",
        r"\g<0>workers=4, x=",
        needs=r"\.compile\(|load_model",
        keras=3,
    ),
]


def _strings(text: str) -> set[int]:
    """Offsets inside strings and comments: examples in docstrings are not code."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            found.update(range(starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]))
    return found


def planted(folders: list[Path], files: int, seed: int) -> Iterator[tuple[str, str, bool, str]]:
    """Yield rule, kind of change, whether kerascheck found it, and the location."""
    paths = sorted(
        path
        for folder in folders
        for path in folder.rglob("*.py")
        if not re.search(r"(?:^|[/_])tests?(?:[/_.]|$)", str(path.relative_to(folder)))
    )
    random.Random(seed).shuffle(paths)
    used = 0
    for path in paths:
        read_so = _training_text(path)
        if read_so is None:
            continue
        used += 1
        if used > files:
            return
        yield from _planted_in(path, *read_so)


def _training_text(path: Path) -> tuple[str, Target] | None:
    """Text and runtime of a script that parses, trains with Keras and suppresses nothing; else None."""
    try:
        text = path.read_text(encoding="utf-8")
        compile(text, str(path), "exec")
    except (UnicodeDecodeError, SyntaxError, ValueError):
        return None
    strings = _strings(text)
    if _SILENCED.search(text) or not all(
        any(match.start() not in strings for match in needed.finditer(text)) for needed in (_KERAS, _TRAINS)
    ):
        return None
    try:
        return text, Project(Settings(), read, Module).load(read(path)).runtime
    except SyntaxProblem:
        # kerascheck reports it as an unparsable file.
        return None


def _planted_in(path: Path, text: str, runtime: Target) -> Iterator[tuple[str, str, bool, str]]:
    strings = _strings(text)
    known = {spec.code for spec in rule_specs()}
    before: set[Place] | None = None
    for planter in PLANTERS:
        # Problems of Keras 3 only do not exist if the project uses another Keras or another backend.
        if (
            planter.code not in known
            or runtime.keras < planter.keras
            or (planter.keras > 2 and runtime.backend != "tensorflow")
        ):
            continue
        if (planter.needs and not re.search(planter.needs, text, re.M)) or re.search(planter.unless, text):
            continue
        for match in _openings(planter, text, strings):
            changed = text[: match.start()] + match.expand(planter.becomes) + text[match.end() :]
            line = text.count("\n", 0, match.start()) + 1 + planter.line
            try:
                if not planter.place(ast.parse(changed), line):
                    continue
            except SyntaxError:
                continue
            # The copy is in the folder of the file, so kerascheck can follow its imports.
            name = "kerascheck_planted.py"
            if before is None:
                before = lint(path.parent, {name: text}, ",".join(sorted({p.code for p in PLANTERS} & known)))
            if any(code == planter.code and abs(there - line) <= 3 for _, _, there, code in before):
                break
            found = lint(path.parent, {name: changed}, planter.code)
            yield planter.code, planter.kind, any(abs(there - line) <= 3 for _, _, there, _ in found), f"{path}:{line}"
            break


def _openings(planter: Planter, text: str, strings: Container[int]) -> list[re.Match[str]]:
    """Matches of a planter in a text."""
    return [
        match
        for match in re.finditer(planter.pattern, text, re.M)
        if match.start() not in strings
        and (planter.anywhere or not _HELD_OUT.search(text[text.rfind("\n", 0, match.start()) + 1 : match.end()]))
    ]


def report(results: list[tuple[str, str, bool, str]], misses: bool) -> None:
    by_rule, by_way = defaultdict(Counter), defaultdict(Counter)
    for code, way, found, _ in results:
        by_rule[code][found] += 1
        by_way[way][found] += 1
    for table in (by_rule, by_way):
        for key, count in sorted(table.items()):
            print(f"{key:20} {count[True]:4} of {count.total():4}")
        print()
    if misses:
        for code, way, found, what in results:
            if not found:
                print(f"missed: {code} {way}: {what}")
    total = Counter(found for _, _, found, _ in results)
    print(f"found {total[True]} of {total.total()}: {total[True] / max(1, total.total()):.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plant", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--files", type=int, default=300, help="files to plant into, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--misses", action="store_true")
    arguments = parser.parse_args()
    if arguments.plant:
        report(list(planted(arguments.plant, arguments.files, arguments.seed)), arguments.misses)
        return
    with tempfile.TemporaryDirectory() as folder:
        report(list(rewritten(Path(folder))), arguments.misses)


if __name__ == "__main__":
    main()
