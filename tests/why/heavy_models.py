"""Trainings with one known heavy part each: role, class or function, and line of that part."""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = """\
import numpy as np
import keras
from keras import layers, ops
random = np.random.default_rng(0)
"""


@dataclass(frozen=True)
class HeavyModel:
    """A script, and the part that takes most of its step."""

    text: str
    kind: str
    """Class, or function of the script."""
    line: str
    """Text of the line that creates it."""
    role: str = "layer"
    head: str = _HEAD
    """Imports; those of the twelve models are of no backend."""

    def script(self) -> str:
        """The whole script."""
        return self.head + self.text


def _sequential(shape: str, heavy: str, rest: str, fit: str) -> str:
    """A model of layers, one a line; ``shape``: of a row, such as "(512,)"."""
    body = "".join(f"    {line},\n" for line in (heavy, *rest.split("; ")))
    rows = f"x = random.random((1024, *{shape}), dtype='float32')\n"
    return (
        f"{rows}model = keras.Sequential([\n    keras.Input({shape}),\n{body}])\n"
        "model.compile('sgd', 'mse')\n"
        f"model.fit(x, random.random((1024, 1)), {fit}, epochs=40, verbose=0)\n"
    )


HEAVY = {
    "a wide Dense": HeavyModel(
        _sequential("(512,)", "layers.Dense(8192)", "layers.Reshape((16, 512)); layers.GlobalMaxPooling1D(); layers.Dense(64); layers.Dense(1)", "batch_size=128"),
        "Dense", "Dense(8192)",
    ),
    "one huge convolution": HeavyModel(
        _sequential("(32, 32, 16)", "layers.Conv2D(64, 7, padding='same')", "layers.MaxPooling2D(4); layers.Conv2D(8, 3); layers.Flatten(); layers.Dense(1)", "batch_size=32"),
        "Conv2D", "Conv2D(64, 7",
    ),
    "an LSTM": HeavyModel(
        _sequential("(60, 32)", "layers.LSTM(96)", "layers.Dense(64); layers.Dense(1)", "batch_size=64"),
        "LSTM", "LSTM(96)",
    ),
    "attention over long sequences": HeavyModel(
        """\
x = random.random((256, 512, 32)).astype("float32")
inputs = keras.Input((512, 32))
hidden = layers.Dense(32)(inputs)
hidden = layers.MultiHeadAttention(4, 32)(hidden, hidden)
outputs = layers.Dense(1)(layers.GlobalAveragePooling1D()(hidden))
model = keras.Model(inputs, outputs)
model.compile("sgd", "mse")
model.fit(x, random.random((256, 1)), batch_size=8, epochs=40, verbose=0)
""",
        "MultiHeadAttention", "MultiHeadAttention(4",
    ),
    "an embedding of a million rows": HeavyModel(
        """\
x = random.integers(0, 1_000_000, (25_600, 20))
model = keras.Sequential([
    keras.Input((20,), dtype="int32"),
    layers.Embedding(1_000_000, 16),
    layers.GlobalAveragePooling1D(),
    layers.Dense(1),
])
model.compile("adamw", "mse")
model.fit(x, random.random((25_600, 1)), batch_size=256, epochs=40, verbose=0)
""",
        "AdamW", "model.compile", "optimizer",
    ),
    "a Lambda in NumPy": HeavyModel(
        """\
def sort(x):
    return np.sort(np.asarray(x).repeat(20, axis=0), axis=1)[: len(x)].astype("float32")
def in_numpy(x):
    if keras.backend.backend() == "jax":
        import jax
        return jax.pure_callback(sort, jax.ShapeDtypeStruct(x.shape, "float32"), jax.lax.stop_gradient(x))
    import tensorflow as tf
    return tf.ensure_shape(tf.numpy_function(sort, [x], tf.float32), x.shape)
x = random.random((4096, 512)).astype("float32")
inputs = keras.Input((512,))
hidden = layers.Lambda(in_numpy, output_shape=(512,))(inputs)
outputs = layers.Dense(1)(layers.Dense(64)(hidden))
model = keras.Model(inputs, outputs)
model.compile("sgd", "mse")
model.fit(x, random.random((4096, 1)), batch_size=64, epochs=40, verbose=0)
""",
        "Lambda", "layers.Lambda(",
    ),
    "BatchNormalization everywhere": HeavyModel(
        """\
x = random.random((256, 64, 64, 16)).astype("float32")
hidden = inputs = keras.Input((64, 64, 16))
for _ in range(6):
    hidden = layers.BatchNormalization()(hidden)
    hidden = layers.DepthwiseConv2D(1)(hidden)
outputs = layers.Dense(1)(layers.GlobalAveragePooling2D()(hidden))
model = keras.Model(inputs, outputs)
model.compile("sgd", "mse")
model.fit(x, random.random((256, 1)), batch_size=16, epochs=40, verbose=0)
""",
        "BatchNormalization", "BatchNormalization()",
    ),
    "a small MLP of many layers": HeavyModel(
        """\
x = random.random((25_600, 32)).astype("float32")
model = keras.Sequential([keras.Input((32,))])
for _ in range(50):
    model.add(layers.Dense(32, activation="relu"))
model.add(layers.Dense(1))
model.compile("sgd", "mse")
model.fit(x, random.random((25_600, 1)), batch_size=32, epochs=40, verbose=0)
""",
        "Dense", "layers.Dense(32",
    ),
    "mixed precision on odd widths": HeavyModel(
        "keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
        + _sequential("(255,)", "layers.Dense(2047)", "layers.Dense(61); layers.Dense(1)", "batch_size=64"),
        "Dense", "Dense(2047)",
    ),
    "an expensive metric": HeavyModel(
        """\
def pairwise(y_true, y_pred):
    wide = ops.reshape(y_pred, (-1, 1)) - ops.reshape(y_pred, (1, -1))
    return ops.mean(ops.exp(-ops.square(wide)))
x = random.random((81_920, 16)).astype("float32")
model = keras.Sequential([keras.Input((16,)), layers.Dense(16), layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae", pairwise])
model.fit(x, random.random((81_920, 1)), batch_size=2048, epochs=40, verbose=0)
""",
        "pairwise", "def pairwise", "metric",
    ),
    "an expensive loss": HeavyModel(
        """\
def smooth(y_true, y_pred):
    wide = ops.reshape(y_pred, (-1, 1)) - ops.reshape(y_true, (1, -1))
    return ops.mean(ops.log(1 + ops.exp(-ops.square(wide))))
x = random.random((81_920, 16)).astype("float32")
model = keras.Sequential([keras.Input((16,)), layers.Dense(16), layers.Dense(1)])
model.compile("sgd", smooth)
model.fit(x, random.random((81_920, 1)), batch_size=2048, epochs=40, verbose=0)
""",
        "smooth", "def smooth", "loss",
    ),
    "an optimizer of many small variables": HeavyModel(
        """\
x = random.random((3200, 4)).astype("float32")
inputs = keras.Input((4,))
outputs = layers.Dense(1)(sum(layers.Dense(4)(inputs) for _ in range(60)))
model = keras.Model(inputs, outputs)
model.compile("adamw", "mse")
model.fit(x, random.random((3200, 1)), batch_size=8, epochs=400, verbose=0)
""",
        "AdamW", "model.compile", "optimizer",
    ),
}  # fmt: skip

