"""The extension for VS Code: its manifest agrees with the server, and its own tests pass where npm has installed it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kerascheck
from kerascheck.lsp.checker import LISTS, OPTIONS
from kerascheck.project.config import DEFAULT_EXCLUDE, SETTINGS, Settings

EXTENSION = Path(__file__).resolve().parents[2] / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
PROPERTIES = MANIFEST["contributes"]["configuration"]["properties"]
OWN = {"interpreter", "package", "trace.server"}


def test_version_is_that_of_the_package():
    assert MANIFEST["version"] == kerascheck.__version__


def test_settings_are_those_of_the_server():
    assert set(PROPERTIES) == {f"kerascheck.{name}" for name in (*OPTIONS, *OWN)}
    (names,) = re.findall(
        r"OWN = new Set\(\[(.*?)\]\)", (EXTENSION / "src" / "settings.ts").read_text(encoding="utf-8")
    )
    assert set(re.findall(r'"([\w.]+)"', names)) == OWN


@pytest.mark.parametrize("name", OPTIONS)
def test_setting_has_the_type_default_and_meaning_of_the_server(name):
    stated, default = PROPERTIES[f"kerascheck.{name}"], vars(Settings()).get(name.replace("-", "_"))
    if name == "exclude":
        default = list(DEFAULT_EXCLUDE)
    elif name in LISTS:
        default = []
    elif not isinstance(default, bool):
        default = str(default or "")
    kind = {list: "array", bool: "boolean", str: "string"}[type(default)]
    assert (stated["type"], stated["default"], stated["description"]) == (kind, default, SETTINGS[name].meaning)
    # As in the documentation: a choice is a list of quoted words.
    words = re.findall(r'"(\w+)"', SETTINGS[name].kind)
    assert stated.get("enum", []) == (words if len(words) > 1 else [])


def test_commands_are_those_of_the_code():
    code = "".join(path.read_text(encoding="utf-8") for path in (EXTENSION / "src").glob("*.ts"))
    assert set(re.findall(r'registerCommand\("([\w.]+)"', code)) == {
        command["command"] for command in MANIFEST["contributes"]["commands"]
    }


def test_locked_packages_name_no_registry():
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    assert len(lock["packages"]) > 1 and not [name for name, each in lock["packages"].items() if "resolved" in each]


@pytest.mark.slow
@pytest.mark.skipif(
    not (EXTENSION / "node_modules").is_dir() or shutil.which("npm") is None,
    reason="needs the packages of the extension: npm ci in editors/vscode",
)
def test_extension_passes_its_own_tests():
    ran = subprocess.run(
        [shutil.which("npm"), "test"],
        cwd=EXTENSION,
        env={**os.environ, "KERASCHECK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0 and "# skipped 0" in ran.stdout, ran.stdout + ran.stderr
