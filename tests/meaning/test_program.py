"""A program at run time: compiled steps, order of calls, trainings."""

import pytest
from snippets import IMPORTS, LOOP, MODEL, STEP, load, written

from kerascheck.meaning.models.models import makes_layer
from kerascheck.meaning.program.device_start import initialising_call


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("model.fit(1)\nmodel.fit(2)", "model.fit(1)"),
        ("def main():\n    model.fit(1)\nif __name__ == '__main__':\n    main()", "model.fit(1)"),
        ("def main():\n    model.fit(1)", None),
        ("for e in range(9):\n    model.fit(1)", "model.fit(1)"),
        (LOOP, LOOP),
        ("for e in load():\n    " + LOOP, LOOP),
        ("while True:\n    model.train_on_batch(1, 2)", "while True:\n    model.train_on_batch(1, 2)"),
        ("model.evaluate(1)\nmodel.predict(1)", None),
        ("step(1)", None),
        (LOOP + "\nmodel.fit(1)", LOOP),
        ("model.fit_generator(1)", "model.fit_generator(1)"),
        ("from sklearn.preprocessing import StandardScaler\nStandardScaler().fit(1)", None),
        ("class M(keras.Model): pass\nM().fit(1)", "M().fit(1)"),
    ],
)
def test_the_first_place_that_trains(tmp_path, text, place):
    module = load(tmp_path, f"{STEP}{text}\n")
    first = module.program.first_training
    assert (first and written(module, first.node).rstrip()) == place


def test_every_place_that_trains(tmp_path):
    module = load(
        tmp_path,
        f"{STEP}if by_hand:\n    {LOOP.replace(chr(10), chr(10) + '    ')}\nelse:\n    model.fit(1)\nmodel.fit(2)\n",
    )
    assert [written(module, place.node).split("(")[0].split()[0] for place, _ in module.program.training_places] == [
        "for",
        "model.fit",
        "model.fit",
    ]


def test_side_code_trains_only_where_nothing_else_does(tmp_path):
    debugging = f"{STEP}if debug:\n    model.fit(1)\n"
    assert [place.node.args[0].value.value for place, _ in load(tmp_path, debugging).program.training_places] == ["1"]
    both = load(tmp_path, f"{debugging}model.fit(2)\n")
    assert [place.node.args[0].value.value for place, _ in both.program.training_places] == ["2"]