_LOOP = """\
x = random.random((1024, 32, 32, 16)).astype("float32")
y = random.random((1024, 1)).astype("float32")
model = keras.Sequential([
    keras.Input((32, 32, 16)),
    layers.Conv2D(32, 7, padding="same"),
    layers.MaxPooling2D(4),
    layers.Flatten(),
    layers.Dense(1),
])
optimizer = keras.optimizers.Adam()
loss_fn = keras.losses.MeanSquaredError()
"""
_PAIRWISE = """\
def pairwise(y_true, y_pred):
    wide = tf.reshape(y_pred, (-1, 1)) - tf.reshape(y_pred, (1, -1))
    return tf.reduce_mean(tf.exp(-tf.square(wide)))
x = random.random((81_920, 16)).astype("float32")
model = keras.Sequential([keras.Input((16,)), layers.Dense(16), layers.Dense(1)])
"""

OTHER_FORMS = {
    "a loop over a tf.function": HeavyModel(
        _LOOP + """\
import tensorflow as tf
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).prefetch(2)
@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
for epoch in range(40):
    for images, labels in data:
        train_step(images, labels)
""",
        "Conv2D", "Conv2D(32, 7",
    ),
    "a loop over a jitted function of JAX": HeavyModel(
        _LOOP + """\
import jax
optimizer.build(model.trainable_variables)
def compute(trainable, fixed, images, labels):
    predicted, fixed = model.stateless_call(trainable, fixed, images, training=True)
    return loss_fn(labels, predicted), fixed
@jax.jit
def train_step(state, images, labels):
    trainable, fixed, slots = state
    (loss, fixed), gradients = jax.value_and_grad(compute, has_aux=True)(trainable, fixed, images, labels)
    trainable, slots = optimizer.stateless_apply(slots, gradients, trainable)
    return loss, (trainable, fixed, slots)
state = model.trainable_variables, model.non_trainable_variables, optimizer.variables
state = jax.tree_util.tree_map(lambda variable: variable.value, state)
for epoch in range(40):
    for at in range(0, 1024, 32):
        loss, state = train_step(state, x[at : at + 32], y[at : at + 32])
""",
        "Conv2D", "Conv2D(32, 7", head='import os\nos.environ["KERAS_BACKEND"] = "jax"\n' + _HEAD,
    ),
    "a loop with an expensive loss": HeavyModel(
        _PAIRWISE + """\
class Pairs(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return pairwise(y_true, y_pred)
optimizer = keras.optimizers.SGD()
loss_fn = Pairs()
data = tf.data.Dataset.from_tensor_slices(x).batch(2048).prefetch(2)
@tf.function
def train_step(rows):
    with tf.GradientTape() as tape:
        loss = loss_fn(rows, model(rows, training=True))
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
for epoch in range(100):
    for rows in data:
        train_step(rows)
""",
        "Pairs", "def call", "loss", head=_HEAD + "import tensorflow as tf\n",
    ),
    "fit of tf-keras": HeavyModel(
        _PAIRWISE + """\
model.compile("adam", "mse", metrics=["mae", pairwise])
model.fit(x, random.random((81_920, 1)), batch_size=2048, epochs=40, verbose=0)
""",
        "pairwise", "def pairwise", "metric",
        head=_HEAD.replace("import keras", "import tf_keras as keras\nimport tensorflow as tf")
        .replace("from keras import layers, ops", "from tf_keras import layers"),
    ),
}  # fmt: skip
"""Forms of training besides ``fit`` of Keras 3."""
