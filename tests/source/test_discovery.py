"""Discovery of the files to lint."""

import inspect
import os
import subprocess
import sys

import pytest

from kerascheck.catalog import registry
from kerascheck.project.config import ConfigError, Configuration, overrides_from
from kerascheck.project.discovery import MissingPath, discover
from kerascheck.project.import_graph import ImportGraph


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


def test_a_tree_may_be_deeper_than_the_stack_of_python(tree):
    path = "/".join(["d"] * 300)
    tree(f"{path}/a.py", "d/b.py")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        assert tree.found() == [os.path.join("d", "b.py"), f"{path}/a.py".replace("/", os.sep)]
    finally:
        sys.setrecursionlimit(limit)


def test_requirement_files_are_found(tree):
    tree("a.py", "requirements.txt", "sub/pyproject.toml", "sub/setup.toml", "docs/requirements.txt")
    for path in ("sub/Dockerfile", "environment.yml", "notes.txt"):
        (tree.path / path).write_text("RUN pip install TensorFlow\n")
    assert tree.found() == ["a.py", "environment.yml", os.path.join("sub", "Dockerfile")]
    assert tree.found("requirements.txt") == ["requirements.txt"]
    assert tree.found("notes.txt", "environment.yml", "a.py", force_exclude=True) == ["a.py", "environment.yml"]


def test_folders_without_project_code_are_skipped(tree):
    tree(
        "a.py", ".hidden/a.py", ".ipynb_checkpoints/a.ipynb", "venv/a.py", "node_modules/x/a.py", "build/a.py", "dist/a.py",
        "__pycache__/a.py", "x/site-packages/a.py", "._a.py", "my_env/pyvenv.cfg", "my_env/lib/a.py", "deep/build/a.py",
    )  # fmt: skip
    assert tree.found() == ["a.py"]


def test_explicit_files_override_exclusions(tree):
    tree("build/a.py", "tests/test_a.py", ".hidden/b.py", "script")
    explicit = ["build/a.py", "tests/test_a.py", ".hidden/b.py", "script"]
    assert sorted(tree.found(*explicit)) == sorted(explicit)
    (tree.path / "script").write_text("#!/usr/bin/env python3\n")
    assert tree.found(*explicit, force_exclude=True) == ["script"]


def test_force_exclude_reads_only_python_and_requirements(tree):
    tree("a.py", "a.pyw", "a.wsgi", "wscript", "a.ipynb", "a.pyi", "requirements.txt", "environment.yml", "Dockerfile")
    tree(
        "LICENSE",
        "README",
        "CHANGELOG",
        "AUTHORS",
        "README.adoc",
        "CITATION.cff",
        "poetry.lock",
        "uv.lock",
        "data.json",
        "notes.txt",
    )
    scripts = {
        "train": "#!/usr/bin/env python3", "eval": "#! /usr/bin/python3.11 -u", "run.sh": "#!/bin/sh", "old": "#!/usr/bin/python2", "empty": "",
        "with_env": "#!/usr/bin/env -S python -O", "bpython": "#!/usr/bin/env bpython-helper", "script.tpl": "#!/usr/bin/env python3",
    }  # fmt: skip
    for name, first in scripts.items():
        (tree.path / name).write_text(first + "\nx = 1\n")
    (tree.path / "binary").write_bytes(b"#!\xff\x00")
    (tree.path / "gone").symlink_to("nowhere")
    everything = ["missing.md", *(path.name for path in tree.path.iterdir())]
    read = [
        "Dockerfile",
        "a.ipynb",
        "a.py",
        "a.pyw",
        "a.wsgi",
        "environment.yml",
        "eval",
        "requirements.txt",
        "train",
        "with_env",
        "wscript",
    ]
    assert tree.found(*everything, force_exclude=True) == read
    with pytest.raises(MissingPath):
        tree.found("missing.py", force_exclude=True)


def test_force_exclude_reads_files_that_identify_calls_python(tree):
    extensions = pytest.importorskip("identify.extensions")
    # Data tables and shell commands, which cannot train.
    data = {"gyp", "gypi", ".pdbrc"}
    endings = [ending for ending, tags in extensions.EXTENSIONS.items() if "python" in tags and ending not in data]
    names = [name for name, tags in extensions.NAMES.items() if "python" in tags and name not in data]
    paths = [*(f"a.{ending}" for ending in endings), *names]
    tree(*paths)
    assert tree.found(*paths, force_exclude=True) == sorted(paths)


def test_explicit_folders_override_exclusions(tree):
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


def test_tests_are_excluded_by_default(tree):
    tree("a.py", "latest.py", "contest.py", *TESTS)
    assert tree.found() == ["a.py", "contest.py", "latest.py"]
    assert set(tree.found(include_tests=True)) == {"a.py", "contest.py", "latest.py", *TESTS}
    assert tree.found("tests") == ["tests/helper.py"]


def test_scripts_merely_named_like_tests_are_linted(tree):
    for name in ("train_and_test.py", "test_gan.py", "mnist_test.ipynb"):
        (tree.path / name).write_text("model.fit(x_train, y_train)\nmodel.evaluate(x_test, y_test)\n")
    (tree.path / "test_gan.py").write_text("model.fit(x_train, y_train)  # as in def test_it\n'''Like a TestCase.'''\n")
    assert (
        tree.found() == tree.found(".", force_exclude=True) == ["mnist_test.ipynb", "test_gan.py", "train_and_test.py"]
    )
    for name, text in {"test_gan.py": "class TestGan: ...", "train_and_test.py": "import unittest"}.items():
        (tree.path / name).write_text(text)
    assert tree.found() == ["mnist_test.ipynb"]


