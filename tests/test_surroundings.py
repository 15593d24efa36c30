"""What the surroundings of a script say changes what is said of it: pins, commands of a notebook, other modules."""

import json
from pathlib import Path

import pytest
from command import kerascheck

pytestmark = pytest.mark.usefixtures("in_this_process")

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


@pytest.mark.parametrize(("play", "said"), [("for _ in range(9999):\n    state = env.step(player.act(state))\n", 1), ("env.step(player.act(state))\n", 0)])
def test_a_game_is_played_with_the_networks_of_an_agent(tmp_path, play, said):
    (tmp_path / "net.py").write_text(TRAIN + "class Net:\n    def __init__(self):\n        self.model = model\n    def act(self, x):\n        return self.model.predict(x)\n")
    rules = '"""' + "What it does in which case.\n" * 200 + '"""\n'
    (tmp_path / "agent.py").write_text(rules + "from net import Net\nclass Agent:\n    def __init__(self):\n        self.net = Net()\n    def act(self, x):\n        return self.net.act(x)\n")
    (tmp_path / "play.py").write_text("import gym\nfrom agent import Agent\nplayer = Agent()\nenv = gym.make('Pong')\nstate = env.reset()\n" + play)
    result = kerascheck("--select", "KC405", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [Path(finding["path"]).name for finding in json.loads(result.out)["findings"]] == ["net.py"] * said


def test_what_another_module_prefetches_it_prefetches_for_all(tmp_path):
    (tmp_path / "data.py").write_text("import tensorflow as tf\ndef load(): return tf.data.Dataset.list_files('*').batch(8).prefetch(1)\n")
    (tmp_path / "train.py").write_text(TRAIN + "from data import load\nmodel.fit(load().map(lambda x: x + tf.random.normal(())), epochs=3)\n")
    result = kerascheck("--select", "KC125", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert not json.loads(result.out)["findings"]


@pytest.mark.parametrize(
    ("rule", "code", "safety"),
    [
        ("KC108", "def show(x):\n    print(x)\n    return x\nmodel.fit(tf.data.Dataset.range(9).map(show).batch(2))\n", "unsafe"),
        ("KC207", "@tf.function\ndef show(x):\n    print(x)\n    return x\nshow(tf.ones(2))\n", "safe"),
    ],
)
def test_a_print_in_a_map_makes_it_stateful(tmp_path, rule, code, safety):
    (finding,) = findings(tmp_path, code, "", "--select", rule)
    assert finding["fix"]["applicability"] == safety


@pytest.mark.parametrize(("pin", "said"), [("tensorflow==2.3", False), ("tensorflow==2.4", True), ("", True)])
def test_steps_per_execution_is_advised_where_it_exists(tmp_path, pin, said):
    model = "m = tf.keras.Sequential([tf.keras.layers.Dense(4, input_dim=3)])\nm.compile('sgd', 'mse')\nimport numpy as np\n"
    assert bool(findings(tmp_path, model + "m.fit(np.load('x.npy'), np.load('y.npy'), epochs=50)\n", pin, "--select", "KC407")) is said


@pytest.mark.parametrize(("use", "said"), [("model = build()\nmodel.compile('adam')\nmodel.fit(load())\n", True), ("build().run()\n", False)])
def test_float16_for_a_model_that_is_made_elsewhere(tmp_path, use, said):
    (tmp_path / "train.py").write_text("import keras\nfrom zoo import build, load\nkeras.config.set_floatx('float16')\noptimizer = keras.optimizers.Adam()\n" + use)
    result = kerascheck("--select", "KC305", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert bool(json.loads(result.out)["findings"]) is said


NEXT = """
images = tf.keras.preprocessing.image.ImageDataGenerator().flow_from_directory("d")
optimizer = tf.keras.optimizers.Adam()
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for i in range(steps()):
    for j in range(steps()):
        %s
    %s
"""


@pytest.mark.parametrize(("inner", "outer", "said"), [("step(*next(images))", "pass", True), ("step(*images.next())", "pass", True), ("step(*load())", "evaluate(next(images))", False)])
def test_what_next_takes_is_trained_on_in_the_loop_that_trains(tmp_path, inner, outer, said):
    assert bool(findings(tmp_path, NEXT % (inner, outer), "", "--select", "KC111")) is said


@pytest.mark.parametrize(("maker", "said"), [("segmentation_models.Unet()", True), ("deepchem.models.KerasModel(model)", False)])
def test_models_of_libraries_with_a_fit_of_their_own_are_left_alone(tmp_path, maker, said):
    assert bool(findings(tmp_path, f"import deepchem, segmentation_models\nother = {maker}\nother.fit_generator(load())\n", "", "--select", "KC414")) is said


LAYER = """
class Halved(tf.keras.layers.Layer):
    def call(self, x):
        while tf.norm(x) > 1:
            x = x / 2
        return x
"""


@pytest.mark.parametrize(("use", "said"), [("Halved()(tf.ones((2, 3)))", False), ("model.add(Halved())\nmodel.fit(load())", True)])
def test_layers_of_a_notebook_that_compiles_nothing_run_eagerly(tmp_path, use, said):
    cells = [{"cell_type": "code", "source": source} for source in ("import tensorflow as tf", LAYER, "model = tf.keras.Sequential()\n" + use)]
    (tmp_path / "layers.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    result = kerascheck("--select", "KC202", "--output-format", "json", "--exit-zero", str(tmp_path / "layers.ipynb"))
    assert bool(json.loads(result.out)["findings"]) is said


GRAPH = "import tensorflow as tf\ndef policy(): return tf.placeholder(tf.float32)\ndef helper(): return 1\n"
SESSION = "import tensorflow as tf\nfrom keras import backend as K\nsession = tf.Session()\nK.set_session(session)\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from control import policy\n" + SESSION + "policy()\n", False),
        ("from control import (helper,\n    policy as p)\n" + SESSION + "p()\n", False),
        ("import control\n" + SESSION + "control.policy()\n", False),
        ("from control import *\n" + SESSION, False),
        # Imported and not used, not imported, or used by a script of today.
        ("from control import policy\n" + SESSION, True),
        ("import other\n" + SESSION + "other.policy()\n", True),
        ("from control import policy\n" + SESSION + "policy()\nwith tf.GradientTape() as tape: pass\n", True),
        # Of a neighbour of a neighbour nothing is known.
        ("from between import policy\n" + SESSION + "policy()\n", True),
    ],
)
def test_a_session_for_the_graph_of_another_module(tmp_path, text, said):
    (tmp_path / "control.py").write_text(GRAPH)
    (tmp_path / "other.py").write_text("def policy(): return 1\n")
    (tmp_path / "between.py").write_text("from control import policy\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(text)
    result = kerascheck("--select", "KC311", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert bool(json.loads(result.out)["findings"]) is said


def test_a_graph_of_its_own_in_each_turn(tmp_path):
    build = "    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    model.compile('sgd', 'mse')\n    model.fit(x, y)\n"
    (tmp_path / ".git").mkdir()
    for way, said in (("", True), ("    with tf.compat.v1.Session(graph=tf.Graph()) as session:\n", False)):
        body = build.replace("    ", "        ") if way else build
        (tmp_path / "environment.py").write_text(f"import tensorflow as tf\ndef reward(x, y):\n{way}{body}")
        (tmp_path / "train.py").write_text("import tensorflow as tf\nfrom environment import reward\nfrom z import model, x, y\nfor trial in range(100):\n    tf.print(reward(x, y))\nmodel.fit(x)\n")
        result = kerascheck("--select", "KC408", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
        assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(("beside", "said"), [("", True), ("tensorflow-directml-plugin\n", False)])
def test_a_plugin_brings_a_gpu_to_tensorflow_cpu(tmp_path, beside, said):
    (tmp_path / "requirements.txt").write_text("tensorflow-cpu==2.10\n" + beside)
    result = kerascheck("--select", "KC701", "--output-format", "json", "--exit-zero", str(tmp_path / "requirements.txt"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(("begin", "said"), [("wandb.init()", True), ("wandb.init(sync_tensorboard=True)", False)])
def test_what_another_service_shows_is_looked_at(tmp_path, begin, said):
    code = f"import wandb\n{begin}\nmodel.fit(load(), callbacks=[tf.keras.callbacks.TensorBoard(histogram_freq=1)])\n"
    assert bool(findings(tmp_path, code, "", "--select", "KC412")) is said


@pytest.mark.parametrize(("kind", "said"), [("tf.distribute.MirroredStrategy", True), ("{'one': tf.distribute.MirroredStrategy, 'all': tf.distribute.MultiWorkerMirroredStrategy}[name()]", False)])
def test_a_strategy_from_a_table_is_chosen(tmp_path, kind, said):
    code = f"strategy = {kind}()\nwith strategy.scope():\n    model.compile('sgd', 'mse')\nmodel.fit(load())\n"
    assert bool(findings(tmp_path, code, "", "--select", "KC505")) is said


def test_nothing_is_moved_to_where_it_is_as_late(tmp_path):
    late = "import os\nprint(1)\nfor gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)"
    for cells, fixed in ((["import tensorflow as tf\nx = tf.constant(1)", late], False), (["import tensorflow as tf\nx = tf.constant(1)\n" + late], True)):
        notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "metadata": {}, "nbformat": 4}
        (tmp_path / "train.ipynb").write_text(json.dumps(notebook))
        result = kerascheck("--select", "KC307", "--output-format", "json", "--exit-zero", str(tmp_path / "train.ipynb"))
        (finding,) = json.loads(result.out)["findings"]
        assert (finding["fix"] is not None) is fixed


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        ("print(tf.data.experimental.AUTOTUNE, 'tf.data.experimental.AUTOTUNE')\nprint(tf.data.experimental.AUTOTUNE)\n", [True, True]),
        ("from tensorflow.data.experimental import AUTOTUNE\nprint(tf.data.experimental.AUTOTUNE, AUTOTUNE)\n", [False, False]),
        ("from tensorflow.keras.mixed_precision import experimental as p\np.set_policy(p.Policy('mixed_float16'))\n", [False]),
        ("from tensorflow.keras.layers import CuDNNLSTM, Dense\nCuDNNLSTM(4)\nCuDNNLSTM(5)\n", [False]),
        ("try:\n    from tensorflow.keras.layers import CuDNNLSTM\nexcept ImportError:\n    CuDNNLSTM = None\n", []),
        ("from tensorflow.keras.layers.experimental.preprocessing import Rescaling, Resizing\nRescaling(2.0)\n", [False]),
    ],
)
def test_each_use_of_an_old_name_has_its_own_edit(tmp_path, text, fixes):
    found = findings(tmp_path, text, "", "--pedantic", "--select", "KC311")
    assert [finding["fix"] is not None for finding in found] == fixes
    assert all(len(finding["fix"]["edits"]) == 1 for finding in found if finding["fix"])


@pytest.mark.parametrize(("pin", "old", "gone"), [("tensorflow==2.3", False, False), ("tensorflow==2.4", True, False), ("tensorflow==2.15", True, False), ("tensorflow==2.16", True, True)])
def test_old_names_count_where_the_new_ones_exist(tmp_path, pin, old, gone):
    code = "auto = tf.data.experimental.AUTOTUNE\nsession = tf.Session\n"
    assert [finding["line"] for finding in findings(tmp_path, code, pin, "--pedantic", "--select", "KC311")] == [4] * old + [5] * gone


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
        ("# Use 'mae' as metric, which is often reported", True),
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
        ("KC412", "use(tf.keras.callbacks.TensorBoard('logs', histogram_freq=1))"),
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


def test_gradient_descent_written_out_is_placed_at_the_loop_over_the_data(tmp_path):
    code = "def main():\n    w = tf.Variable(1.0)\n    for x in load():\n        with tf.GradientTape() as tape: loss = w * x\n        for p, g in zip([w], tape.gradient(loss, [w])): p.assign_sub(g)\nmain()\n"
    assert [finding["line"] for finding in findings(tmp_path, code, "", "--select", "KC306")] == [6]


@pytest.mark.parametrize(
    ("pin", "inside", "said"),
    [("", "model.compile(optimizer, 'mse')", True), ("", "model.compile(tf.keras.optimizers.SGD(), 'mse')", False), ("tensorflow==2.15", "model.compile(optimizer, 'mse')", False)],
)
def test_optimizers_of_keras_3_are_made_in_the_scope(tmp_path, pin, inside, said):
    code = f"optimizer = tf.keras.optimizers.SGD()\nwith tf.distribute.MirroredStrategy().scope():\n    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    {inside}\nmodel.fit(load())\n"
    assert [finding["severity"] for finding in findings(tmp_path, code, pin, "--select", "KC501")] == ["error"] * said


@pytest.mark.parametrize(("pin", "said"), [("tensorflow==1.15", False), ("keras==2.3.1", False), ("tensorflow==2.3", True), ("", True)])
def test_graphs_of_tensorflow_1_are_built_once(tmp_path, pin, said):
    code = "class Scaled(tf.keras.layers.Layer):\n    def call(self, x):\n        return x * tf.Variable(2.0)\nmodel.add(Scaled())\nmodel.fit(load())\n"
    assert bool(findings(tmp_path, code, pin, "--select", "KC204")) is said


@pytest.mark.parametrize(("arguments", "said"), [("lr=0.1", False), ("decay=0.1", True), ("learning_rate=0.1", True)])
def test_an_optimizer_that_keras_3_refuses_is_made_for_keras_2(tmp_path, arguments, said):
    code = f"optimizer = tf.keras.optimizers.SGD({arguments})\nwith tf.distribute.MirroredStrategy().scope():\n    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    model.compile(optimizer, 'mse')\nmodel.fit(load())\n"
    assert bool(findings(tmp_path, code, "", "--select", "KC501")) is said


def test_what_a_library_is_handed_may_not_have_run(tmp_path):
    code = "from z import register\ndef block(): return tf.constant(1)\nregister(block)\nfor gpu in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(gpu, True)\n"
    assert not findings(tmp_path, code, "", "--select", "KC307")
    assert findings(tmp_path, code.replace("register(block)", "block()"), "", "--select", "KC307")


@pytest.mark.parametrize(
    ("imports", "pin", "severities"),
    [
        ("", "", ["warning"]),
        ("", "tensorflow==2.12", ["info"]),
        ("from keras.layers.wrappers import TimeDistributed", "", ["info"]),
        ("import tf_keras", "", ["info"]),
        ("", "keras==2.3.1", []),
    ],
)
def test_steps_are_folded_into_the_batch_by_keras_2(tmp_path, imports, pin, severities):
    code = f"{imports}\nmodel = tf.keras.Sequential([tf.keras.Input((20, 4)), tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(3))])\n"
    assert [finding["severity"] for finding in findings(tmp_path, code, pin, "--select", "KC209")] == severities


STEP = """
optimizer = tf.keras.optimizers.SGD()
@tf.function
def step(x):
    with tf.GradientTape() as tape: loss = tf.reduce_sum(model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for x in DATA: step(x)
"""
LIST = "def map_it(x):\n    seen = []\n    def note(y): seen.append(y)\n    def both(y): note(y)\n    both(x + 1)\n    return x\nmodel.fit(load_dataset().map(map_it))\n"
ONCE = "from z import once\nclass Scaled(tf.keras.layers.Layer):\n    DECORATED\n    def scale(self): return tf.Variable(2.0)\n    def call(self, x): return x * self.scale()\nmodel.add(Scaled())\nmodel.fit(load())\n"
SCOPE = "optimizer = tf.keras.optimizers.SGD()\nwith tf.distribute.MirroredStrategy().scope():\n    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    model.compile(optimizer, 'mse')\nAGAIN\nmodel.fit(load())\n"
KEYS = "class Named(tf.keras.layers.Layer):\n    def call(self, inputs):\n        for KEYS in inputs.items():\n            if TEST: inputs = value\n        return inputs\nmodel.add(Named())\nmodel.fit(load())\n"


@pytest.mark.parametrize(
    ("code", "said", "silent"),
    [
        # Once in several turns.
        ("KC405", "for i in load(): show(model.predict(i[None]))\nmodel.fit(load())\n", "for i in load():\n    if i % 100 == 0: show(model.predict(i[None]))\nmodel.fit(load())\n"),
        # A list that is made anew in every trace.
        ("KC108", "seen = []\n" + LIST.replace("    seen = []\n", ""), LIST),
        # A decorator that may run it once.
        ("KC204", ONCE.replace("DECORATED", ""), ONCE.replace("DECORATED", "@once")),
        # Compiled again before it is trained.
        ("KC501", SCOPE.replace("AGAIN", ""), SCOPE.replace("AGAIN", "model.compile('sgd', 'mse')")),
        # The keys of a dictionary of tensors.
        ("KC202", KEYS.replace("for KEYS in inputs.items():\n            ", "value = -inputs\n        ").replace("TEST", "tf.reduce_sum(inputs) > 0"), KEYS.replace("KEYS", "name, value").replace("TEST", "ends(name)").replace("class", "def ends(name): return name.endswith('x')\nclass", 1)),
        # Python that may have padded everything.
        (
            "KC417",
            STEP.replace("DATA", "tf.data.TFRecordDataset('f').map(lambda r: tf.io.decode_raw(r, tf.float32)).padded_batch(8, [None])"),
            STEP.replace("DATA", "tf.data.TFRecordDataset('f').map(lambda r: tf.py_function(load, [r], tf.float32)).padded_batch(8, [None])"),
        ),
        # Chosen by whether cuDNN may be used.
        ("KC208", "layer = tf.keras.layers.RNN(tf.keras.layers.LSTMCell(8))\n", "if allow_cudnn: layer = tf.keras.layers.LSTM(8)\nelse: layer = tf.keras.layers.RNN(tf.keras.layers.LSTMCell(8))\n"),
        (
            "KC208",
            "layer = tf.keras.layers.RNN(tf.keras.layers.LSTMCell(8))\n",
            "def build(allow_cudnn):\n    if allow_cudnn: return tf.keras.layers.LSTM(8)\n    else: return tf.keras.layers.RNN(tf.keras.layers.LSTMCell(8))\nbuild(False)\n",
        ),
        # One step has no loop.
        (
            "KC208",
            "net = tf.keras.Sequential([tf.keras.Input((9, 4)), tf.keras.layers.LSTM(8, activation='relu')])\n",
            "net = tf.keras.Sequential([tf.keras.Input((2, 4)), tf.keras.layers.Conv1D(8, 2), tf.keras.layers.LSTM(8, activation='relu')])\n",
        ),
        # Compiled after all training.
        (
            "KC407",
            "import numpy as np\nx = np.random.rand(5000, 4)\nmodel.fit(x, x, epochs=20)\n",
            "import numpy as np\nx = np.random.rand(5000, 4)\nother = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nother.compile('sgd', 'mse', steps_per_execution=8)\nother.fit(x, x, epochs=20)\nother.compile('sgd', 'mse')\n",
        ),
        # Three batches are left of four.
        (
            "KC411",
            "import numpy as np\nx = np.ones((400, 4))\nmodel.fit(x, x, batch_size=16)\n",
            "import numpy as np\nx = np.ones((8, 4))\nmodel.fit(x, x, batch_size=2, validation_split=0.2)\n",
        ),
    ],
)
def test_what_looks_like_it_and_is_not(tmp_path, code, said, silent):
    data = "def load_dataset(): return tf.data.Dataset.range(9)\n"
    assert findings(tmp_path, data + said, "", "--select", code)
    assert not findings(tmp_path, data + silent, "", "--select", code)


ROWS = "ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: tf.cast(x, tf.float32) / 255.0)CHAIN\nmodel.fit(ds, epochs=9)\n"


@pytest.mark.parametrize(
    ("chain", "severity"),
    [(".batch(8)", "warning"), (".cache().shuffle(99).batch(8)", None), (".batch(8).cache()", "info"), (".batch(8).prefetch(1).cache().repeat()", "info")],
)
def test_what_a_cache_keeps_costs_in_the_first_epoch_only(tmp_path, chain, severity):
    found = findings(tmp_path, ROWS.replace("CHAIN", chain), "", "--select", "KC103")
    assert [(finding["severity"], "first epoch only" in finding["because"]) for finding in found] == [(severity, severity == "info")] * (severity is not None)


@pytest.mark.parametrize(("batch", "said"), [("batch(8)", True), ("ragged_batch(8)", True), ("take(8)", False)])
def test_examples_of_a_generator_are_put_into_batches(tmp_path, batch, said):
    code = f"def rows():\n    for row in load(): yield row\nmodel.fit(tf.data.Dataset.from_generator(rows, output_signature=SPEC).{batch}, epochs=9)\n"
    assert bool(findings(tmp_path, code, "", "--select", "KC109")) is said


@pytest.mark.parametrize(("size", "said"), [("8", True), ("64", False), ("load()", False)])
def test_what_is_set_on_a_configuration_of_another_library_is_read_there(tmp_path, size, said):
    code = f"import numpy as np, wandb\nconfig = wandb.config\nconfig.rows = {size}\nmodel.fit(np.ones((5000, 4)), load(), batch_size=config.rows)\n"
    assert bool(findings(tmp_path, code, "", "--select", "KC411")) is said


OF_1 = "model = tf.keras.Sequential([tf.keras.Input((None, 4))])\nmodel.add(tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(3)))\nmodel.add(tf.keras.layers.LSTM(8, recurrent_dropout=0.1))\nmodel.fit(load())\n"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", "KC208 KC209 KC306 KC311"),
        ("tf.gfile.Open('a')\n", ""),
        ("from tensorflow import gfile\n", ""),
        ("tf.app.run()\n", ""),
        ("from tensorflow._api.v1.keras.callbacks import TensorBoard\n", ""),
        ("from tensorflow._api.v2.v2.keras.callbacks import TensorBoard\n", "KC208 KC209 KC306 KC311"),
        ("with tf.train.MonitoredTrainingSession(): pass\n", ""),
        ("class Log(tf.compat.v1.train.SessionRunHook): pass\n", ""),
        # What TensorFlow 2 keeps, under its name there, and what is chosen by the version.
        ("import tensorflow.compat.v1 as v1\nv1.app.run()\n", "KC208 KC209 KC306 KC311"),
        ("tf.compat.v1.logging.set_verbosity('ERROR')\n", "KC208 KC209 KC306 KC311"),
        ("if tf.__version__ < '2': tf.logging.set_verbosity('ERROR')\n", "KC208 KC209 KC306 KC311"),
        ("try: tf.logging.set_verbosity('ERROR')\nexcept AttributeError: pass\n", "KC208 KC209 KC306 KC311"),
        ("@tf.function\ndef f(): pass\ntf.logging.set_verbosity('ERROR')\n", "KC208 KC209 KC306 KC311"),
    ],
)
def test_what_only_tensorflow_1_has_is_for_tensorflow_1(tmp_path, text, codes):
    code = f"{text}config = tf.ConfigProto()\n{OF_1}"
    assert " ".join(sorted(finding["code"] for finding in findings(tmp_path, code, "", "--select", "KC208,KC209,KC306,KC311"))) == codes


@pytest.mark.parametrize(("switch", "said"), [("tf.compat.v1.disable_v2_behavior()", False), ("v1.disable_eager_execution()", False), ("v1.disable_resource_variables()", True), ("pass  # disable_eager_execution()", True)])
def test_without_eager_execution_it_is_keras_2(tmp_path, switch, said):
    code = f"import tensorflow.compat.v1 as v1\ndef main():\n    {switch}\n    model.fit_generator(load())\nmain()\n"
    assert bool(findings(tmp_path, code, "", "--select", "KC414")) is said


@pytest.mark.parametrize(
    ("option", "function", "pin", "said"),
    [
        ("map_parallelization = True", "x + 1.0", "tensorflow==2.4", ""),
        ("map_parallelization = True\noptions.experimental_optimization.apply_default_optimizations = False", "x + 1.0", "", ""),
        ("map_parallelization = switch()", "x + 1.0", "tensorflow==2.4", "warning"),
        ("map_parallelization = True", "x + tf.random.normal(())", "tensorflow==2.4", "warning"),
    ],
)
def test_maps_are_parallel_where_the_options_say_so(tmp_path, option, function, pin, said):
    code = f"options = tf.data.Options()\noptions.experimental_optimization.{option}\n"
    code += f"ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: {function}).batch(8).with_options(options)\nmodel.fit(ds)\n"
    assert "".join(finding["severity"] for finding in findings(tmp_path, code, pin, "--select", "KC101")) == said


@pytest.mark.parametrize(
    ("backend", "pin", "layer", "said"),
    [
        ("jax", "", "LSTM(8, activation='relu')", True),
        ("jax", "", "LSTM(8, recurrent_dropout=0.2)", True),
        ("jax", "", "RNN(layers.LSTMCell(8))", True),
        ("jax", "keras==3.13", "LSTM(8, activation='relu')", False),
        ("jax", "keras>=3", "LSTM(8, activation='relu')", True),
        ("jax", "", "GRU(8, recurrent_dropout=0.2)", False),
        ("jax", "", "RNN(layers.GRUCell(8))", False),
        ("torch", "", "GRU(8, recurrent_dropout=0.2)", True),
        ("torch", "keras==3.12", "GRU(8, recurrent_dropout=0.2)", False),
        ("torch", "keras==3.12", "LSTM(8, recurrent_dropout=0.2)", True),
        # A mask, and half precision.
        ("jax", "", "LSTM(8, activation='relu')(layers.Masking()(x))", False),
        ("torch", "", "LSTM(8, activation='relu')(layers.Embedding(9, 9, mask_zero=True)(x))", False),
        ("tensorflow", "", "LSTM(8, activation='relu')(layers.Masking()(x))", True),
        ("jax", "", "LSTM(8, activation='relu')\nkeras.config.set_dtype_policy('mixed_bfloat16')", False),
    ],
)
def test_which_layers_cudnn_has_on_a_backend(tmp_path, backend, pin, layer, said):
    (tmp_path / "requirements.txt").write_text(pin)
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(f"import os\nos.environ['KERAS_BACKEND'] = '{backend}'\nimport keras\nfrom keras import layers\nlayer = layers.{layer}\n")
    result = kerascheck("--select", "KC208", "--output-format", "json", "--exit-zero", str(tmp_path / "net.py"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(
    ("build", "same"),
    [
        ("model = keras.Sequential([keras.layers.Dense(8)])", True),
        ("model = keras.Sequential([keras.layers.Dense(units)])", False),
        ("model = keras.Sequential()\n    model.add(keras.layers.Dense(units))", False),
        ("model = build(units)", False),
        ("model = build(8)", True),
        ("x = keras.Input((4,))\n    model = keras.Model(x, keras.layers.Dense(8)(x))", True),
    ],
)
def test_models_of_a_loop_that_differ_are_not_built_once(tmp_path, build, same):
    text = f"from tensorflow import keras\ndef build(n): return keras.Sequential([keras.layers.Dense(n)])\nfor units in range(8, 64):\n    {build}\n    model.compile('sgd', 'mse')\n    model.fit(load(), load(), epochs=9)\n"
    (finding,) = findings(tmp_path, text, "", "--select", "KC408")
    assert ("build it once" in finding["message"]) is same


def test_a_script_that_only_calls_an_imported_training_is_followed(tmp_path):
    (tmp_path / "training.py").write_text(
        "import tensorflow as tf\n\n\ndef train(x):\n    model = tf.keras.applications.ResNet50()\n"
        "    model.compile('adam', 'mse')\n    model.fit(x, x, epochs=9)\n"
    )
    command = ("--isolated", "--select", "KC301", "--output-format", "concise", "-q", tmp_path)
    assert "KC301" not in kerascheck(*command).out
    (tmp_path / "main.py").write_text("from training import train\nfrom data import load\n\nif load():\n    train(load())\n")
    assert "training.py:7:11: info: KC301" in kerascheck(*command).out


HEAD = "import tensorflow as tf\nfrom tensorflow import keras\nfrom tensorflow.keras import layers\n"


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("Net().fit(Photos(paths))", [4]),
        ("import segmentation_models as sm\nsm.Unet().fit(Photos(paths))", [5]),
        ("import segmentation_models as sm\nsm.Unet().fit(Photos(**options()))", [5]),
        ("import segmentation_models as sm\nsm.Unet().fit(Chosen(**options()))", []),
        ("import segmentation_models as sm\nsm.Unet().fit(Chosen(paths))", [5]),
        ("Net().train(Photos(paths))", []),
    ],
)
def test_a_script_that_only_brings_a_model_and_a_dataset_together_is_read_too(tmp_path, line, lines):
    reader = "import cv2\ndef read(path):\n    return cv2.imread(path)\n"
    helpers = "".join(f"def helper_{number}(image):\n    return image + {number}\n" for number in range(100))
    (tmp_path / "images.py").write_text(reader + helpers)
    (tmp_path / "data.py").write_text(
        HEAD + "from images import read\nclass Photos(keras.utils.PyDataset):\n    def __init__(self, paths):\n"
        "        super().__init__()\n        self.paths = paths\n"
        "    def __getitem__(self, index):\n        return read(self.paths[index])\n"
        "class Chosen(Photos):\n    def __init__(self, paths, **options):\n        super().__init__(paths)\n"
    )
    script = f"from data import Chosen, Photos\nfrom network import Net\npaths = []\n{line}\n"
    (tmp_path / "train.py").write_text(script)
    result = kerascheck("--isolated", "--select", "KC110", "--output-format", "json", "--exit-zero", tmp_path)
    assert [finding["line"] for finding in json.loads(result.out)["findings"]] == lines


@pytest.mark.parametrize(("made", "severity"), [("layers.Dense(8)(x)", "info"), ("x * 2", "warning")])
def test_a_long_module_of_layers_may_need_the_switch(tmp_path, made, severity):
    padding = "# A line of a long module.\n" * 200
    block = f"class Block(layers.Layer):\n    def call(self, x):\n        return {made}\n"
    (tmp_path / "network.py").write_text(f"from tensorflow.keras import layers\n{padding}{block}")
    model = "i = keras.Input((4,))\nmodel = keras.Model(i, Block()(i))\nmodel.compile('adam', 'mse')\n"
    (tmp_path / "train.py").write_text(f"{HEAD}from network import Block\n{model}model.run_eagerly = True\nmodel.fit(x, y)\n")
    script = tmp_path / "train.py"
    result = kerascheck("--isolated", "--select", "KC309", "--output-format", "json", "--exit-zero", script)
    (finding,) = json.loads(result.out)["findings"]
    assert finding["severity"] == severity
