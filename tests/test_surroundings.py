"""What the surroundings of a script say changes what is said of it: pins, commands of a notebook, other modules."""

import json

import pytest
from command import kerascheck

TRAIN = "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
RANDOM = "ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: x + tf.random.normal(())).batch(8)\nmodel.fit(ds, epochs=3)\n"
PREDICT = "model.fit(load())\nfor row in load(): show(model.predict(row[None]))\n"
IMAGES = "images = tf.keras.preprocessing.image.ImageDataGenerator().flow_from_directory('d')\nmodel.fit(images)\n"


def findings(folder, text, requirements, *options):
    (folder / "train.py").write_text(TRAIN + text)
    (folder / "requirements.txt").write_text(requirements)
    (folder / ".git").mkdir(exist_ok=True)
    result = kerascheck(*options, "--output-format", "json", "--exit-zero", str(folder / "train.py"))
    return json.loads(result.out)["findings"]


@pytest.mark.parametrize(("pin", "name"), [("tensorflow==2.3", "tf.data.experimental.AUTOTUNE"), ("tensorflow==2.4", "tf.data.AUTOTUNE"), ("", "tf.data.AUTOTUNE")])
def test_autotune_is_written_as_the_version_knows_it(tmp_path, pin, name):
    (finding,) = findings(tmp_path, RANDOM, pin, "--select", "KC101")
    assert f"num_parallel_calls={name}" in finding["message"]
    assert f"num_parallel_calls={name}" in finding["fix"]["message"]
    assert kerascheck("--select", "KC101", "--fix", "--unsafe-fixes", "--exit-zero", str(tmp_path / "train.py")).code == 0
    assert f"num_parallel_calls={name})" in (tmp_path / "train.py").read_text()


@pytest.mark.parametrize(("pin", "old"), [("keras==2.3.1", True), ("keras==2.3.1\ntensorflow==1.15", True), ("keras==2.3.1\ntensorflow==2.8", False), ("keras==2.4.3", False), ("tensorflow==2.2", False), ("", False)])
def test_keras_of_its_own_predicts_without_a_dataset(tmp_path, pin, old):
    (finding,) = findings(tmp_path, PREDICT, pin, "--select", "KC405")
    assert ("dataset" in finding["because"], finding["severity"]) == ((False, "info") if old else (True, "warning"))


@pytest.mark.parametrize(("pin", "said"), [("tensorflow==2.2", False), ("tensorflow==2.3", True)])
def test_nothing_is_advised_that_the_version_lacks(tmp_path, pin, said):
    assert bool(findings(tmp_path, IMAGES, pin, "--select", "KC111")) is said


def test_what_tensorboard_shows_in_the_notebook_is_looked_at(tmp_path):
    code = TRAIN + "model.fit(load(), callbacks=[tf.keras.callbacks.TensorBoard(histogram_freq=1)])"
    for opened, said in ((False, 1), (True, 0)):
        cells = [code, "%tensorboard --logdir logs"] if opened else [code]
        notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "metadata": {}, "nbformat": 4}
        (tmp_path / "train.ipynb").write_text(json.dumps(notebook))
        result = kerascheck("--select", "KC412", "--output-format", "json", "--exit-zero", str(tmp_path / "train.ipynb"))
        assert len(json.loads(result.out)["findings"]) == said


