"""--explain-silence: reasons why rules do not report a line."""

import json
import re

import pytest
from command import kerascheck

from kerascheck.catalog import registry
from kerascheck.catalog.rule import Rule

SCRIPT = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
ds = tf.data.Dataset.from_tensor_slices((np.zeros((64, 8)), np.zeros(64)))
ds = ds.map(lambda x, y: (tf.image.random_flip_left_right(x), y), num_parallel_calls=4)
model.fit(ds.batch(8), epochs=3)
for i in range(5):
    model.predict(np.zeros((1, 8)) + i)
for i in range(500):
    model.predict(np.zeros((1, 8)) + i)  # noqa: KC405
for i in range(500):
    model.predict(np.zeros((1, 8)) + i)
"""
PREDICT = "model.predict(np.zeros((1, 8)) + i)"


@pytest.fixture
def explained(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    # Wider than any line, so that sentences are not wrapped.
    monkeypatch.setattr("kerascheck.report.text._WIDEST", 1000)

    def run(line, text=SCRIPT, name="train.py", options=()):
        (tmp_path / name).write_text(text)
        return kerascheck("--isolated", *options, tmp_path / name, "--explain-silence", str(line))

    return run


def said(ran, code):
    """Explanation of one rule."""
    return [line.partition(f"{code} ")[2] for line in ran.out.splitlines() if line.startswith(f"  {code} ")]


def test_reason_given_by_the_rule_is_shown(explained):
    (sentence,) = said(explained(8), "KC101")
    assert sentence.startswith("serial-map looked at `map(lambda") and sentence.endswith(
        "`: the call says how many run in parallel."
    )


def test_short_loop_is_the_reason(explained):
    sentence = f"predict-in-loop looked at `{PREDICT}`: the loop around it makes 5 iterations at most."
    assert said(explained(11), "KC405") == [sentence]


def test_finding_that_another_one_replaces_is_named_with_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nds = tf.data.Dataset.list_files('d', shuffle=False).map(tf.io.read_file)\n"
        "ds = ds.batch(32)\nds = ds.shuffle(1000)\nds = ds.cache()\nmodel = tf.keras.applications.ResNet50()\n"
        "model.compile('adam', 'mse')\nmodel.fit(ds, epochs=10)\n"
    )
    shown = " ".join(kerascheck("--isolated", "train.py", "--explain-silence", "4").out.split())
    assert (
        "KC115 shuffle-after-batch is part of KC114 at line 5, which orders the whole chain: This shuffle mixes"
        in shown
    )


def test_reported_and_suppressed_findings_are_named(explained):
    assert said(explained(13), "KC405") == [f"predict-in-loop looked at `{PREDICT}`: a comment silences it."]
    own = SCRIPT.replace("noqa: KC405", "kerascheck: ignore[predict-in-loop]")
    assert said(explained(13, own), "KC405") == [f"predict-in-loop looked at `{PREDICT}`: a comment silences it."]
    (sentence,) = said(explained(15), "KC405")
    assert sentence.startswith("predict-in-loop reports this line: model.predict ")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--ignore", "KC405"], "the rule is not selected"),
        (["--min-severity", "error"], "it is of severity warning, which min-severity leaves out"),
    ],
)
def test_setting_that_hides_a_finding_is_named(explained, options, reason):
    assert said(explained(15, options=options), "KC405") == [f"predict-in-loop looked at `{PREDICT}`: {reason}."]


def test_per_file_ignores_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "pyproject.toml").write_text('[tool.kerascheck]\nper-file-ignores = { "train.py" = ["KC4"] }\n')
    assert "per-file-ignores leaves it out." in " ".join(kerascheck("train.py", "--explain-silence", "15").out.split())


def test_finding_without_cost_is_named_with_its_reason(explained):
    text = SCRIPT.replace("tf.image.random_flip_left_right(x)", "x + 1").replace(", num_parallel_calls=4", "")
    (sentence,) = said(explained(8, text), "KC101")
    assert (
        ": this costs nothing where the code runs, so only --pedantic reports it. The function is stateless, "
        in sentence
    )
    assert "reports this line" in said(explained(8, text, options=["--pedantic"]), "KC101")[0]


RANDOM = "ds = tf.data.Dataset.range(9).map(lambda x: x + tf.random.uniform([])).batch(2)\n"


@pytest.mark.parametrize(
    ("use", "fact"),
    [
        ("for x in ds:\n    print(x)\n", "this dataset is used for a look at some elements only"),
        ("def main():\n    " + RANDOM + "main()\n", "this dataset never reaches fit or a training loop"),
        ("model.evaluate(ds)\n", "this dataset is used for evaluation only"),
        (
            "model.fit(x, y, validation_data=ds)\nmodel.predict(ds)\n",
            "this dataset is used for prediction and validation only",
        ),
    ],
)
def test_dataset_without_training_use_is_the_reason(explained, use, fact):
    text = f"import tensorflow as tf\nmodel = tf.keras.Sequential()\n{RANDOM if 'main' not in use else ''}{use}"
    line = 1 + text[: text.index("tf.data")].count("\n")
    assert said(explained(line, text), "KC101") == [
        f"serial-map looked at `map(lambda x: x + tf.random.uniform([]))`: {fact}."
    ]
    assert said(explained(line, text.replace(".map(", ".filter(")), "KC101") == []


def test_dataset_that_leaves_the_file_may_be_trained_on(explained):
    text = "import numpy as np\nimport tensorflow as tf\ndef make():\n    return tf.data.Dataset.from_tensor_slices(np.zeros((500000, 30))).batch(2)\n"
    (sentence,) = said(explained(4, text), "KC119")
    assert sentence.endswith(": where this dataset is trained on is not seen from here.")


def test_dataset_trained_on_in_another_file_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.py").write_text(
        "import tensorflow as tf\ndef validation_data():\n    return " + RANDOM.partition("ds = ")[2]
    )
    shown = lambda: kerascheck("--isolated", "data.py", "--explain-silence", "3").out
    assert (
        "`map(lambda x: x + tf.random.uniform([]))`: its use is not seen from here, and a name around it says validation or test data."
        in " ".join(shown().split())
    )
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom data import validation_data\nmodel = tf.keras.Sequential()\nmodel.fit(validation_data())\n"
    )
    assert "KC101 serial-map reports this line" in shown()


STEP = """\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for epoch in range(100):
    for x, y in batches:
        train_step(x, y)
