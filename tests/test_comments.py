"""Comments and docstrings are ignored: every finding stays when they change.

Exceptions are suppressions, and explanations that some rules honour according to their pages.
"""

import ast
import io
import json
import re
import shutil
import tokenize
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.catalog.registry import rule_specs
from kerascheck.catalog.rule import Rule
from kerascheck.report.rule_page import sections

SPECS = [spec for spec in rule_specs() if spec.kind is Rule]
FIXTURES = Path(__file__).parents[1] / "fixtures"
# Rules whose pages say that an explaining comment silences them.
EXPLAINED = {spec.code for spec in SPECS if "comment" in sections(spec).get("When it stays silent", "")}
# Suppressions, and the requirements of PEP 723.
KEPT = re.compile(r"#\s*(?:noqa|kerascheck:|flake8|///|dependencies =|\]|\"[\w-]+[<=>])")
# Words that kerascheck searches for in whole texts; in a comment or docstring, each could change a finding or once did.
WORDS = """\
tf.get_variable() tf.placeholder tf.contrib.layers sess.run( Session( with tf.Session() as s: tf.global_variables_initializer() feed_dict= reset_default_graph
tf.estimator tensorflow.contrib MonitoredSession tf.compat.v1.disable_eager_execution() disable_v2_behavior( GradientTape tf.function enable_eager_execution
os.environ["KERAS_BACKEND"] = "jax"  KERAS_BACKEND="torch"  os.environ["TF_USE_LEGACY_KERAS"] = "1"  CUDA_VISIBLE_DEVICES="-1"  CUDA_VISIBLE_DEVICES="0"
mixed_precision float16 bfloat16 dtype_policy fp16 amp half_precision set_policy set_floatx("float64") dtype="float64" double precision physics pinn quantum
TPUStrategy TPUClusterResolver initialize_tpu_system memory_growth allow_growth memory_limit TF_FORCE_GPU_ALLOW_GROWTH logical_device_configuration
directml "DML" tensorlayer run_functions_eagerly(True) run_eagerly=True experimental_run_functions_eagerly(True) nb_epoch=3 samples_per_epoch border_mode="same"
.fit(x, nb_epoch=3) Dense(3, 4) inner_init="uniform" keras.utils.visualize_util GAN gan generator discriminator non_max_suppression applications.ResNet50( from_pretrained(
Conv2D( MultiHeadAttention( num_replicas_in_sync multi-gpu several GPUs num_gpus n_gpus replicas global_batch_size MultiWorkerMirroredStrategy TF_CONFIG __enter__
parameter_server google.colab "/content/a" "/Users/a" "gs://bucket" get_gcs_path subprocess multiprocessing Popen Pool sync_tensorboard=True wandb.tensorboard.patch
"a.tif" ".dcm" batch_input_shape= AbstractRNNCell layers.experimental.preprocessing AbstractRNNCell odeint gpflow deepxde scipy.integrate tfp.mcmc {batch}
.fit_generator( .train_on_batch( .predict( export .save( first warm tracing fps throughput latency per second tf.keras tensorflow.keras def call( float32 tf.ones(3)
"""
LINES = """\
import tf_keras
import tensorflow_addons
import keras_contrib
import bert4keras
import gym
import torch
import sklearn.svm
from tensorflow.contrib import layers
from tensorflow.python.keras import models
from tensorflow import placeholder
from plaidml.keras import backend
from sklearn import preprocessing
from keras.layers.core import Dense
import data, model, utils, train, other
sys.path.append("lib")
sess = tf.Session()
    tf.config.run_functions_eagerly(True)
    def train_step(self, data):
    def call(self, x):
for x in data:
df
shape
names
!pip install tensorflow==1.15
%tensorflow_version 1.x
"""
TRIGGERS = " ".join(sorted({word for spec in SPECS for word in spec.triggers}))
COMMENT = "".join(f"# {line.strip()}\n" for line in (WORDS + LINES + TRIGGERS).splitlines()) * 3
DOCSTRING = f"'''What this is.\n\n{WORDS}{LINES}{TRIGGERS}\n'''\n".replace("\\", "")