def test_what_another_module_prefetches_it_prefetches_for_all(tmp_path):
    (tmp_path / "data.py").write_text("import tensorflow as tf\ndef load(): return tf.data.Dataset.list_files('*').batch(8).prefetch(1)\n")
    (tmp_path / "train.py").write_text(TRAIN + "from data import load\nmodel.fit(load().map(lambda x: x + tf.random.normal(())), epochs=3)\n")
    result = kerascheck("--select", "KC125", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert not json.loads(result.out)["findings"]


@pytest.mark.parametrize(("pin", "said"), [("tensorflow==2.3", False), ("tensorflow==2.4", True), ("", True)])
def test_steps_per_execution_is_advised_where_it_exists(tmp_path, pin, said):
    model = "m = tf.keras.Sequential([tf.keras.layers.Dense(4, input_dim=3)])\nm.compile('sgd', 'mse')\nimport numpy as np\n"
    assert bool(findings(tmp_path, model + "m.fit(np.load('x.npy'), np.load('y.npy'), epochs=50)\n", pin, "--select", "KC407")) is said


@pytest.mark.parametrize(("use", "said"), [("model = build()\nmodel.compile('adam')\nmodel.fit(load())\n", True), ("build().run()\n", False)])
def test_float16_for_a_model_that_is_made_elsewhere(tmp_path, use, said):
    (tmp_path / "train.py").write_text("import keras\nfrom zoo import build, load\nkeras.config.set_floatx('float16')\noptimizer = keras.optimizers.Adam()\n" + use)
    result = kerascheck("--select", "KC305", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# the kernels of our op have no XLA", False),
        ("# Compiling takes longer than training here.", False),
        ("# XLA (old driver) crashes", False),
        ("# x = 3 is too small for it", False),
        ("# 3. Training", True),
        ("#3) 컴파일", True),
        ("# ---- training ----", True),
        ("# ------------------", True),
        ("# Compile the model", True),
        ("# compiling our model", True),
        ("# model.compile(optimizer='adam',", True),
        ("# optimizer = keras.optimizers.Adam(1e-3)", True),
        ("", True),
    ],
)
def test_what_explains_a_setting_is_a_comment_about_it(tmp_path, comment, said):
    text = f"{comment}\nmodel.compile('adam', 'mse', jit_compile=False)\nmodel.fit(load())\n"
    assert bool(findings(tmp_path, text, "", "--select", "KC310")) is said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("if MODE == 'train':\n    SETTING\n    model.fit(load())\nelse:\n    show(model)", True),
        ("def train():\n    SETTING\n    model.fit(load())\nif MODE == 'train': train()", True),
        ("for name in NAMES:\n    if name in WANTED:\n        SETTING\n        for part in load(): model.fit(part)", True),
        # The training has another way without it.
        ("if MODE == 'train':\n    if DEBUG: SETTING\n    model.fit(load())", False),
        ("if DEBUG:\n    SETTING\n    model.fit(load())\nelse:\n    model.fit(load())", False),
        ("if DEBUG: SETTING\nmodel.fit(load())", False),
        ("try: show(model)\nexcept ValueError:\n    SETTING\n    model.fit(load())", False),
    ],
)
@pytest.mark.parametrize(
    ("code", "setting"),
    [
        ("KC309", "model.compile('adam', 'mse', run_eagerly=True)"),
        ("KC309", "tf.debugging.enable_check_numerics()"),
        ("KC310", "model.compile('adam', 'mse', jit_compile=False)"),
        ("KC412", "tf.keras.callbacks.TensorBoard('logs', histogram_freq=1)"),
        ("KC412", "tf.keras.callbacks.ModelCheckpoint('m', save_freq=5)"),
    ],
)
def test_a_condition_of_the_training_itself_is_no_switch(tmp_path, text, said, code, setting):
    assert bool(findings(tmp_path, text.replace("SETTING", setting), "", "--select", code)) is said


@pytest.mark.parametrize(
    ("pipeline", "said"),
    [
        ("FOLDER('d').cache().prefetch(1)", ["info"]),
        ("FOLDER('d', shuffle=True, seed=1).map(lambda x, y: (x / 255, y)).cache()", ["info"]),
        ("FOLDER('d').map(lambda x, y: (x + tf.random.normal(()), y)).cache()", ["warning"]),
        ("FOLDER('d').cache().shuffle(99)", []),
        ("FOLDER('d', shuffle=False).cache()", []),
        ("FOLDER('d', shuffle=ASK).cache()", []),
        ("FOLDER('d', **OPTIONS).cache()", []),
        ("FOLDER('d', shuffle=False).cache(), validation_data=FOLDER('e').cache()", []),
    ],
)
def test_folders_are_shuffled_anew_in_each_epoch(tmp_path, pipeline, said):
    text = f"model.fit({pipeline.replace('FOLDER', 'tf.keras.utils.image_dataset_from_directory')}, epochs=3)\n"
    assert [finding["severity"] for finding in findings(tmp_path, text, "", "--select", "KC114")] == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from scikeras.wrappers import KerasClassifier\nKerasClassifier(build).fit(load(), load())", True),
        ("from sklearn.model_selection import GridSearchCV\nfrom scikeras.wrappers import KerasRegressor\nGridSearchCV(KerasRegressor(model=build), {}).fit(load(), load())", True),
        ("import keras_tuner as kt\ntuner = kt.RandomSearch(build, objective='loss')\ntuner.search(load(), epochs=3)", True),
        ("import keras_tuner as kt\ntuner = kt.RandomSearch(build, objective='loss')\nshow(tuner.get_best_models())", False),
        ("show(build())", False),
    ],
)
def test_models_are_trained_by_what_wraps_them(tmp_path, text, said):
    build = "def build(hp=None):\n    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    model.compile('adam', 'mse', jit_compile=False)\n    return model\n"
    (tmp_path / "train.py").write_text(f"import tensorflow as tf\nfrom data import load\n{build}{text}\n")
    result = kerascheck("--isolated", "--select", "KC310", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert bool(json.loads(result.out)["findings"]) is said
