"""Costs on the pages and in the findings of rules: each figure has a measurement or a source behind it."""

import ast
import re

import pytest
from command import kerascheck

from kerascheck.catalog import measured, published, registry
from kerascheck.report import rule_page

SPECS = registry.rule_specs()
SECTIONS = ("Why it costs", "What the runtime does by itself")

_NUMBER = r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|dozens?|hundreds?|thousands?)"
_UNIT = r"(?:[KMG]B|[nuµm]?s|min|h|(?:micro|milli)?seconds?|minutes?|hours?)"
FIGURE = re.compile(
    rf"\b{_NUMBER}(?:-fold| times(?! too\b)| ?x\b(?! \d)| ?%| {_UNIT}\b)|\b(?:twice|half) (?:as (?:fast|long|slow)|the time)"
    r"|\bratios? (?:of |was |were )?\d|\borders? of magnitude\b",
    re.IGNORECASE,
)
"""A duration, a size in memory, a percentage, or a factor."""
_MACHINE = r"CPU cores|same machine|\b(?:A100|H100|H200|T4|V100|[GR]TX \d+)\b"
_VERSION = r"\b(?:TensorFlow|Keras|tf-keras) \d|same machine"
_SOURCE = r"\b(?:issues?|pull request) \d+|\bmaintainers of\b|TensorFlow(?:'s guide| documentation)|in a probe \("


def sentences(text):
    return re.split(r"(?<=[.:])\s+(?=[A-Z`])", " ".join(text.split()))


def is_about_cost(sentence):
    return FIGURE.search(sentence) and not re.search(r"\bfinal loss\b", sentence)


def names_origin(text):
    """Whether a text names a machine with versions, or a source."""
    text = " ".join(text.split())
    is_measured = re.search(_MACHINE, text) and re.search(_VERSION, text)
    return bool(is_measured or re.search(_SOURCE, text, re.IGNORECASE))


def unfounded(section):
    """The sentences of a section with a figure, if neither their paragraph nor one before it names its origin."""
    paragraphs = section.split("\n\n")
    return [
        sentence
        for number, paragraph in enumerate(paragraphs, 1)
        for sentence in sentences(paragraph)
        if is_about_cost(sentence) and not names_origin(" ".join(paragraphs[:number]))
    ]


def messages(source):
    """The texts of a rule's findings: all strings in its file but docstrings and metadata; {} for expressions."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            assigned = [each.value for each in node.body if isinstance(each, (ast.Assign, ast.Expr))]
            skipped |= {id(each) for value in assigned for each in ast.walk(value)}
        elif isinstance(node, ast.JoinedStr):
            skipped |= {id(each) for each in node.values}
            yield "".join(each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def is_founded(spec):
    """Whether a rule has a decided measurement, or names the origin of its figures under "Why it costs"."""
    return measured.is_decided(measured.row_of(spec.code)) or names_origin(rule_page.sections(spec)["Why it costs"])


@pytest.mark.parametrize(
    "text",
    [
        "It took 2.5 times as long.",
        "It is 10x faster.",
        "It added 36 % to an epoch.",
        "That takes 0.7 to 1.5 ms.",
        "Each call costs 25 microseconds.",
        "It is three times slower.",
        "The order made no difference (ratio 1.04).",
        "It takes twice the time.",
    ],
)
def test_figures_of_costs_are_recognised(text):
    assert FIGURE.search(text) and unfounded(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "It has 64 x 64 pixels.",
        "It reads 200 files in 5 steps.",
        "The updates are 32768 times too small.",
        "It is slow.",
    ],
)
def test_other_numbers_are_no_figures_of_costs(text):
    assert not FIGURE.search(text)


@pytest.mark.parametrize(
    ("origin", "is_named"),
    [
        ("(2 CPU cores, TensorFlow 2.21, no GPU)", True),
        ("on an H100 (Keras 3.15)", True),
        ("on the same machine", True),
        ("according to keras-team/keras issue 20390", True),
        ("on 2 CPU cores", False),
        ("with TensorFlow 2.21", False),
    ],
)
def test_origin_is_a_machine_with_versions_or_a_source(origin, is_named):
    assert (unfounded(f"It took 2 times as long {origin}.") == []) is is_named
    assert (unfounded(f"We tried it {origin}.\n\n| a | 2 times |") == []) is is_named
    assert unfounded(f"It took 2 times as long.\n\nWe tried it {origin}.") == ["It took 2 times as long."]


def test_figures_on_pages_have_a_measurement_or_a_source():
    listed = [
        f"{spec.code} {heading}: {sentence}"
        for spec in SPECS
        if not measured.is_decided(measured.row_of(spec.code))
        for heading, section in rule_page.sections(spec).items()
        if heading in SECTIONS
        for sentence in unfounded(section)
    ]
    assert not listed, "\n".join(listed)


def test_figures_in_findings_have_a_measurement_or_a_source_on_the_page():
    listed = [
        f"{spec.code}: {text}"
        for spec in SPECS
        for text in messages((spec.folder / "rule.py").read_text(encoding="utf-8"))
        if FIGURE.search(text) and not is_founded(spec)
    ]
    assert not listed, "\n".join(listed)


def test_texts_of_findings_are_found():
    source = '''
_TEXTS = {"a": "7 times"}

class A(Rule):
    """Doc: 2 times."""
    evidence_note = "3 times"

    def check(self, module):
        yield self.finding(call, f"{name} is 4 times slower.", because="It takes 5 ms.")
'''
    found = {text for text in messages(source) if FIGURE.search(text)}
    assert found == {"7 times", "{} is 4 times slower.", "It takes 5 ms."}


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.speed], ids=lambda spec: spec.code)
def test_page_of_a_cost_shows_a_measurement_or_says_why_there_is_none(spec):
    page = " ".join(kerascheck("rule", spec.code).out.split("## Evidence")[1].split())
    row = measured.row_of(spec.code) or {}
    for column in (row[device] for device in measured.DEVICES if device in row):
        assert column["date"] in page and all(
            f"{name} {version}" in page for name, version in column["versions"].items()
        )
        if column["ratio"] is not None:
            assert re.search(
                rf"x{column['ratio']:.2f} \[{column['low']:.2f}-{column['high']:.2f}\] (per|until|of) ", page
            )
            assert column["machine"].get("gpu", f"{column['machine']['cores']} cores") in page
    if not measured.is_decided(row):
        assert spec.evidence_note in page and 0 < len(spec.evidence_note) <= 110 and spec.evidence_note.endswith(".")
        assert row or "Not measured" in page
        assert all(figure.source in page for figure in published.for_rule(spec.code))


def test_pages_of_rules_that_are_not_about_speed_say_so():
    (spec,) = (each for each in SPECS if each.code == "KC127")
    assert not spec.speed and measured.row_of(spec.code) is None
    assert "Not measured: the rule is not about speed." in kerascheck("rule", spec.code).out
    assert "## Evidence" not in kerascheck("rule", "KC900").out
