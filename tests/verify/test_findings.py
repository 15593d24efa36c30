"""Variants from findings of the real linter."""

import os

import pytest

from kerascheck.project.config import Configuration, overrides_from
from kerascheck.runtime.verify.findings import TOGETHER, NotAScript, findings_of, local_imports, looks, repairs

TRAIN = """\
import keras
from lib.data import make
from lib import helpers
import json

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", run_eagerly=True)
model.fit(make())
"""
DATA = """\
import tensorflow as tf


def make():
    ds = tf.data.Dataset.range(100).map(lambda x: (tf.random.normal([3]), x), num_parallel_calls=1)
    return ds.batch(10)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "data.py").write_text(DATA)
    (tmp_path / "lib" / "helpers.py").write_text("from . import more\n")
    (tmp_path / "lib" / "more.py").write_text("")
    return tmp_path


def test_local_imports_are_followed(project):
    found = local_imports(str(project / "train.py"), TRAIN)
    names = {os.path.relpath(path, project) for path in found}
    assert names == {"lib/__init__.py", "lib/data.py", "lib/helpers.py", "lib/more.py"}


def test_every_fix_is_a_variant_and_all_are_compatible(project):
    linted = findings_of("train.py", Configuration())
    assert {os.path.relpath(path, project) for path in linted.sources} >= {"train.py", "lib/data.py"}
    made = {repair.variant.name: repair for repair in repairs(linted)}
    eager = made["KC309 debug-left-on train.py:7"]
    assert list(eager.variant.sources) == [str(project / "train.py")]
    assert "run_eagerly" not in eager.variant.sources[str(project / "train.py")]
    assert any(path == str(project / "train.py") and first <= 7 <= last for path, first, last in eager.variant.places)
    assert "run_eagerly" not in made[TOGETHER].variant.sources[str(project / "train.py")]
    assert (project / "train.py").read_text() == TRAIN


def test_no_two_variants_share_a_name(project):
    (project / "lib" / "sub").mkdir()
    (project / "lib" / "sub" / "data.py").write_text(DATA)
    (project / "train.py").write_text(
        TRAIN.replace("from lib import helpers", "from lib.sub.data import make as other")
    )
    names = [repair.variant.name for repair in repairs(findings_of("train.py", Configuration()))]
    assert {"KC101 serial-map lib/data.py:5:37", "KC101 serial-map lib/sub/data.py:5:37"} <= set(names)
    assert len(set(names)) == len(names) and "KC309 debug-left-on train.py:7" in names


def test_findings_in_modules_are_fixed_there(project):
    made = repairs(findings_of("train.py", Configuration()))
    serial = next(repair for repair in made if repair.variant.name.startswith("KC101"))
    assert list(serial.variant.sources) == [str(project / "lib" / "data.py")]
    # Its fix declares that the random draws come in another order.
    assert serial.variant.tolerance is None


@pytest.mark.parametrize("text", ["def f(:", "\0"])
def test_files_that_are_not_scripts_are_refused(project, text):
    (project / "train.py").write_text(text)
    with pytest.raises(NotAScript, match="train.py"):
        findings_of("train.py", Configuration())


def test_variants_about_predictions_are_marked(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(
        "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse', run_eagerly=True)\nmodel.fit(x, y)\n"
        "for row in range(100):\n    model.predict(rows[row])\n"
    )
    made = {repair.variant.name[:5]: repair.variant.predicts for repair in repairs(findings_of(path, Configuration()))}
    assert (made["KC309"], made["KC405"], made["all t"]) == (False, True, False)


def test_findings_not_about_speed_are_not_measured(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\nimport keras\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse', run_eagerly=True)\nmodel.fit(x, y, workers=4)\n"
    )
    linted = findings_of(path, Configuration())
    codes = {finding.code for finding in linted.findings if finding.fix is not None}
    assert {"KC306", "KC414", "KC309"} <= codes
    assert {repair.variant.name[:5] for repair in repairs(linted)} & codes == {"KC309"}
    assert {"KC306", "KC414"} <= {repair.variant.name[:5] for repair in repairs(linted, every=True)}


def test_findings_without_a_fix_request_an_analysis(project):
    text = (
        DATA
        + "\n\ndef slow(x):\n    return tf.data.Dataset.range(9).map(lambda a: tf.py_function(lambda b: b, [a], tf.int64)).batch(2)\n"
    )
    (project / "lib" / "data.py").write_text(text)
    linted = findings_of("train.py", Configuration(overrides_from({"select": ["KC101,KC107"]})))
    (look,) = looks(linted, repairs(linted))
    assert "KC107 data.py:10" in look.name and look.places[0] == (str(project / "lib" / "data.py"), 10, 10)
    assert not look.measured and not look.sources
