"""``Applies``: evaluated before a rule runs, and listed on its page."""

import dataclasses
from types import SimpleNamespace

import pytest

from kerascheck.catalog import registry
from kerascheck.catalog.applies import Applies
from kerascheck.knowledge.runtime import Runtime
from kerascheck.lint.analyze_file import said_of
from kerascheck.report import rule_page

PLAIN = {"trains": True, "pins_cpu": False, "reinforcement_learning": False}


def module(graph=False, runtime=None, **program):
    return SimpleNamespace(
        is_graph_code=graph, runtime=runtime or Runtime(), program=SimpleNamespace(**{**PLAIN, **program})
    )


@pytest.mark.parametrize(
    ("applies", "other", "sentence"),
    [
        (Applies(graph_code=False), module(graph=True), "Graph code of TensorFlow 1"),
        (Applies(tensorflow=">=2.4"), module(runtime=Runtime((2, 3), 2)), "TensorFlow before 2.4."),
        (Applies(tensorflow=">=2,<2.12"), module(), "TensorFlow before 2 or 2.12 and later."),
        (Applies(tensorflow=">=2,<2.12"), module(runtime=Runtime((1, 15), 2)), "TensorFlow before 2 or 2.12 and later."),
        (Applies(keras=">=3"), module(runtime=Runtime((2, 15), 2)), "Keras before 3."),
        (Applies(keras="<3"), module(), "Keras 3 and later."),
        (Applies(keras=">=2.4"), module(runtime=Runtime((2, 3), 2)), "Keras before 2.4."),
        (
            Applies(multi_backend_keras=False),
            module(runtime=Runtime((2, 1), 2, multi_backend_keras=True)),
            "Keras before 2.4 as a package of its own.",
        ),
        (
            Applies(backends={"tensorflow", "jax"}),
            module(runtime=Runtime(backend="torch")),
            "Backends other than TensorFlow and JAX.",
        ),
        (Applies(cpu_only=False), module(pins_cpu=True), "Scripts that hide the GPUs"),
        (Applies(without_training=False), module(trains=False), "The program does not train."),
        (Applies(reinforcement_learning=False), module(reinforcement_learning=True), "reinforcement learning"),
    ],
)  # fmt: skip
def test_rule_is_skipped_if_it_does_not_apply(applies, other, sentence):
    assert not applies.to(other)
    assert Applies().to(other)
    (said,) = applies.exceptions()
    assert sentence in said


def test_rule_applies_by_default():
    applies = Applies(">=2.4,<3", ">=3", {"tensorflow"}, False, False, False, False, False)
    assert applies.to(module())
    assert len(list(applies.exceptions())) == len(dataclasses.fields(Applies))
    assert not list(Applies().exceptions())


@pytest.mark.parametrize("wrong", [{"keras": "3"}, {"tensorflow": ">2.3"}, {"tensorflow": ">=2.4;<3"}])
def test_malformed_version_bounds_are_rejected(wrong):
    with pytest.raises(ValueError, match="is no range of versions; write it like '>=2.9,<2.12'"):
        Applies(**wrong)


def test_unknown_backends_are_rejected():
    with pytest.raises(ValueError, match="no backend of Keras is called 'pytorch', only tensorflow, jax, torch"):
        Applies(backends={"tensorflow", "pytorch"})


def test_rule_that_does_not_apply_is_not_loaded(tmp_path):
    spec = registry.find("removed-fit-argument")
    spec = dataclasses.replace(spec, folder=tmp_path)
    assert list(said_of(spec, module(runtime=Runtime((2, 15), 2)))) == []


@pytest.mark.parametrize("spec", registry.rule_specs(), ids=lambda spec: spec.name)
def test_page_lists_declared_conditions_and_rule_does_not_repeat_them(spec):
    silent = rule_page.sections(spec).get("When it stays silent", "")
    for each in spec.applies.exceptions():
        assert " ".join(silent.split()).count(each) == 1, each
    assert "is_graph_code" not in (spec.folder / "rule.py").read_text()


DOCUMENTED = "One sentence.\n\n## What it does\n\nIt looks.\n\n{silent}## Use instead\n\nAnother."


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        ("", "## When it stays silent\n\n- Keras before 3.\n\n"),
        ("## When it stays silent\n\n- A.\n- B.\n\n", "## When it stays silent\n\n- A.\n- B.\n- Keras before 3.\n\n"),
        (
            "## When it stays silent\n\n- A.\n\nAn info:\n\n- B.\n\n",
            "## When it stays silent\n\n- A.\n- Keras before 3.\n\nAn info:\n\n- B.\n\n",
        ),
        ("## When it stays silent\n\nAt night.\n\n", "## When it stays silent\n\nAt night.\n\n- Keras before 3.\n\n"),
    ],
)
def test_conditions_are_appended_to_the_list_on_the_page(silent, expected):
    spec = dataclasses.replace(
        registry.find("KC101"), docstring=DOCUMENTED.format(silent=silent), applies=Applies(keras=">=3")
    )
    assert rule_page.documentation(spec) == DOCUMENTED.format(silent=expected)
