"""The context of a script changes its findings: cases that the format of cases.md does not cover."""

import json
from pathlib import Path

import pytest
from command import kerascheck

pytestmark = pytest.mark.usefixtures("in_this_process")

HEAD = "import tensorflow as tf\nfrom tensorflow import keras\nfrom tensorflow.keras import layers\n"
TRAIN = (
    "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
)
RANDOM = "ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: x + tf.random.normal(())).batch(8)\nmodel.fit(ds, epochs=3)\n"


def findings(folder, text, requirements, *options):
    (folder / "train.py").write_text(TRAIN + text)
    (folder / "requirements.txt").write_text(requirements)
    (folder / ".git").mkdir(exist_ok=True)
    result = kerascheck(*options, "--output-format", "json", "--exit-zero", str(folder / "train.py"))
    return json.loads(result.out)["findings"]


@pytest.mark.parametrize(
    ("pin", "name"),
    [
        ("tensorflow==2.3", "tf.data.experimental.AUTOTUNE"),
        ("tensorflow==2.4", "tf.data.AUTOTUNE"),
        ("", "tf.data.AUTOTUNE"),
    ],
)
def test_autotune_is_written_for_the_pinned_version(tmp_path, pin, name):
    (finding,) = findings(tmp_path, RANDOM, pin, "--select", "KC101")
    assert f"num_parallel_calls={name}" in finding["message"]
    assert f"num_parallel_calls={name}" in finding["fix"]["message"]
    assert (
        kerascheck("--select", "KC101", "--fix", "--unsafe-fixes", "--exit-zero", str(tmp_path / "train.py")).code == 0
    )
    assert f"num_parallel_calls={name})" in (tmp_path / "train.py").read_text()


@pytest.mark.parametrize(
    ("play", "said"),
    [("for _ in range(9999):\n    state = env.step(player.act(state))\n", 1), ("env.step(player.act(state))\n", 0)],
)
def test_agent_networks_are_followed_into_the_game_loop(tmp_path, play, said):
    (tmp_path / "net.py").write_text(
        TRAIN
        + "class Net:\n    def __init__(self):\n        self.model = model\n    def act(self, x):\n        return self.model.predict(x)\n"
    )
    rules = '"""' + "What it does in which case.\n" * 200 + '"""\n'
    (tmp_path / "agent.py").write_text(
        rules
        + "from net import Net\nclass Agent:\n    def __init__(self):\n        self.net = Net()\n    def act(self, x):\n        return self.net.act(x)\n"
    )
    (tmp_path / "play.py").write_text(
        "import gym\nfrom agent import Agent\nplayer = Agent()\nenv = gym.make('Pong')\nstate = env.reset()\n" + play
    )
    result = kerascheck("--select", "KC405", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [Path(finding["path"]).name for finding in json.loads(result.out)["findings"]] == ["net.py"] * said


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        (
            "print(tf.data.experimental.AUTOTUNE, 'tf.data.experimental.AUTOTUNE')\nprint(tf.data.experimental.AUTOTUNE)\n",
            [True, True],
        ),
        (
            "from tensorflow.data.experimental import AUTOTUNE\nprint(tf.data.experimental.AUTOTUNE, AUTOTUNE)\n",
            [False, False],
        ),
        (
            "from tensorflow.keras.mixed_precision import experimental as p\np.set_policy(p.Policy('mixed_float16'))\n",
            [False],
        ),
        ("from tensorflow.keras.layers import CuDNNLSTM, Dense\nCuDNNLSTM(4)\nCuDNNLSTM(5)\n", [False]),
        ("try:\n    from tensorflow.keras.layers import CuDNNLSTM\nexcept ImportError:\n    CuDNNLSTM = None\n", []),
        (
            "from tensorflow.keras.layers.experimental.preprocessing import Rescaling, Resizing\nRescaling(2.0)\n",
            [False],
        ),
    ],
)
def test_each_use_of_a_removed_name_has_its_own_edit(tmp_path, text, fixes):
    found = findings(tmp_path, text, "", "--pedantic", "--select", "KC311")
    assert [finding["fix"] is not None for finding in found] == fixes
    assert all(len(finding["fix"]["edits"]) == 1 for finding in found if finding["fix"])


def test_script_that_only_calls_an_imported_training_is_followed(tmp_path):
    (tmp_path / "training.py").write_text(
        "import tensorflow as tf\n\n\ndef train(x):\n    model = tf.keras.applications.ResNet50()\n"
        "    model.compile('adam', 'mse')\n    model.fit(x, x, epochs=9)\n"
    )
    command = ("--isolated", "--select", "KC301", "--output-format", "concise", "-q", tmp_path)
    assert "KC301" not in kerascheck(*command).out
    (tmp_path / "main.py").write_text(
        "from training import train\nfrom data import load\n\nif load():\n    train(load())\n"
    )
    assert "training.py:7:11: info: KC301" in kerascheck(*command).out


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
def test_script_that_only_combines_model_and_dataset_is_analysed(tmp_path, line, lines):
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
def test_long_module_of_layers_may_need_mixed_precision(tmp_path, made, severity):
    padding = "# A line of a long module.\n" * 200
    block = f"class Block(layers.Layer):\n    def call(self, x):\n        return {made}\n"
    (tmp_path / "network.py").write_text(f"from tensorflow.keras import layers\n{padding}{block}")
    model = "i = keras.Input((4,))\nmodel = keras.Model(i, Block()(i))\nmodel.compile('adam', 'mse')\n"
    (tmp_path / "train.py").write_text(
        f"{HEAD}from network import Block\n{model}model.run_eagerly = True\nmodel.fit(x, y)\n"
    )
    script = tmp_path / "train.py"
    result = kerascheck("--isolated", "--select", "KC309", "--output-format", "json", "--exit-zero", script)
    (finding,) = json.loads(result.out)["findings"]
    assert finding["severity"] == severity
