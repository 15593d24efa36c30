"""Which files a run lints."""

import os
import subprocess

import pytest

from kerascheck.config import Configuration, overrides_from
from kerascheck.source.discovery import MissingPath, discover


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(*paths, **files):
        for path in paths:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("def test_it(): ...\n" if "test_" in path or "_test" in path else "")

    def found(*arguments, force_exclude=False, isolated=False, **options):
        configuration = Configuration(overrides_from(options), isolated=isolated)
        return [file.path for file in discover(arguments or ["."], configuration, force_exclude=force_exclude).files]

    make.found = found
    make.path = tmp_path
    return make


def test_python_files_and_notebooks_sorted(tree):
    tree("b/c.ipynb", "b/a.py", "a.py", "a.pyi", "a.txt", "script")
    assert tree.found() == ["a.py", os.path.join("b", "a.py"), os.path.join("b", "c.ipynb")]


def test_files_that_ask_for_tensorflow(tree):
    tree("a.py", "requirements.txt", "sub/pyproject.toml", "sub/setup.toml", "docs/requirements.txt")
    for path in ("sub/Dockerfile", "environment.yml", "notes.txt"):
        (tree.path / path).write_text("RUN pip install TensorFlow\n")
    assert tree.found() == ["a.py", "environment.yml", os.path.join("sub", "Dockerfile")]
    assert tree.found("requirements.txt") == ["requirements.txt"]
    assert tree.found("notes.txt", "environment.yml", "a.py", force_exclude=True) == ["a.py", "environment.yml"]


def test_folders_that_hold_no_code_of_the_project(tree):
    tree(
        "a.py", ".hidden/a.py", ".ipynb_checkpoints/a.ipynb", "venv/a.py", "node_modules/x/a.py", "build/a.py", "dist/a.py",
        "__pycache__/a.py", "x/site-packages/a.py", "._a.py", "my_env/pyvenv.cfg", "my_env/lib/a.py", "deep/build/a.py",
    )  # fmt: skip
    assert tree.found() == ["a.py"]


def test_explicit_files_are_linted_whatever_leaves_them_out(tree):
    tree("build/a.py", "tests/test_a.py", ".hidden/b.py", "script")
    explicit = ["build/a.py", "tests/test_a.py", ".hidden/b.py", "script"]
    assert sorted(tree.found(*explicit)) == sorted(explicit)
    assert tree.found(*explicit, force_exclude=True) == ["script"]


def test_explicit_folders_are_walked_whatever_leaves_them_out(tree):
    tree("build/a.py")
    (tree.path / ".gitignore").write_text("build/\n")
    assert tree.found() == []
    assert tree.found("build") == ["build/a.py"]


def test_a_file_named_twice_is_linted_once(tree):
    tree("a.py", "b/a.py")
    assert tree.found(".", "a.py", str(tree.path / "b"), "b/../a.py") == ["a.py", "b/a.py"]


def test_a_missing_path_is_an_error(tree):
    with pytest.raises(MissingPath, match="nope"):
        tree.found("nope")


TESTS = ["tests/helper.py", "test/a.py", "src/tests/a.py", "test_a.py", "a_test.py", "conftest.py", "test_n.ipynb"]


def test_tests_are_left_out_unless_asked_for(tree):
    tree("a.py", "latest.py", "contest.py", *TESTS)
    assert tree.found() == ["a.py", "contest.py", "latest.py"]
    assert set(tree.found(include_tests=True)) == {"a.py", "contest.py", "latest.py", *TESTS}
    assert tree.found("tests") == ["tests/helper.py"]


def test_scripts_that_are_only_called_tests_are_no_tests(tree):
    for name in ("train_and_test.py", "test_gan.py", "mnist_test.ipynb"):
        (tree.path / name).write_text("model.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)\n")
    assert tree.found() == tree.found(".", force_exclude=True) == ["mnist_test.ipynb", "test_gan.py", "train_and_test.py"]
    for name, text in {"test_gan.py": "class TestGan: ...", "train_and_test.py": "import unittest"}.items():
        (tree.path / name).write_text(text)
    assert tree.found() == ["mnist_test.ipynb"]


def test_a_project_below_a_folder_called_tests_is_no_test(tree, monkeypatch):
    tree("tests/project/train.py")
    assert tree.found("tests/project") == ["tests/project/train.py"]
    monkeypatch.chdir(tree.path / "tests" / "project")
    assert tree.found() == ["train.py"]


def test_gitignore_files_nest_and_the_deepest_decides(tree):
    tree("a.py", "gen.py", "out/a.py", "pkg/gen.py", "pkg/keep/gen.py", "pkg/local.py", "pkg/anchored.py", "anchored.py")
    (tree.path / ".gitignore").write_text("# generated\ngen.py\nout/\n/anchored.py\n")
    (tree.path / "pkg" / ".gitignore").write_text("local.py\n")
    (tree.path / "pkg" / "keep" / ".gitignore").write_text("!gen.py\n")
    expected = ["a.py", "pkg/anchored.py", "pkg/keep/gen.py"]
    assert tree.found() == expected
    subprocess.run(["git", "init", "-q"], check=True)
    listed = subprocess.run(["git", "ls-files", "-o", "--exclude-standard", "*.py"], capture_output=True, text=True).stdout
    assert sorted(listed.split()) == expected


def test_gitignore_of_the_folders_above_up_to_the_repository(tree):
    tree("repo/pkg/a.py", "repo/pkg/b.py", "repo/pkg/c.py", "repo/pkg/d.py")
    (tree.path / ".gitignore").write_text("a.py\n")
    (tree.path / "repo" / ".gitignore").write_text("b.py\n")
    (tree.path / "repo" / ".git" / "info").mkdir(parents=True)
    (tree.path / "repo" / ".git" / "info" / "exclude").write_text("c.py\n")
    assert tree.found("repo/pkg") == ["repo/pkg/a.py", "repo/pkg/d.py"]


def test_gitignore_can_be_left_unread(tree):
    tree("a.py")
    (tree.path / ".gitignore").write_text("a.py\n")
    (tree.path / "pyproject.toml").write_text("[tool.kerascheck]\nrespect-gitignore = false\n")
    assert tree.found() == ["a.py"]
    assert tree.found(isolated=True) == []


def test_exclude_replaces_and_extend_exclude_adds(tree):
    tree("a.py", "build/a.py", "pkg/old/a.py", "pkg/b.py")
    assert tree.found(extend_exclude=["old/"]) == ["a.py", "pkg/b.py"]
    assert tree.found(exclude=["pkg/*.py"]) == ["a.py", "build/a.py", "pkg/old/a.py"]
    (tree.path / "pyproject.toml").write_text('[tool.kerascheck]\nextend-exclude = ["./pkg"]\n')
    assert tree.found() == ["a.py"]


def test_patterns_are_relative_to_their_configuration_file(tree):
    tree("one/gen/a.py", "two/gen/a.py", "one/b.py")
    (tree.path / "one" / "pyproject.toml").write_text('[tool.kerascheck]\nextend-exclude = ["/gen"]\n')
    assert tree.found() == ["one/b.py", "two/gen/a.py"]


def test_loops_of_links_end(tree):
    tree("a/b.py")
    (tree.path / "a" / "loop").symlink_to(tree.path)
    assert tree.found() == ["a/b.py"]


def test_a_folder_that_cannot_be_listed_is_told(tree, monkeypatch):
    tree("a/b.py")
    real = os.scandir

    def refuse(path):
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = discover(["."], Configuration())
    assert [(os.path.basename(folder), reason) for folder, reason in result.unreadable] == [("a", "Permission denied")]