def test_a_project_below_a_tests_folder_is_linted(tree, monkeypatch):
    tree("tests/project/train.py")
    assert tree.found("tests/project") == ["tests/project/train.py"]
    monkeypatch.chdir(tree.path / "tests" / "project")
    assert tree.found() == ["train.py"]


def test_gitignore_files_nest_and_the_deepest_decides(tree):
    tree(
        "a.py", "gen.py", "out/a.py", "pkg/gen.py", "pkg/keep/gen.py", "pkg/local.py", "pkg/anchored.py", "anchored.py"
    )
    (tree.path / ".gitignore").write_text("# generated\ngen.py\nout/\n/anchored.py\n")
    (tree.path / "pkg" / ".gitignore").write_text("local.py\n")
    (tree.path / "pkg" / "keep" / ".gitignore").write_text("!gen.py\n")
    expected = ["a.py", "pkg/anchored.py", "pkg/keep/gen.py"]
    assert tree.found() == expected
    subprocess.run(["git", "init", "-q"], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard", "*.py"], capture_output=True, text=True
    ).stdout
    assert sorted(listed.split()) == expected


def test_gitignore_of_parent_folders_up_to_the_repository(tree):
    tree("repo/pkg/a.py", "repo/pkg/b.py", "repo/pkg/c.py", "repo/pkg/d.py")
    (tree.path / ".gitignore").write_text("a.py\n")
    (tree.path / "repo" / ".gitignore").write_text("b.py\n")
    (tree.path / "repo" / ".git" / "info").mkdir(parents=True)
    (tree.path / "repo" / ".git" / "info" / "exclude").write_text("c.py\n")
    assert tree.found("repo/pkg") == ["repo/pkg/a.py", "repo/pkg/d.py"]


def test_gitignore_can_be_disabled(tree):
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


def test_symlink_loops_terminate(tree):
    tree("a/b.py")
    (tree.path / "a" / "loop").symlink_to(tree.path)
    assert tree.found() == ["a/b.py"]


def test_an_unlistable_folder_is_reported(tree, monkeypatch):
    tree("a/b.py")
    real = os.scandir

    def refuse(path):
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = discover(["."], Configuration())
    assert [(os.path.basename(folder), reason) for folder, reason in result.unreadable] == [
        ("a", "cannot be listed: Permission denied")
    ]


# --- what is no regular file --------------------------------------------------------------------------

pytestmark_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


@pytestmark_pipes
def test_special_files_in_folders_are_skipped(tree):
    tree("a.py", "dead.py")
    os.mkfifo(tree.path / "pipe.py")
    os.mkfifo(tree.path / "other_pipe")
    (tree.path / "dead.py").unlink()
    (tree.path / "dead.py").symlink_to("nowhere")
    result = discover(["."], Configuration())
    assert [file.path for file in result.files] == ["a.py"]
    assert result.irregular == ["dead.py", "pipe.py"]


@pytestmark_pipes
def test_a_named_pipe_is_read_once(tree):
    os.mkfifo(tree.path / "pipe")
    writer = subprocess.Popen("printf 'x = 1' > pipe", shell=True)
    (file,) = discover(["pipe"], Configuration()).files
    assert (file.path, file.content) == ("pipe", b"x = 1")
    assert writer.wait(10) == 0


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs devices")
def test_an_endless_device_is_an_error(tree):
    result = discover(["/dev/zero", "/dev/null"], Configuration())
    assert [(file.path, file.content) for file in result.files] == [("/dev/null", b"")]
    ((path, reason),) = result.unreadable
    assert path == "/dev/zero" and reason.startswith("cannot be read: it is larger than ")


# --- configuration files that cannot be used ------------------------------------------------------------

BAD = {
    "[tool.kerascheck]\nselekt = []\n": "[tool.kerascheck] has no setting 'selekt'; did you mean 'select'?",
    '[tool.kerascheck]\nselect = ["KC9999"]\n': "no rule matches 'KC9999'",
    "[tool.kerascheck\n": "Expected ",
}


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("arguments", [["."], ["a.py", "sub/b.py", "sub/deep", "good/c.py"]])
def test_a_bad_configuration_in_a_subfolder_affects_only_its_files(tree, text, arguments):
    tree("a.py", "sub/b.py", "sub/deep/d.py", "good/c.py")
    (tree.path / "sub" / "pyproject.toml").write_text(text)
    (tree.path / "pyproject.toml").write_text("[tool.kerascheck]\n")
    result = discover(arguments, Configuration(validate=registry.validate))
    assert [file.path for file in result.files] == ["a.py", "good/c.py"]
    ((path, reason),) = result.unreadable
    assert path == "sub/pyproject.toml" and reason.startswith(BAD[text])
    assert reason.endswith("(the files that it configures are not linted)")


def test_a_bad_configuration_for_all_arguments_ends_the_run(tree):
    tree("a.py", "sub/b.py")
    (tree.path / "pyproject.toml").write_text("[tool.kerascheck]\nx = 1\n")
    for arguments in ([], ["sub"], ["a.py", "sub/b.py"]):
        with pytest.raises(ConfigError, match=r"^pyproject.toml: \[tool.kerascheck\] has no setting 'x'"):
            discover(arguments or ["."], Configuration())


def test_importers_are_found_beside_a_bad_configuration(tree):
    tree("pyproject.toml", "data.py", "train.py", "sub/b.py")
    (tree.path / "train.py").write_text("import data\n")
    (tree.path / "sub" / "pyproject.toml").write_text("[tool.kerascheck]\nx = 1\n")
    graph = ImportGraph(str(tree.path), Configuration())
    assert [file.path for file in graph.importers(["data.py"])] == ["train.py"]
