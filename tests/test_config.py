"""Settings from pyproject.toml and the command line."""

import pickle

import pytest

from kerascheck.finding import Severity
from kerascheck.project.config import ConfigError, Configuration, Pattern, Selection, Settings, overrides_from


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, folder="."):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "pyproject.toml").write_text(text)

    return write


def settings(path="train.py", **options):
    return Configuration(overrides_from(options)).for_file(path)


def test_every_setting_is_read(project, tmp_path):
    project("""
        [tool.kerascheck]
        select = ["KC1"]
        ignore = ["serial-map"]
        extend-select = ["KC3"]
        extend-ignore = ["KC301"]
        per-file-ignores = { "examples/" = ["ALL"] }
        exclude = ["old"]
        extend-exclude = ["older"]
        min-severity = "warning"
        fail-on = "error"
        pedantic = true
        target-tensorflow = "2.10"
        keras = "2"
        backend = "tensorflow"
        include-tests = true
        respect-gitignore = false
        docs-url = "https://example.org/docs"
    """)
    here = str(tmp_path)
    assert settings() == Settings(
        origin="pyproject.toml",
        selections=(Selection(("KC1",), ("KC3",), ("serial-map", "KC301")), Selection()),
        per_file_ignores=((Pattern(here, "examples/"), ("ALL",)),),
        exclude=(Pattern(here, "old"),),
        extend_exclude=(Pattern(here, "older"),),
        min_severity=Severity.WARNING,
        fail_on=Severity.ERROR,
        pedantic=True,
        target_tensorflow="2.10",
        keras="2",
        backend="tensorflow",
        include_tests=True,
        respect_gitignore=False,
        docs_url="https://example.org/docs",
    )
    assert pickle.loads(pickle.dumps(settings())) == settings()


def test_environment_variable_overrides_docs_url(project, monkeypatch):
    project('[tool.kerascheck]\ndocs-url = "https://example.org/docs"\n')
    monkeypatch.setenv("KERASCHECK_DOCS_URL", "https://other.example/")
    assert settings().docs_url == "https://other.example/"
    assert settings().stated_in["docs-url"] == ("KERASCHECK_DOCS_URL",)
    assert settings(docs_url="https://third.example").docs_url == "https://third.example"
    monkeypatch.setenv("KERASCHECK_DOCS_URL", "docs")
    with pytest.raises(ConfigError, match="KERASCHECK_DOCS_URL must be an address such as"):
        settings()


@pytest.mark.parametrize(
    "address", ["javascript:x()", "https://a b/", "https://a/\\u001b]8;;", 'https://a/\\"', "ftp://a/", 3]
)
def test_unsafe_docs_url_is_rejected(project, address):
    value = address if isinstance(address, int) else f'"{address}"'
    project(f"[tool.kerascheck]\ndocs-url = {value}\n")
    with pytest.raises(ConfigError, match="'docs-url' must be an address such as"):
        settings()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("slect = []", "pyproject.toml: [tool.kerascheck] has no setting 'slect'; did you mean 'select'?"),
        ("zzz = 1", "pyproject.toml: [tool.kerascheck] has no setting 'zzz'"),
        ('select = "KC1"', "pyproject.toml: [tool.kerascheck] 'select' must be a list of strings"),
        ("ignore = [1]", "'ignore' must be a list of strings"),
        ('per-file-ignores = ["a"]', "'per-file-ignores' must be a table"),
        ('per-file-ignores = { "a" = "KC1" }', "'per-file-ignores' must have a list of strings for 'a'"),
        (
            'min-severity = "warn"',
            '\'min-severity\' must be one of "info", "warning", "error"; did you mean \'warning\'?',
        ),
        ("target-tensorflow = 2.21", "'target-tensorflow' must be a version as a string"),
        ("keras = 3", '\'keras\' must be one of "2", "3"'),
        ('backend = "pytorch"', "did you mean 'torch'?"),
        (
            'exclude = ["old", "[a"]',
            "pyproject.toml: [tool.kerascheck] 'exclude' has the pattern '[a', which matches nothing; write it as in .gitignore",
        ),
        ('extend-exclude = ["a\\\\"]', "'extend-exclude' has the pattern 'a\\', which"),
        ('exclude = [""]', "'exclude' has the pattern '', which"),
        ('exclude = ["!a"]', "'exclude' has the pattern '!a', which"),
        ('per-file-ignores = { "[!a" = ["KC1"] }', "'per-file-ignores' has the pattern '[!a', which"),
        ('include-tests = "yes"', "'include-tests' must be true or false"),
        ("pedantic = 1", "'pedantic' must be true or false"),
        ("select = [", "pyproject.toml: "),
    ],
)
def test_invalid_value_error_names_the_valid_form(project, table, message):
    project(f"[tool.kerascheck]\n{table}\n")
    with pytest.raises(ConfigError) as caught:
        settings()
    assert message in str(caught.value)


def test_non_table_configuration_is_rejected(project):
    project("[tool]\nkerascheck = 3\n")
    with pytest.raises(ConfigError, match="must be a table"):
        settings()


def test_nearest_file_with_the_table_wins_without_merging(project):
    project('[tool.kerascheck]\nfail-on = "error"\nkeras = "2"\n')
    project('[tool.kerascheck]\nkeras = "3"\n', "a")
    project("[tool.other]\n", "a/b")
    assert settings("train.py").keras == "2"
    assert (settings("a/b/train.py").keras, settings("a/b/train.py").fail_on) == ("3", Severity.WARNING)


def test_broken_file_without_the_table_is_ignored(project):
    project("[tool.other\n")
    assert settings() == Configuration().for_file("train.py")


def test_isolated_reads_no_configuration(project):
    project("[tool.kerascheck]\nnonsense = 1\n")
    assert Configuration(isolated=True).for_file("train.py").origin is None


def test_options_override_files(project):
    project('[tool.kerascheck]\nfail-on = "error"\nextend-exclude = ["a"]\n')
    found = settings(fail_on="info", extend_exclude=("b",), select=("KC1,KC2", "KC3"))
    assert found.fail_on is Severity.INFO
    assert [pattern.glob for pattern in found.extend_exclude] == ["a", "b"]
    assert found.selections[-1].select == ("KC1", "KC2", "KC3")


def test_invalid_option_value_names_the_option():
    with pytest.raises(ConfigError, match="--target-tensorflow must be a version"):
        overrides_from({"target_tensorflow": "two"})
    with pytest.raises(ConfigError, match=r"--exclude has the pattern '\[a', which matches nothing"):
        overrides_from({"exclude": ("[a",)})
    with pytest.raises(ConfigError, match=r"--extend-exclude has the pattern '\[a', which matches nothing"):
        overrides_from({"extend_exclude": ("[a",)})


@pytest.mark.parametrize("glob", ["a[bc]d", "[!a]*.py", "\\[a", "old/", "/a/**/b", "a b", "[]]", "*_pb2.py"])
def test_gitignore_patterns_are_accepted(glob):
    overrides_from({"exclude": (glob,)})
