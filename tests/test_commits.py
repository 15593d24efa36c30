"""The hook that checks the subjects of commit messages."""

import subprocess
import sys
from pathlib import Path

import pytest

HOOK = Path(__file__).parent.parent / ".ci" / "commit-subject"


def checked(folder, message):
    (folder / "message").write_text(message)
    return subprocess.run(
        [sys.executable, HOOK, folder / "message"], capture_output=True, text=True, timeout=60
    ).stderr.strip()


@pytest.mark.parametrize(
    "message",
    [
        "cache: key results on the import closure",
        "why: count the warm-up\n\nIt ended there.\n",
        "# git comments on it\nverify/child: end validations as Keras does",
        'Revert "cache: key results"\n\nThis reverts commit 1.',
        "docs: " + "x" * 66,
    ],
)
def test_valid_subject_passes(tmp_path, message):
    assert checked(tmp_path, message) == ""


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "area: imperative"),
        ("Fix things", "area: imperative"),
        ("cache: Key results", "area: imperative"),
        ("cache: key results.", "area: imperative"),
        ("docs: " + "x" * 67, "has 73 characters, of 72 at most"),
        ("cache: key results\non the closure", "empty"),
    ],
)
def test_invalid_subject_is_one_error_line(tmp_path, message, said):
    answer = checked(tmp_path, message)
    assert said in answer and len(answer.splitlines()) == 1
