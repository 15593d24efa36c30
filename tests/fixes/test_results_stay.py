"""``kerascheck --fix`` preserves results: the printed output, the final numbers, the written files.

All complete scripts of the rule examples with a safe fix run before and after the fix.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from command import kerascheck
from forked import Running
from programs import Program, copy, is_complete, lint, programs_of_rules

from kerascheck.finding import Applicability
from kerascheck.fixes.proofs import RAISES_NOW

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs TensorFlow: pip install kerascheck[verify]"),
    pytest.mark.usefixtures("in_this_process"),
]
PARTS = 4
LEAST_COMPARED = 4
"""Minimum compared programs per share of the tests."""
_SECONDS = 120
"""Timeout of a program."""
_EPOCHS = re.compile(r"^(EPOCHS = |.*\bepochs=)(\d{1,3})\b", re.MULTILINE)
_ERROR = re.compile(r"^[\w.]+(?:Error|Exception)\b.*$", re.MULTILINE)
_MISSING = ("ModuleNotFoundError", "FileNotFoundError")
"""Exceptions of programs with missing requirements, independent of fixes."""
_REPEATS = 3
"""Repetitions of a program whose fix seems to change it."""
_UNORDERED = re.compile(r"\bdeterministic\s*=\s*False\b|num_parallel_calls=\d+\)\.take\(")
"""Code of programs whose order of elements differs between runs, or that read ahead for an arbitrary time."""
_PROCESSES = re.compile(r"\b(?:multiprocessing|subprocess)\b")


@dataclass
class Ended:
    """The end of a program's run."""

    code: int | None
    out: str
    error: str
    """The last line of standard error that names an exception."""
    state: dict[str, str] | None
    files: dict[str, object] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        return self.code == 0


def scripts() -> list[Program]:
    """Return the standalone scripts of the rule examples, limited to two epochs: a third would show nothing new."""
    return [
        replace(program, files={path: _shorter(text) for path, text in program.files.items()})
        for program in programs_of_rules()
        if (program.heading or "/slow" in program.name)
        and is_complete(program)
        and not any(map(_PROCESSES.search, program.files.values()))
        and not any(map(_UNORDERED.search, program.files.values()))
    ]


def _shorter(text: str) -> str:
    return _EPOCHS.sub(lambda found: f"{found[1]}{min(int(found[2]), 2)}", text)


def run(folder: Path, main: str, results: Path) -> Ended:
    """Run the script ``main`` of a folder; ``results`` receives the files of the test harness."""
    own = {path.relative_to(folder) for path in folder.rglob("*")}
    results.mkdir()
    running = Running(folder / main, results, repeatable=True)
    ended = running.result(_SECONDS)
    written = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} - own
    errors = _ERROR.findall(ended.stderr)
    return Ended(
        ended.returncode,
        ended.stdout.replace(str(folder), "<folder>"),
        errors[-1] if errors else "",
        running.state,
        {str(path): _content(folder / path) for path in sorted(written)},
    )


def _content(path: Path) -> object:
    """Return the bytes of a file, but the arrays of models and weights, because their archives contain dates."""
    content = path.read_bytes()
    if path.suffix == ".keras":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read("config.json"), _arrays(archive.read("model.weights.h5"))
    return _arrays(content) if path.suffix in (".h5", ".hdf5") else content


def _arrays(content: bytes) -> dict[str, bytes]:
    import h5py

    found = {}
    with h5py.File(io.BytesIO(content)) as file:
        file.visititems(
            lambda name, each: found.update({name: each[()].tobytes()}) if isinstance(each, h5py.Dataset) else None
        )
    return found


def differences(before: Ended, after: Ended) -> list[str]:
    """Return the differences after a fix, as sentences."""
    told = []
    if before.code != after.code:
        told.append(f"exit code {after.code} instead of {before.code}: {after.error}")
    if before.out != after.out:
        lines = [pair for pair in zip(before.out.splitlines(), after.out.splitlines()) if pair[0] != pair[1]]
        told.append(f"the output differs: {lines[:1] or 'one is longer'}")
    if before.state != after.state:
        one, other = before.state or {}, after.state or {}
        names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
        told.append(f"these variables end otherwise: {', '.join(names)}")
    if before.files != after.files:
        one, other = before.files, after.files
        names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
        told.append(f"these files differ: {', '.join(names)}")
    return told


@dataclass
class Judged:
    """A program, its verdict, and its problems."""

    program: Program
    kind: str
    """"compared", or the reason why not."""
    wrong: list[str] = field(default_factory=list)


def judge(program: Program, number: int, folder: Path, raises: bool) -> Judged:
    """Run a program before and after its fixes.

    Args:
        program: the original program.
        number: the index of the program, for names of folders.
        folder: the parent of the folder ``p<number>`` with the fixed program.
        raises: whether the original may fail, because one of the fixes repairs an exception.
    """
    before_folder, after_folder = folder / f"before{number}", folder / f"after{number}"
    program.write(before_folder)
    before = run(before_folder, program.main, folder / f"before{number}.ran")
    if not before.succeeded and (not raises or before.error.startswith(_MISSING)):
        return Judged(program, f"fails by itself: {before.error.partition(':')[0].rpartition('.')[2]}")
    copy(folder / f"p{number}", after_folder)
    after = run(after_folder, program.main, folder / f"after{number}.ran")
    if not before.succeeded:
        wrong = [] if after.out.startswith(before.out) else ["it prints something else before it raises"]
        if not after.succeeded and after.error == before.error:
            wrong.append(f"it still raises {after.error}")
        return Judged(program, "raises before its fix", wrong)
    wrong = differences(before, after)
    for attempt in range(_REPEATS if wrong else 0):
        again = folder / f"again{number}.{attempt}"
        program.write(again)
        if differences(before, run(again, program.main, folder / f"{again.name}.ran")):
            return Judged(program, "differs from itself")
    return Judged(program, "compared", wrong)


@pytest.mark.parametrize("part", range(PARTS))
def test_safe_fixes_preserve_results(part, tmp_path, record_property):
    programs = [program for program in scripts() if zlib.crc32(program.name.encode()) % PARTS == part]
    findings, _ = lint(programs, tmp_path)
    safe = [[each for each in found if each.fix and each.fix.applicability is Applicability.SAFE] for found in findings]
    kerascheck("--select", "ALL", "--pedantic", "--fix", "--exit-zero", *sorted(tmp_path.glob("p*")))
    chosen = [
        (program, number, any(RAISES_NOW.name in each.fix.obligations for each in found))
        for number, (program, found) in enumerate(zip(programs, safe))
        if found
    ]
    unchanged = [
        program.name
        for program, number, _ in chosen
        if all(
            (tmp_path / f"p{number}" / path).read_bytes().decode() == text
            for path, text in program.files.items()
            if not path.endswith(".ipynb")
        )
    ]
    with ThreadPoolExecutor(2) as pool:
        judged = list(pool.map(lambda each: judge(*each[:2], tmp_path, each[2]), chosen))
    count = Counter(each.kind for each in judged)
    record_property("programs", json.dumps(count))
    wrong = [f"{each.program.name}: {told}" for each in judged for told in each.wrong]
    assert not wrong, "\n" + "\n".join(wrong)
    assert not unchanged, "their safe fixes are not applied"
    assert count["compared"] >= LEAST_COMPARED, count
