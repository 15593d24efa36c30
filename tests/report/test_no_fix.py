"""Why findings have no fix: the sentences of the rules' pages, and -v."""

from types import SimpleNamespace

import pytest
from command import kerascheck

from kerascheck.report import no_fix

LOOP = """\
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
for epoch in range(50):
    model.fit(x, y)
    callbacks = [Log()]


class Log(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.model.save("a.keras")


model.fit(x, y, callbacks=[Log()])
"""


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ("There is no fix: only the\nauthor knows.\n\nMore text.", "only the author knows."),
        ("There is no automatic fix, because `a` may be b. More.", "`a` may be b."),
        ("There is no automatic fix. A person has to choose. More.", "A person has to choose."),
        ("Safe if `f` is pure.\n\nThere is no fix for a list.", "for a list."),
        ("Safe. There is no fix if a is b. There is also no fix after c.", "if a is b. There is also no fix after c."),
        ("Unsafe with\n\n- a;\n- b.\n\nThere is no fix:\n\n- for c;\n- if n - 1 is d.", "for c; if n - 1 is d."),
        ("There is a fix only if x is y. Safe.", "There is a fix only if x is y."),
        ("Safe: the fix changes nothing.", ""),
    ],
)
def test_sentences_about_a_missing_fix_are_the_reason(section, reason):
    page = (
        f"What.\n\n## Use instead\n\nThere is no fix here.\n\n## Fix safety\n\n{section}\n\n## References\n\n- none\n"
    )
    assert no_fix.reason(SimpleNamespace(documentation=page)) == reason


def test_page_without_the_section_gives_no_reason():
    assert no_fix.reason(SimpleNamespace(documentation="What.")) == ""


def test_verbose_report_says_why_there_is_no_fix(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "train.py").write_text(LOOP)
    options = ("--isolated", "--select", "KC406", tmp_path / "train.py")
    note = "  = no fix: the right interval depends on the length of an epoch."
    assert note in kerascheck("-v", *options).out.splitlines()
    assert "no fix" not in kerascheck(*options).out


def test_verbose_report_is_silent_about_findings_with_a_fix(tmp_path):
    text = "import tensorflow as tf\nds = tf.data.Dataset.range(9).map(lambda x: x + tf.random.normal([]))\nds = ds.batch(2).prefetch(2)\ntf.keras.Sequential().fit(ds)\n"
    (tmp_path / "train.py").write_text(text)
    shown = kerascheck("-v", "--isolated", "--select", "KC101", tmp_path / "train.py").out
    assert "= fix: " in shown and "no fix" not in shown
