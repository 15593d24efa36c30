"""Discovery of rule folders, and selection by code, prefix or name."""

import inspect
import subprocess
import sys

import pytest

from kerascheck.catalog import registry
from kerascheck.catalog.rule import CommentsRule, RequirementsRule, Rule
from kerascheck.finding import Severity
from kerascheck.lint import pipeline, triage, trigger_search
from kerascheck.project.config import ConfigError, Configuration, Selection, Settings
from kerascheck.project.discovery import discover

RULE = '''
from kerascheck.api import Rule, Severity

class {cls}(Rule):
    """Documented."""
    code, name, summary, severity, triggers = "{code}", "{name}", "something is wrong", Severity.INFO, ("x",)
    on_by_default = {default}
'''


@pytest.fixture
def rules(tmp_path, monkeypatch):
    def write(family, slug, text):
        folder = tmp_path / family / slug
        folder.mkdir(parents=True)
        (folder / "rule.py").write_text(text)

    for code, name, default in (
        ("KC101", "one", True),
        ("KC102", "two", True),
        ("KC201", "three", True),
        ("KC202", "off", False),
    ):
        write("f", name, RULE.format(cls="R", code=code, name=name, default=default))
    monkeypatch.setattr(registry, "rules_folder", lambda: tmp_path)
    registry.invalidate()
    yield write
    registry.invalidate()


def chosen(*levels):
    return [spec.name for spec in registry.enabled(levels)]


@pytest.mark.parametrize(
    ("levels", "names"),
    [
        ([], ["one", "two", "three"]),
        ([Selection(("KC1",))], ["one", "two"]),
        ([Selection(("kc1",))], ["one", "two"]),
        ([Selection(("ALL",))], ["one", "two", "three", "off"]),
        ([Selection(("off", "KC101"))], ["one", "off"]),
        ([Selection(extend_select=("off",))], ["one", "two", "three", "off"]),
        ([Selection(ignore=("KC1",))], ["three"]),
        ([Selection(("KC1",), ignore=("one",))], ["two"]),
        ([Selection(("one",), ignore=("KC1",))], ["one"]),
        ([Selection(("KC1",), ignore=("KC1",))], []),
        ([Selection(ignore=("one",)), Selection(("KC1",))], ["one", "two"]),
        ([Selection(("KC1",)), Selection(ignore=("two",))], ["one"]),
        ([Selection(("KC1",)), Selection(extend_select=("three",))], ["one", "two", "three"]),
    ],
)
def test_selection_combines_all_levels(rules, levels, names):
    assert chosen(*levels) == names


@pytest.mark.parametrize(
    ("levels", "applied"),
    [
        ([], False),
        ([Selection(("KC4", "ALL"))], False),
        ([Selection(("KC401",))], True),
        ([Selection(("kc401",))], True),
        ([Selection(("asked",))], True),
        ([Selection(extend_select=("asked",))], True),
        ([Selection(("KC401",)), Selection(ignore=("one",))], True),
        ([Selection(("KC401",)), Selection(("KC4",))], False),
        ([Selection(("KC401",)), Selection(("KC4",), ("asked",))], True),
    ],
)
def test_non_default_fixes_apply_if_the_rule_is_named(rules, levels, applied):
    rules(
        "g", "asked", RULE.format(cls="A", code="KC401", name="asked", default=True) + "    fixed_by_default = False\n"
    )
    assert registry.fixed_on_request(tuple(levels)) == (frozenset() if applied else {"KC401"})


@pytest.mark.parametrize(
    ("selector", "advice"), [("KC3", ""), ("thre", "; did you mean 'three'?"), ("KC20", None), ("all", "")]
)
def test_unknown_selector_is_rejected(rules, selector, advice):
    if advice is None:
        return registry.check_selector(selector)
    with pytest.raises(ConfigError) as caught:
        registry.check_selector(selector)
    assert str(caught.value).startswith(f"no rule matches '{selector}'")
    assert str(caught.value).endswith(advice)


def test_unknown_rule_in_settings_names_the_file(rules):
    with pytest.raises(ConfigError, match="a/pyproject.toml: no rule matches 'tow'; did you mean 'two'"):
        registry.validate(Settings(origin="a/pyproject.toml", selections=(Selection(ignore=("tow",)),)))


def test_rule_is_found_by_code_or_name(rules):
    assert registry.find("kc102") is registry.find("two")
    with pytest.raises(ConfigError, match="there is no rule 'KC103'; did you mean 'KC10"):
        registry.find("KC103")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must define exactly one rule, not 0"),
        (RULE.format(cls="A", code="KC301", name="a", default=True) * 1 + RULE.format(cls="B", code="KC302", name="b", default=True),
         "must define exactly one rule, not 2"),
        (RULE.format(cls="A", code="KC101", name="a", default=True), "have the same code"),
        (RULE.format(cls="A", code="KC301", name="one", default=True), "have the same name"),
    ],
)  # fmt: skip
def test_invalid_rule_folder_is_rejected(rules, text, message):
    rules("g", "bad", text)
    with pytest.raises(TypeError, match=message):
        registry.rule_specs()


@pytest.mark.parametrize("kind", [Rule, RequirementsRule, CommentsRule])
def test_rule_class_determines_the_input_of_check(rules, kind):
    text = RULE.format(cls="A", code="KC301", name="a", default=True)
    rules(
        "g", "of-a-kind", text.replace("import Rule", f"import {kind.__name__}").replace("(Rule)", f"({kind.__name__})")
    )
    spec = registry.find("KC301")
    assert spec.kind is kind and type(spec.rule_as(kind)).__bases__ == (kind,)
    other = RequirementsRule if kind is Rule else Rule
    with pytest.raises(TypeError, match=f"of-a-kind: the rule is a {kind.__name__}, not a {other.__name__}"):
        spec.rule_as(other)


