"""What is shipped: rules inside the wheel, everything needed to test in the source archive."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import kerascheck

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling: pip install kerascheck[test]")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True
    )
    return folder


def test_an_installed_wheel_finds_its_rules(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"kerascheck-{kerascheck.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    code = "import json, kerascheck.registry as r; print(json.dumps([str(room.folder) for room in r.rooms()]))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    folders = [Path(folder) for folder in json.loads(done.stdout)]
    assert [folder.relative_to(tmp_path).parts[:2] for folder in folders] == [("kerascheck", "rules")] * len(folders)
    assert len(folders) == len(list(ROOT.glob("rules/*/*/rule.py")))
    assert all((folder / "slow.py").is_file() or any((folder / "slow").iterdir()) for folder in folders)


def test_no_top_level_package_but_ours(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {
            "kerascheck", f"kerascheck-{kerascheck.__version__}.dist-info"
        }  # fmt: skip
        metadata = archive.read(f"kerascheck-{kerascheck.__version__}.dist-info/METADATA").decode()
    assert "License-File: LICENSE" in metadata


def test_the_source_archive_can_build_and_test_itself(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {
        "pyproject.toml",
        "LICENSE",
        "tests/test_rooms.py",
        "rules/pipeline/serial_map/rule.py",
        ".pre-commit-hooks.yaml",
    } <= names