@pytest.mark.parametrize(
    ("head", "call", "is_one"),
    [
        ("", "load().fit(1, epochs=3)", True),
        ("", "load().fit(1)", False),
        ("", "model_of(3).fit(1)", False),
        ("", "args.model.fit(1)", True),
        ("", "args.tokenizer.fit(1)", False),
        ("from sklearn.preprocessing import StandardScaler\n", "args.model.fit(1)", False),
        ("from sklearn.svm import SVC\n", "args.model.fit(1, epochs=3)", False),
        ("import torch\n", "args.model.fit(1, epochs=3)", False),
        ("import xgboost as xgb\n", "xgb.XGBClassifier().fit(1, verbose=1)", False),
        ("", "load().fit_generator(1)", True),
        ("class M:\n    def fit(self, x): pass\n", "M().fit(1)", False),
        ("class M(keras.Model):\n    def fit(self, x): pass\n", "M().fit(1)", False),
        ("class M(keras.Model):\n    pass\n", "M().fit(1)", True),
        ("from mine import build\n", "build().fit(1, validation_data=2)", True),
        ("from mine import Scaler\n", "Scaler().fit(1)", False),
        ("from sklearn.preprocessing import StandardScaler\n", "StandardScaler().fit(1, verbose=1)", False),
        ("import segmentation_models as sm\nmodel = sm.Unet()\n", "model.fit(1, epochs=3)", True),
        ("import chem\nmodel = chem.TorchModel()\n", "model.fit_generator(1)", False),
        # The program only uses TensorFlow's seed.
        ("from ranking import Ranker\ntf.random.set_seed(1)\nmodel = Ranker()\n", "model.fit(1, epochs=3)", False),
        (
            "from ranking import Ranker\ntf.random.set_seed(1)\ntf.io.read_file('a')\nmodel = Ranker()\n",
            "model.fit(1, epochs=3)",
            True,
        ),
        (
            "import segmentation_models as sm\ntf.random.set_seed(1)\nmodel = sm.Unet()\n",
            "model.fit(1, epochs=3)",
            True,
        ),
        ("tf.random.set_seed(1)\nmodel = load()\n", "model.fit(1, epochs=3)", True),
        ("from sklearn.base import BaseEstimator\nclass M(BaseEstimator): pass\n", "M().fit_generator(1)", False),
        ("class M: pass\n", "M().fit(1, epochs=3)", False),
        ("from mine import Base\nclass M(Base): pass\n", "M().fit_generator(1)", True),
        # A model of another library, and arguments of Keras alone.
        ("from mine import Net\n", "Net().model.fit(1, epochs=3)", True),
        ("import sklearn.pipeline\n", "sklearn.pipeline.Pipeline().model.fit(1, epochs=3)", False),
        ("class Files(keras.utils.Sequence): pass\n", "net.fit(Files())", True),
        ("import torch\nclass Files(keras.utils.Sequence): pass\n", "net.fit(Files())", True),
        ("class Files: pass\n", "net.fit(Files())", False),
        ("images = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\n", "net.fit(images)", True),
        ("images = keras.preprocessing.image.ImageDataGenerator()\n", "net.fit(images)", False),
        ("from mine import Base\nclass M(Base): pass\n", "M().fit(1, epochs=3)", False),
        ("from mine import Base\nclass M(Base): pass\n", "M().fit(1, steps_per_epoch=3, workers=2)", True),
        ("import torch\n", "net.fit(1, steps_per_epoch=3, workers=2)", False),
    ],
)
def test_models_and_other_estimators(tmp_path, head, call, is_one):
    module = load(tmp_path, f"{IMPORTS}{head}{call}\n")
    assert len(list(module.program.model_calls("fit", "fit_generator"))) == is_one


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("import os\nos.environ['A'] = '1'", "1"),
        ("from os import environ\nenviron['A'] = '1'", "1"),
        ("import os\nos.environ.setdefault('A', '1')", "1"),
        ("import os\nos.putenv('A', '1')", "1"),
        ("import os\nos.environ['A'] = str(n)", None),
        ("import os\nos.environ['B'] = '1'", "missing"),
        ("environ = {}\nenviron['A'] = '1'", "missing"),
    ],
)
def test_variables_of_the_environment(tmp_path, text, value):
    assert load(tmp_path, f"import tensorflow\n{text}\n").program.environment.get("A", "missing") == value


@pytest.mark.parametrize(
    ("text", "pinned"),
    [
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'", True),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''", True),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'", False),
        ("tf.config.set_visible_devices([], 'GPU')", True),
        ("tf.config.experimental.set_visible_devices([], 'GPU')", True),
        ("tf.config.set_visible_devices(gpus[:1], 'GPU')", False),
        ("tf.config.set_visible_devices([g for g in gpus if g], 'GPU')", False),
        ("if args.cpu:\n    tf.config.set_visible_devices([], 'GPU')", False),
        ("if tf.config.list_physical_devices('GPU'):\n    tf.config.set_visible_devices([], 'GPU')", True),
        ("if __name__ == '__main__':\n    tf.config.set_visible_devices([], 'GPU')", True),
        ("def hide():\n    tf.config.set_visible_devices([], 'GPU')\nif args.gpu < 0:\n    hide()", False),
        ("", False),
    ],
)
def test_scripts_that_hide_the_gpus(tmp_path, text, pinned):
    assert load(tmp_path, f"import tensorflow as tf\n{text}\n").program.pins_cpu is pinned


