"""extend-safe-fixes and extend-unsafe-fixes: they change what --fix applies, and prove nothing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.finding import Applicability, Fix, Unproven

SAFE = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
paths = tf.data.Dataset.list_files("*.jpg", shuffle=False)
images = paths.map(lambda path: tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (99, 99)))
model.fit(images.map(lambda image: (image, 1), tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE))
"""
UNSAFE = (Path(__file__).parent.parent / "rules" / "device" / "xla_disabled" / "slow.py").read_text()

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A script with a safe fix of KC101, and one with an unsafe fix of KC310."""
    monkeypatch.chdir(tmp_path)
    Path("safe.py").write_text(SAFE)
    Path("unsafe.py").write_text(UNSAFE)

    def configured(text):
        Path("kerascheck.toml").write_text(text)

    return configured


def fixes():
    """Applicability and unmet obligations of the fixes of KC101 and KC310."""
    ran = kerascheck("--pedantic", "--select", "KC101,KC310", "--output-format", "json", "--exit-zero", ".")
    found = {each["code"]: each["fix"] for each in json.loads(ran.out)["findings"]}
    return {code: (fix["applicability"], [each["reason"] for each in fix["unproven"]]) for code, fix in found.items()}


ROUNDS = ["XLA rounds in another order"]


@pytest.mark.parametrize(
    ("configuration", "safe", "unsafe"),
    [
        ("", ("safe", []), ("unsafe", ROUNDS)),
        ('extend-safe-fixes = ["xla-disabled"]', ("safe", []), ("safe", ROUNDS)),
        ('extend-unsafe-fixes = ["KC1"]', ("unsafe", []), ("unsafe", ROUNDS)),
        ('extend-unsafe-fixes = ["KC3"]\nextend-safe-fixes = ["ALL"]', ("safe", []), ("unsafe", ROUNDS)),
    ],
)
def test_applicability_as_configured(project, configuration, safe, unsafe):
    project(configuration)
    assert fixes() == {"KC101": safe, "KC310": unsafe}


def test_fix_applies_what_the_settings_allow(project):
    project('extend-safe-fixes = ["KC310"]\nextend-unsafe-fixes = ["KC101"]')
    kerascheck("--pedantic", "--select", "KC101,KC310", "--fix", "--exit-zero", ".")
    assert Path("safe.py").read_text() == SAFE
    assert "jit_compile=False" not in Path("unsafe.py").read_text()


def test_reports_say_why_a_proven_fix_is_unsafe_and_what_a_safe_one_lacks(project):
    project('extend-safe-fixes = ["KC310"]\nextend-unsafe-fixes = ["KC101"]')
    options = ("--pedantic", "--select", "KC101,KC310", "--exit-zero", ".")
    text = " ".join(kerascheck(*options).out.split())
    assert "[--fix --unsafe-fixes] = unsafe: extend-unsafe-fixes names its rule" in text
    assert "[--fix] = unsafe: XLA rounds in another order" in text
    sarif = json.loads(kerascheck("--output-format", "sarif", *options).out)["runs"][0]["results"]
    described = [fix["description"]["text"] for result in sarif for fix in result.get("fixes", ())]
    assert sorted(said[said.index("(") :] for said in described) == [
        "(XLA rounds in another order)",
        "(unsafe: extend-unsafe-fixes names its rule)",
    ]


def test_settings_do_not_change_what_verify_expects_of_a_fix():
    proven = Fix(Applicability.SAFE, "m", (), obligations=("same-numbers",))
    unproven = Fix(Applicability.UNSAFE, "m", (), unproven=(Unproven("same-numbers", "it rounds"),))
    assert proven.is_proven and replace(proven, applicability=Applicability.UNSAFE, distrusted=True).is_proven
    assert not unproven.is_proven and not replace(unproven, applicability=Applicability.SAFE).is_proven


def test_levels_add_up(project):
    Path("base.toml").write_text('extend-unsafe-fixes = ["KC1"]')
    project('extend = "base.toml"\nextend-unsafe-fixes = ["KC2"]\nextend-safe-fixes = ["KC310"]')
    assert fixes() == {"KC101": ("unsafe", []), "KC310": ("safe", ROUNDS)}


def test_unknown_rules_are_refused(project):
    project('extend-safe-fixes = ["KC99"]')
    ran = kerascheck(".")
    assert ran.code == 2 and "kerascheck.toml: no rule matches 'KC99'" in ran.err
