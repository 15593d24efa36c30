"""Versions that a project's own files pin."""

import pytest

from kerascheck.source import requirements
from kerascheck.source.requirements import pinned_versions


@pytest.fixture(autouse=True)
def nothing_remembered():
    requirements._pins.cache_clear()


@pytest.mark.parametrize(
    ("name", "content", "pins"),
    [
        ("requirements.txt", "numpy\ntensorflow==2.10.1  # old\n", {"tensorflow": "==2.10.1"}),
        ("requirements-gpu.txt", "tensorflow-gpu[and-cuda] >= 2.8, < 2.11\n", {"tensorflow": ">=2.8,<2.11"}),
        ("requirements.txt", "tf_keras~=2.15\nKeras<3\n", {"tf-keras": "~=2.15", "keras": "<3"}),
        ("requirements.txt", "tensorflow>=2.10\nkeras\ntensorflow-datasets==4.9\n", {}),
        ("requirements.txt", "tensorflow==2.10; sys_platform == 'win32'\n", {}),
        ("requirements.txt", "-r other.txt\n# tensorflow==2.1\n--hash=x\n", {}),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow==2.9.*", "keras>2"]\n', {"tensorflow": "==2.9.*"}),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "^2.10"\n', {"tensorflow": ">=2.10,<3"}),
        ("pyproject.toml", '[tool.poetry.dependencies]\nkeras = "~2.10.1"\n', {"keras": ">=2.10.1,<2.11"}),
        ("pyproject.toml", '[tool.poetry.dependencies]\nkeras = {version = "2.12"}\n', {"keras": "==2.12"}),
        ("pyproject.toml", "keras = [broken\n", {}),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    tensorflow<=2.4\n", {"tensorflow": "<=2.4"}),
        ("environment.yml", "dependencies:\n  - conda-forge::tensorflow=2.9\n  - pip:\n    - keras==2.9.0\n",
         {"tensorflow": "==2.9.*", "keras": "==2.9.0"}),
        ("environment.yml", "dependencies:\n  - tensorflow-gpu=2.4.1=h8a7_0\n", {"tensorflow": "==2.4.1.*"}),
    ],
)  # fmt: skip
def test_bounded_versions(tmp_path, name, content, pins):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(content)
    (tmp_path / "pkg").mkdir()
    assert pinned_versions(tmp_path / "pkg" / "train.py") == pins


def test_files_that_disagree_say_nothing(tmp_path):
    (tmp_path / "requirements.txt").write_text("tensorflow==2.10\nkeras==2.10\n")
    (tmp_path / "requirements-new.txt").write_text("tensorflow==2.15\nkeras == 2.10\n")
    assert pinned_versions(tmp_path / "train.py") == {"keras": "==2.10"}


def test_the_nearest_folder_decides_and_the_repository_ends_the_search(tmp_path):
    (tmp_path / "requirements.txt").write_text("keras==1.0\n")
    inner = tmp_path / "repo" / "pkg"
    inner.mkdir(parents=True)
    (tmp_path / "repo" / "requirements.txt").write_text("tensorflow==2.3\n")
    assert pinned_versions(inner / "train.py") == {"tensorflow": "==2.3"}
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "repo" / "requirements.txt").unlink()
    requirements._pins.cache_clear()
    assert pinned_versions(inner / "train.py") == {}
