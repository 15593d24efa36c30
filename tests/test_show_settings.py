"""--show-settings: effective settings and their sources."""

import json
import subprocess
import sys

import pytest
from command import kerascheck

KERAS = "import keras\n"


@pytest.fixture
def shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def shown(files, *arguments):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        ran = kerascheck("--show-settings", *arguments)
        assert ran.code == 0, ran
        return dict(line.split(" = ", 1) for line in ran.out.splitlines())

    return shown


def test_defaults_are_labelled(shown):
    settings = shown({})
    rules = settings.pop("rules")
    assert settings.pop("exclude").startswith('["__pycache__", ') and "KC101" in rules
    assert settings == {
        "configuration file": "none",
        "extend": "none  (default)",
        "select": "the rules that are on by default  (default)",
        "extend-select": "[]  (default)",
        "ignore": "[]  (default)",
        "per-file-ignores": "{}  (default)",
        "extend-safe-fixes": "[]  (default)",
        "extend-unsafe-fixes": "[]  (default)",
        "extend-exclude": "[]  (default)",
        "min-severity": "info  (default)",
        "fail-on": "warning  (default)",
        "pedantic": "false  (default)",
        "target-tensorflow": "2.21  (default: the newest known)",
        "keras": "3  (from target-tensorflow)",
        "backend": "tensorflow  (default)",
        "include-tests": "false  (default)",
        "respect-gitignore": "true  (default)",
        "baseline": "none  (default)",
        "docs-url": '""  (default)',
    }


TABLE = """[tool.kerascheck]
select = ["KC1"]
ignore = ["KC102"]
extend-ignore = ["KC103"]
extend-exclude = ["old/"]
per-file-ignores = { "examples/" = ["KC3"] }
keras = "2"
target-tensorflow = "2.10.1"
include-tests = true
"""


def test_configured_values_show_their_source(shown):
    settings = shown(
        {"pyproject.toml": TABLE}, "--min-severity", "warning", "--extend-ignore", "KC104", "--extend-exclude", "new/"
    )
    stated = {
        "configuration file": "pyproject.toml",
        "select": '["KC1"]  (pyproject.toml)',
        "ignore": '["KC102", "KC103", "KC104"]  (pyproject.toml, --extend-ignore)',
        "extend-exclude": '["old/", "new/"]  (pyproject.toml, --extend-exclude)',
        "per-file-ignores": '{"examples/": ["KC3"]}  (pyproject.toml)',
        "min-severity": "warning  (--min-severity)",
        "target-tensorflow": "2.10  (pyproject.toml)",
        "keras": "2  (pyproject.toml)",
        "include-tests": "true  (pyproject.toml)",
        "fail-on": "warning  (default)",
    }
    assert {key: settings[key] for key in stated} == stated
    assert settings["rules"].split()[0] == "KC101" and "KC102" not in settings["rules"]


def test_option_replaces_the_whole_selection(shown):
    settings = shown({"pyproject.toml": TABLE}, "--select", "KC101,KC2", "--target-tensorflow", "2.15")
    assert settings["select"] == '["KC101", "KC2"]  (--select)'
    assert settings["ignore"] == "[]  (default)"
    assert settings["target-tensorflow"] == "2.15  (--target-tensorflow)"


@pytest.mark.parametrize(
    ("files", "path", "tensorflow", "keras", "backend"),
    [
        ({"requirements-gpu.txt": "tensorflow-gpu==2.12\n"}, ".", "2.12  (requirements-gpu.txt:1)", "2  (from target-tensorflow)", "tensorflow  (default)"),
        ({"setup.py": "setup(\n  python_requires='<3.8',\n)\n"}, ".", "2.11  (setup.py:2, the newest for its Python)", "2  (from target-tensorflow)", "tensorflow  (default)"),
        ({"requirements.txt": "numpy==1.21\n"}, ".", "2.11  (requirements.txt:1, the newest for its NumPy)", "2  (from target-tensorflow)", "tensorflow  (default)"),
        ({"requirements.txt": "keras==2.3.1\n"}, ".", "2.1  (from keras)", "2  (requirements.txt:1)", "tensorflow  (default)"),
        ({"sub/a.py": "", "requirements.txt": "numpy\ntensorflow<2.9\n"}, "sub", "2.8  (requirements.txt:2)", "2  (from target-tensorflow)", "tensorflow  (default)"),
        ({"a.py": "import tensorflow_addons, keras\n"}, "a.py", "2.15  (a.py: tensorflow_addons)", "2  (from target-tensorflow)", "tensorflow  (default)"),
        (
            {"a.py": "# /// script\n# dependencies = ['tensorflow==2.9']\n# ///\nimport keras\n"},
            "a.py", "2.9  (a.py: tensorflow==2.9)", "2  (from target-tensorflow)", "tensorflow  (default)",
        ),
        ({"a.py": "import tensorflow.contrib.keras\n"}, "a.py", "1.15  (from the code of a.py)", "2  (from target-tensorflow)", "tensorflow  (default)"),
        ({"a.py": "import tf_keras\n"}, "a.py", "2.21  (default: the newest known)", "2  (from the code of a.py)", "tensorflow  (default)"),
        ({"a.py": "import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras\n"}, "a.py", "2.21  (default: the newest known)", "3  (from target-tensorflow)", "jax  (from the code of a.py)"),
    ],
)  # fmt: skip
def test_inferred_values_show_their_source(shown, files, path, tensorflow, keras, backend):
    settings = shown(files, path)
    assert [settings[key] for key in ("target-tensorflow", "keras", "backend")] == [tensorflow, keras, backend]


def test_notebook_install_command_is_a_source(shown):
    cells = [{"cell_type": "code", "source": source} for source in ("!pip install tensorflow==2.5", KERAS)]
    settings = shown({"n.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})}, "n.ipynb")
    assert settings["target-tensorflow"] == "2.5  (n.ipynb: tensorflow==2.5)"


def test_unreadable_file_is_one_error_line(tmp_path):
    (tmp_path / "a.py").write_text("import keras\nx = (\n")
    ran = kerascheck("--show-settings", tmp_path / "a.py")
    assert (ran.code, ran.err.count("\n")) == (2, 1) and "a.py: does not parse" in ran.err


def test_folder_does_not_import_libcst(tmp_path):
    code = f"import sys\nfrom kerascheck.cli.main import main\ntry: main(['--show-settings', {str(tmp_path)!r}])\nfinally: assert 'libcst' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