def test_non_literal_metadata_is_rejected(rules):
    rules("g", "computed", RULE.format(cls="A", code="KC301", name="a", default="1 > 2"))
    with pytest.raises(TypeError, match="'on_by_default' must be written as a literal"):
        registry.rule_specs()


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("Applies(keras='3')", "'3' is no range of versions"),
        ("Applies(gpu=False)", "unexpected keyword argument 'gpu'"),
        ("Applies(keras=BOUND)", "malformed node or string"),
        ("NOWHERE", "write it as Applies"),
    ],
)
def test_non_literal_applies_is_rejected(rules, written, problem):
    text = RULE.format(cls="A", code="KC301", name="a", default=True)
    rules("g", "bounded", f"{text}    applies = {written}\n")
    with pytest.raises(TypeError, match=f"rule.py: 'applies' is read without running the file: .*{problem}"):
        registry.rule_specs()


@pytest.mark.parametrize("spec", registry.rule_specs(), ids=lambda spec: spec.name)
def test_static_metadata_equals_runtime_metadata(spec):
    for attribute in ("code", "name", "summary", "severity", "triggers", "on_by_default"):
        assert getattr(spec, attribute) == getattr(spec.rule, attribute)
    assert spec.applies == getattr(spec.rule, "applies", Rule.applies)
    assert spec.documentation == inspect.getdoc(type(spec.rule))
    assert isinstance(spec.rule_as(spec.kind), spec.kind)


@pytest.mark.parametrize("summary", ["", "x" * 51, "a sentence.", "two\nlines", None])
def test_invalid_summary_is_rejected(summary):
    members = {"code": "KC301", "name": "a", "severity": Severity.INFO, "triggers": ("x",), "__doc__": "Documented."}
    assert type("Good", (Rule,), {**members, "summary": "tf.function calls itself"}).summary
    with pytest.raises(TypeError, match="Bad.summary"):
        type("Bad", (Rule,), {**members, **({} if summary is None else {"summary": summary})})


def test_missing_summary_is_rejected(rules):
    rules("g", "nameless", RULE.format(cls="A", code="KC301", name="a", default=True).replace("summary", "sommary"))
    with pytest.raises(TypeError, match="'summary' must be written as a literal"):
        registry.rule_specs()


def test_reading_rules_does_not_import_libcst():
    code = "import sys; from kerascheck.catalog import registry; assert registry.rule_specs(); assert 'libcst' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("method", "body", "read"),
    [
        ("call", "return layers.Dense(3)(x)", True),
        ("call", "return [x[i] for i in range(9)]", True),
        ("helper", "return Dense(3)(x)", True),
        ("call", "return self.dense(x)", False),
        ("call", "raise ValueError(x)", False),
        ("build", "self.dense = layers.Dense(3)", False),
        ("call", "return unrolled(x)", True),
        ("call", "return shared(x)", True),
        ("call", "return plain(x) + reduce(x)", False),
    ],
)
def test_layer_bodies_are_read_only_if_they_match_a_rule(method, body, read):
    other = "" if method == "call" else "    def call(self, x):\n        return x\n"
    code = "from .helpers import shared\nfrom functools import reduce\ndef plain(x):\n    return x\n"
    code += "def unrolled(x):\n    return [x[i] for i in range(9)]\n"
    code += f"class Net(layers.Layer):\n    def {method}(self, x):\n        {body}\n{other}"
    assert ("call(" in trigger_search.triggers_in_code(code)) is read


def test_all_triggers_are_searched_in_the_syntax_tree():
    # For a trigger that is no name, every file that contains its text is parsed.
    assert trigger_search.triggers_are_names()


@pytest.mark.parametrize(
    ("code", "trigger", "held"),
    [
        ("@tf.function\ndef f(): pass", ".function", True),
        ("from tensorflow import function as traced\n@traced\ndef f(): pass", "function(", True),
        ("loss_function(x)", "function(", False),
        ("self.optimizer.apply(g)", "optimizer.apply(", True),
        ("frame.apply(g)", "optimizer.apply(", False),
        ("os.environ['KERAS_BACKEND'] = 'jax'", "KERAS_BACKEND", True),
    ],
)
def test_trigger_matches_whole_names(code, trigger, held):
    assert (trigger in trigger_search.triggers_in_code(code)) is held


@pytest.mark.parametrize(
    ("code", "runs"),
    [
        ("main()", True),
        ("Coach(game, net).learn()", True),
        ("history = Trainer(net).run()", True),
        ("train, test = data.splits()", True),
        ("for fold in folds: pass", True),
        ("import data", False),
        ("def f(): g()", False),
        ("RATE = 3", False),
    ],
)
def test_importer_that_runs_code_is_parsed(code, runs):
    assert trigger_search.has_words(code.encode(), True) is runs


HELPER = "import keras\nimport numpy as np\n\ndef total(x):\n    return np.sum(x)\n"
LAYER = "import keras\nfrom {module} import total\n\nclass Net(keras.layers.Layer):\n    def call(self, x):\n        return total(x)\n"


def test_file_without_needed_words_is_parsed_if_imported(tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "_FEW", 0)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "between.py").write_text("from helper import total\n")
    assert triage.triage_code(HELPER.encode()) is triage.Triage.IF_USED

    def found(*names):
        files = discover([str(tmp_path / name) for name in names], Configuration(isolated=True)).files
        return [
            (finding.code, finding.location.line)
            for finding in pipeline.lint(files, Configuration(isolated=True)).findings
        ]

    assert found("helper.py") == []
    (tmp_path / "layer.py").write_text(LAYER.format(module="between"))
    assert found(".") == found("helper.py") == [("KC201", 5)]