"""


LARGE = """\
import tensorflow as tf
{}
generator = tf.keras.applications.ResNet50(weights=None)
generator.compile("adam", "mse")
generator.fit(load(), epochs=10)
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("discriminator = make()", "names say that this program trains two networks against each other"),
        ("set_up(mixed_precision=True)", "`mixed_precision` says that this program may choose its precision"),
        (
            "discriminator = make(fp16=0)",
            "names say that this program trains two networks against each other"
            " and `fp16` says that this program may choose its precision",
        ),
        ("tf.keras.backend.set_floatx('float64')", "this program computes in float64"),
        ("import gym", "this program uses environments for reinforcement learning"),
        ("tf.config.set_visible_devices([], 'GPU')", "this program hides the GPUs"),
        ("tf.tpu.experimental.initialize_tpu_system()", "this program runs on TPUs only"),
    ],
)
def test_kind_of_program_is_the_reason(explained, line, reason):
    assert said(explained(5, LARGE.format(line)), "KC301") == [
        f"missing-mixed-precision looked at `generator.fit(load(), epochs=10)`: {reason}."
    ]
    assert "reports this line" in said(explained(5, LARGE.format("make()")), "KC301")[0]


@pytest.mark.parametrize("line", [5, 8])
def test_compiled_step_is_the_reason_at_its_definition_and_update(explained, line):
    sentence = "eager-train-step looked at `def train_step(x, y):`: tf.function compiles it."
    assert said(explained(line, STEP), "KC401") == [sentence]
    assert "reports this line" in said(explained(4, STEP.replace("@tf.function\n", "")), "KC401")[0]


def test_rules_without_a_candidate_are_only_counted(explained):
    rules = sum(spec.kind is Rule for spec in registry.rule_specs())
    not_applied, counted = explained(2).out.splitlines()[2:]
    assert not_applied == "  KC211 does not apply here: TensorFlow before 2.9 or 2.12 and later."
    assert counted == f"  {rules - 1} other rules found nothing to report."
    assert explained(11).out.splitlines()[-1] == f"  {rules - 2} other rules found nothing to report."


