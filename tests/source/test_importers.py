"""The importers of a file, found without parsing."""

import json

import pytest

from kerascheck.project.config import Configuration
from kerascheck.project.import_graph import ImportGraph, project_root


@pytest.fixture
def importers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def build(target, **files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(path.name + (".ipynb" if text.startswith("{") else ".py")).write_text(text)
        return [file.path for file in ImportGraph(str(tmp_path), Configuration()).importers([target])]

    return build


@pytest.mark.parametrize(
    "statement",
    [
        "import data",
        "import os, data as d",
        "  from data import make",
        "from data import (\n    make,\n)",
        "try:\n\tfrom data import x\nexcept ImportError: pass",
    ],
)
def test_forms_of_import(importers, statement):
    assert importers("data.py", data="", train=statement) == ["train.py"]


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("train", "from pkg import data"),
        ("train", "from pkg import (  # here\n    other,\n    data as d,\n)"),
        ("train", "import pkg.data"),
        ("scripts__train", "from pkg.data import make"),
        ("pkg__train", "from .data import make"),
        ("pkg__train", "from . import data"),
        ("pkg__train", "import data"),
        ("pkg__sub__train", "from ..data import make"),
        ("pkg__sub__train", "from .. import data"),
    ],
)
def test_packages_and_relative_imports(importers, name, statement):
    assert importers("pkg/data.py", pkg__data="", **{name: statement}) == [name.replace("__", "/") + ".py"]


def test_similar_names_do_not_match(importers):
    assert (
        importers(
            "pkg/data.py",
            pkg__data="",
            other__data="",
            other__train="import data",
            train="import data\nx = 'import pkg.data'",
        )
        == []
    )


def test_nearer_importers_come_first(importers):
    files = {"data": "", "b": "import data", "a": "import b", "c": "import a, data", "d": "import d"}
    assert importers("data.py", **files) == ["b.py", "c.py", "a.py"]


@pytest.mark.parametrize(
    "statement", ["import pkg.sub.data", "from pkg.sub import data", "from pkg.sub.data import make"]
)
def test_importing_a_module_imports_the_packages_around_it(importers, tmp_path, statement):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    assert importers("pkg/__init__.py", pkg__sub__data="", train=statement) == ["train.py"]


def test_importing_a_package_by_name(importers, tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    assert importers("pkg/__init__.py", train="from pkg import make") == ["train.py"]


def test_notebooks_import_too(importers):
    cell = {"cell_type": "code", "source": ["from data import x\n"]}
    assert importers("data.py", data="", n=json.dumps({"cells": [cell]}, indent=1)) == ["n.ipynb"]


def test_the_root_of_a_project(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert project_root(str(inner / "x.py")) == str(inner)
    (tmp_path / "a" / "setup.py").write_text("")
    assert project_root(str(inner / "x.py")) == str(tmp_path / "a")


def test_a_readme_marks_a_root_without_better_markers(tmp_path):
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "README.md").write_text("")
    assert project_root(str(inner / "x.py")) == str(tmp_path / "a")
    (tmp_path / ".git").mkdir()
    assert project_root(str(inner / "x.py")) == str(tmp_path)


def test_a_readme_far_up_or_at_home_marks_no_root(tmp_path, monkeypatch):
    far = tmp_path.joinpath(*"abcdef")
    far.mkdir(parents=True)
    (tmp_path / "README.md").write_text("")
    assert project_root(str(far / "x.py")) == str(far)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert project_root(str(tmp_path / "a" / "x.py")) == str(tmp_path / "a")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("sys.path.append('lib')", True),
        ('sys.path.insert(0, HERE + "/lib")', True),
        ("sys.path.append(os.path.join(HERE, 'lib', '..', 'lib'))", True),
        ("sys.path.append('/lib')", False),
        ("# sys.path.append('lib')", False),
        ("sys.path.append(HERE)", False),
        ("sys.path.append('" + "lib" * 999 + "')", False),
    ],
)
@pytest.mark.parametrize("notebook", [False, True])
def test_folders_added_to_the_search_path(importers, line, found, notebook):
    text = f"import os, sys\n{line}\nfrom data import x\n"
    cell = {"cell_type": "code", "source": text.splitlines(keepends=True)}
    train = json.dumps({"cells": [cell]}, indent=1) if notebook else text
    assert importers("lib/data.py", lib__data="", train=train) == ["train.ipynb" if notebook else "train.py"] * found


def test_a_deleted_folder_has_no_importers(tmp_path):
    graph = ImportGraph(str(tmp_path / "gone"), Configuration())
    assert not graph.importers([str(tmp_path / "gone" / "data.py")])
