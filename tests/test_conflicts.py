"""Rules that request different orders of one dataset chain: one finding, one fix, and convergence."""

import itertools
import json
import random
import re
from pathlib import Path

import pytest
from command import kerascheck

pytestmark = pytest.mark.usefixtures("in_this_process")

ROOT = Path(__file__).resolve().parent.parent
ORDER = ("KC102", "KC103", "KC104", "KC113", "KC114", "KC115", "KC125", "KC126", "KC129", "KC130")
HEAD = """\
import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")


def decode(path):
    return tf.io.decode_jpeg(tf.io.read_file(path))


def augment(image):
    return tf.image.random_flip_left_right(image)


"""
WRITTEN = {
    "decode": "map(decode, tf.data.AUTOTUNE)", "augment": "map(augment, tf.data.AUTOTUNE)", "batch": "batch(32)", "shuffle": "shuffle(1000)", "cache": "cache()",
    "take": "take(5000)", "repeat": "repeat()", "prefetch": "prefetch(tf.data.AUTOTUNE)",
}  # fmt: skip
SOURCE = "tf.data.Dataset.from_tensor_slices(load())"
LAYOUTS = {
    "chain": lambda names: f"ds = {SOURCE}" + "".join(f".{WRITTEN[name]}" for name in names) + "\n",
    "lines": lambda names: f"ds = (\n    {SOURCE}\n" + "".join(f"    .{WRITTEN[name]}\n" for name in names) + ")\n",
    "statements": lambda names: f"ds = {SOURCE}\n" + "".join(f"ds = ds.{WRITTEN[name]}\n" for name in names),
}


def program(names, layout="chain"):
    return HEAD + LAYOUTS[layout](names.split() if isinstance(names, str) else names) + "model.fit(ds, epochs=9)\n"


def findings(path, *options, select=",".join(ORDER)):
    result = kerascheck("--isolated", "--select", select, "--output-format", "json", "--exit-zero", *options, path)
    report = json.loads(result.out)
    assert not report["errors"], report["errors"]
    return report["findings"]


def fixed(path, *options, select=",".join(ORDER)):
    kerascheck("--isolated", "--select", select, "--fix", "--unsafe-fixes", "-q", *options, path)
    return path.read_text(encoding="utf-8")


def methods(text):
    """Dataset methods that a text calls, in order."""
    return [
        name
        for name in re.findall(r"\.(\w+)\(", text)
        if name in {written.partition("(")[0] for written in WRITTEN.values()}
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("names", "code", "joined", "after"),
    [
        ("decode batch shuffle cache", "KC114", "KC115", "decode cache batch:shuffle batch"),
        ("decode shuffle batch", "KC130", "KC113", "decode cache shuffle batch"),
        ("decode augment batch shuffle", "KC115", "KC113", "decode cache batch:shuffle augment batch"),
        ("augment cache take batch", "KC114", "KC129", "take cache augment batch"),
    ],
)
def test_conflicting_advice_is_merged_into_one_finding_with_one_fix(tmp_path, layout, names, code, joined, after):
    path = tmp_path / "train.py"
    path.write_text(program(names, layout))
    (finding,) = findings(path)
    assert finding["code"] == code and finding["severity"] == "warning"
    assert f"({code})" in finding["because"] and f"({joined})" in finding["because"]
    assert any(place["message"] == joined for place in finding["related"])
    order = [WRITTEN[name.rpartition(":")[2]].partition("(")[0] for name in after.split()]
    text = fixed(path)
    assert methods(text[len(HEAD) :]) == order
    said = methods(finding["message"])
    assert said and "".join(said) in "".join(order)
    assert ("shuffle(32000)" in text) is ("batch:shuffle" in after)
    assert findings(path) == [] and fixed(path) == text


def test_each_rule_alone_reports_its_own_finding(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(program("decode batch shuffle cache"))
    for code, message in (
        ("KC114", "cache() freezes the shuffle order"),
        ("KC115", "This shuffle mixes whole batches"),
    ):
        (finding,) = findings(path, select=code)
        assert finding["code"] == code and finding["message"].startswith(message)


@pytest.mark.parametrize("code", ["KC114", "KC115"])
def test_suppressed_or_unselected_findings_are_not_merged(tmp_path, code):
    path = tmp_path / "train.py"
    other = "KC115" if code == "KC114" else "KC114"
    silenced = program("decode batch shuffle cache", "statements")
    line = {"KC114": "ds = ds.cache()", "KC115": "ds = ds.shuffle(1000)"}[code]
    path.write_text(silenced.replace(line, f"{line}  # noqa: {code}"))
    assert [finding["code"] for finding in findings(path)] == [other]
    path.write_text(silenced)
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.kerascheck]\nselect = ["KC114", "KC115"]\nper-file-ignores = {{ "train.py" = ["{code}"] }}\n'
    )
    report = json.loads(kerascheck("--output-format", "json", "--exit-zero", path).out)
    assert [finding["code"] for finding in report["findings"]] == [other]


def test_pedantic_findings_are_merged_only_with_pedantic(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(program("decode batch shuffle cache"))
    (plain,), (pedantic,) = findings(path), findings(path, "--pedantic")
    assert "KC102" not in plain["because"] and "prefetch" not in plain["message"]
    assert "KC102" in pedantic["because"] and "prefetch" in pedantic["message"] and not pedantic["pedantic"]


def test_requests_of_other_files_are_merged_once(tmp_path):
    (tmp_path / "data.py").write_text(
        HEAD.replace("model", "net") + f"def train_data():\n    return {SOURCE}.map(decode).shuffle(1000)\n"
    )
    (tmp_path / "train.py").write_text(
        "from data import train_data\n" + HEAD.partition("def")[0] + "model.fit(train_data(), epochs=9)\n"
    )
    (finding,) = findings(tmp_path)
    assert finding["code"] == "KC130" and "(KC113)" in finding["because"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fixes_converge_for_every_order(tmp_path, layout):
    chosen = random.Random(layout).sample(
        [names for length in (3, 4, 5) for names in itertools.permutations(WRITTEN, length)], 25
    )
    path = tmp_path / "train.py"
    for names in chosen:
        path.write_text(program(names, layout))
        before = {
            code
            for finding in findings(path, "--pedantic")
            for code in (finding["code"], *re.findall(r"\((KC\d+)\)", finding["because"]))
        }
        assert check_peace(path) <= before, names


def check_peace(path):
    """Check that fixes converge: no finding is fixable, a second run changes nothing. Return the remaining codes."""
    text = fixed(path, "--pedantic")
    left = findings(path, "--pedantic")
    assert not any(finding["fix"] for finding in left), text
    assert fixed(path, "--pedantic") == text
    return {finding["code"] for finding in left}


EXAMPLES = sorted(
    [*(ROOT / "rules" / "pipeline").glob("*/slow.py"), *(path for path in (ROOT / "fixtures").glob("*/*.py"))]
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_fixes_of_rule_examples_converge(tmp_path, example):
    path = tmp_path / example.name
    path.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    check_peace(path)