def test_rules_that_do_not_apply_are_named_with_the_condition(explained):
    text = "import tensorflow as tf\ntf.compat.v1.disable_eager_execution()\nlayer = tf.keras.layers.Dense(1)\n"
    shown = " ".join(explained(3, text).out.split())
    assert "rules do not apply here: Graph code of TensorFlow 1: sessions," in shown
    assert "KC124, KC305, KC314 do not apply here: The program does not train." in shown


def test_implementation_details_are_not_shown(explained):
    shown = "".join(explained(line, text).out for text in (SCRIPT, STEP) for line in range(1, text.count("\n") + 1))
    spoken = [re.sub(r"`[^`]*`", "", line) for line in shown.splitlines() if " looked at " in line]
    assert len(spoken) > 10
    assert not [line for line in spoken if re.search(r"\.py\b|\bNone\b|\w\(|[a-z]_[a-z]|[\[=<>]", line)]


def test_every_reason_completes_a_sentence():
    for spec in registry.rule_specs():
        text = (spec.folder / "rule.py").read_text(encoding="utf-8")
        for reason in re.findall(r'self\.silence\([^"\n]*f?"([^"]+)"', text):
            assert not reason.endswith(".") and reason[0].islower() or reason[0] == "{", f"{spec.name}: {reason}"


def test_code_in_a_test_is_the_reason(explained):
    text = "import tensorflow as tf\n\ndef test_pipeline(names):\n    ds = tf.data.TFRecordDataset(names)\n    return ds.map(tf.io.decode_png)\n"
    assert "`test_pipeline` looks like a test, so nothing in it is reported." in explained(5, text).out
    assert "is a test" not in explained(5, text.replace("test_", "make_")).out


def test_tensorflow_1_graph_is_the_reason(explained):
    text = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a')\nds = ds.map(parse).batch(8)\nx = ds.make_one_shot_iterator().get_next()\nwith tf.Session() as s:\n    s.run(x)\n"
    assert "written for the graphs of TensorFlow 1" in explained(3, text).out


def test_notebook_location_is_cell_and_line(explained):
    cells = [{"cell_type": "markdown", "source": "# text", "metadata": {}}]
    cells += [
        {"cell_type": "code", "source": part, "metadata": {}, "outputs": [], "execution_count": None}
        for part in SCRIPT.split("for i in range(500):\n    model.predict(np.zeros((1, 8)) + i)  # noqa: KC405\n")
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    ran = explained("3:2", notebook, "train.ipynb")
    assert "reports this line" in said(ran, "KC405")[0] and "train.ipynb:cell 3:2: " in ran.out
    assert said(explained("2:11", notebook, "train.ipynb"), "KC405")[0].endswith("5 iterations at most.")
    for nowhere in ("0:1", "1:1", "4:1"):
        assert f"train.ipynb: there is no code cell {nowhere[0]}" in explained(nowhere, notebook, "train.ipynb").err
    assert (
        "this is a notebook: name the cell too, as in --explain-silence 1:2"
        in explained("2", notebook, "train.ipynb").err
    )
    assert "train.py: this is no notebook" in explained("1:2").err
    broken = notebook.replace("# text", "def f(:").replace("markdown", "code")
    assert "reports this line" in said(explained("3:2", broken, "train.ipynb"), "KC405")[0]


@pytest.mark.parametrize("place", ["x", "0", "99", "1:2:3", "-1"])
def test_missing_line_is_one_error(explained, place):
    ran = explained(place)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1 and "error" in ran.err


def test_unparsable_file_is_one_error(explained):
    ran = explained(1, "def f(:\n")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "train.py" in ran.err


def test_long_lines_and_sentences_are_wrapped_to_the_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        SCRIPT.replace("num_parallel_calls=4", "num_parallel_calls=4" + " " * 9 + "+ 1" * 999)
    )
    lines = kerascheck("--isolated", "train.py", "--explain-silence", "8").out.splitlines()
    assert len(lines[0]) <= 120 and max(map(len, lines[1:])) <= 80


def test_failing_rule_is_reported_and_others_run(explained, monkeypatch):
    spec = registry.find("KC405")

    def broken(module):
        yield from ()
        raise KeyError("lost")

    monkeypatch.setattr(spec.rule, "check", broken)
    result = explained(8)
    assert result.code == 0
    assert said(result, "KC405") == [
        "predict-in-loop failed: KeyError: 'lost'; this is a fault of kerascheck: please report it with the file"
    ]
    assert said(result, "KC101")