RESOLVED = "resolver = tf.distribute.cluster_resolver.TPUClusterResolver()"


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (RESOLVED, True),
        (f"try:\n    {RESOLVED}\nexcept ValueError:\n    resolver = None", False),
        (f"try:\n    {RESOLVED}\nexcept ValueError:\n    raise BaseException('no TPU')", True),
        (
            f"try:\n    {RESOLVED}\nexcept ValueError:\n    resolver = None\nstrategy = tf.distribute.TPUStrategy(resolver)",
            True,
        ),
        (
            f"try:\n    {RESOLVED}\nexcept ValueError:\n    resolver = None\ntf.distribute.experimental.TPUStrategy(resolver)",
            True,
        ),
        (
            f"try:\n    {RESOLVED}\nexcept ValueError:\n    resolver = None\nif resolver:\n    strategy = tf.distribute.experimental.TPUStrategy(resolver)",
            False,
        ),
        (f"if args.tpu:\n    {RESOLVED}", False),
        # A condition or handler around a call of a function may skip its body.
        (f"def setup():\n    {RESOLVED}\nif args.tpu:\n    setup()", False),
        (f"def setup():\n    {RESOLVED}\nsetup()", True),
        (f"def setup():\n    {RESOLVED}\ntry:\n    setup()\nexcept ValueError:\n    print('no TPU')", False),
        (f"try:\n    {RESOLVED}\nexcept ValueError:\n    raise\nexcept OSError:\n    pass", False),
        (f"try:\n    {RESOLVED}\nfinally:\n    print('set up')", True),
        ("strategy = getattr(tf.distribute, 'TPUStrategy')()", True),
        # No visible call may be skipped.
        ("strategy = make('TPUStrategy')", True),
        ("", False),
    ],
)
def test_scripts_that_run_on_a_tpu_only(tmp_path, text, needs):
    assert load(tmp_path, f"import tensorflow as tf\n{text}\n").program.needs_tpu is needs


def test_settings_of_an_imported_module_run_at_the_import(tmp_path):
    setup = "import tensorflow as tf\nfor gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)\n"
    for order, late in (
        (("import setup\n", "x = tf.constant(1)\n"), False),
        (("x = tf.constant(1)\n", "import setup\n"), True),
    ):
        folder = tmp_path / str(late)
        folder.mkdir()
        module = load(folder, {"train.py": "import tensorflow as tf\n" + "".join(order), "setup.py": setup})
        (growth,) = module.program.calls("tensorflow.config.experimental.set_memory_growth")
        assert (initialising_call(module, growth) is not None) is late


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s = tf.distribute.MirroredStrategy()", True),
        ("with tf.distribute.experimental.MultiWorkerMirroredStrategy().scope(): pass", True),
        ("s = tf.distribute.get_strategy()", True),
        ("def make(): return tf.distribute.OneDeviceStrategy('/gpu:0')", True),
        ("options = tf.distribute.InputOptions()", False),
    ],
)
def test_strategies(tmp_path, text, expected):
    assert load(tmp_path, MODEL + text).program.distributes is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(x, y), _ = keras.datasets.mnist.load_data()", True),
        ("x = np.load('x.npy')", True),
        ("x = pd.read_csv('x.csv').values", True),
        ("x = np.random.rand(1000, 20)", True),
        ("x = np.random.default_rng(0).normal(size=(2048, 10))", True),
        ("x, y = make_circles(1000)", True),
        ("(x, y), _ = keras.datasets.boston_housing.load_data()", False),
        ("x = np.array([1., 2., 3.])", False),
        ("x = np.random.rand(100, 20)", False),
        ("x = np.random.rand(n, 20)", False),
        ("x, y = load_iris(return_X_y=True)", False),
    ],
)
def test_many_examples(tmp_path, text, expected):
    head = "import numpy as np\nimport pandas as pd\nfrom sklearn.datasets import load_iris, make_circles\n"
    program = load(tmp_path, f"{MODEL}{head}{text}\nmodel.fit(x, y)\nz = np.load('z.npy')\n").program
    (fit,) = program.model_calls("fit")
    assert program.has_many_examples(fit) is expected