def with_comments(text):
    """``text`` with additional comments and docstrings, and the number of lines by which the code moved."""
    head = COMMENT if "from __future__" in text else COMMENT + DOCSTRING
    return head + text + ("" if text.endswith("\n") else "\n") + COMMENT + DOCSTRING, head.count("\n")


def without_comments(text):
    """``text`` without comments and docstrings, and 0, because no line moved."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not KEPT.match(token.string):
            line, column = token.start
            lines[line - 1] = lines[line - 1][:column].rstrip() + "\n"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            string = node.body[0].value
            first, last = lines[string.lineno - 1].encode(), lines[string.end_lineno - 1].encode()
            before, after = first[: string.col_offset].decode(), last[string.end_col_offset :].decode()
            inner = "\n" * (string.end_lineno - string.lineno)
            lines[string.lineno - 1 : string.end_lineno] = [f"{before}0{inner}{after}"] + [""] * (
                string.end_lineno - string.lineno
            )
    return "".join(lines), 0


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with all scripts of rules and fixtures, each rule in a separate project."""
    folder = tmp_path_factory.mktemp("programs")
    for spec in SPECS:
        for script in spec.folder.glob("*.py"):
            if script.stem not in ("rule", "fast"):
                place = folder / spec.code / script.stem
                (place / ".git").mkdir(parents=True)
                shutil.copy(script, place / script.name)
    shutil.copytree(FIXTURES, folder / "fixtures")
    (folder / "fixtures" / ".git").mkdir()
    return folder


def found(folder, moved):
    """All findings below a folder, with line numbers reduced by ``moved`` of the file."""
    ran = kerascheck("--isolated", "--pedantic", "--output-format", "json", "--exit-zero", folder)
    report = json.loads(ran.out)
    assert report["errors"] == []
    findings = {}
    for each in report["findings"]:
        path = str(Path(each["path"]).resolve().relative_to(folder.resolve()))
        line = each["line"] - moved.get(path, 0)
        findings.setdefault(path, set()).add(
            (line, each["column"], each["code"], each["severity"], each["message"], each["fix"] is not None)
        )
    return findings


@pytest.fixture(scope="module")
def before(programs):
    return found(programs, {})


@pytest.mark.slow
@pytest.mark.parametrize("change", [with_comments, without_comments])
def test_changed_comments_and_docstrings_keep_findings(programs, before, tmp_path, change):
    folder = tmp_path / "programs"
    shutil.copytree(programs, folder)
    moved = {}
    for script in folder.rglob("*.py"):
        text, lines = change(script.read_text("utf-8"))
        script.write_text(text, "utf-8")
        moved[str(script.relative_to(folder))] = lines
    after = found(folder, moved)
    assert len(before) > 100
    changed = {path: before.get(path, set()) ^ after.get(path, set()) for path in before.keys() | after.keys()}
    if change is without_comments:
        changed = {path: {each for each in findings if each[2] not in EXPLAINED} for path, findings in changed.items()}
    assert {path: findings for path, findings in changed.items() if findings} == {}


# Rules that read comments, or explanations according to their pages.
READ_TEXT = {"discarded-dataset", "unused-suppression"}


@pytest.mark.parametrize("spec", rule_specs(), ids=lambda spec: spec.name)
def test_rules_read_only_code(spec):
    reads_text = re.search(r"\.text\b", (spec.folder / "rule.py").read_text("utf-8")) is not None
    assert reads_text == (spec.name in READ_TEXT)


