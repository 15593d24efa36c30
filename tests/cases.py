"""Reader of rules/<family>/<slug>/cases.md, the cases of a rule; CONTRIBUTING.md describes the format."""

import difflib
import json
import re
import shlex
from dataclasses import dataclass, field

from command import kerascheck
from marks import differences, expectations, severity_of, unmarked

from kerascheck.catalog import registry
from kerascheck.report import no_fix

_PART = re.compile(
    r"^## (?P<heading>.+)$|^```(?P<info>[^`\n]*)\n(?P<text>(?s:.*?))^```$|(?P<quote>(?:^>.*\n)+)|^(?P<end>---)$",
    re.MULTILINE,
)
_QUOTED = re.compile(r"^> (message|because|fix|unsafe|related): (.*)$")
_CELL = re.compile(r"^# %%\n", re.MULTILINE)


@dataclass
class Program:
    """Files that are linted together, and the expected findings."""

    line: int
    """The line of the first file in cases.md."""
    files: dict[str, str] = field(default_factory=dict)
    """The texts with marks, by path."""
    linted: list[str] = field(default_factory=list)
    """The paths to pass to kerascheck; empty: all."""
    rules: list[str] = field(default_factory=list)
    """The codes of the rules to run; empty: the rule of the folder."""
    said: list[dict[str, str]] = field(default_factory=list)
    """The quoted texts of each finding, in the order of the report; empty if the case quotes none."""
    diff: str | None = None
    """The expected changes of --fix."""
    is_whole: bool = False
    """Whether the next file starts another program."""


@dataclass
class Case:
    heading: str
    line: int
    programs: list[Program] = field(default_factory=list)


def read_cases(path):
    """Read the cases of a file; raises :class:`ValueError` if it is malformed."""
    text = path.read_text(encoding="utf-8")
    found = []
    for part in _PART.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        try:
            if part["heading"]:
                found.append(Case(part["heading"], line))
            else:
                _add(found[-1].programs, line, part)
        except (IndexError, ValueError) as problem:
            why = problem if isinstance(problem, ValueError) else "nothing stands before it that it belongs to"
            raise ValueError(f"{path}:{line}: {why}") from None
    return found


def _add(programs, line, part):
    if part["end"]:
        programs[-1].is_whole = True
    elif part["quote"]:
        programs[-1].said.append(_said(part["quote"]))
    elif part["info"] == "diff":
        programs[-1].diff = part["text"]
    else:
        if not programs or programs[-1].is_whole:
            programs.append(Program(line))
        _add_file(programs[-1], part["info"], part["text"])


def _said(quote):
    said = {}
    for line in quote.splitlines():
        match = _QUOTED.match(line)
        if match is None or match[1] in said:
            raise ValueError(f"'{line}' is none of 'message:', 'because:', 'fix:', 'unsafe:' and 'related:', once each")
        said[match[1]] = match[2]
    return said


def _add_file(program, info, text):
    words = dict(word.partition("=")[::2] for word in shlex.split(info)[1:])
    name = words.pop("title", "train.py")
    if name in program.files:
        raise ValueError(f"the program has a {name} already; write --- between two programs")
    program.files[name] = text
    program.is_whole = name == "train.py"
    if "linted" in words:
        program.linted.append(name)
    program.rules += words.get("rules", "").split()
    if words.keys() - {"linted", "rules"}:
        raise ValueError(f"'{info}' says more than title, linted and rules")


def problems(program, code, folder):
    """Describe each difference between the findings in a program and the expectations of its case.

    Args:
        code: the code of the folder's rule.
        folder: an empty folder for the files.
    """
    paths = [folder / name for name in program.linted] or [folder]
    for name, text in program.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook(unmarked(text)) if name.endswith(".ipynb") else unmarked(text), encoding="utf-8")
    # Marks the project root, so that kerascheck ignores the folders above.
    (folder / ".git").mkdir()
    settings = [] if "pyproject.toml" in program.files else ["--isolated"]
    selection = [*settings, "--pedantic", "--select", ",".join(program.rules or [code])]
    report = json.loads(kerascheck(*selection, "--output-format", "json", "--exit-zero", *paths).out)
    found = [(_place(finding, folder), finding["code"], severity_of(finding)) for finding in report["findings"]]
    mismatches = [f"{_shown(place)}: {what}" for place, what in differences(_expected(program), found)]
    mismatches += [f"{_relative(error, folder)}: {error['message']}" for error in report["errors"]]
    mismatches += _unsaid(program, report["findings"], folder)
    mismatches += [
        f"{_shown(_place(each, folder))}: {each['code']} has no fix, and its page does not say why under 'Fix safety'"
        for each in report["findings"]
        if not each["fix"] and not no_fix.reason(registry.find(each["code"]))
    ]
    if program.diff is not None:
        mismatches += _unfixed(program, [*selection, "--fix", "--unsafe-fixes", *paths], folder)
    return mismatches


def notebook(script):
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**empty, "source": source.rstrip("\n")} for source in _cells(script)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _cells(script):
    return [source for source in _CELL.split(script) if source]


def _expected(program):
    """Location, code and severity of every mark; the cell number is 0 in a script."""
    expected = []
    for name, text in program.files.items():
        cells = enumerate(_cells(text), 1) if name.endswith(".ipynb") else [(0, text)]
        for number, cell in cells:
            expected += [((name, number, line), code, severity) for line, code, severity in expectations(cell)]
    return expected


def _place(finding, folder):
    return _relative(finding, folder), finding["cell_number"] or 0, finding["line"]


def _relative(place, folder):
    return place["path"].removeprefix(f"{folder}/")


def _shown(place):
    name, cell, line = place
    return f"{name}{f' cell {cell}' if cell else ''} line {line}"


def _unsaid(program, findings, folder):
    """Describe the quoted texts that the findings lack, in the order of the report."""
    if not program.said:
        return []
    if len(program.said) != len(findings):
        return [f"{len(program.said)} findings are quoted, {len(findings)} are found"]
    mismatches = []
    for said, finding in zip(program.said, findings):
        is_there = {
            "message": finding["message"],
            "because": finding["because"],
            "fix": finding["fix"]["applicability"] if finding["fix"] else "none",
            "unsafe": "; ".join(each["reason"] for each in finding["fix"]["unproven"]) if finding["fix"] else "",
            "related": ", ".join(f"{_relative(place, folder)}:{place['line']}" for place in finding["related"]),
        }
        wrong = [(key, text) for key, text in said.items() if not _fits(text, is_there[key])]
        mismatches += [f"the {key} of line {finding['line']} is {is_there[key]!r}, not {text!r}" for key, text in wrong]
    return mismatches


def _fits(quoted, text):
    """Whether a text matches a quote, in which an ellipsis matches anything."""
    return re.fullmatch(".*".join(map(re.escape, quoted.split("…"))), text) is not None


def _unfixed(program, command, folder):
    kerascheck(*command)
    changed = []
    for name, text in program.files.items():
        before, after = unmarked(text).splitlines(), (folder / name).read_text(encoding="utf-8").splitlines()
        lines = difflib.unified_diff(before, after, n=0, lineterm="")
        changed += [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    diff = "\n".join(changed)
    return [] if diff == program.diff.rstrip("\n") else [f"--fix changes this instead:\n{diff}"]
