"""The job of a CI service: lint, keep the counts for later steps, and write a summary.

``python -I -m kerascheck.integrations.ci github`` (or ``gitlab``) reads its inputs from the environment and exits with
the code of ``kerascheck check``. It sends nothing to the service, neither comments nor reviews: it writes files.

- ``KERASCHECK_PATHS``: files and folders, one per line.
- ``KERASCHECK_ARGS``: further options of ``check``, quoted as in a shell; nothing is expanded or executed.
- ``KERASCHECK_FORMAT``: format of the report in the log; by default ``text``.
- ``KERASCHECK_REPORT``: a file for a second report; ``KERASCHECK_REPORT_FORMAT`` is its format.
- GitHub sets ``GITHUB_OUTPUT`` and ``GITHUB_STEP_SUMMARY``
  (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands).
- ``KERASCHECK_DOTENV``: for GitLab, the file with the counts
  (https://docs.gitlab.com/ci/yaml/artifacts_reports/#artifactsreportsdotenv).
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kerascheck.report.common import count

_SHOWN_FINDINGS = 10
_LARGEST_PATCH = 20_000  # characters; GitHub drops a summary of more than 1 MiB
_UNUSABLE = 2  # exit code for wrong usage
_OUTPUTS = ("errors", "warnings", "hints", "fixable")
_SEVERITIES = ("error", "warning", "info")
_MARKUP = frozenset("\\`*_[]<>&|~#!@:")
_CHECK = "import sys; from kerascheck.cli.main import main; main()"


def main() -> int:
    """Lint as the environment says; returns the exit code."""
    service = sys.argv[1]
    try:
        arguments = shlex.split(os.environ.get("KERASCHECK_ARGS", ""))
    except ValueError as problem:
        print(f"kerascheck: the arguments cannot be split into words: {problem}", file=sys.stderr)
        return _UNUSABLE
    paths = [line for line in os.environ.get("KERASCHECK_PATHS", "").splitlines() if line]

    code = _check(arguments, paths, "--output-format", os.environ.get("KERASCHECK_FORMAT", "text")).returncode
    # The other runs take the results from the cache.
    if report := os.environ.get("KERASCHECK_REPORT"):
        wanted = os.environ.get("KERASCHECK_REPORT_FORMAT", "sarif")
        written = _check(arguments, paths, "--quiet", "--output-format", wanted, "--output-file", report)
        code = max(code, written.returncode)
    document = _document(arguments, paths)
    _write_outputs(service, document, code)
    if service == "github" and document is not None:
        _append("GITHUB_STEP_SUMMARY", summary(document, _patch(arguments, paths)))
    return code


def _check(
    arguments: Sequence[str], paths: Sequence[str], *options: str, quiet: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run ``kerascheck check``; with ``quiet``, nothing of it reaches the log."""
    command = [sys.executable, "-I", "-c", _CHECK, "check", *arguments, *options, "--", *paths]
    pipe = subprocess.PIPE if quiet else None
    return subprocess.run(command, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace")


def _document(arguments: Sequence[str], paths: Sequence[str]) -> Mapping[str, Any] | None:
    """The JSON report; None if the options allow none."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        _check(arguments, paths, "--output-format", "json", "--output-file", str(report), quiet=True)
        if not report.is_file():
            return None
        document: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return document


def _patch(arguments: Sequence[str], paths: Sequence[str]) -> str:
    """The changes of ``--fix`` as a patch; empty without any, or if the options allow no patch."""
    ran = _check(arguments, paths, "--diff", "--output-format", "text", "--color", "never", quiet=True)
    return "" if ran.returncode == _UNUSABLE else ran.stdout


def _write_outputs(service: str, document: Mapping[str, Any] | None, code: int) -> None:
    """Write the counts as ``name=value``; unknown ones are empty."""
    counts = dict.fromkeys(_OUTPUTS, "") if document is None else dict(zip(_OUTPUTS, map(str, counted(document))))
    counts["exit-code"] = str(code)
    if service == "github":
        _append("GITHUB_OUTPUT", "".join(f"{name}={value}\n" for name, value in counts.items()))
    else:
        named = {f"KERASCHECK_{name.replace('-', '_').upper()}": value for name, value in counts.items()}
        _append("KERASCHECK_DOTENV", "".join(f"{name}={value}\n" for name, value in named.items()))


def _append(variable: str, text: str) -> None:
    if text and (path := os.environ.get(variable)):
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)


def counted(document: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """The numbers of errors, warnings and hints in a JSON report, and of findings that ``--fix`` repairs."""
    errors, warnings, hints = (document["summary"][severity] for severity in _SEVERITIES)
    fixes = (finding["fix"] for finding in document["findings"])
    safe = sum(fix is not None and fix["applicability"] == "safe" and fix["withheld"] is None for fix in fixes)
    return errors, warnings, hints, safe


def summary(document: Mapping[str, Any], patch: str) -> str:
    """The summary of a job in Markdown: counts, the first findings, errors first, and the patch. Empty if nothing was found.

    Args:
        document: the JSON report.
        patch: the changes of ``--fix``; empty without any.
    """
    findings, unreadable = document["findings"], document["errors"]
    if not findings and not unreadable:
        return ""
    errors, warnings, hints, fixable = counted(document)
    listed = [count(errors, "error"), count(warnings, "warning"), count(hints, "hint"), f"{fixable} fixable with --fix"]
    if unreadable:
        listed.append(count(len(unreadable), "unreadable file"))
    findings = sorted(findings, key=lambda finding: _SEVERITIES.index(finding["severity"]))
    parts = [f"### kerascheck: {', '.join(listed)}\n", _table([*unreadable, *findings])]
    if patch:
        parts.append(_folded(patch))
    return "\n".join(parts) + "\n"


def _table(items: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        f"| {_code(_place(item))} | {item['code']} | {_text(item['message'])} |" for item in items[:_SHOWN_FINDINGS]
    ]
    more = len(items) - len(rows)
    note = [f"\n{more} more in the log."] if more > 0 else []
    return "\n".join(["| where | rule | finding |", "|---|---|---|", *rows, *note]) + "\n"


def _place(item: Mapping[str, Any]) -> str:
    cell = "" if item["cell_number"] is None else f":cell {item['cell_number']}"
    return f"{item['path']}{cell}:{item['line']}"


def _text(text: str) -> str:
    """Text in a cell of a table, without effect as Markdown or HTML."""
    escaped = (f"&#{ord(each)};" if each in _MARKUP else each for each in text)
    return " ".join("".join(escaped).split())


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _folded(patch: str) -> str:
    cut = patch[:_LARGEST_PATCH]
    note = "" if cut == patch else "\nThe patch is longer; `kerascheck --diff` prints all of it.\n"
    # A fence of more tildes than the patch has in a row.
    fence = "~~~"
    while fence in cut:
        fence += "~"
    inside = f"{fence}diff\n{cut.rstrip()}\n{fence}\n{note}"
    return f"<details><summary>What <code>--fix</code> would change</summary>\n\n{inside}\n</details>\n"


if __name__ == "__main__":
    sys.exit(main())