IMPORTS = "import tensorflow as tf\nfrom tensorflow import keras\n"
TRAIN = "ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: tf.image.random_flip_left_right(x)).batch(8)\nmodel = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(ds)\n"
EAGER = "def step(x):\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_mean(model(x))\n    opt.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))\n"
FLOWED = "model = keras.Sequential([keras.layers.Conv2D(8, 3)])\nmodel.compile('adam', 'mse')\nmodel.fit(keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a'))\n"
GROWN = "gpus = tf.config.list_physical_devices('GPU')\ntf.config.experimental.set_memory_growth(gpus[0], True)\n"
FITTED = "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(tf.ones((64000, 4)), tf.ones((64000, 1)), batch_size=SIZE, epochs=9)\n"
LOOPED = (
    "model, opt = keras.Sequential([keras.layers.Dense(1)]), keras.optimizers.Adam()\n"
    + EAGER
    + "for x in load():\n    step(x)\n"
)


@pytest.mark.parametrize(
    ("said", "files"),
    [
        ("# no tf.get_variable(), just simple Keras API\n", {"train.py": IMPORTS + "SAID" + TRAIN}),
        ("'''Not with tf.contrib.'''\n", {"train.py": IMPORTS + "def f():\n    SAID    return 1\n" + TRAIN}),
        # Imports of what only an older version has, and of neighbours.
        ("'''As by\nimport tensorflow_addons\n'''\n", {"train.py": "SAID" + IMPORTS + TRAIN + "model.fit(ds, workers=4)\n"}),
        ("'''As by\nimport other\n'''\n", {"train.py": "SAID" + IMPORTS + TRAIN, "other.py": "import keras\nmixed_precision = TPUStrategy = memory_growth = 1\n"}),
        ("'''\nsys.path.append('lib')\n'''\n", {"train.py": "SAID" + IMPORTS + "import other\n" + TRAIN, "lib/other.py": "memory_growth = 1\n"}),
        # Scripts that import the module.
        ("'''\ntf.config.run_functions_eagerly(True)\n'''\n", {"train.py": IMPORTS + "def train():\n    " + LOOPED.replace("\n", "\n    ") + "\n", "main.py": "SAIDimport train\n"}),
        ("'''\nsess = tf.Session()\n'''\n", {"train.py": IMPORTS + FLOWED, "main.py": "SAIDimport train\n"}),
        ("'''\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n'''\n", {"train.py": IMPORTS + GROWN + TRAIN, "main.py": "SAIDimport train\n"}),
        # The length of an imported module.
        ("# what is done here, and why\n" * 300, {"train.py": IMPORTS + "from other import SIZE\n" + FITTED, "other.py": "SAIDSIZE = 2\n"}),
        # Conditions over several lines, and searches within a function.
        ("  # the first time: not yet built\n", {"train.py": IMPORTS + "class Net(keras.layers.Layer):\n    def call(self, x):\n        if (self.rate > 0SAID\n                and self.wide):\n            x = keras.layers.Dense(3)(x)\n        return x\n" + TRAIN}),
    ],
)  # fmt: skip
def test_added_comment_or_docstring_keeps_findings(tmp_path, said, files):
    outcomes = []
    for name, words in (("said", said), ("silent", "\n" * said.count("\n"))):
        folder = tmp_path / name
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text.replace("SAID", words))
        (folder / ".git").mkdir()
        outcomes.append(found(folder, {}))
    assert outcomes[0] == outcomes[1] != {}


def test_comment_after_the_last_expression_of_a_cell_is_ignored(tmp_path):
    for comment in ("", "  # a look", "\n# a look\n"):
        cells = [
            {"cell_type": "code", "source": cell}
            for cell in (
                IMPORTS + "ds = tf.data.Dataset.range(9)",
                f"ds.map(print){comment}",
                f"ds.shuffle(9){comment}",
            )
        ]
        (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
        ran = kerascheck(
            "--isolated", "--select", "KC128", "--min-severity", "info", "--output-format", "json", tmp_path
        )
        assert [(each["cell"], each["severity"]) for each in json.loads(ran.out)["findings"]] == [(2, "info")]
