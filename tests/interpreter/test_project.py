"""The modules of a tree find each other."""

from kerascheck.config import Settings
from kerascheck.interpreter.project import Project
from kerascheck.meaning.module import Module
from kerascheck.source import read


def test_a_module_is_found_whoever_asked_before(tmp_path):
    for name in ("pkg/__init__.py", "pkg/other.py", "pkg/sub/__init__.py", "pkg/sub/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import pkg.sub\n")
    (tmp_path / ".git").mkdir()
    project = Project(Settings(), read, Module)
    package, module = (project.load(read(tmp_path / "pkg/sub" / name)) for name in ("__init__.py", "a.py"))
    assert project.find(package, "pkg.sub", 0) is None
    assert project.find(module, "pkg.sub", 0) is package
