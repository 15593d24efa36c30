"""The programs in the folders of all rules, and their findings from one run over many programs."""

from __future__ import annotations

import ast
import builtins
import os
import shutil
import symtable
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cases import notebook, read_cases
from marks import unmarked

from kerascheck.catalog.registry import RuleSpec, rule_specs
from kerascheck.catalog.rule import RequirementsRule
from kerascheck.finding import FileError, Finding
from kerascheck.lint import pipeline
from kerascheck.project.config import Configuration, overrides_from
from kerascheck.project.discovery import discover

ATTACK = "Attack: "
"""The prefix of headings of cases in which the rule has no safe fix."""
_EXAMPLES = ("slow", "fast", "quiet")
_PREDEFINED = frozenset({*dir(builtins), "__file__", "__name__", "__doc__"})


@dataclass(frozen=True)
class Program:
    """A program of a rule's folder, without marks.

    Attributes:
        rule: the code of the rule whose folder has it.
        name: a readable name, such as "serial_map/slow.py" or "serial_map/cases.md:12".
        files: the texts by path.
        heading: the heading of the case; empty for examples.
        expects_safe_fix: whether the case quotes ``> fix: safe``.
    """

    rule: str
    name: str
    files: Mapping[str, str]
    heading: str = ""
    expects_safe_fix: bool = False

    @property
    def main(self) -> str | None:
        """The path of the file that runs as a script; None if it is unknown."""
        scripts = [path for path in self.files if path.endswith(".py")]
        return "train.py" if "train.py" in self.files else scripts[0] if len(scripts) == 1 else None

    @property
    def is_attack(self) -> bool:
        """Whether its rule has no safe fix for it; other programs under the same heading may have one."""
        return self.heading.startswith(ATTACK) and not self.expects_safe_fix

    def write(self, folder: Path) -> None:
        """Write the files into a folder that is a separate project."""
        # Marks the project root, so that kerascheck ignores configurations and modules above.
        (folder / ".git").mkdir(parents=True)
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            content = notebook(text) if path.endswith(".ipynb") else text
            (folder / path).write_bytes(content.encode())


def programs_of_rules() -> list[Program]:
    """Every example and every case, sorted by the code of its rule."""
    return [program for spec in rule_specs() for program in (*_examples(spec), *_cases(spec))]


def _examples(spec: RuleSpec) -> Iterable[Program]:
    if spec.kind is RequirementsRule:
        for name in _EXAMPLES:
            folder = spec.folder / name
            paths = sorted(path for path in folder.rglob("*") if path.is_file())
            files = {str(path.relative_to(folder)): unmarked(path.read_text("utf-8")) for path in paths}
            yield Program(spec.code, f"{spec.folder.name}/{name}", files)
        return
    for path in sorted(spec.folder.glob("*.py")):
        if path.name.startswith(_EXAMPLES):
            yield Program(
                spec.code, f"{spec.folder.name}/{path.name}", {path.name: unmarked(path.read_bytes().decode())}
            )


def _cases(spec: RuleSpec) -> Iterable[Program]:
    path = spec.folder / "cases.md"
    for case in read_cases(path) if path.is_file() else ():
        for each in case.programs:
            files = {name: unmarked(text) for name, text in each.files.items()}
            safe = any(said.get("fix") == "safe" for said in each.said)
            yield Program(spec.code, f"{spec.folder.name}/cases.md:{each.line}", files, case.heading, safe)


def lint(programs: Sequence[Program], folder: Path) -> tuple[list[list[Finding]], list[list[FileError]]]:
    """The findings and the errors of each program, by all rules, in one run.

    Args:
        folder: an empty folder for the files of all programs.
    """
    for number, program in enumerate(programs):
        program.write(folder / f"p{number}")
    configuration = Configuration(overrides_from({"select": ["ALL"], "pedantic": True, "include_tests": True}))
    outcome = pipeline.lint(discover([str(folder)], configuration).files, configuration, jobs=1)
    findings: list[list[Finding]] = [[] for _ in programs]
    errors: list[list[FileError]] = [[] for _ in programs]
    for finding in outcome.findings:
        findings[_number(finding.location.path, folder)].append(finding)
    for error in outcome.errors:
        errors[_number(error.location.path, folder)].append(error)
    return findings, errors


def _number(path: str, folder: Path) -> int:
    return int(Path(os.path.abspath(path)).relative_to(folder).parts[0][1:])


def undefined_names(text: str) -> set[str]:
    """The names that a module reads from its globals and never binds; empty after ``from m import *``.

    Raises:
        SyntaxError: the text does not parse.
    """
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(ast.parse(text))):
        return set()
    top = symtable.symtable(text, "program", "exec")
    tables, bound, read = [top], set(_PREDEFINED), set()
    for table in tables:
        tables += table.get_children()
        for symbol in table.get_symbols():
            name, is_global = symbol.get_name(), table is top or symbol.is_global()
            if is_global and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()):
                bound.add(name)
            if is_global and symbol.is_referenced():
                read.add(name)
    return read - bound


def is_complete(program: Program) -> bool:
    """Whether a program consists of scripts that bind every name that they read."""
    try:
        return program.main is not None and not any(
            undefined_names(text) for path, text in program.files.items() if path.endswith(".py")
        )
    except SyntaxError:
        return False


def copy(folder: Path, to: Path) -> Path:
    """Copy a program's folder without its project mark."""
    return Path(shutil.copytree(folder, to, ignore=shutil.ignore_patterns(".git", "__pycache__")))