@pytest.mark.parametrize(
    ("call", "is_one"),
    [
        ("fit(1, workers=2, use_multiprocessing=True)", True),
        ("fit(1, steps_per_epoch=3, validation_steps=3)", True),
        ("fit_generator(1, 3, max_queue_size=9, workers=2)", True),
        ("fit(1, epochs=3, workers=2)", False),
        ("fit(1, callbacks=[stop], verbose=0)", False),
    ],
)
def test_two_keywords_of_keras_alone_identify_its_models(tmp_path, call, is_one):
    module = load(tmp_path, f"from mine import build\nbuild().{call}\n")
    assert bool(list(module.program.model_calls("fit", "fit_generator"))) == is_one


def test_a_file_without_keras_has_no_keras_generators(tmp_path):
    text = "import tensorflow as tf\nfrom mine import build\nbuild().fit_generator(1)\n"
    assert not list(load(tmp_path, text).program.model_calls("fit_generator"))
    assert list(load(tmp_path, text.replace("mine", "mine_of_keras")).program.model_calls("fit_generator"))


def test_another_keras_may_be_chosen_by_an_imported_module(tmp_path):
    (tmp_path / "backend.py").write_text(
        "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nfrom tensorflow import keras\n"
    )
    assert load(tmp_path, "from backend import keras\n").program.chooses_legacy_keras
    assert not load(tmp_path, "from tensorflow import keras\n").program.chooses_legacy_keras


@pytest.mark.parametrize(
    ("line", "old"),
    [
        ("from keras.layers.core import Dense", True),
        ("from tensorflow.keras.layers.experimental import preprocessing", True),
        ("x = tf.keras.layers.experimental.preprocessing.Rescaling(1)", True),
        ("from keras import losses, objectives", True),
        ("import tensorflow_addons as tfa", True),
        ("from keras_contrib.layers import CRF", True),
        ("class Cell(tf.keras.layers.AbstractRNNCell): pass", True),
        ("layer = tf.keras.layers.GRU(3, batch_input_shape=(8, None, 2))", True),
        ("layer = tf.keras.layers.GRU(3, input_shape=(None, 2))", False),
        ("optimizer = tf.keras.optimizers.Adam(lr=1e-3)", True),
        ("tf.keras.backend.set_value(model.optimizer.lr, 0.1)", True),
        ("rate = optimizer._decayed_lr(tf.float32)", True),
        ("policy = tf.keras.mixed_precision.experimental.Policy('mixed_float16')", True),
        ("optimizer = tf.keras.optimizers.legacy.Adam()", True),
        ("model.fit_generator(batches)", True),
        ("optimizer = torch.optim.Adam(parameters, lr=1e-3)", False),
        ("optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)", False),
        ("from keras.layers import Dense, core", False),
        ("# from keras.layers.core import Dense", False),
    ],
)
def test_names_of_old_keras(tmp_path, line, old):
    assert load(tmp_path, f"import tensorflow as tf\n{line}\n").program.needs_old_keras is old


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("keras.layers.Dense(3)", True),
        ("keras.applications.MobileNetV2()", True),
        ("keras.applications.mobilenet_v2.MobileNetV2()", True),
        ("keras.applications.mobilenet_v2.preprocess_input(x)", False),
        ("keras.Input((3,))", False),
        ("class L(keras.layers.Layer): pass\nL()", True),
    ],
)
def test_calls_that_make_layers(tmp_path, call, expected):
    assert any(map(makes_layer, load(tmp_path, IMPORTS + call).run.calls)) is expected
