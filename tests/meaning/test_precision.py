"""Half precision, backends and devices that the rules' scripts do not cover: other backends, failures on a CPU."""

import json

import pytest
from command import kerascheck
from snippets import load

from kerascheck.meaning.models.precision import full_precision_trainings

LATE = """import tensorflow as tf
import os
import keras

# Another backend.
os.environ["KERAS_BACKEND"] = "jax"
model = keras.Sequential([keras.layers.Dense(1)])
"""


def test_a_late_backend_moves_above_the_import_with_its_module(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(LATE)
    kerascheck("--isolated", "--select", "KC702", "--fix", script)
    assert script.read_text() == LATE, "the backend changes: unsafe"
    kerascheck("--isolated", "--select", "KC702", "--fix", "--unsafe-fixes", script)
    assert script.read_text() == (
        'import os\n# Another backend.\nos.environ["KERAS_BACKEND"] = "jax"\nimport tensorflow as tf\nimport keras\n\n'
        "model = keras.Sequential([keras.layers.Dense(1)])\n"
    )


STEP = """import keras
import tensorflow as tf

{policy}


class Own(keras.Model):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self(data))
        {update}
        return {{"loss": loss}}


def main():
    model = Own(keras.Input((4,)), keras.layers.Dense(1)(keras.Input((4,))))
    model.compile("sgd")
    model.fit(data)


main()
"""
UPDATE = "self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))"


@pytest.mark.parametrize(
    ("policy", "update", "found"),
    [
        ('keras.mixed_precision.set_global_policy("mixed_float16")', UPDATE, 1),
        ('tf.keras.mixed_precision.set_global_policy(tf.keras.mixed_precision.Policy("mixed_float16"))', UPDATE, 1),
        ('from keras.config import set_dtype_policy as use\nuse("mixed_float16")', UPDATE, 1),
        ('keras.mixed_precision.set_global_policy("mixed_bfloat16")  # not mixed_float16', UPDATE, 0),
        (
            'keras.mixed_precision.set_global_policy("mixed_float16")',
            "loss = self.optimizer.scale_loss(loss)\n        " + UPDATE,
            0,
        ),
    ],
)
def test_steps_of_models_made_in_float16_have_to_scale(tmp_path, policy, update, found):
    script = tmp_path / "train.py"
    script.write_text(STEP.format(policy=policy, update=update))
    ran = kerascheck("--isolated", "--select", "KC304", "--output-format", "concise", script)
    assert ran.out.count("KC304") == found, ran.out


LOOP = """import keras
import tensorflow as tf

model = keras.Sequential([keras.layers.Dense(1)])
keras.mixed_precision.set_global_policy("mixed_bfloat16")
{between}
optimizer = keras.optimizers.SGD()
for batch in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(batch))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
"""


@pytest.mark.parametrize(("between", "found"), [("", 1), ("model = keras.Sequential([keras.layers.Dense(2)])", 0)])
def test_a_policy_is_late_for_hand_written_loops_too(tmp_path, between, found):
    script = tmp_path / "train.py"
    script.write_text(LOOP.format(between=between))
    ran = kerascheck("--isolated", "--select", "KC302", "--output-format", "concise", script)
    assert ran.out.count("KC302") == found, ran.out


def test_an_array_may_be_filled_on_two_paths(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import sys\nimport keras\nimport numpy as np\n\na = np.zeros((3,))\nif sys.argv[1:]:\n    a[0] = 2\nelse:\n    a[1] = 1\na[2] = 3\n"
        "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse', jit_compile=False)\nmodel.fit(a, a)\n"
    )
    ran = kerascheck("--isolated", "--select", "KC310", "--output-format", "concise", script)
    assert "KC310" in ran.out and "KC998" not in ran.out, ran.out


GROWTH = """import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
{visible}
tf.config.experimental.set_memory_growth(gpus[0], True)
"""


@pytest.mark.parametrize(
    ("visible", "found"),
    [
        ("tf.config.set_visible_devices(gpus, 'GPU')", 1),
        ("tf.config.set_visible_devices([gpus[0], gpus[1]], 'GPU')", 1),
        ("tf.config.set_visible_devices(tf.config.list_physical_devices('CPU'), device_type='CPU')", 1),
        ("tf.config.set_visible_devices(gpus[0], 'GPU')", 0),
        ("tf.config.set_visible_devices([gpus[0]], 'GPU')", 0),
        ("tf.config.set_visible_devices(gpus[:number], 'GPU')", 0),
        ("tf.config.set_visible_devices([gpu for gpu in gpus if chosen(gpu)], 'GPU')", 0),
        ("tf.config.set_visible_devices([], 'GPU')", 0),
    ],
)
def test_growth_on_the_only_visible_gpu_is_enough(tmp_path, visible, found):
    script = tmp_path / "train.py"
    script.write_text(GROWTH.format(visible=visible))
    ran = kerascheck("--isolated", "--select", "KC312", "--output-format", "concise", script)
    assert ran.out.count("KC312") == found, ran.out


@pytest.mark.parametrize("kind", ["intra", "inter"])
def test_threads_are_set_before_the_first_operation(tmp_path, kind):
    script = tmp_path / "train.py"
    lines = [
        "import tensorflow as tf",
        f"tf.config.threading.set_{kind}_op_parallelism_threads(2)",
        "x = tf.constant(1)",
    ]
    ran = []
    for order in (lines, [lines[0], lines[2], lines[1]]):
        script.write_text("\n".join(order) + "\n")
        ran.append(
            kerascheck("--isolated", "--select", "KC307", "--output-format", "concise", script).out.count("KC307")
        )
    assert ran == [0, 1]


LARGE = "import keras\nmodel = keras.applications.ResNet50(weights=None)\nmodel.compile('adam', 'mse')\n"
TAPED = (
    "import tensorflow as tf\noptimizer = keras.optimizers.Adam()\nfor x in load():\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_mean(model(x))\n"
    "    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))\n"
)
JAX = "import os\nos.environ['KERAS_BACKEND'] = 'jax'\n"
STATELESS = (
    "import jax\noptimizer = keras.optimizers.Adam()\n@jax.jit\ndef step(state, x):\n    weights, slots = state\n    loss, grads = jax.value_and_grad(loss_of)(weights, x)\n"
    "    return optimizer.stateless_apply(slots, grads, weights)\nfor x in load():\n    state = step(state, x)\n"
)
TORCH = "import os\nos.environ['KERAS_BACKEND'] = 'torch'\nimport torch\n"
BACKWARD = "optimizer = keras.optimizers.Adam()\nfor x in load():\n    loss = loss_of(model(x))\n    loss.backward()\n    with torch.no_grad():\n        optimizer.apply([v.value.grad for v in model.trainable_weights], model.trainable_weights)\n"
FLOWS = "flow = keras.preprocessing.image.ImageDataGenerator(horizontal_flip=True).flow_from_directory('a')\n"
OWN_STEP = STEP.replace(
    "keras.Input((4,)), keras.layers.Dense(1)(keras.Input((4,)))", "base.inputs, base.outputs"
).replace("def main():\n", "def main():\n    base = keras.applications.ResNet50()\n")
OWN_LAYER = "import tensorflow as tf\nclass Scale(keras.layers.Layer):\n    def call(self, x):\n        return self.scaled(x)\n    def scaled(self, x):\n        return x * tf.cast(9, tf.float32)\n"
TPU = (
    "import tensorflow as tf\ntry:\n    strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())\nexcept ValueError:\n"
    "    strategy = tf.distribute.get_strategy()\n"
)
POLICY = 'try set_global_policy("mixed_float16").'
SCALED = 'This step is float32 only; on Tensor Cores try "mixed_float16" with optimizer.scale_loss(loss).'


@pytest.mark.parametrize(
    ("code", "message", "because", "related"),
    [
        (
            LARGE + "model.fit(x, y)\n",
            f"This trains in float32 only; on a GPU with Tensor Cores {POLICY}",
            "The gain depends on the GPU, the layers and the batch size",
            [],
        ),
        (LARGE + TAPED, SCALED, "LossScaleOptimizer", [9]),
        (
            "import tensorflow_addons\n" + LARGE + TAPED,
            "LossScaleOptimizer.get_scaled_loss.",
            "LossScaleOptimizer",
            [10],
        ),
        (OWN_STEP.format(policy="", update=UPDATE), SCALED, "LossScaleOptimizer", [11]),
        (OWN_STEP.format(policy="", update="super().train_step(data)"), POLICY, "", []),
        (JAX + LARGE + "model.fit(x, y)\n", POLICY, "", []),
        (
            JAX + LARGE + STATELESS,
            'This step is float32 only; on Tensor Cores try set_global_policy("mixed_bfloat16").',
            "bfloat16 needs no loss scaling.",
            [12],
        ),
        (TORCH + LARGE + "model.fit(x, y)\n", POLICY, "", []),
        (
            TORCH + "import keras\nmodel = nets.resnet()\nmodel.fit(x, y, epochs=3)\nkeras.layers.Conv2D(512, 3)\n",
            POLICY,
            "",
            [],
        ),
        (TORCH + LARGE + BACKWARD, SCALED, "LossScaleOptimizer", [12]),
        (
            LARGE + FLOWS + "model.fit(flow)\n",
            f"This trains in float32 only; once the input keeps up, {POLICY}",
            "one by one",
            [],
        ),
        (LARGE + OWN_LAYER + "model.fit(x, y)\n", POLICY, "hard-code float32", [8]),
        (
            OWN_LAYER + "import keras\nmodel = keras.Sequential([keras.layers.Conv2D(512, 3)])\nmodel.fit(x, y)\n",
            POLICY,
            "",
            [],
        ),
        (LARGE + OWN_LAYER.replace("keras.layers.Layer", "Distance") + "model.fit(x, y)\n", POLICY, "", []),
        (
            LARGE + OWN_LAYER + "model = keras.Sequential([keras.layers.Conv2D(512, 3), Scale()])\nmodel.fit(x, y)\n",
            'for "mixed_float16" let its own layers cast to self.compute_dtype.',
            "hard-code float32",
            [8],
        ),
        (LARGE + TPU + "model.fit(x, y)\n", POLICY, 'On a TPU take "mixed_bfloat16".', []),
    ],
)
def test_findings_on_float32_trainings(tmp_path, code, message, because, related):
    script = tmp_path / "train.py"
    script.write_text(code)
    (finding,) = json.loads(kerascheck("--isolated", "--select", "KC301", "--output-format", "json", script).out)[
        "findings"
    ]
    assert finding["message"].endswith(message) and because in finding["because"], finding
    assert [place["line"] for place in finding["related"]] == related


LARGE = """from tensorflow import keras
from own import Scaling, Plain

model = keras.Sequential([keras.Input((224, 224, 3)), keras.applications.ResNet50(weights=None), Scaling(), Plain()])
model.compile("adam", "mse")
model.fit(images, labels, epochs=9)
"""
OWN = """from tensorflow import keras
from through import prepared

class Scaling(keras.layers.Layer):
    def call(self, x):
        return prepared(x)

class Plain(keras.layers.Layer):
    def call(self, x):
        return x + 1
"""
THROUGH = """from numbers_of import mean
class Other:
    def call(self, x):
        return x
def prepared(x):
    return x - mean()
"""
UNRELATED = """from tensorflow import keras
class Unrelated(keras.layers.Layer):
    def call(self, x):
        return x * 2
def helper(x):
    return x
"""


def test_float32_functions_are_found_through_their_callers(tmp_path):
    """A module that only calls one with the type in it is read; a module that calls neither is not even parsed."""
    numbers = "import unrelated\nimport tensorflow as tf\ndef mean():\n    return tf.constant([0.5, 0.1, 0.2])\n"
    files = {
        "train.py": LARGE,
        "own.py": OWN,
        "through.py": THROUGH,
        "numbers_of.py": numbers,
        "unrelated.py": UNRELATED,
    }
    module = load(tmp_path, files)
    (training,) = full_precision_trainings(module)
    places = training.computing + training.doubtful
    assert [(place.module.path.name, place.node.name.value) for place in places] == [("numbers_of.py", "mean")]
    (unrelated,) = [each for each in module.project.imported(module) if each.path.name == "unrelated.py"]
    assert "tree" not in vars(unrelated)
