"""Imports between the modules of a tree."""

import pytest
from snippets import load

from kerascheck.interpreter.project import Project
from kerascheck.meaning.module import Module
from kerascheck.project.config import Settings
from kerascheck.source import read


def project_in(folder, files, use=lambda text, share=1.0: None):
    """A project of these files, and a function that loads one of them."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".git").mkdir(exist_ok=True)
    project = Project(Settings(), read, Module, use)
    return project, lambda name: project.load(read(folder / name))


def names(folder, modules):
    """The paths of modules, relative to the root of the project."""
    return [module.path.relative_to(folder.resolve()).as_posix() for module in modules if module is not None]


def test_finding_a_module_does_not_depend_on_earlier_importers(tmp_path):
    files = ("pkg/__init__.py", "pkg/other.py", "pkg/sub/__init__.py", "pkg/sub/a.py")
    project, module = project_in(tmp_path, dict.fromkeys(files, "import pkg.sub\n"))
    package, inner = module("pkg/sub/__init__.py"), module("pkg/sub/a.py")
    assert project.find(package, "pkg.sub", 0) is None
    assert project.find(inner, "pkg.sub", 0) is package


FILES = {
    "train.py": "import keras\n",
    "data.py": "",
    "pkg/__init__.py": "",
    "pkg/a.py": "",
    "pkg/sub/__init__.py": "",
    "pkg/sub/b.py": "",
    "folder/c.py": "",
    "keras.py": "",
}


@pytest.mark.parametrize(
    ("importer", "dotted", "level", "found"),
    [
        ("train.py", "data", 0, "data.py"),
        ("train.py", "pkg", 0, "pkg/__init__.py"),
        ("train.py", "pkg.a", 0, "pkg/a.py"),
        ("train.py", "folder.c", 0, "folder/c.py"),
        ("train.py", "folder", 0, None),
        ("train.py", "missing", 0, None),
        ("train.py", "", 0, None),
        # A library takes precedence over a file with its name.
        ("train.py", "keras", 0, None),
        ("train.py", "data", 1, "data.py"),
        ("pkg/sub/b.py", "data", 0, "data.py"),
        ("pkg/sub/b.py", "pkg.a", 0, "pkg/a.py"),
        ("pkg/sub/b.py", "a", 2, "pkg/a.py"),
        ("pkg/sub/b.py", "a", 1, None),
        ("pkg/sub/b.py", "", 1, "pkg/sub/__init__.py"),
        ("pkg/sub/b.py", "", 2, "pkg/__init__.py"),
        ("pkg/sub/b.py", "data", 3, "data.py"),
        ("data.py", "data", 0, None),
    ],
)
def test_an_import_resolves_to_the_nearest_module_upwards(tmp_path, importer, dotted, level, found):
    project, module = project_in(tmp_path, FILES)
    assert names(tmp_path, [project.find(module(importer), dotted, level)]) == ([found] if found else [])


def test_imports_do_not_resolve_above_the_project_root(tmp_path):
    (tmp_path / "above.py").write_text("")
    project, module = project_in(tmp_path / "project", {"train.py": "", "here.py": ""})
    assert project.find(module("train.py"), "here", 0) is not None
    assert project.find(module("train.py"), "above", 0) is None


def test_folders_added_to_sys_path_are_searched(tmp_path):
    files = {"train.py": "import sys\nsys.path.append('lib')\nimport extra\n", "lib/extra.py": "", "plain.py": ""}
    project, module = project_in(tmp_path, files)
    assert names(tmp_path, [project.find(module("train.py"), "extra", 0)]) == ["lib/extra.py"]
    assert project.find(module("plain.py"), "extra", 0) is None


def test_imports_are_followed_breadth_first_and_each_module_once(tmp_path):
    files = {
        "train.py": "import a, b\n",
        "a.py": "import c\nimport train\n",
        "b.py": "from c import x\nimport d\n",
        "c.py": "",
        "d.py": "import os\n",
    }
    project, module = project_in(tmp_path, files)
    assert names(tmp_path, project.imported(module("train.py"))) == ["a.py", "b.py", "c.py", "d.py"]


@pytest.mark.parametrize("statement", ["import pkg.sub.a", "from pkg.sub import a", "from pkg.sub.a import x"])
def test_the_packages_around_a_module_are_imported(tmp_path, statement):
    project, module = project_in(tmp_path, {"train.py": statement, "pkg/__init__.py": "", "pkg/sub/a.py": ""})
    assert sorted(names(tmp_path, project.imported(module("train.py")))) == ["pkg/__init__.py", "pkg/sub/a.py"]


def test_the_number_of_imported_modules_is_limited(tmp_path):
    files = {f"m{n}.py": f"import m{n + 1}\n" for n in range(120)}
    project, module = project_in(tmp_path, files)
    assert names(tmp_path, project.imported(module("m0.py"))) == [f"m{n}.py" for n in range(1, 80)]


def test_the_texts_of_all_imported_modules_are_reported_once(tmp_path):
    used = []
    files = {"train.py": "import a\n", "a.py": "# a\nimport b\n", "b.py": "# b\n"}
    project, module = project_in(tmp_path, files, lambda text, share=1.0: used.append(text))
    loaded = module("train.py")
    project.imported(loaded)
    project.find(loaded, "a", 0)
    assert used == [files["a.py"], files["b.py"]]


def test_a_module_is_reparsed_after_a_change(tmp_path):
    project, module = project_in(tmp_path, {"train.py": "x = 1\n"})
    first = module("train.py")
    assert module("train.py") is first
    (tmp_path / "train.py").write_text("x = 2\n")
    assert module("train.py") is not first


def test_only_parsed_trees_count(tmp_path):
    project, module = project_in(tmp_path, {"train.py": "import a\n", "a.py": "x = 1\n"})
    project.imported(module("train.py"))
    assert project.parsed_characters == len("import a\n")


def test_an_unreadable_file_is_no_module(tmp_path):
    project, module = project_in(tmp_path, {"train.py": "import a\n"})
    (tmp_path / "a.py").write_bytes(b"# coding: utf-8\n\xff\n")
    assert project.find(module("train.py"), "a", 0) is None


SCRIPT = "import net\n{}\nnet.go()\n"


@pytest.mark.parametrize(
    ("line", "eager", "one_gpu", "session"),
    [
        ("tf.config.run_functions_eagerly(True)", True, False, False),
        ("tf.config.run_functions_eagerly(False)", False, False, False),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0'", False, True, False),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'", False, False, False),
        ("s = tf.Session()", False, False, True),
        ("s = tf.compat.v1.Session()", False, False, False),
        ("# tf.config.run_functions_eagerly(True)", False, False, False),
    ],
)
def test_a_module_depends_on_importing_scripts_beside_it(tmp_path, line, eager, one_gpu, session):
    files = {"train.py": SCRIPT.format(line), "net.py": "def go(): pass\n", "other.py": "def go(): pass\n"}
    project, module = project_in(tmp_path, files)
    found = [[getattr(project, question)(module(name)) for question in QUESTIONS] for name in ("net.py", "other.py")]
    assert found == [[eager, one_gpu, session], [False, False, False]]


QUESTIONS = ("is_switched_eager", "is_shown_one_gpu", "opens_session")


def test_a_module_sees_one_gpu_only_if_all_scripts_select_one(tmp_path):
    files = {"one.py": SCRIPT.format("os.environ['CUDA_VISIBLE_DEVICES'] = '0'"), "net.py": "def go(): pass\n"}
    project, module = project_in(tmp_path, files | {"two.py": SCRIPT.format("")})
    assert not project.is_shown_one_gpu(module("net.py"))


def test_modules_beside_a_module_are_its_importers_and_their_imports(tmp_path):
    files = {"train.py": "import net, data\n", "net.py": "", "data.py": "", "alone.py": "import data\n"}
    project, module = project_in(tmp_path, files)
    assert names(tmp_path, project.imported_beside(module("net.py"))) == ["train.py", "data.py"]


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"requirements.txt": "tensorflow==2.9.1\n"}, (2, 9)),
        ({"net/requirements.txt": "tensorflow==2.9.1\n"}, (2, 9)),
        ({"requirements.txt": "tensorflow==2.9.1\n", "net/requirements.txt": "tensorflow==2.4\n"}, (2, 9)),
    ],
)
def test_versions_come_from_the_project_or_an_imported_package(tmp_path, files, version):
    files = {"train.py": "import keras\nimport net.layers\n", "net/layers.py": "import keras\n", **files}
    assert load(tmp_path, files).runtime.tensorflow == version
