"""Small scripts, each with the lines where one rule speaks: variants met in public code that the rooms do not hold."""

import json
from pathlib import Path

import pytest
from command import kerascheck

HEAD = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\nfrom tensorflow.keras import layers\n"
MODEL = "model = keras.Sequential([layers.Input((4,)), layers.Dense(8), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"
GAN = MODEL + "for epoch in range(9000):\n    noise = np.random.normal(size=(32, 4))\n    fake = model.predict(noise)\n    model.train_on_batch(fake, noise)\n"
LOOK = "    if epoch % 100 == 0:\n        plt.imshow(fake)\n"
SCALAR = "from lesson import error\nx = tf.Variable(0.0)\noptimizer = keras.optimizers.SGD()\nfor i in range({}):\n    with tf.GradientTape() as tape:\n        loss = {}\n    optimizer.apply_gradients([(tape.gradient(loss, x), x)])\n"
BRANCHES = "if saved():\n    x = tf.constant(1)\nelse:\n    x = {}\n{}tf.config.experimental.set_memory_growth(gpu, True)\n"
POOL = (
    "class Net(keras.Model):\n    def train_step(self, x):\n        if self.held < self.size:\n            {}\n            return x\n"
    "        else:\n            i = np.random.randint(9)\n            return self.pool.read(i)\nnet = Net()\nnet.compile('adam', 'mse')\nnet.fit(load())\n"
)
CELL = (
    "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.cell = layers.GRUCell(4)\n    def call(self, x):\n"
    "        return layers.RNN({})(x)\nnet = Net()\nnet.compile('adam', 'mse')\nnet.fit(x, y)\n"
)
MIRRORED = (
    "strategy = tf.distribute.MirroredStrategy()\nx = np.random.normal(size=(9999, 4))\nds = tf.data.Dataset.from_tensor_slices(x).batch(64)\nwith strategy.scope():\n    "
    + MODEL.replace("\n", "\n    ").rstrip(" ")
    + "optimizer = keras.optimizers.SGD()\ndef step(x):\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(model(x))\n"
    "    optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))\ndist = strategy.experimental_distribute_dataset(ds)\n{}"
)
FITTED = "model = keras.Sequential([Net()])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n"
BYTES = "def read(png):\n    image = tf.reshape(tf.io.decode_png(png), [96, 96, 1])\n    return tf.cast(image, tf.float32) / 255\nds = tf.data.Dataset.from_tensor_slices(load()).map(read).batch(8)\n"
PARSED = "ds = tf.data.TFRecordDataset('a').map(parse).map({}).batch(8)\nmodel.fit(ds, epochs=3)\n"
READ = "def read(path):\n    image = {}\n    return image / 255\ndef parse(path):\n    return tf.numpy_function(read, [path], tf.float32)\n"
FILES = "import cv2\n" + READ + MODEL + "ds = tf.data.Dataset.from_tensor_slices(names()).map(parse).batch(8)\nmodel.fit(ds, epochs=9)\n"
OWN = "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.one, self.two = layers.Dense(64), layers.Dense(1)\n    def call(self, x):\n        {}\n        return self.two(self.one(x))\n"
LAMBDA = "def mixed(v):\n    return {}\ni = keras.Input((9,))\nh = layers.Lambda(mixed, output_shape=(2,))(layers.Dense(2)(i))\nnet = keras.Model(i, layers.Dense(9)(h))\nnet.compile('adam', 'mse')\nw = 1\nnet.fit(load(), load(), epochs=50)\n"
OWN_COMPILE = "class Net(keras.Model):\n    def compile(self, loss, run_eagerly: bool = {}, **kwargs):\n        super().compile(loss=loss, run_eagerly=run_eagerly, **kwargs)\n    def call(self, x):\n        return x * 2\nnet = Net()\nnet.compile('mse', run_eagerly=True)\nnet.fit(x, y)\n"
MOVED = "x, optimizer = tf.Variable(load()), keras.optimizers.SGD()\nfor _ in range(n):\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(model(x))\n    optimizer.apply_gradients(zip(tape.gradient(loss, [{0}]), [{0}]))\n"
OWN_STEPS = "class Steps(layers.Layer):\n    def call(self, x): return tf.stack([x, x], 1)\nmodel = keras.Sequential([layers.Input((20, 4)), {}, layers.TimeDistributed(layers.Dense(3))])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n"
MAPPED_BY = "ds = tf.data.Dataset.from_tensor_slices(load()){1}\nds = ds.map(lambda x: {0})\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(ds)\n"
FLOWED = "from tensorflow.keras.preprocessing.image import ImageDataGenerator\nflow = ImageDataGenerator(rescale=0.1).flow_from_directory('a')\ndef stream():\n    for x, y in flow:\n        yield x, y\ndef other():\n    yield 1\nmodel = keras.Sequential([layers.Conv2D(8, 3)])\nmodel.compile('adam', 'mse')\nmodel.fit(tf.data.Dataset.from_generator({}, (tf.float32, tf.float32)))\n"
IMAGES = "import cv2\nmodel = keras.Sequential([layers.Conv2D(8, 3)])\nmodel.compile('adam', 'mse')\nimages = []\nfor path in names():\n    images.append(cv2.resize(cv2.imread(path), {}))\nmodel.fit(np.array(images), y, epochs={})\n"
SHAPELESS = "def read(x):\n    y = tf.py_function(np.sin, [x], tf.float32)\n    {}\n    return y, x\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse', run_eagerly=True)\nmodel.fit(tf.data.Dataset.range(99).map(read).batch(9))\n"
SAVED = "model = keras.Sequential([layers.Dense(30, input_shape=[8]), layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
TABLE = "import pandas as pd\nfrom tensorflow.keras.preprocessing.image import ImageDataGenerator\ndf, gen = pd.read_csv('/content/drive/MyDrive/a.csv'), ImageDataGenerator()\nmodel = keras.Sequential([layers.Conv2D(8, 3)])\nmodel.compile('adam', 'mse')\nmodel.fit(gen.flow_from_dataframe({}))\n"
SAMPLES = "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\nfor i, each in enumerate(load()):\n    if {}\n    show(model.predict(each))\n"
FED_BACK = "class Net(keras.Model):\n    def __init__(self):\n        self.cell = layers.LSTMCell(8)\n        self.warm = layers.RNN(self.cell, return_state=True)\n    def call(self, x):\n        x, *state = self.warm(x)\n        {}\n        return x\nnet = Net()\n"
SPLIT = "ds = tf.data.Dataset.from_tensor_slices(load()){}.cache()\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit({}.batch(8), epochs=9)\n"
LOOKED_UP = "table = tf.lookup.StaticVocabularyTable(read(), 9)\nds = tf.data.Dataset.from_tensor_slices(load()){}.map(lambda x, y: (table.lookup(x), y)).prefetch(2)\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(ds)\n"
WIDE = "model = keras.Sequential([layers.Input({}), layers.Conv2D(256, 3), layers.Conv2D(256, 3), layers.Flatten(), layers.Dense(9)])\nmodel.compile('adam', 'mse')\n"
ATTENTION = "i = keras.Input((None, 64))\nmodel = keras.Model(i, layers.MultiHeadAttention({}, {})(i, i))\nmodel.compile('adam', 'mse')\n"
PASS = "model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n{}"
TINY = "net = Net()\nnet.compile('adam', 'mse')\nnet.fit(np.ones((64000, 9)), np.ones((64000, 1)), epochs=20, batch_size={})\n"
STEPS = "def step(x):\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(model(x))\n    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))\n    return loss\n"
LONG_STEPS = STEPS.replace("        loss =", "        y = model(x)\n        loss =")
EPOCHS = MODEL + "import time\noptimizer = keras.optimizers.SGD()\n" + STEPS + "for epoch in range(100):\n    start = time.time()\n    for x in load():\n        loss = step(x)\n{}    print(time.time() - start)\n"
TOWERS = "import tensorflow_recommenders as tfrs\nclass Net({}):\n    def __init__(self):\n        super().__init__()\n        users = keras.Sequential([layers.StringLookup(vocabulary=names()), layers.Embedding(9, 4)])\n        self.users, self.towers, self.last = users, {{'a': users}}, layers.Dense(1)\n    def {}(self, x, training=False):\n        return {}\nnet = Net()\nnet.compile('adam')\nnet.fit(load(), epochs=3)\n"
ZIPPED = MODEL + "images = tf.data.Dataset.list_files('*.jpg').map(lambda x: tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(x)), (120, 120)))\ntrain = tf.data.Dataset.zip((tf.data.Dataset.range(9000), images)){}\nmodel.fit(train.batch(8))\n"
IMAGES_MADE = "def images_of(folder):\n    images = keras.preprocessing.image.ImageDataGenerator(rotation_range=9)\n    return images.flow_from_directory(folder)\n"
LOADED = "@tf.function\ndef load(path):\n    print(path)\n    return tf.io.decode_png(tf.io.read_file(path))\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n{}\n"
MAPPED = "class Parser:\n    def __init__(self):\n        self.size = 3\n    def parse(self, x):\n        self.x = tf.cast(x, tf.float32)\n        {}\np = Parser()\nds = tf.data.Dataset.range(99).map(p.parse).batch(8)\nmodel.fit(ds)\n"
CLOCKED = "import time\n" + MODEL + "@tf.function\ndef run(x): return model(x)\nfor x in load():\n    start = time.time()\n    run(x)\n    {}\n"
HALF = "keras.mixed_precision.set_global_policy('mixed_float16')\noptimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())\n"
PREPARED = MODEL + "def prepare(ds):\n    return {}\none, two = tf.data.TextLineDataset('a'), tf.data.TextLineDataset('b')\nmodel.fit({}.shuffle(9))\n"
MNIST = MODEL + "(x, y), _ = keras.datasets.mnist.load_data()\nds = tf.data.Dataset.from_tensor_slices(({}, y)).batch(32)\nmodel.fit({}, epochs=3)\n"
CALLED = (
    "import cv2\nclass Reader:\n    def __init__(self, size):\n        self.size = size\n    def read(self, path):\n        return {}\n"
    "    def __call__(self, path):\n        return tf.numpy_function(self.read, [path], tf.float32)\n"
    + MODEL + "model.fit(tf.data.Dataset.from_tensor_slices(names()).map(Reader(9)).batch(8), epochs=9)\n"
)
DECODED = MODEL + "images = []\ndef read(path):\n    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (96, 96)) / 255.0\nfor path in names(){}:\n    images.append(read(path))\nmodel.fit({}, epochs={})\n"
DATA = "ds = tf.data.Dataset.from_tensor_slices(load()).batch(32)\n"
TALKS = (
    "class Net(keras.Model):\n    def __init__(self{}):\n        super().__init__()\n        self.verbose = {}\n    @tf.function\n    def train_step(self, x):\n"
    "        if self.verbose:\n            print(x)\n        return {{}}\n"
)
TUNED = (
    "import {}\ndef build(hp):\n    model = keras.Sequential([layers.Input((4,))])\n    for _ in range(hp.Int('layers', 1, {})):\n        model.add(layers.Dense(hp.{}))\n"
    "    model.add(layers.Dense(1))\n    model.compile('adam', 'mse')\n    return model\n"
)
CHOSEN = TUNED.format("keras_tuner as kt", 3, "Int('units', 8, 64)")
HYPER = "class Net(kt.HyperModel):\n    def build(self, hp):\n        return build(hp)\n{}tuner = kt.RandomSearch(Net(), max_trials=3)\n"
ASKED = "def load(split):\n    if {}:\n        return tf.data.TextLineDataset('a').map(lambda x: tf.py_function(parse, [x], tf.float32)).batch(8)\n"
SINGLE = "def parse(x):\n    return {}\nds = tf.data.TFRecordDataset('a').map(parse).batch(8)\n" + "for x in ds:\n    model.train_on_batch(x)\n"
PROPERTY = (
    "class Pipe:\n    def keep(self, value):\n        self.kept = value\n        return value\n    @property\n    def scale(self):\n        return make()\n"
    "    @scale.setter\n    def scale(self, value):\n        self.kept = value\n        return value\n    def build(self, ds):\n        return ds.map(lambda x: {})\n"
    "model.fit(Pipe().build(tf.data.TextLineDataset('a')))\n"
)
DEMAND = (
    "class Runner:\n    def __init__(self, {}):\n        self.trace = trace\n        self.many = count()\n    def build(self, model):\n        def run(x):\n            x = x + np.random.rand()\n            return model(x)\n"
    "        if self.{}:\n            run = tf.function(run)\n        return run\nfor x in load():\n    Runner().build(model)(x)\n"
)
BRANCHED = (
    "class Pick(layers.Layer):\n    def __init__(self):\n        super().__init__()\n    def call(self, x):\n        return tf.py_function(pick, [x], tf.float32)\ndef build(mode):\n    x = i = keras.Input((4,))\n"
    "    if {}:\n        x = Pick()(x)\n    return keras.Model(i, x)\n" + MODEL + "model.fit(x, y)\n"
)
GRAPH_GAME = (
    "import gym\nenv = gym.make('Game')\n@tf.function\ndef step(x):\n    with tf.GradientTape() as tape:\n        y = tf.numpy_function(lambda action: {}, [model(x)], tf.float32)\n"
    "    optimizer.apply_gradients(zip(tape.gradient(y, model.weights), model.weights))\nfor x in load():\n    step(x)\n"
)
HELPED = "class Scaled(layers.Layer):\n    def total(self, x):\n        return tf.reduce_sum(x).numpy()\n    def call(self, x):\n        return {}\n"
NET = "model = keras.Model(i, layers.Dense(1)(i))\nmodel.compile('adam', 'mse', jit_compile=False)\nmodel.fit(x, y, epochs=3)\n"
MAP_FN = "class Each(layers.Layer):\n    def call(self, x):\n        return tf.map_fn(lambda v: {}, x{})\n"
GAME = "import gym\nenv = gym.make('Game')\n" + MODEL + "for step in range(9000):\n    state, reward, done, info = env.step(0)\n    if {}:\n        model.fit(state, reward)\n"
GENERATED = MODEL + "model.fit(tf.data.Dataset.from_generator(names, tf.string){}.batch(8))\n"
ASSIGNED = "import cv2\nimport scipy.optimize\ndef assign(x):\n    return {}\nclass Net(layers.Layer):\n    def call(self, x):\n        return tf.numpy_function(assign, [x], tf.float32)\n"
COUNTING = MODEL + "ds = tf.data.Dataset.from_tensor_slices(load()).batch(8)\nsteps = {}\nmodel.fit(ds)\n"
GUIDED = MODEL + "class Files(tf.data.Dataset):\n    def _generator():\n        yield read()\n    def __new__(cls, names=3):\n        return {}\nmodel.fit(Files().map(lambda x: tf.image.random_hue(x, 0.1)).batch(8), epochs=3)\n"
OPTIMIZED = MODEL + "optimizer = keras.optimizers.SGD()\n"
FLOWS = "x = np.ones((999, 8, 8, 3), 'float32')\ndef scaled(ds):\n    return ds.map(lambda x: x / 255.0)\ntrain = scaled(tf.data.Dataset.from_tensor_slices(x)){}.batch(8)\ntest = scaled(tf.data.Dataset.from_tensor_slices(x)).batch(8)\nmodel.fit(train)\nmodel.fit(test)\n"
TESTED = "def data(which):\n    {}\n    return tf.data.Dataset.range(9).map(lambda x: tf.numpy_function(np.sin, [x], tf.float32)).batch(3)\n"
WAYS = (
    "source = tf.data.Dataset.from_tensor_slices(names if few else (names, y))\nif kind == 0:\n    train = source.map(lambda x: tf.numpy_function(np.sin, [x], tf.float32))\n"
    "elif kind == 1:\n    train = source.map(lambda x: tf.numpy_function(np.cos, [x], tf.float32))\nelse:\n    train = source.skip(2) if few else source.skip(3)\n"
    "if mixed:\n    train = train.shuffle(1000)\nif many:\n    train = train.repeat(2)\n"
)
SIZES = "@tf.function\ndef cut(x, size):\n    return x[:size]\nsize = 2\nfor x in load():\n    cut(x, size)\n    size {}\n"
SHUFFLED = "paths = glob()\nds = tf.data.Dataset.from_tensor_slices(paths).map(lambda x: tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(x)), ({0}, {0}))).shuffle({1}).batch(8)\nmodel.fit(ds)\n"
WIDE_PICTURES = "model = keras.Sequential([layers.Conv2D(128, 3), layers.Conv2D(128, 3)])\nmodel.compile('adam', 'mse')\nmodel.fit(np.array(x), load(), epochs=90)\n"
BIG = "model = keras.applications.ResNet50(weights=None)\nmodel.compile('adam', 'mse')\n"
DENSE = "model = keras.Sequential()\nfor _ in range(9):\n    model.add(layers.Dense(2000))\nmodel.compile('adam', 'mse')\n"
BIG_STEP = BIG + "optimizer = keras.optimizers.SGD()\n" + STEPS
SWITCHED = "class Net(keras.Model):\n    def call(self, x):\n        y = x * 2\n        if {}:\n            print(y)\n        return y\nnet = Net()\nnet.compile('adam', 'mse')\nnet.fit(x, y)\n"
SELF_COMPILED = "class Net(keras.Model):\n    {}\n    def call(self, x):\n        return x * 2\nmodel, optimizer = Net(), keras.optimizers.SGD()\n" + STEPS + "for x in load():\n    step(x)\n"
FOLDS = "from sklearn.model_selection import GroupKFold, KFold, StratifiedShuffleSplit, TimeSeriesSplit\nfor fold in {}:\n    model = keras.Sequential([layers.Dense(1)])\n    model.compile('adam', 'mse')\n    model.fit(x, y)\n"
SAMPLED = "class Noise(layers.Layer):\n    def call(self, x):\n        return x + tf.random.normal(tf.shape(x){})\n"
OWN_FIT = "class Net(keras.Model):\n    def call(self, x):\n        return self.solver.predict(tf.reduce_sum(x).numpy())\n    def fit(self, x):\n        {}\n"
PADDED = "@tf.function\ndef step(x): return x * 2\nds = tf.data.Dataset.list_files('*').map(lambda x: {}).padded_batch(8)\n\nfor x in ds: step(x)\n"
SAVED_GRAPH = "def run_keras(model, x):\n    return model.predict(x)\ndef run_graph(graph, x):\n    with tf.compat.v1.Session(graph={}) as session:\n        return session.run('out:0', feed_dict={{'in:0': x}})\nmodel = keras.models.load_model('a.keras')\nfor x in load():\n    run_keras(model, x)\n"
DEALT = "import tensorflow_datasets as tfds\n" + MODEL + "ds = tfds.load('mnist', split='train', shuffle_files={}).batch(8).shuffle(9)\nmodel.fit(ds)\n"
READER = "import cv2\n" + MODEL + "def read():\n    images = []\n    for path in names():\n        images.append(cv2.imread(path))\n    {}\nmodel.fit(np.array(list(read())), y)\n"
PLAYED = "import gym\nenv = gym.make('Game')\n" + OPTIMIZED + "def train():\n    for i in range(10):\n        {}\n        with tf.GradientTape() as tape:\n            loss = tf.reduce_sum(model(x))\n        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))\nfor episode in range(9000):\n    env.step(0)\n    train()\n"
PICTURES = "(x, y), _ = keras.datasets.fashion_mnist.load_data()\n"
LAID_FLAT = "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.flat, self.one, self.two = layers.Flatten(), layers.Dense(64), layers.Dense(1)\n    def call(self, x):\n        return self.two(self.one(self.flat(x)))\nnet = Net()\nnet.compile('adam', 'mse')\n"
STACKED = "model = keras.Sequential([layers.Flatten(input_shape=(28, 28))])\nfor _ in range({}):\n    model.add(layers.Dense(100))\n\nmodel.add(layers.Dense(10))\nmodel.compile('adam', 'mse')\nmodel.fit(x, y, epochs=9)\n"
KEPT = "def make(cache={}):\n    ds = tf.data.Dataset.from_tensor_slices(load()).map(tf.image.random_flip_left_right)\n    if cache:\n        ds = ds.cache()\n    return ds.batch(8)\n"
MENU = "while True:\n    if ask() == 'y':\n        model = keras.Sequential([layers.Dense(1)])\n        model.compile('adam', 'mse')\n        model.fit(x, y, epochs=9)\n        {}\n"
CUT = "class Cutter:\n    def __init__(self):\n        self.size = options.x\n    def parse(self, x):\n        self.left = tf.cast(x, tf.int32)\n        return {}\n    def cut(self, x):\n        return tf.cast(x, tf.int32) - self.left\np = Cutter()\nds = tf.data.Dataset.range(99).map(p.parse).batch(9)\nmodel.fit(ds)\n"
FLAGGED = "class Slow:\n    def __init__(self):\n        self.adds = True\n    @tf.function\n    def step(self, x):\n        if self.adds:\n            {}\n            self.slow = tf.Variable(x)\n        return x\nSlow().step(1)\n"
MAKING = "class Net(keras.Model):\n    def call(self, x):\n        return {}\nnet = Net()\nnet.compile('adam', 'mse')\nnet.run_eagerly = True\nnet.fit(load(), load())\n"
UNROLLED = "class Net(keras.Model):\n    def call(self, x):\n        return [tf.sin(y) for y in self.parts(x)]\n    def parts(self, x):\n        found = []\n        for i in range({}):\n            found.append(tf.sin(x[i]))\n        return found\nnet = Net()\nnet.compile('adam', 'mse')\nnet.fit(load(), load())\n"
DECORATED = "class Net(keras.Model):\n    {}def call(self, x):\n        x, y = tf.one_hot(x, 9), 0\n        for t in range(self.time_steps):\n            y += tf.sin(x[:, t])\n        return y\nmodel = Net()\n"
PAIRED = "models = {{'a': keras.models.load_model('a.keras'), 'b': keras.models.load_model('b.keras')}}\nfor images in load():\n    for name in pairs():\n        fake = models[name].predict(images[name])\n    {}\n"
RECORDS = "def parse(record):\n    return tf.io.parse_single_example(record, {{'x': tf.io.FixedLenFeature([], tf.float32)}})\nmodel.fit(tf.data.TFRecordDataset('a').map(parse).batch({}))\n"
COUNTED = "class Steps({}):\n    def __init__(self):\n        self.steps = {}\n    @tf.function\n    def run(self, x):\n        self.total = tf.reduce_sum(x)\n        {}\nsteps = Steps()\nfor x in load():\n    steps.run(x)\n"


@pytest.mark.parametrize(
    ("rule", "code", "lines"),
    [
        # Looking at a picture now and then does not make a training loop one for people.
        ("KC401", SCALAR.format(100, "(3 * x - 2) ** 2"), []),
        ("KC401", SCALAR.format(101, "(3 * x - 2) ** 2"), [9]),
        ("KC401", SCALAR.format(100, "error(x)"), [9]),
        # The counting costs, and hides the draw.
        ("KC207", POOL.format("self.held += 1"), [8]),
        ("KC204", CELL.format("self.cell"), []),
        ("KC204", CELL.format("layers.GRUCell(4)"), [10]),
        ("KC208", "model = keras.Sequential([layers.RNN(layers.GRUCell(4))])\n", [5]),
        ("KC208", "model = keras.Sequential([layers.RNN(layers.GRUCell(4, use_bias=False))])\n", []),
        ("KC502", MIRRORED.format("for x in dist:\n    strategy.run(step, args=(x,))\n"), [7]),
        ("KC502", MIRRORED.format("for x in ds:\n    strategy.run(step, args=(x,))\n"), []),
        ("KC502", "from google.colab import drive\n" + MIRRORED.format("for x in dist:\n    strategy.run(step, args=(x,))\n"), []),
        ("KC502", "from google.colab import drive\n" + MIRRORED.replace("tf.distribute.MirroredStrategy", "tf.distribute.TPUStrategy").format("for x in dist:\n    strategy.run(step, args=(x,))\n"), [8]),
        ("KC207", POOL.format("self.last = x"), [11]),
        ("KC405", GAN, [9]),
        # Attributes and arguments are no variables.
        ("KC405", MODEL + "for batch in load():\n    model.predict(data.batch)\n", []),
        ("KC405", MODEL + "for batch in load():\n    model.predict(draw(batch=8))\n", []),
        ("KC405", MODEL + "for batch in load():\n    model.predict(draw(batch=batch))\n", [8]),
        ("KC301", BIG.split("model =")[0] + "model = keras.models.load_model('a.keras')\nkeras.applications.ResNet50()\nmodel.fit(load(), load(), epochs=90)\n", []),
        ("KC405", MODEL + "for x in load():\n    predict = model.predict(x)\n", [8]),
        ("KC405", GAN.replace("model.predict(noise)", "model.predict(np.random.normal(size=(32, 4)))").replace("model.train_on_batch", "show"), [9]),
        ("KC405", GAN.replace("model.predict(noise)", "model.predict(np.zeros((32, 4)))").replace("model.train_on_batch", "show"), []),
        ("KC405", GAN.replace("model.predict(noise)", "model.predict(draw(32))"), [9]),
        ("KC405", GAN.replace("model.predict(noise)", "model.predict(draw(32))").replace("model.train_on_batch", "show"), []),
        ("KC405", "import cv2\n" + PASS.format("for path in paths():\n    show(model.predict(read(path)[None]))\n    cv2.waitKey({})\n").format(""), []),
        ("KC405", "import cv2\n" + PASS.format("for path in paths():\n    show(model.predict(read(path)[None]))\n    cv2.waitKey({})\n").format(1), [10]),
        ("KC405", "import pickle\nmodel = pickle.load(open('a.pkl', 'rb'))\nfor x in load():\n    model.predict([x])\n", []),
        ("KC405", "import pickle\nmodel = pickle.load(open('a.pkl', 'rb'))\nmodel.load_weights('a.h5')\nfor x in load():\n    model.predict([x])\n", [9]),
        ("KC405", "import time\ntimes = []\n" + PASS.format("for x in load():\n    start = time.time()\n    z = model.predict(x[None])\n    times.append(time.time() - start)\nz = 1\n"), []),
        ("KC405", "import time\ntimes = []\n" + PASS.format("for x in load():\n    start = time.time()\n    z = model.predict(x[None])\n    times.append(time.time() - start)\n    show(z)\n"), [12]),
        ("KC405", PASS.format("for i, path in enumerate(paths()):\n    faces[i % batch_size] = read(path)\n    if (i + 1) % batch_size == 0:\n        show(model.predict(faces))\n"), [11]),
        ("KC405", PASS.format("for i, path in enumerate(paths()):\n    faces[i % 8] = read(path)\n    if (i + 1) % every == 0:\n        show(model.predict(faces))\n"), []),
        ("KC405", "config = load()\nmodel = keras.Sequential.from_config(config)\nfor x in load():\n    model.predict(np.array([x]))\n", [8]),
        ("KC405", "import matplotlib.pyplot as plt\n" + GAN + LOOK, [10]),
        ("KC405", "import matplotlib.pyplot as plt\n" + GAN + "    plt.imshow(fake)\n", []),
        ("KC405", GAN + "    axes[0].imshow(fake)\n", []),
        # A part of all examples is no single item; a text that grows is one.
        ("KC405", MODEL + "model.fit(x, y)\nfor i in range(99):\n    model.predict(x[:, i : i + 9])\n", []),
        ("KC405", MODEL + "model.fit(x, y)\nfor i in range(99):\n    model.predict(x[:, : i + 1, :])\n", [9]),
        ("KC405", MODEL + "model.fit(x, y)\nfor i in range(99):\n    x[0, i] = model.predict(x[:, i - 9 : i])\n", [9]),
        # Beside several epochs of training one predict is short.
        ("KC405", MODEL + "for i in range(99):\n    x, y = load()\n    model.fit(x, y, epochs=1)\n    model.predict(x)\n", [10]),
        ("KC405", MODEL + "for i in range(99):\n    x, y = load()\n    model.fit(x, y, epochs=5)\n    model.predict(x)\n", []),
        # A handful of rows, as the shape of an array tells.
        ("KC405", MODEL + "for i in np.random.randint(0, 9, 5):\n    model.predict(rows[i])\nmodel.fit(rows, rows)\n", []),
        ("KC405", MODEL + "for x in files:\n    model.predict(x, batch_size=1)\n", [8]),
        # With a batch size each turn predicts an array, but for an application that waits for the next picture.
        ("KC405", MODEL + "while True:\n    x = camera.read()\n    model.predict(x, batch_size=32)\n", [9]),
        ("KC405", MODEL + "for x in files:\n    model.predict(x, batch_size=32)\n", []),
        ("KC405", MODEL + "model.fit(x, y)\nwhile more():\n    x = camera.read()\n    model.predict(x, batch_size=32)\n", []),
        ("KC405", "for x in tf.data.Dataset.from_tensor_slices([[6.0]]).batch(1):\n    make().fit(x)\n" + MODEL + "for x in tf.data.Dataset.from_tensor_slices([[6.0]]).batch(1):\n    model.predict(x)\n", []),
        ("KC405", MODEL + "for x in load():\n    model.predict(x, 32)\n    model.predict(x, shape)\n", []),
        # A scope that nothing enters.
        ("KC501", "strategy = tf.distribute.MirroredStrategy()\nstrategy.scope()\n" + MODEL + "model.fit(x, y)\n", [6]),
        ("KC501", "strategy = tf.distribute.MirroredStrategy()\nstrategy.scope().__enter__()\n" + MODEL + "model.fit(x, y)\n", []),
        # Splitters of scikit-learn tell how many folds there are.
        ("KC408", FOLDS.format("KFold(10).split(x)"), [7]),
        ("KC408", FOLDS.format("enumerate(StratifiedShuffleSplit(test_size=0.1).split(x, y))"), [7]),
        ("KC408", FOLDS.format("TimeSeriesSplit().split(x)"), []),
        ("KC408", FOLDS.format("GroupKFold(n).split(x)"), []),
        ("KC401", OPTIMIZED + "@tf.function\n" + STEPS + "step(x)\n" + STEPS + "for x in load():\n    step(x)\n", []),
        ("KC119", MNIST.format("x / 255.0", "ds"), [8]),
        ("KC119", MNIST.format("x.astype('float32') / 255.0", "ds"), []),
        ("KC119", MNIST.format("x / 255.0", "x, y"), []),
        ("KC122", MODEL + DATA + "model.fit(ds.as_numpy_iterator())\n", [8]),
        ("KC122", MODEL + DATA + "model.evaluate(x=ds.as_numpy_iterator())\n", [8]),
        ("KC122", MODEL + DATA + "it = ds.as_numpy_iterator()\nmodel.fit(ds, validation_data=it)\n", [9]),
        ("KC122", MODEL + DATA + "for x, y in ds.as_numpy_iterator():\n    model.train_on_batch(x, y)\n", []),
        ("KC122", MODEL + DATA + "trainer().fit(ds.as_numpy_iterator(), epochs=3)\n", []),
        ("KC122", MODEL + DATA + "try:\n    model.fit(ds.as_numpy_iterator())\nexcept ValueError:\n    model.fit(ds)\n", []),
        ("KC122", MODEL + DATA + "class Net(keras.Model):\n    def fit(self, batches): show(batches)\nNet().fit(ds.as_numpy_iterator())\n", []),
        ("KC122", MODEL + DATA + "x = np.array(list(ds.as_numpy_iterator()))\nmodel.fit(x, y)\n", [8]),
        ("KC122", MODEL + DATA + "x = np.concatenate(list(ds)) / 255\nmodel.fit(x, y)\n", [8]),
        ("KC122", MODEL + DATA + "x = np.concatenate(list(ds.take(3)))\nmodel.fit(x, y)\n", []),
        ("KC122", MODEL + DATA + "x = np.concatenate(list(ds))\nmodel.fit(x, y, epochs=60)\n", []),
        ("KC122", MODEL + DATA + "x = np.concatenate(list(ds))\nmodel.fit(z, y, validation_data=(x, y))\n", []),
        ("KC122", MODEL + DATA + "x = np.zeros((10, len(list(ds.unbatch()))))\nmodel.fit(x, y)\n", [8]),
        ("KC122", MODEL + DATA + "x = np.concatenate(list(rows()))\nmodel.fit(x, y)\n", []),
        ("KC122", COUNTING.format("len([x for x in ds if x is not None])"), []),
        ("KC122", COUNTING.format("[x for x in ds]"), []),
        ("KC122", COUNTING.format("ds.cardinality()\nif steps == tf.data.UNKNOWN_CARDINALITY:\n    steps = len(list(ds))"), []),
        ("KC122", COUNTING.format("ds.cardinality()\nif steps == given:\n    steps = len(list(ds))"), [10]),
        # One of two flows needs single elements.
        ("KC103", FLOWS.format(".map(lambda x: tf.image.random_flip_left_right(x))"), []),
        ("KC103", FLOWS.format(""), [7]),
        # What says that it is for testing, and what a script never reads.
        # A model whose own compile() has it on, or off.
        ("KC309", OWN_COMPILE.format("True"), []),
        ("KC309", OWN_COMPILE.format("False"), [11]),
        ("KC309", OWN_COMPILE.format("False").replace("net.compile('mse', run_eagerly=True)", "net.compile('mse', options.eager)"), []),
        ("KC309", "model = make()\nmodel.compile(optimizer='adam', run_eagerly=True)\nmodel.fit(x, y)\n", [6]),
        ("KC309", "model = make()\nmodel.compile(optimizer='adam', losses={}, run_eagerly=True)\nmodel.fit(x, y)\n", []),
        # What augments the data is not what the policy is for.
        ("KC302", "flip = layers.RandomFlip()\nkeras.mixed_precision.set_global_policy('mixed_float16')\nmodel = keras.models.load_model('a.keras')\nmodel.compile('adam', 'mse')\n", []),
        ("KC302", "dense = layers.Dense(3)\nkeras.mixed_precision.set_global_policy('mixed_float16')\nmodel = keras.models.load_model('a.keras')\nmodel.compile('adam', 'mse')\n", [6]),
        # Keras 2 by what only runs beside it.
        ("KC414", "import tensorflow_addons as tfa\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.fit(x, y, workers=2)\n", []),
        ("KC414", "import tensorflow_probability as tfp\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.fit(x, y, workers=2)\n", [7]),
        ("KC414", "from tensorflow.python.keras.callbacks import ModelCheckpoint\ndef train(model, g):\n    model.fit_generator(g)\n", []),
        ("KC414", "from tensorflow.keras.callbacks import ModelCheckpoint\ndef train(model, g):\n    model.fit_generator(g)\n", [7]),
        # Draws that keep an image and its mask alike, a few calls, and what may have variables or not.
        ("KC101", GUIDED.format("tf.data.Dataset.from_generator(cls._generator, tf.float32)"), [12]),
        ("KC109", GUIDED.format("tf.data.Dataset.from_generator(cls._generator, tf.float32)"), [11]),
        ("KC101", GUIDED.format("super().__new__(cls)"), []),
        ("KC101", MAPPED_BY.format("(layers.RandomFlip(seed=7)(x), layers.RandomFlip(seed=7)(x))", ""), []),
        ("KC101", MAPPED_BY.format("(layers.RandomFlip(seed=7)(x), layers.RandomFlip(seed=8)(x))", ""), [6]),
        ("KC101", MAPPED_BY.format("x + tf.random.uniform([])", ".batch(32).take(5).repeat(2)"), []),
        ("KC101", MAPPED_BY.format("x + tf.random.uniform([])", ".batch(32).take(50).repeat(2)"), [6]),
        ("KC114", "import keras_cv\naug = keras_cv.layers.RandAugment(value_range=(0, 255))\nds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x, y: (aug(x), y)).cache().batch(8)\nmodel = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(ds, epochs=3)\n", [7]),
        # A generator of images behind a dataset.
        ("KC111", FLOWED.format("lambda: flow"), [6]),
        ("KC111", "flow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\nclass T:\n    def train(self):\n        self.net.fit(flow)\n", [5]),
        ("KC111", "import torch\nflow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\nNet(args).fit(flow)\n", [6]),
        ("KC111", "flow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\nNet(args).show(flow)\n", []),
        ("KC111", FLOWED.format("stream"), [6]),
        ("KC111", FLOWED.format("other"), []),
        # What shows that something went wrong, and what somebody asks for.
        ("KC108", "def read(x):\n    try:\n        return x + 1\n    except ValueError:\n        print(x)\n        raise\n" + MODEL + "model.fit(tf.data.Dataset.range(99).map(read).batch(9))\n", []),
        ("KC207", SWITCHED.replace("call(self, x)", "call(self, x, shows=False)").format("shows"), []),
        # Pictures as small as they are kept.
        ("KC112", DECODED.format("", "tf.stack(images)", 3), [9]),
        ("KC112", DECODED.format("", "tf.data.Dataset.from_tensor_slices(images).batch(8)", 3), [9]),
        ("KC112", DECODED.format("", "tf.stack(images[:9])", 60), []),
        ("KC112", DECODED.format("", "tf.data.Dataset.from_tensor_slices(names()).map(read).batch(8)", 3), []),
        ("KC112", DECODED.format("[:100]", "tf.stack(images)", 3), []),
        ("KC112", DECODED.format("", "tf.stack(images)", 3).replace("names()", "range(100)"), []),
        ("KC112", IMAGES.format("(32, 32)", 20), []),
        ("KC112", IMAGES.format("(32, 32)", 2), [10]),
        ("KC112", IMAGES.format("(128, 128)", 20), [10]),
        ("KC112", IMAGES.format("(128, 128)", 49), [10]),
        ("KC112", IMAGES.format("(128, 128)", 50), []),
        ("KC112", IMAGES.format("(128, 128)", 20) + "np.save('images.npy', images)\n", []),
        ("KC112", IMAGES.format("(128, 128)", 20) + "np.save('loss.npy', load())\n", [10]),
        ("KC306", "import google.colab\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC306", "data = read('/content/data.csv')\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC306", "data = read('/Users/me/data.csv')\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC306", MODEL + "model.fit(x, y)\n", [7]),
        # A model that is read again, once and twice, and one of which nobody knows what it is.
        ("KC411", SAVED + "model.save('a.keras')\nmodel = keras.models.load_model('a.keras')\nmodel.fit(x, y, epochs=9)\n", [9]),
        ("KC411", SAVED + "model.save('a.keras')\nmodel = keras.models.load_model('a.keras')\nmodel.save('b.keras')\nmodel = keras.models.load_model('b.keras')\nmodel.fit(x, y, epochs=9)\n", [11]),
        ("KC411", SAVED + "model = keras.models.clone_model(model)\nmodel.compile('sgd', 'mse')\nmodel.fit(x, y, epochs=9)\n", [9]),
        ("KC411", SAVED + "model.save('a.keras')\nmodel = keras.models.load_model('c.keras')\nmodel.fit(x, y, epochs=9)\n", []),
        ("KC411", SAVED + "model.fit(x, y, batch_size=64, callbacks=[keras.callbacks.ModelCheckpoint('a.keras')])\nmodel = keras.models.load_model('a.keras')\nmodel.fit(x, y, epochs=9)\n", [9]),
        # A strategy that nothing enters, one that a tuner does, and a scope.
        ("KC505", "strategy = tf.distribute.MirroredStrategy()\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC505", "import keras_tuner\ntuner = keras_tuner.RandomSearch(build, distribution_strategy=tf.distribute.MirroredStrategy())\n" + MODEL + "model.fit(x, y)\n", [6]),
        ("KC505", "strategy = tf.distribute.MirroredStrategy()\nwith strategy.scope():\n    pass\n" + MODEL + "model.fit(x, y)\n", [5]),
        # A table of files on a drive, and a table that lies there itself.
        ("KC123", TABLE.format("df, directory='/content/drive/MyDrive/images'"), [10]),
        ("KC123", TABLE.format("pd.DataFrame({'file': np.array(['/content/drive/MyDrive/a.jpg'])})"), [10]),
        ("KC123", TABLE.format("df"), []),
        # Arrays by their names, and single rows by theirs.
        ("KC405", PASS.format("for name, x in load().items():\n    show(model.predict(x))\n"), []),
        ("KC405", PASS.format("for name, x in load().items():\n    show(model.predict(x[None]))\n"), [9]),
        # Samples of the first examples.
        ("KC405", SAMPLES.format("i > 8: break"), []),
        ("KC405", SAMPLES.format("i > 8: continue"), []),
        ("KC405", SAMPLES.format("i == 8: continue"), [10]),
        ("KC405", SAMPLES.format("k > 8: break"), [10]),
        # A cell that is called by itself, and a layer beside the cell.
        ("KC208", FED_BACK.format("x, state = self.cell(x, state)"), []),
        ("KC208", FED_BACK.format("x = self.rest(x)"), [8]),
        ("KC411", "model = keras.Sequential([layers.Input((4,)), layers.Dense(8), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(np.ones((9000, 4)), np.ones(9000), epochs=9)\n", [7]),
        ("KC411", "model = keras.Sequential([layers.Input((4,)), layers.Dense(8), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(np.ones((9000, 4)), np.ones(9000), epochs=9, steps_per_epoch=30)\n", []),
        ("KC207", "class Net(keras.Model):\n    def train_step(self, x):\n        print(x)\n    def fit(self, data):\n        for x in data: {}\n".format("self.train_step(x)"), []),
        ("KC207", "class Net(keras.Model):\n    def train_step(self, x):\n        print(x)\n    def fit(self, data):\n        super().fit(data)\n", [7]),
        # A function that is also mapped is told of once.
        ("KC207", LOADED.format("load(tf.constant('a.png'))"), [7]),
        ("KC207", LOADED.format("model.fit(tf.data.Dataset.list_files('*.png').map(load).batch(8))\nload(tf.constant('a.png'))"), []),
        ("KC207", "class Net(keras.Model):\n    def train_step(self, x):\n        print(x)\n    def fit(self, data):\n        pass\n", []),
        ("KC208", "model = keras.Sequential()\nmodel.add(layers.GRU(24, 300))\nmodel.fit(x, y)\n", []),
        ("KC208", "layer = layers.RNN(layers.LSTMCell(8)) if plain else layers.LSTM(8)\n", []),
        # The order decides what is held out.
        ("KC114", SPLIT.format(".shuffle(9)", "ds.skip(10)"), []),
        ("KC114", SPLIT.format(".shuffle(9)", "ds"), [5]),
        ("KC107", TESTED.format("assert which == Kind.TEST"), []),
        ("KC107", TESTED.format("assert which == Kind.TRAIN"), [7]),
        ("KC107", "if __name__ == '__main__':\n    train = tf.data.Dataset.range(9).map(lambda x: tf.numpy_function(np.sin, [x], tf.float32)).batch(3)\n", []),
        ("KC107", "train = tf.data.Dataset.range(9).map(lambda x: tf.numpy_function(np.sin, [x], tf.float32)).batch(3)\n", [5]),
        ("KC107", "train = tf.data.Dataset.range(9).map(lambda x: tf.numpy_function(np.sin, [x], tf.float32)) if cut else None\nif train is not None:\n    train = train.batch(3).cache()\nmodel.fit(train)\n", []),
        ("KC107", WAYS + "model.fit(train.batch(3))\n", [7, 9]),
        ("KC107", WAYS + "model.fit(train.batch(3).cache())\n", []),
        ("KC107", "train = tf.data.Dataset.range(9).map(lambda x: tf.numpy_function(np.sin, [x], tf.float32)) if cut else None\nif small is not None:\n    train = train.batch(3).cache()\nmodel.fit(train)\n", [5]),
        # What may be batches, and is not seen to be made into batches.
        ("KC107", "def add(ds):\n    return ds.map(lambda x: tf.numpy_function(np.sin, [x], tf.float32))\nmodel.fit(add(keras.utils.image_dataset_from_directory('a', batch_size=n)))\n", []),
        # Doubled sizes are few.
        ("KC404", SIZES.format("*= 2"), []),
        ("KC404", SIZES.format("+= 2"), [10]),
        # A number that a client gets back.
        ("KC402", OPTIMIZED + STEPS + "for x in load():\n    action = step(x)\n    state = client.step(action.numpy().tolist())\n", []),
        ("KC402", OPTIMIZED + STEPS + "for x in load():\n    action = step(x)\n    client.log(action.numpy().tolist())\n", [15]),
        # A print of shapes is for the trace.
        ("KC108", "ds = tf.data.Dataset.range(9).map(lambda x: print(x.shape))\nmodel.fit(ds)\n", []),
        ("KC108", "ds = tf.data.Dataset.range(9).map(lambda x: print(x))\nmodel.fit(ds)\n", [5]),
        ("KC130", SHUFFLED.format(28, "len(paths)"), []),
        ("KC130", SHUFFLED.format(224, "50"), []),
        ("KC311", "it = tf.data.make_one_shot_iterator(load())\n", [5]),
        ("KC405", MODEL + "for x in files:\n    model.predict(x, steps=1)\n", [8]),
        ("KC405", MODEL + "for x in files:\n    model.predict(x, steps=9)\n", []),
        # A fit beside it makes an eager step short; pictures that TensorFlow does not read.
        ("KC401", OPTIMIZED + STEPS + "other = keras.models.load_model('a')\nfor x in load():\n    step(x)\n    other.fit(x, x)\n", []),
        ("KC111", "flow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\nmodel.fit(flow)\n", [5]),
        ("KC111", "names = glob('*.tif')\nflow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\nmodel.fit(flow)\n", []),
        # Loops that count and leave.
        ("KC405", MODEL + "for x in files:\n    seen.append(model.predict(x))\n    if len(seen) == 5:\n        break\n", []),
        ("KC405", MODEL + "for x in files:\n    if x:\n        seen.append(model.predict(x))\n    if len(seen) == 5:\n        break\n", [9]),
        ("KC405", MODEL + "n = 0\nfor x in files:\n    n += 1\n    if n >= 5: break\n    model.predict(x)\n", []),
        ("KC405", MODEL + "n = 0\nfor x in files:\n    n += 1\n    if x: n = 0\n    if n >= 5: break\n    model.predict(x)\n", [12]),
        # Arguments of a Lambda are no tensors, and neither is a shape.
        ("KC202", "def up(x, factor):\n    return x * int(x._keras_shape[1] * factor)\nlayer = layers.Lambda(up, arguments={'factor': 2})\n", []),
        ("KC202", "def up(x):\n    return x * int(tf.reduce_sum(x))\nlayer = layers.Lambda(up)\n", [6]),
        # Batches of one; loops in each other; shared cells; wrappers of what has no weights.
        ("KC109", "model.fit(tf.data.Dataset.from_generator(names, tf.float32).batch(1))\n", []),
        ("KC205", "class Net(layers.Layer):\n    def call(self, x):\n        for i in range(x.shape[1]):\n            for j in range(x.shape[2]):\n                self.add_loss(x[:, i, j])\n", [7]),
        ("KC208", "cell = layers.LSTMCell(8)\nfor i in range(3):\n    stack.append(layers.RNN(cell))\n", []),
        ("KC208", "for i in range(3):\n    stack.append(layers.RNN(layers.LSTMCell(8)))\n", [6]),
        ("KC204", "class Net(keras.Model):\n    def call(self, x):\n        return layers.TimeDistributed(layers.MaxPooling2D())(x)\nnet = Net()\nnet.compile('adam', 'mse')\nnet.fit(x, y)\n", []),
        # What only TensorFlow 1 has.
        ("KC414", MODEL + "def loss(a, b): return tf.to_float(a) - tf.log(b)\nmodel.fit_generator(load())\n", []),
        # Cells of a notebook that was exported.
        ("KC128", "# In[3]:\n\ntf.data.Dataset.range(3).batch(2)\n", []),
        ("KC128", "x\nx.shape\nx[0]\ntf.data.Dataset.range(3).batch(2)\n", []),
        ("KC128", "tf.data.Dataset.range(3).batch(2)\n", [5]),
        # A setting that nothing calls, and one that a call makes too late.
        ("KC307", MODEL + "def setup():\n    tf.config.experimental.set_memory_growth(gpu, True)\n", []),
        ("KC307", MODEL + "def setup():\n    tf.config.experimental.set_memory_growth(gpu, True)\nsetup()\n", [8]),
        ("KC307", BRANCHES.format("tf.constant(2)", ""), [9]),
        ("KC307", BRANCHES.format("load()", ""), []),
        ("KC307", BRANCHES.format("load()", "if new:\n    x = tf.constant(2)\n"), []),
        # Classes for one version of Keras.
        ("KC414", "if keras.__version__ < '2.2.5':\n    class Old(keras.Model):\n        def train(self, x):\n            self.fit_generator(x)\n", []),
        ("KC414", "class Old(keras.Model):\n    def train(self, x):\n        self.fit_generator(x)\n", [7]),
        # The CPU, as it may be spelled.
        ("KC308", MODEL + "with tf.device('CPU: 0'):\n    model.fit(load(), load(), epochs=90)\n", [7]),
        ("KC301", BIG + "model.fit(load(), load(), epochs=90)\n", [7]),
        ("KC301", "import cv2\nx = [cv2.resize(each, (28, 28)) for each in load()]\n" + WIDE_PICTURES, []),
        ("KC301", "import cv2\nx = [cv2.resize(each, (96, 96)) for each in load()]\n" + WIDE_PICTURES, [9]),
        ("KC301", "import cv2\nx = [cv2.resize(each, (28, size())) for each in load()]\n" + WIDE_PICTURES, [9]),
        ("KC301", "import cv2\nx = [cv2.resize(each, (28, 28)) for each in load()]\n" + WIDE_PICTURES + "cv2.resize(x[0], (480, 480))\n", []),
        ("KC301", BIG + "with tf.device('CPU: 0'):\n    model.fit(load(), load(), epochs=90)\n", []),
        ("KC402", MODEL + "optimizer = keras.optimizers.SGD()\n" + STEPS + "for x in load():\n    print(float(step(x)))\n", [14]),
        ("KC402", MODEL + "optimizer = keras.optimizers.SGD()\n" + STEPS + "with tf.device('cpu'):\n    for x in load():\n        print(float(step(x)))\n", []),
        # Switched off for debugging.
        ("KC207", "DEBUG = False\n" + SWITCHED.format("DEBUG"), []),
        ("KC207", "DEBUG = True\n" + SWITCHED.format("DEBUG"), [10]),
        ("KC207", "SHOW = False\n" + SWITCHED.format("SHOW"), [10]),
        # Counters of any object that compiled methods count up.
        ("KC207", COUNTED.format("object", "0", "self.steps += 1"), [11]),
        ("KC207", COUNTED.format("tf.Module", "0", "self.steps += 1"), [11]),
        ("KC207", COUNTED.format("object", "tf.Variable(0)", "self.steps.assign_add(1)"), []),
        ("KC207", COUNTED.format("object", "tf.Variable(0)", "self.steps = self.steps + 1"), []),
        # What runs on the CPU and elsewhere is compared.
        ("KC308", MODEL + "with tf.device('/cpu:0'):\n    model.fit(x, y)\nwith tf.device('/gpu:0'):\n    model.fit(x, y)\n", []),
        ("KC309", MODEL + "model.run_eagerly = True\nmodel.fit(x, y)\n", [7]),
        ("KC309", MODEL + "other = keras.Sequential([])\nother.run_eagerly = True\nother.predict_on_batch(x)\nmodel.fit(x, y)\n", []),
        ("KC407", MODEL + "model.fit(load(), load(), epochs=20)\n", [6]),
        ("KC102", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices(load()).repeat(3))\n", []),
        # What is fitted for a handful of steps is only tried out.
        ("KC109", GENERATED.replace("model.fit(", "ds = (").format("") + "model.fit(ds, steps_per_epoch=1)\n", []),
        ("KC109", GENERATED.replace("model.fit(", "ds = (").format("") + "model.fit(ds, steps_per_epoch=5, epochs=9)\n", [7]),
        ("KC109", GENERATED.replace("model.fit(", "ds = (").format("") + "for fold in folds():\n    model.fit(ds, steps_per_epoch=1)\n", [7]),
        # Where a dataset comes from a caller, its end is still seen.
        ("KC102", MODEL + "def train(data: tf.data.Dataset):\n    model.fit(data.shuffle(9))\n", [8]),
        ("KC102", MODEL + "def train(data: tf.data.Dataset):\n    model.fit(data)\n", []),
        ("KC102", MODEL + "def train(data: tf.data.Dataset):\n    model.fit(data.shuffle(9).apply(ending))\n", []),
        ("KC102", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices(load()).shuffle(9))\n", [7]),
        ("KC407", MODEL + "model.fit(load(), load(), epochs=2000)\n", []),
        ("KC407", "model = keras.Sequential([])\nmodel.compile('adam', 'mse')\nmodel.fit(load(), load(), epochs=20)\n", []),
        ("KC411", MODEL + "model.fit(load(), load(), epochs=20)\n", [7]),
        ("KC603", MODEL + "for x in load():\n    results[x] = model.fit(x, x, batch_size=x.shape[0])\n", []),
        ("KC412", MODEL + "model.fit(x, y, callbacks=[keras.callbacks.TensorBoard('logs', histogram_freq=1)])\n", [7]),
        ("KC412", "# then run: tensorboard --logdir logs\n" + MODEL + "model.fit(x, y, callbacks=[keras.callbacks.TensorBoard('logs', histogram_freq=1)])\n", [8]),
        ("KC412", MODEL + "calls = []\nif args.log:\n    calls += [keras.callbacks.TensorBoard('logs', update_freq='batch')]\nmodel.fit(x, y, callbacks=calls)\n", [9]),
        ("KC412", MODEL + "calls = []\nif args.debug:\n    calls += [keras.callbacks.TensorBoard('logs', update_freq='batch')]\nmodel.fit(x, y, callbacks=calls)\n", []),
        ("KC401", MODEL + "optimizer = keras.optimizers.SGD()\n" + STEPS + "for x in load(): step(x)\n", [8]),
        ("KC401", MODEL + "optimizer = keras.optimizers.SGD()\n" + STEPS.replace("    optimizer.apply", "    other = keras.models.clone_model(model)\n    optimizer.apply") + "for x in load(): step(x)\n", []),
        ("KC412", MODEL + "keras.callbacks.TensorBoard('logs', histogram_freq=1)\nmodel.fit(x, y)\n", []),
        ("KC407", MODEL.replace("(4,)", "(1,)") + "model.fit([1, 2, 3, 4], [2, 4, 6, 8], epochs=900)\n", []),
        ("KC411", MODEL.replace("(4,)", "(1,)") + "model.fit([[1], [2], [3], [4]], [2, 4, 6, 8], epochs=900)\n", []),
        ("KC411", MODEL.replace("(4,)", "(1,)") + "model.fit([a, b], z, epochs=900)\n", [7]),
        ("KC411", MODEL.replace("(4,)", "(1,)") + "model.fit(load(), np.array([2, 4, 6, 8]), epochs=900)\n", []),
        ("KC505", "strategy = tf.distribute.MirroredStrategy()\nwith strategy.scope():\n    " + MODEL.replace("\n", "\n    ") + "model.fit(x, y)\n", [5]),
        ("KC505", "# for multiple GPUs\nstrategy = tf.distribute.MirroredStrategy()\nwith strategy.scope():\n    " + MODEL.replace("\n", "\n    ") + "model.fit(x, y)\n", []),
        ("KC301", "from tensorflow.keras.applications.vgg16 import VGG16\nmodel = ready(VGG16)\nmodel.fit(x, y, epochs=9)\n", [7]),
        # All of a model that is known to the last layer is small, whatever else is imported.
        ("KC301", "from tensorflow.keras.applications.vgg16 import VGG16\n" + MODEL.replace("layers.Input((4,)), layers.Dense(8)", "layers.Conv2D(32, 3)") + "model.fit(x, y)\n", []),
        ("KC301", "from tensorflow.keras.applications.imagenet_utils import preprocess_input\nmodel = ready()\nmodel.fit(x, y, epochs=9)\n", []),
        # A comment above speaks of devices or of something else.
        ("KC308", "# train\nwith tf.device('/cpu:0'):\n    " + MODEL.replace("\n", "\n    ") + "model.fit(x, y)\n", [6]),
        ("KC308", "# the GPU has too little memory\nwith tf.device('/cpu:0'):\n    " + MODEL.replace("\n", "\n    ") + "model.fit(x, y)\n", []),
        ("KC305", "import tensorflow_probability as tfp\nnormal = tfp.distributions.Normal\nkeras.backend.set_floatx('float64')\n" + MODEL + "model.fit(x, y)\n", [7]),
        ("KC305", "import tensorflow_probability as tfp\nsolve = tfp.math.ode\nkeras.backend.set_floatx('float64')\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC311", "from tensorflow.keras.layers import *\nmodel = keras.Sequential([CuDNNGRU(8)])\n", [6]),
        ("KC311", "from project.layers import *\nmodel = keras.Sequential([CuDNNGRU(8)])\n", []),
        ("KC311", "from tensorflow.keras.layers import *\ndef CuDNNGRU(n): return Dense(n)\nmodel = keras.Sequential([CuDNNGRU(8)])\n", []),
        ("KC204", "class A(layers.Layer):\n    def call(self, x, training=None):\n        if self.rate > 0 and training:\n            x = layers.Dense(4)(x)\n        return x\nmodel = keras.Sequential([A()])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", [8]),
        ("KC204", "class A(layers.Layer):\n    def call(self, x, training=None):\n        if self.dense is None:\n            self.dense = layers.Dense(4)\n        return self.dense(x)\nmodel = keras.Sequential([A()])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", []),
        ("KC311", "def grow():\n    import tensorflow as flow\n    return flow.config.experimental.list_physical_devices('GPU')\n", [7]),
        ("KC311", "def grow():\n    import project as flow\n    return flow.config.experimental.list_physical_devices('GPU')\n", []),
        ("KC103", MODEL + "ds = tf.data.Dataset.from_tensor_slices({'a': a}).map(lambda x: tf.cast(x['a'], tf.float32)).batch(8)\nmodel.fit(ds)\n", [7]),
        ("KC103", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).map(lambda x: tf.cast(x, tf.float32)).batch(1)\nmodel.fit(ds)\n", []),
        ("KC108", MODEL + MAPPED.format("return self.x"), []),
        ("KC108", MODEL + MAPPED.format("return x") + "print(p.x)\n", [11]),
        # OpenCV and NumPy give the same for a file in each epoch; a draw does not.
        ("KC113", FILES.format("cv2.resize(cv2.imread(path.decode()), (9, 9))"), [13]),
        ("KC113", FILES.format("cv2.imread(path.decode()) * np.random.rand()"), []),
        # Steps that are computed are all of the data; a number may be a part of them.
        ("KC113", FILES.format("cv2.imread(path.decode())").replace("epochs=9", "epochs=9, steps_per_epoch=len(names()) // 8"), [13]),
        ("KC113", FILES.format("cv2.imread(path.decode())").replace("epochs=9", "epochs=9, steps_per_epoch=8"), []),
        ("KC113", FILES.format("cv2.VideoCapture(path.decode()).read()[1]"), [13]),
        ("KC113", FILES.format("np.float32(open(path.decode()).read().split())"), [13]),
        ("KC113", FILES.format("np.float32(open(path.decode()).readlines())"), [13]),
        ("KC113", FILES.format("np.float32(json.load(open(path.decode())))").replace("import cv2", "import json"), [13]),
        ("KC113", FILES.format("np.float32(open(path.decode(), 'w').write('1'))"), []),
        ("KC113", FILES.format("np.float32(open(path.decode(), mode).read())"), []),
        ("KC113", FILES.format("np.float32(path.decode().split())"), []),
        ("KC113", FILES.format("cv2.imread(path.decode()) + unknown(path)"), []),
        # So do other readers; what draws, and what keeps what it has read, does not.
        ("KC113", FILES.format("nib.load(path.decode()).get_fdata()").replace("import cv2", "import nibabel as nib"), [13]),
        ("KC113", FILES.format("pydicom.dcmread(path.decode()).pixel_array").replace("import cv2", "import pydicom"), [13]),
        ("KC113", FILES.format("h5py.File(path, 'r')['x'][:]").replace("import cv2", "import h5py"), [13]),
        ("KC113", FILES.format("rasterio.open(path.decode()).read(1)").replace("import cv2", "import rasterio"), [13]),
        ("KC113", FILES.format("librosa.resample(soundfile.read(path)[0], orig_sr=8, target_sr=4)").replace("import cv2", "import librosa, soundfile"), [13]),
        ("KC113", FILES.format("np.array(ImageOps.fit(Image.open(path.decode()), (9, 9)))").replace("import cv2", "from PIL import Image, ImageOps"), [13]),
        ("KC113", FILES.format("np.float32(Path(path.decode()).read_bytes())").replace("import cv2", "from pathlib import Path"), [13]),
        ("KC113", FILES.format("util.random_noise(io.imread(path.decode()))").replace("import cv2", "from skimage import io, util"), []),
        ("KC113", FILES.format("pd.read_csv(path.decode()).sample(9).values").replace("import cv2", "import pandas as pd"), []),
        ("KC113", FILES.format("kept[path] = cv2.imread(path.decode())"), []),
        ("KC113", FILES.format("images = np.zeros((2, 9))\n    images[0] = cv2.imread(path.decode())"), [14]),
        ("KC113", FILES.format("cv2.imread(path.decode())").replace("def read", "@functools.lru_cache\ndef read").replace("import cv2", "import cv2, functools"), []),
        ("KC113", CALLED.format("cv2.resize(cv2.imread(path.decode()), (self.size, 9))"), [15]),
        ("KC113", CALLED.format("cv2.imread(path.decode()) * unknown(self.size)"), []),
        ("KC113", FILES.format("np.float32(encoder.encode(path))").replace("import cv2", "import tensorflow_datasets as tfds\nencoder = tfds.deprecated.text.SubwordTextEncoder(names())"), [14]),
        ("KC115", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).batch(8).shuffle(9)\nmodel.fit(ds)\n", [7]),
        ("KC115", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).apply(tf.data.experimental.dense_to_ragged_batch(8)).shuffle(9)\nmodel.fit(ds)\n", [7]),
        ("KC115", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).padded_batch(8).shuffle(9)\nmodel.fit(ds)\n", [7]),
        ("KC115", MODEL + "a.sort(key=len)\nds = tf.data.Dataset.from_tensor_slices(a).padded_batch(8).shuffle(9)\nmodel.fit(ds)\n", []),
        ("KC115", MODEL + "a.sort()\nds = tf.data.Dataset.from_tensor_slices(a).padded_batch(8).shuffle(9)\nmodel.fit(ds)\n", [8]),
        ("KC115", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).bucket_by_sequence_length(len, [8], [4, 4]).shuffle(9)\nmodel.fit(ds)\n", [7]),
        ("KC115", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).shuffle(9).bucket_by_sequence_length(len, [8], [4, 4]).shuffle(9)\nmodel.fit(ds)\n", []),
        ("KC115", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).apply(tf.data.experimental.map_and_batch(read, 8)).shuffle(9)\nmodel.fit(ds)\n", [7]),
        ("KC115", MODEL + "ds = tf.data.Dataset.from_tensor_slices(a).apply(tf.data.experimental.map_and_batch(read, 1)).shuffle(9)\nmodel.fit(ds)\n", []),
        ("KC115", PREPARED.format("ds.batch(8)", "prepare(one).concatenate(prepare(two))"), [10]),
        ("KC115", PREPARED.format("ds.batch(8)", "tf.data.Dataset.zip((prepare(one), prepare(two)))"), [10]),
        ("KC115", PREPARED.format("ds.batch(8)", "prepare(one).concatenate(prepare(two.shuffle(9)))"), []),
        ("KC115", PREPARED.format("ds.batch(8)", "prepare(one).concatenate(two)"), []),
        ("KC115", PREPARED.format("ds", "prepare(one)"), []),
        ("KC115", "def load(paths):\n    return tf.data.TextLineDataset(paths).batch(8).shuffle(9).map(len)\n", [6]),
        ("KC115", "def load(paths):\n    return tf.data.TextLineDataset(paths).batch(2).shuffle(9).map(len)\n", []),
        ("KC115", "def load(paths):\n    return tf.data.TextLineDataset(paths).batch(8).map(len).shuffle(9)\n", []),
        ("KC115", "def train_data(paths):\n    return tf.data.TextLineDataset(paths).batch(8).map(len).shuffle(9)\n", [6]),
        ("KC115", MODEL + "ds = tf.data.Dataset.list_files('*').map(read).batch(8).shuffle(9)\nmodel.fit(ds)\n", []),
        ("KC115", MODEL + "ds = tf.data.Dataset.list_files('*', shuffle=False).map(read).batch(8).shuffle(9)\nmodel.fit(ds)\n", [7]),
        ("KC207", "@tf.function\ndef f(x): return x + np.random.rand()\nf(tf.ones(3))\n", [6]),
        ("KC207", "@tf.function\ndef f(x): return x + np.random.rand(3).astype('float32')\nf(tf.ones(3))\n", [6]),
        ("KC207", "@tf.function\ndef f(x):\n    np.random.seed(1)\n    return x + np.random.rand()\nf(tf.ones(3))\n", []),
        # What a decorator below made of a static method is static too.
        ("KC201", "class A:\n    def run(self, x, net): return self.go(x, net)\n    @staticmethod\n    @tf.function\n    def go(x, net): return net(x)\nA().run(np.ones(3), make())\n", []),
        ("KC201", "class A:\n    def run(self, x, net): return self.go(x, net)\n    @staticmethod\n    @tf.function\n    def go(x, net): return np.sin(x)\nA().run(tf.ones(3), make())\n", [9]),
        ("KC207", "@tf.function\ndef f(x): return x + tf.random.uniform((), seed=np.random.randint(9))\nf(tf.ones(3))\n", []),
        ("KC205", "@tf.function\ndef f(x):\n    for i in range(x.shape[1]): x += g(x[:, i])\n    return x\nf(tf.ones(load()))\n", [7]),
        ("KC205", "from tqdm import tqdm\n@tf.function\ndef f(x):\n    for i in tqdm(range(x.shape[1])): x += g(x[:, i])\n    return x\nf(tf.ones(load()))\n", [8]),
        ("KC205", "@tf.function\ndef f(x):\n    for i in range(x.shape[0]): x += g(x[i])\n    return x\nf(tf.ones(load()))\n", []),
        # Models of the tree, whose size follows from the layers that they hold.
        ("KC411", OWN.format("pass") + TINY.format(8), [14]),
        ("KC411", OWN.format("pass") + TINY.format(64), []),
        ("KC411", OWN.format("x = tf.linalg.inv(x)") + TINY.format(8), []),
        ("KC407", OWN.format("pass") + TINY.format(64), [13]),
        ("KC407", MODEL + "model.fit(np.ones((500, 4)), np.ones((500, 1)), epochs=1000)\n", [6]),
        ("KC407", MODEL + "model.fit(np.ones((400, 4)), np.ones((400, 1)), epochs=1000)\n", []),
        ("KC407", MODEL + "model.fit(np.ones((400, 4)), np.ones((400, 1)), epochs=20)\n", []),
        ("KC407", MODEL + "model.fit(load(), load(), steps_per_epoch=load(), epochs=load())\n", [6]),
        # A million weights, in batches that take a while and in smaller ones.
        ("KC407", MODEL.replace("(4,)", "(1000,)").replace("Dense(8)", "Dense(1000)") + "model.fit(load(), load(), epochs=20, batch_size=256)\n", []),
        ("KC407", MODEL.replace("(4,)", "(1000,)").replace("Dense(8)", "Dense(1000)") + "model.fit(load(), load(), epochs=20, batch_size=64)\n", [6]),
        # A Lambda has no weights; what its function does may still be long.
        ("KC407", LAMBDA.format("2 * v"), [10]),
        ("KC407", LAMBDA.format("tf.nn.conv1d(v, w, 1, 'SAME')"), []),
        ("KC411", MODEL.replace("(4,)", "(28, 28, 1)").replace("layers.Dense(8)", "layers.Convolution2D(8, 3), layers.MaxPool2D(), layers.Flatten()") + "model.fit(load(), load())\n", [7]),
        ("KC411", MODEL.replace("(4,)", "(99, 99, 1)").replace("layers.Dense(8)", "layers.Convolution2D(8, 3), layers.MaxPool2D(), layers.Flatten()") + "model.fit(load(), load())\n", []),
        ("KC411", MODEL.replace("(4,)", "(20, 9)").replace("layers.Dense(8)", "layers.LSTM(8)") + "model.fit(load(), load())\n", [7]),
        # Few rows cost many steps in many epochs.
        ("KC411", MODEL + "model.fit(np.ones((12, 4)), np.ones((12, 1)), batch_size=6, epochs=5000)\n", []),
        ("KC411", MODEL + "model.fit(np.ones((200, 4)), np.ones((200, 1)), batch_size=6, epochs=5000)\n", [7]),
        ("KC411", MODEL + "model.fit(np.ones((900, 4)), np.ones((900, 1)), epochs=40)\n", [7]),
        ("KC411", MODEL + "model.fit(np.ones((900, 4)), np.ones((900, 1)), epochs=20)\n", []),
        ("KC411", MODEL + "model.fit(load(), load(), batch_size=6, callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=show)])\n", [7]),
        ("KC411", MODEL + "model.fit(load(), load(), batch_size=6, callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=show)])\n", []),
        ("KC411", MODEL + "model.fit(keras.utils.timeseries_dataset_from_array(x, y, 4, batch_size=4))\n", [7]),
        ("KC402", EPOCHS.format("        print(float(loss))\n"), [18]),
        ("KC402", EPOCHS.format("        kept.append(np.sqrt(loss))\n"), [18]),
        ("KC402", EPOCHS.format("        kept.append(np.shape(loss))\n"), []),
        # Images that are put together with their labels, as one of several datasets.
        ("KC130", ZIPPED.format(".shuffle(5000)"), [8]),
        ("KC130", ZIPPED.format(".map(lambda x, y: (x, y)).shuffle(5000)"), [8]),
        ("KC130", ZIPPED.format(".shuffle(500)"), []),
        ("KC130", ZIPPED.format(".cache().shuffle(5000)"), []),
        # What a message says is not what the code is written for.
        ("KC412", "keras.callbacks.ModelCheckpoint('a.keras', save_freq=1, save_best_only=True)\n", [5]),
        ("KC412", "keras.callbacks.ModelCheckpoint('a.keras', monitor='loss', save_freq=1, save_best_only=True)\n", []),
        ("KC412", "os.environ['TF_USE_LEGACY_KERAS'] = '1'\nkeras.callbacks.ModelCheckpoint('a.keras', save_freq=1, save_best_only=True)\n", []),
        # A helper of a library may be for what runs eagerly; beside training, and in call itself, it is not.
        ("KC202", HELPED.format("self.total(x)"), []),
        ("KC202", HELPED.format("self.total(x)") + MODEL + "model.fit(x, y)\n", [7]),
        ("KC202", HELPED.format("tf.reduce_sum(x).numpy()"), [9]),
        ("KC202", HELPED.format("tf.reduce_sum(x).numpy() if not tf.is_tensor(x) else x"), []),
        # No string is a number, and what nobody sees may not allow it.
        ("KC310", "i = keras.Input((3,))\n" + NET, [7]),
        ("KC310", "i = keras.Input((3,), dtype='string')\n" + NET, []),
        ("KC310", "i = keras.Input((3,), dtype=tf.string)\n" + NET, []),
        ("KC310", "model = build()\nmodel.compile('adam', 'mse', jit_compile=False)\nmodel.fit(x, y, epochs=3)\n", []),
        ("KC206", MAP_FN.format("2 * v", "") + MODEL + "model.fit(x, y)\n", [7]),
        ("KC206", MAP_FN.format("tf.where(v > 0)", "") + MODEL + "model.fit(x, y)\n", []),
        ("KC206", MAP_FN.format("tf.where(v > 0, v, 0.0)", "") + MODEL + "model.fit(x, y)\n", [7]),
        ("KC206", MAP_FN.format("v", "").replace("v, x)", "v, tf.range(tf.shape(x)[0]))") + MODEL + "model.fit(x, y)\n", [7]),
        ("KC206", MAP_FN.format("v", "").replace("v, x)", "v, self.classes)").replace("    def call", "    def build(self, shape):\n        self.classes = tf.range(10)\n    def call") + MODEL + "model.fit(x, y)\n", []),
        ("KC206", MAP_FN.format("v", ", fn_output_signature=tf.RaggedTensorSpec([None])") + MODEL + "model.fit(x, y)\n", []),
        ("KC101", "def {}():\n    return tf.data.TextLineDataset('a').map(lambda x: x + tf.random.normal(())).batch(8)\n".format("load_pipeline"), [6]),
        ("KC101", "def {}():\n    return tf.data.TextLineDataset('a').map(lambda x: x + tf.random.normal(())).batch(8)\n".format("inference_pipeline"), []),
        ("KC311", "print(tf.data.experimental.AUTOTUNE)\n", [5]),
        ("KC311", "print(tf.data.experimental.AUTOTUNE, y.eval(feed_dict={x: 1}))\n", []),
        ("KC207", TALKS.format("", "False"), []),
        ("KC207", TALKS.format(", verbose=False", "verbose"), []),
        ("KC207", TALKS.format("", "True"), [12]),
        ("KC207", TALKS.format(", verbose=True", "verbose"), [12]),
        ("KC207", TALKS.format("", "False") + "    def talk(self):\n        self.verbose = True\n", [12]),
        # KerasTuner fits the models that a function or a HyperModel builds, with what it is given.
        ("KC407", CHOSEN + "tuner = kt.RandomSearch(build, max_trials=3)\ntuner.search(np.zeros((9999, 4)), y, epochs=20)\n", [11]),
        ("KC407", CHOSEN + "tuner = kt.RandomSearch(build, max_trials=3)\n", []),
        ("KC407", CHOSEN + "tuner = kt.RandomSearch(other, max_trials=3)\ntuner.search(np.zeros((9999, 4)), y, epochs=20)\n", []),
        ("KC407", CHOSEN + "tuner = kt.tuners.Hyperband(hypermodel=build)\ntuner.search(np.zeros((9999, 4)), y, epochs=20)\n", [11]),
        ("KC407", CHOSEN + "tuner = kt.Hyperband(build)\ntuner.get_best_models()[0].fit(np.zeros((9999, 4)), y, epochs=20)\n", [11]),
        ("KC407", CHOSEN + "tuner = kt.Hyperband(build)\ntuner.hypermodel.build(best).fit(np.zeros((9999, 4)), y, epochs=20)\n", [11]),
        ("KC407", CHOSEN + HYPER.format("") + "tuner.search(np.zeros((9999, 4)), y, epochs=20)\n", [11]),
        ("KC407", CHOSEN + HYPER.format("    def fit(self, hp, model, x, **more):\n        return model.fit(x, batch_size=8, epochs=20)\n") + "tuner.search(np.zeros((9999, 4)))\n", [11]),
        ("KC407", CHOSEN + HYPER.format("    def fit(self, hp, model, x, **more):\n        return model.evaluate(x)\n") + "tuner.search(np.zeros((9999, 4)))\n", []),
        ("KC407", TUNED.format("kerastuner as kt", 3, "Choice('units', [8, 64])") + "tuner = kt.BayesianOptimization(build)\ntuner.search(np.zeros((9999, 4)), y, epochs=20)\n", [11]),
        ("KC407", TUNED.format("keras_tuner as kt", 3, "Int('units', 8, 99999)") + "tuner = kt.BayesianOptimization(build)\ntuner.search(np.zeros((9999, 4)), y, epochs=20)\n", []),
        ("KC407", TUNED.format("keras_tuner as kt", 9999, "Int('units', 8, 64)") + "tuner = kt.BayesianOptimization(build)\ntuner.search(np.zeros((9999, 4)), y, epochs=20)\n", []),
        ("KC102", CHOSEN + BYTES + "tuner = kt.RandomSearch(build)\ntuner.search(ds, epochs=2, validation_data=ds)\n", [16]),
        ("KC102", CHOSEN + BYTES + "tuner = kt.RandomSearch(build)\ntuner.show(ds)\n", []),
        ("KC501", MIRRORED.format("for x in dist:\n    strategy.run(step, args=(x,))\n"), [11]),
        ("KC501", MIRRORED.format("for x in dist:\n    strategy.experimental_run_v2(step, args=(x,))\n"), []),
        ("KC501", CHOSEN + "strategy = tf.distribute.MirroredStrategy()\ntuner = kt.RandomSearch(build)\ntuner.search(x, y)\n", [7]),
        ("KC501", CHOSEN + "strategy = tf.distribute.MirroredStrategy()\ntuner = kt.RandomSearch(build, distribution_strategy=strategy)\ntuner.search(x, y)\n", []),
        # What a branch asks for is held out, as what a name says.
        ("KC107", ASKED.format("split == 'test'"), []),
        ("KC107", ASKED.format("split == Split.VALIDATION"), []),
        ("KC107", ASKED.format("split == 'train'"), [7]),
        ("KC107", ASKED.format("split != 'test'"), [7]),
        ("KC107", ASKED.format("is_training:\n        return None\n    else"), []),
        ("KC107", ASKED.format("split == 'train':\n        return None\n    else"), []),
        ("KC107", ASKED.format("other:\n        return None\n    else"), [9]),
        ("KC104", SINGLE.format("tf.parse_single_example(x, {'a': tf.FixedLenFeature([n], tf.float32)})"), [7]),
        ("KC104", SINGLE.format("tf.parse_single_example(x, {'a': tf.VarLenFeature(tf.float32)})"), []),
        # What a function is called by says that nobody trains on it.
        ("KC111", "def {}():\n    return keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2)\n".format("augmented"), [6]),
        ("KC111", "def {}():\n    return keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2)\n".format("for_validation"), []),
        # There is no other way to play a game in Python.
        ("KC203", GRAPH_GAME.format("env.step(action)"), []),
        ("KC203", GRAPH_GAME.format("table[action]"), [10]),
        # What is only made for inference is in no step of training.
        ("KC203", BRANCHED.format("mode == 'inference'"), []),
        ("KC203", BRANCHED.format("mode == 'training':\n        pass\n    else"), []),
        ("KC203", BRANCHED.format("mode == 'training'"), [9]),
        ("KC310", MODEL.replace("'mse'", "'mse', jit_compile=False") + "other = keras.Sequential([layers.Input((4,)), layers.Dense(1)])\nother.compile('adam', 'mse')\nother.fit(x, y)\n", []),
        ("KC310", MODEL.replace("'mse'", "'mse', jit_compile=False") + "model.fit(x, y)\n", [6]),
        # A layer that runs both ways gets as many time steps as the one around it.
        ("KC208", "model = keras.Sequential([layers.Input((1, 4)), layers.Bidirectional(layers.LSTM(8, activation='relu'))])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", []),
        ("KC208", "model = keras.Sequential([layers.Input((9, 4)), layers.Bidirectional(layers.LSTM(8, activation='relu'))])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", [5]),
        # Around a loop over single items, one over models changes nothing.
        ("KC405", "for path in paths():\n    model = keras.models.load_model(path)\n    for x in images():\n        x = np.expand_dims(x, 0)\n        model.predict(x)\n", [9]),
        ("KC405", "for path in paths():\n    model = keras.models.load_model(path)\n    for x in parts():\n        x = x / 255\n        model.predict(x)\n", []),
        # Beside epochs of their own, in a loop inside of the turn, a predict is short.
        ("KC405", MODEL + "for part in load():\n    for _ in range(50):\n        model.fit(part, part, epochs=1)\n    model.predict(part[:1])\n", []),
        ("KC405", MODEL + "for part in load():\n    for row in part:\n        model.fit(row[None], row[None])\n    model.predict(part[:1])\n", [10]),
        # Who has a function compiled on demand knows what that does.
        ("KC207", DEMAND.format("trace=False", "trace"), []),
        ("KC207", DEMAND.format("trace=True", "trace"), [11]),
        ("KC207", DEMAND.format("trace=False", "many"), [11]),
        # A property is read through its getter, whatever sets it.
        ("KC108", PROPERTY.format("self.scale(x)"), []),
        ("KC108", PROPERTY.format("self.keep(x)"), [7]),
        # Where the gradients are taken out of sight, the loss may be scaled there.
        ("KC304", HALF + "with tf.GradientTape() as tape:\n    loss = model(1)\noptimizer.apply_gradients(zip(tape.gradient(loss, []), []))\n", [9]),
        ("KC304", HALF + "optimizer.apply_gradients(zip(load(), []))\n", []),
        ("KC311", "flag(tf.data.experimental.AUTOTUNE, 'See \\'tf.contrib.distribute\\'.')\n", [5]),
        ("KC311", "# Like tf.contrib.distribute's.\nflag(tf.data.experimental.AUTOTUNE)\n", [6]),
        ("KC311", "def f(x):\n    \"\"\"Returns a \"tf.contrib\" cell.\n\n    Not more.\"\"\"\n    return x.prefetch(tf.data.experimental.AUTOTUNE)\n", [9]),
        ("KC311", "flag(tf.data.experimental.AUTOTUNE, 'a'), tf.contrib.b('c')\n", []),
        # The lookup begins a tower of a model, which its step calls.
        ("KC212", TOWERS.format("tfrs.Model", "compute_loss", "self.users(x)"), [9]),
        ("KC212", TOWERS.format("keras.Model", "train_step", "self.users(x)"), [9]),
        ("KC212", TOWERS.format("keras.Model", "call", "self.users(x)"), [9]),
        ("KC212", TOWERS.format("tfrs.Model", "compute_loss", "self.towers['a'](x)"), [9]),
        ("KC212", TOWERS.format("tfrs.Model", "prepare", "self.users(x)"), []),
        ("KC212", TOWERS.format("tfrs.Model", "compute_loss", "self.last(x)"), []),
        ("KC120", BYTES + MODEL + "model.fit(ds)\n", [7]),
        ("KC120", BYTES.replace("96, 96", "side, side") + MODEL + "model.fit(ds)\n", []),
        ("KC120", BYTES + MODEL + "for x in ds:\n    model.train_on_batch(x - 100.0, x)\n", []),
        ("KC120", BYTES + "# Trains a GAN.\n" + MODEL + "model.fit(ds)\n", [7]),
        ("KC120", BYTES + "class WGAN:\n    pass\n" + MODEL + "model.fit(ds)\n", []),
        ("KC120", BYTES + "dcgan_weights = 'a.h5'\n" + MODEL + "model.fit(ds)\n", []),
        ("KC120", BYTES + "ORGAN = 'liver'\n" + MODEL + "model.fit(ds)\n", [7]),
        ("KC602", EPOCHS.format(""), [18]),
        ("KC602", EPOCHS.format("    print(float(loss))\n"), []),
        ("KC602", EPOCHS.format("") + "boxes = tf.image.non_max_suppression(boxes, scores, 9)\n", []),
        # A part of a second is a time like another, and tells of speed where it is one per example.
        ("KC602", CLOCKED.format("m.update((time.time() - start) * 1e6)"), []),
        ("KC602", CLOCKED.format("m.update((time.time() - start) * 1e6 / 128)"), [13]),
        ("KC602", CLOCKED.format("m[n].append(time.time() - start)"), [13]),
        ("KC602", CLOCKED.format("m += [time.time() - start]"), [13]),
        ("KC602", CLOCKED.format("m.append(time.time())") + "print(np.diff(m))\n", []),
        ("KC602", CLOCKED.format("m.append(time.time())").replace("import time\n", "import time\nm = []\n") + "print(np.diff(m))\n", [14]),
        ("KC602", CLOCKED.format("m.append(time.time())\n    print(run(x))").replace("import time\n", "import time\nm = []\n") + "print(np.diff(m))\n", []),
        ("KC602", CLOCKED.format("m.update(60 * (time.time() - start) / len(x))"), [13]),
        # What a turn gets is in the memory of the host.
        ("KC402", EPOCHS.replace("load()", "tf.data.Dataset.range(900)").format("        kept.append(np.mean(x[:]))\n        print(float(loss))\n"), [19]),
        ("KC409", MODEL + "for i in range(9):\n    model.compile('adam', 'mse')\n    model.fit(x, y)\n", [8]),
        ("KC409", MODEL + "for name, each in {'a': model, 'b': model}.items():\n    for i in range(9): each.fit(x, y)\n    each.compile('adam', 'mse')\n", []),
        ("KC415", GAME.format("len(memory) > 32"), [12]),
        ("KC415", GAME.format("done"), []),
        ("KC603", MODEL + "for rate in (0.1, 0.2, 0.3, 0.4):\n    results[rate] = model.fit(x, y, batch_size=int(rate * 100))\n", [8]),
        ("KC603", "import gym\n" + MODEL + "for rate in (0.1, 0.2, 0.3, 0.4):\n    results[rate] = model.fit(x, y, batch_size=int(rate * 100))\n", []),
        ("KC101", "ds = tf.data.Dataset.from_tensor_slices(['a', 'b']).map(lambda x: tf.random.normal(()))\nmodel.fit(ds.batch(2))\n", []),
        ("KC101", "ds = tf.data.Dataset.from_tensor_slices(names).map(lambda x: tf.random.normal(()))\nmodel.fit(ds.batch(2))\n", [5]),
        ("KC202", "from tensorflow.python.framework import common_shapes\nclass A(layers.Layer):\n    def call(self, x):\n        if common_shapes.rank(x) > 2: x = x * 2\n        return x\nmodel = keras.Sequential([A()])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", []),
        ("KC202", "class A(layers.Layer):\n    def call(self, x):\n        if tf.reduce_sum(x) > 2: x = x * 2\n        return x\nmodel = keras.Sequential([A()])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", [7]),
        ("KC308", MODEL + "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nmodel.fit(x, y)\n", [8]),
        ("KC308", MODEL + "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nos.environ['TF_CONFIG'] = text\nmodel.fit(x, y)\n", []),
        # What is written to be off is off.
        ("KC207", SWITCHED.format("False"), []),
        ("KC207", SWITCHED.format("0"), []),
        ("KC207", SWITCHED.format("True"), [9]),
        # A callback under a name that nothing reads.
        ("KC412", MODEL + "board = keras.callbacks.TensorBoard('logs', histogram_freq=1)\nmodel.fit(x, y)\n", []),
        ("KC412", MODEL + "board = keras.callbacks.TensorBoard('logs', histogram_freq=1)\nmodel.fit(x, y, callbacks=[board])\n", [7]),
        # Noise of float32 does not go with a policy of 16 bits.
        ("KC301", BIG + SAMPLED.format("") + "model.fit(load(), load(), epochs=90)\n", [10]),
        ("KC301", BIG + SAMPLED.format(", dtype=x.dtype") + "model.fit(load(), load(), epochs=90)\n", [10]),
        # A model that fits itself leaves nothing to the fit of Keras.
        ("KC202", OWN_FIT.format("self.net(x)"), []),
        ("KC202", OWN_FIT.format("super().fit(x)"), [7]),
        ("KC202", OWN_FIT.format("keras.Model.fit(self, x)"), [7]),
        # Pictures of one size are padded to that.
        ("KC417", PADDED.format("tf.image.resize(x, (8, 8))"), []),
        ("KC417", PADDED.format("tf.cast(x, tf.float32)"), [9]),
        # Somebody watches.
        ("KC401", "import matplotlib.pyplot as plt\n" + OPTIMIZED + STEPS + "for x in load():\n    step(x)\n    plt.pause(0.1)\n", []),
        ("KC401", "import matplotlib.pyplot as plt\n" + OPTIMIZED + STEPS + "for i, x in enumerate(load()):\n    step(x)\n    if i % 9 == 0:\n        plt.pause(0.1)\n", [9]),
        # An attribute of the same name of something else.
        ("KC108", MODEL + MAPPED.replace("self.size = 3", "self.size = options.x").format("return self.x"), []),
        # The condition around a pipeline is not one within it.
        ("KC109", GENERATED.format("").replace("model.fit", "if train:\n    model.fit"), [8]),
        # What is written for Keras 1 does not meet Keras 3.
        ("KC414", MODEL + "model.fit_generator(load(), epochs=3)\n", [7]),
        ("KC414", "from mine import Net\nNet(args).model.fit(load(), epochs=3, workers=2)\n", [6]),
        ("KC414", "from mine import Net\nNet(args).fit(load(), steps_per_epoch=3, use_multiprocessing=True)\n", [6]),
        ("KC414", "import xgboost\nfrom mine import Net\nNet(args).fit(load(), epochs=3, workers=2)\n", []),
        ("KC414", MODEL + "model.fit_generator(load(), samples_per_epoch=len(x), nb_epoch=3)\n", []),
        ("KC212", "def read(): return layers.TextVectorization.from_config(load())\nmodel = keras.Sequential()\nmodel.add(read())\nmodel.add(layers.Embedding(9, 4))\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", [7]),
        ("KC212", "words = layers.TextVectorization()\ni = keras.Input((1,), dtype='string')\nmodel = keras.Model(i, layers.Embedding(9, 4)(words(i)))\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\nother = keras.Sequential([\n    words,\n    layers.Embedding(9, 8),\n])\nother.compile('adam', 'mse')\nother.fit(x, y)\n", [7, 11]),
        ("KC208", "model = keras.Sequential([layers.GRU.from_config(load())])\nmodel.fit(x, y)\n", []),
        ("KC407", "model = keras.Sequential([layers.Input((2,)), layers.Dense(8), layers.PReLU(), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(load(), load(), epochs=40)\n", [6]),
        ("KC414", "import os\nos.environ['KERAS_BACKEND'] = 'plaidml.keras.backend'\n" + MODEL + "model.fit_generator(load(), epochs=3)\n", []),
        ("KC414", "import os\n# os.environ['KERAS_BACKEND'] = 'plaidml.keras.backend'\n" + MODEL + "model.fit_generator(load(), epochs=3)\n", [9]),
        ("KC414", "import os\nif chosen:\n    os.environ['KERAS_BACKEND'] = 'plaidml.keras.backend'\n" + MODEL + "model.fit_generator(load(), epochs=3)\n", [10]),
        ("KC414", "import plaidml.keras\nplaidml.keras.install_backend()\n" + MODEL + "model.fit_generator(load(), epochs=3)\n", []),
        ("KC414", "nb_epoch = 3\n" + MODEL + "model.fit_generator(load(), epochs=nb_epoch)\n", [8]),
        ("KC414", "keras_2 = int(keras.__version__[0]) > 1\n" + MODEL + "if keras_2:\n    model.fit_generator(load())\n", []),
        # Python is where a decorator says so.
        ("KC201", "@tf.py_function(Tout=tf.bool)\ndef flags(x):\n    return np.zeros_like(x)\n" + HELPED.format("flags(x)"), []),
        # A generator reads what it is asked for; one row is one row.
        ("KC112", READER.format("yield images"), []),
        ("KC112", READER.format("return images"), [11]),
        ("KC411", MODEL + "for i in range(9000):\n    model.fit(state(), reward(), batch_size=4)\n", [8]),
        ("KC411", "import gym\nenv = gym.make('Game')\n" + MODEL + "for i in range(9000):\n    state, reward, done, info = env.step(0)\n    model.fit(state, reward, batch_size=4)\n", []),
        # Who asks an object of his own for something asks for no version.
        ("KC414", MODEL + "class Trainer:\n    def train(self):\n        if hasattr(self, 'validation'):\n            model.fit_generator(load())\n", [10]),
        ("KC414", MODEL + "if hasattr(model, 'fit_generator'):\n    model.fit_generator(load())\n", []),
        # A loop that does not play in a program that does.
        ("KC401", PLAYED.format("x = sample()"), [13]),
        ("KC401", PLAYED.format("x = env.step(0)"), []),
        # What a model of its own is fitted on has a shape.
        ("KC407", PICTURES + LAID_FLAT + "net.fit(x, y, epochs=9)\n", [13]),
        ("KC407", LAID_FLAT + "net.fit(x, y, epochs=9)\n", []),
        ("KC411", "model = keras.Sequential([layers.Input((3, 1)), layers.Bidirectional(layers.LSTM(10)), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y, epochs=9, batch_size=4)\n", [7]),
        # Beside functions that run saved graphs others run Keras.
        ("KC405", SAVED_GRAPH.format("graph"), [6]),
        ("KC405", SAVED_GRAPH.format("saved"), []),
        # Only models and layers are called with training=.
        ("KC405", "def detect(f, video):\n    for image in video:\n        if new:\n            f(image[None], training=False)\n        else:\n            f.predict(image[None])\n", [10]),
        ("KC405", "def detect(f, video):\n    for image in video:\n        if new:\n            f(image[None])\n        else:\n            f.predict(image[None])\n", []),
        ("KC405", "def detect(net, video):\n    for image in video:\n        net.predict(image[None])\n", [7]),
        ("KC405", "def detect(planet, video):\n    for image in video:\n        planet.predict(image[None])\n", []),
        # Nor has anything but a Keras model train_on_batch beside its predict.
        ("KC405", "def train(one, two):\n    for image in images():\n        two.train_on_batch(image, one.predict(image))\n", [7]),
        ("KC405", "def train(one, two):\n    for image in images():\n        two.update(image, one.predict(image))\n", []),
        # Which model it is does not depend on the item.
        ("KC405", "class Agent:\n    def __init__(self):\n        self.model = keras.models.load_model('a.keras')\n    def value(self, state, model=None):\n        net = model or self.model\n        return net.predict(state[None])\nagent = Agent()\nfor state in states():\n    agent.value(state, other)\n", [10]),
        # A dictionary of models inside of a loop over batches.
        ("KC405", PAIRED.format("models['b'].train_on_batch(images['a'], y)"), [8]),
        ("KC405", PAIRED.format("show(models)"), []),
        ("KC407", "model = keras.Sequential([layers.BatchNormalization(), layers.Dense(8), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(load(), load(), epochs=9)\n", [6]),
        # A module of layers needs no other word to be worth reading.
        ("KC204", "class Squeeze(layers.Layer):\n    def call(self, x):\n        return layers.Dense(8)(x)\n", [7]),
        # A program that has a mode for it; and whoever hides nothing by it may drop the switch.
        ("KC307", "x = tf.constant(1)\ntf.config.set_visible_devices(tf.config.list_physical_devices('CPU'), 'CPU')\n", []),
        ("KC307", "x = tf.constant(1)\ntf.config.set_visible_devices(tf.config.list_physical_devices('GPU'), 'GPU')\n", [6]),
        ("KC405", "from sklearn.decomposition import PCA\ndef run(net):\n    for x in load():\n        net.predict(x)\n        show(net.get_layer('a'))\n", [8]),
        ("KC405", "from sklearn.decomposition import PCA\ndef run(net):\n    for x in load():\n        net.predict(x)\n        show(net)\n", []),
        ("KC130", SHUFFLED.format(224, "512").replace("(224, 224)", "size()"), [6]),
        ("KC130", SHUFFLED.format(224, "400").replace("(224, 224)", "size()"), []),
        ("KC130", SHUFFLED.format(224, "5000").replace(".shuffle", ".take(n).shuffle"), [6]),
        ("KC130", SHUFFLED.format(224, "5000").replace(".shuffle", ".take(99).shuffle"), []),
        # Who sets the devices before an uncalled function is run is not seen; a table has no time steps; no training is left to slow down.
        ("KC309", MODEL + "model.fit(x, y)\ntf.debugging.set_log_device_placement(True)\ny = x @ x\n", []),
        ("KC309", MODEL + "tf.debugging.set_log_device_placement(True)\nmodel.fit(x, y)\n", [7]),
        ("KC309", MODEL + "tf.config.experimental.set_synchronous_execution(True)\nmodel.fit(x, y)\n", []),
        ("KC208", "model = keras.Sequential([layers.Input((9, 4)), layers.Flatten(), layers.LSTM(8, recurrent_dropout=0.1)])\nmodel.fit(x, y)\n", []),
        ("KC208", "model = keras.Sequential([layers.Input((9, 4)), layers.Dropout(0.1), layers.LSTM(8, recurrent_dropout=0.1)])\nmodel.fit(x, y)\n", [5]),
        # The decorator of call compiles it, whoever calls it.
        ("KC205", OPTIMIZED.replace("model =", "first =").replace("model.", "first.") + DECORATED.format("@tf.function\n    ") + STEPS + "for x in load():\n    step(x)\n", [12]),
        ("KC205", OPTIMIZED.replace("model =", "first =").replace("model.", "first.") + DECORATED.format("") + STEPS + "for x in load():\n    step(x)\n", []),
        # Attributes that other functions of the same trace read.
        ("KC108", MODEL + CUT.format("self.cut(x)"), []),
        ("KC108", MODEL + CUT.format("x") + "print(p.cut(0))\n", [11]),
        # A flag that the branch takes back, and one that stays.
        ("KC204", FLAGGED.format("self.adds = False"), []),
        ("KC204", FLAGGED.format("pass"), [12]),
        # Tensors from outside have their numbers.
        ("KC207", "total = tf.constant(1)\n@tf.function\ndef f(x):\n    print({})\n    return x\nf(total)\n".format("total"), []),
        ("KC207", "total = tf.constant(1)\n@tf.function\ndef f(x):\n    print({})\n    return x\nf(total)\n".format("x"), [8]),
        # Written to be off.
        ("KC405", "model = keras.models.load_model('a.keras')\nfor i in range(0):\n    for x in load():\n        model.predict(x)\n", []),
        ("KC405", "model = keras.models.load_model('a.keras')\nfor x in load():\n    y = model.predict(x)\n    axes[0].plot(y)\n", []),
        ("KC405", "model = keras.models.load_model('a.keras')\nfor x in load():\n    y = model.predict(x)\n    net.plot(y)\n", [7]),
        # The order is mixed again, what the map draws is not.
        ("KC114", MODEL + "ds = tf.data.Dataset.range(99).shuffle(99).cache().shuffle(9).batch(3)\nmodel.fit(ds, epochs=9)\n", []),
        ("KC114", MODEL + "ds = tf.data.Dataset.range(99).map(lambda x: tf.random.uniform([])).shuffle(99).cache().shuffle(9).batch(3)\nmodel.fit(ds, epochs=9)\n", [7]),
        ("KC401", "import tensorflow.contrib.eager as tfe\n" + OPTIMIZED + STEPS + "for x in load():\n    step(x)\n", []),
        ("KC104", MODEL + RECORDS.format(8), [9]),
        ("KC104", MODEL + RECORDS.format(1), []),
        ("KC130", SHUFFLED.format(224, "count").replace("ds =", "count = len(paths)\nds ="), [7]),
        ("KC130", SHUFFLED.format(224, "count").replace("ds =", "count = chosen()\nds ="), []),
        # Layers that a loop of a known length adds to a model of a known input.
        ("KC407", PICTURES + STACKED.format("9"), [11]),
        ("KC407", PICTURES + STACKED.format("9999"), []),
        ("KC407", PICTURES + STACKED.format("n"), []),
        ("KC407", PICTURES + MODEL + "model.fit(np.ones((1000, 4)), y, epochs=10)\n", [7]),
        ("KC407", PICTURES + MODEL + "model.fit(np.ones((1000, 4)), y, epochs=9)\n", []),
        ("KC411", OWN.format("pass").replace("    def call", "    def compute_output_shape(self, shape): return tf.TensorShape(shape)\n    def call") + TINY.format(8), [15]),
        # The arrays of scikit-learn's data have names and keys.
        ("KC411", "from sklearn.datasets import load_digits, load_iris\n" + MODEL + "model.fit(load_digits()['data'], y, batch_size=16)\n", [8]),
        ("KC411", "from sklearn.datasets import load_digits, load_iris\n" + MODEL + "model.fit(load_iris()['data'], y, batch_size=16)\n", []),
        # A menu builds one model and is left.
        ("KC408", MENU.format("break"), []),
        ("KC408", MENU.format("show(model)"), [7]),
        ("KC408", MENU.format("show(model)").replace("ask()", "input()"), []),
        # A number that the graph computes is no length for Python.
        ("KC205", "@tf.function\ndef f(x):\n    time_steps = x.shape[1]\n    for i in range(time_steps): x += g(x[:, i])\n    return x\nf(tf.ones(load()))\n", [8]),
        ("KC205", "@tf.function\ndef f(x):\n    time_steps = tf.shape(x)[1]\n    for i in range(time_steps): x += g(x[:, i])\n    return x\nf(tf.ones(load()))\n", []),
        ("KC206", MAP_FN.format("tf.sin(v)", "") + MODEL + "model.fit(x, y)\n", [7]),
        ("KC206", MAP_FN.format("self.last.assign(v)", "") + MODEL + "model.fit(x, y)\n", []),
        # What each trace counts from its start is for the trace.
        ("KC207", COUNTED.format("object", "0", "self.steps = 3\n        self.steps += 1"), []),
        ("KC207", COUNTED.format("object", "0", "self.other = 3\n        self.steps += 1"), [12]),
        # What stands in a handler is for when the other way fails.
        ("KC311", "try:\n    grow()\nexcept{}:\n    session = tf.compat.v1.ConfigProto()\n    session.gpu_options.allow_growth = True\n".format(""), []),
        ("KC311", "try:\n    grow()\nexcept{}:\n    session = tf.compat.v1.ConfigProto()\n    session.gpu_options.allow_growth = True\n".format(" KeyError"), [8]),
        # Dropout that stays on gives other numbers each time.
        ("KC405", MODEL + "model.fit(x, y)\npasses = [model.predict(x[:1]) for _ in range(99)]\n", [8]),
        ("KC405", MODEL + "model.fit(x, y)\npasses = [model.predict(np.expand_dims(x, 0)) for _ in range(99)]\n", [8]),
        ("KC405", MODEL + "model.fit(x, y)\npasses = [model.predict(x[:1]) for _ in names()]\n", []),
        ("KC405", MODEL + "model.fit(x, y)\npasses = [model.predict(x[:9999]) for _ in range(99)]\n", []),
        ("KC405", MODEL + "model.fit(x, y)\nfor _ in range(99):\n    model.predict(x[:1])\n", []),
        # A fit on one example is as short as a predict.
        ("KC405", MODEL + "for state in states():\n    model.fit(np.array([state]), model.predict(np.array([state])), epochs=3)\n", [8]),
        ("KC405", MODEL + "for state in states():\n    model.fit(state, model.predict(state), epochs=3)\n", []),
        ("KC415", MODEL + "for state in states():\n    model.fit(np.array([state]), y, epochs=3)\n", [8]),
        ("KC415", MODEL + "for state in states():\n    model.fit(state[None], y)\n", [8]),
        ("KC415", MODEL + "for state in states():\n    state = np.reshape(state, [1, 4])\n    model.fit(state, y)\n", [9]),
        ("KC415", MODEL + "for state in states():\n    state = np.reshape(state, [-1, 4])\n    model.fit(state, y)\n", []),
        ("KC405", "def dump(encoder, ds):\n    tf.compat.v1.reset_default_graph()\n    for x, y in ds:\n        show(x.numpy(), encoder.predict(x))\n", [8]),
        ("KC405", "def dump(encoder, ds):\n    tf.compat.v1.reset_default_graph()\n    for x, y in ds:\n        show(x, encoder.predict(x))\n", []),
        ("KC415", MODEL + "for state in states():\n    model.fit(np.array([state]), y, epochs=99)\n", []),
        ("KC415", MODEL + "for state in states():\n    model.fit(np.array([[a, b] for a, b in state]), y)\n", []),
        # A turn that trains on a batch predicts no more than that.
        ("KC405", MODEL + "for x in load():\n    model.train_on_batch(x, model.predict(x, batch_size=32))\n", [8]),
        ("KC405", MODEL + "for x in load():\n    model.evaluate(x, model.predict(x, batch_size=32))\n", []),
        # Loops over a few rows of a table.
        ("KC405", MODEL + "model.fit(x, y)\nfor row in table.head(min(5, len(table))).tolist():\n    model.predict(row)\n", []),
        ("KC405", MODEL + "model.fit(x, y)\nfor row in table.head(min(50, len(table))).tolist():\n    model.predict(row)\n", [9]),
        ("KC405", MODEL + "model.fit(x, y)\nfor row in x[: min(5, n)]:\n    model.predict(row)\n", []),
        ("KC405", MODEL + "model.fit(x, y)\nfor row in x[: max(5, n)]:\n    model.predict(row)\n", [9]),
        # Noise on each number is as light as dropout.
        ("KC407", MODEL.replace("layers.Dense(8)", "layers.Dense(8), layers.AlphaDropout(0.1)") + "model.fit(load(), load(), epochs=20)\n", [6]),
        ("KC411", MODEL.replace("layers.Dense(8)", "layers.Dense(8), layers.GaussianDropout(0.1)") + "model.fit(load(), load(), epochs=20, batch_size=4)\n", [7]),
        ("KC130", SHUFFLED.format(200, 2000).replace(".shuffle(2000)", ".apply(tf.data.experimental.shuffle_and_repeat(2000))"), [6]),
        # Who augments trains, wherever that is.
        ("KC111", "def data(x, y):\n    flow = keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2).flow(x, y)\n    return flow, y\n", [6]),
        ("KC111", "def data(x, y):\n    flow = keras.preprocessing.image.ImageDataGenerator(rescale=0.2).flow(x, y)\n    return flow, y\n", []),
        ("KC111", "def data(x, y):\n    flow = keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2).flow(x, y)\n    return y\n", []),
        ("KC111", "def data(x, y):\n    return {'augmented': keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2)}\n", [6]),
        ("KC111", "def data(x, y):\n    return keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2)\nshow(data(x, y))\n", []),
        ("KC111", "names = glob('*.' + 'ppm')\nflow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\nmodel.fit(flow)\n", []),
        ("KC601", "from timeit import default_timer as timer\n" + MODEL + "start = timer()\nmodel.predict(x)\nprint('time per image', timer() - start)\n", [10]),
        ("KC405", MODEL + "for x, y in load():\n    model.train_on_batch(x, y)\n    model.evaluate(x, y)\n", [9]),
        ("KC405", MODEL + "for x, y in load():\n    model.train_on_batch(x, y)\n    if late(): model.evaluate(x, y)\n", []),
        ("KC405", MODEL + "for x, y in load():\n    for a, b in x:\n        model.train_on_batch(a, b)\n    model.evaluate(x, y)\n", []),
        ("KC405", MODEL + "for x, y in load():\n    model.train_on_batch(x, y)\n    model.evaluate(held, out)\n", []),
        # A batch of one may go by a name.
        ("KC405", "model = keras.models.load_model('a.keras')\nfor path in names():\n    x = read(path)\n    x = np.expand_dims(x, axis=0)\n    model.predict(np.vstack([x]), batch_size=20)\n", [9]),
        ("KC405", "model = keras.models.load_model('a.keras')\nfor path in names():\n    x = np.expand_dims(path, axis=0)\n    x = read(x)\n    model.predict(np.vstack([x]), batch_size=20)\n", []),
        ("KC411", MODEL + "for state in states():\n    model.fit(state, y)\n", [8]),
        ("KC411", MODEL + "for state in states():\n    model.fit(np.array([state]), y)\n", []),
        ("KC206", "class Each(layers.Layer):\n    def call(self, x):\n        def late(lag): return tf.reduce_sum(x[lag:])\n        return tf.map_fn(late, tf.range(9))\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC206", "class Each(layers.Layer):\n    def call(self, x):\n        def late(lag): return tf.reduce_sum(x[3:]) + lag\n        return tf.map_fn(late, tf.range(9))\n" + MODEL + "model.fit(x, y)\n", [8]),
        # What goes in is handed over in each step.
        ("KC407", MODEL.replace("(4,)", "(8000,)") + "model.fit(load(), load(), epochs=20, batch_size=374)\n", [6]),
        ("KC407", MODEL.replace("(4,)", "(8000,)") + "model.fit(load(), load(), epochs=20, batch_size=376)\n", []),
        ("KC101", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a, tf.cast(b, tf.float32)), num_parallel_calls=1).batch(8))\n", []),
        ("KC101", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a / 255, tf.cast(b, tf.float32)), num_parallel_calls=1).batch(8))\n", [7]),
        # Who presses a key waits for the answer.
        ("KC405", "import cv2\nmodel = keras.models.load_model('a.keras')\nwhile True:\n    x, key = read(), cv2.waitKey(1)\n    if key == ord('s'):\n        model.predict(x)\n", []),
        ("KC405", "import cv2\nmodel = keras.models.load_model('a.keras')\nwhile True:\n    x, key = read(), cv2.waitKey(1)\n    if key == ord('q'):\n        break\n    model.predict(x)\n", [11]),
        ("KC411", MODEL + "model.fit(x[start : start + 10], y)\n", []),
        ("KC411", MODEL + "model.fit(x[start : start + 10000], y)\n", [7]),
        ("KC411", MODEL + "model.fit(x[:100], y)\n", []),
        # Gradient descent written out is as eager as any.
        ("KC401", MODEL + "w = tf.Variable(1.0)\nfor x in load():\n    with tf.GradientTape() as tape:\n        loss = w * x\n    w.assign_sub(0.1 * tape.gradient(loss, w))\n", [9]),
        ("KC401", MODEL + "w = tf.Variable(1.0)\nfor x in range(9):\n    with tf.GradientTape() as tape:\n        loss = w * x\n    w.assign_sub(0.1 * tape.gradient(loss, w))\n", []),
        ("KC401", MODEL + "w = tf.Variable(1.0)\nfor x in load():\n    w.assign_sub(x)\n", []),
        ("KC309", MODEL.replace("'mse'", "'mse', run_eagerly=True") + "model.fit(x[:64], y[:64], epochs=1)\n", []),
        ("KC309", MODEL.replace("'mse'", "'mse', run_eagerly=True") + "model.fit(x[:64], y[:64], epochs=90)\n", [6]),
        ("KC309", MODEL.replace("'mse'", "'mse', run_eagerly=True") + "model.fit(x, y, epochs=1)\n", [6]),
        # A few turns that are named are not every turn.
        ("KC405", GAN.replace("    fake = model.predict(noise)\n", "    fake = noise\n    if epoch == 1 or epoch == 5:\n        model.predict(noise)\n"), []),
        ("KC405", GAN.replace("    fake = model.predict(noise)\n", "    fake = noise\n    if epoch in (1, 5, 50):\n        model.predict(noise)\n"), []),
        ("KC405", GAN.replace("    fake = model.predict(noise)\n", "    fake = noise\n    if epoch == 1 or epoch > 5:\n        model.predict(noise)\n"), [11]),
        ("KC405", GAN.replace("    fake = model.predict(noise)\n", "    fake = noise\n    if state == 1:\n        model.predict(noise)\n"), [11]),
        ("KC124", "tf.config.experimental.enable_op_determinism()\n" + "def train():\n    model = keras.models.load_model('a')\n    model.fit(x, y)\n", [5]),
        ("KC124", "tf.config.experimental.enable_op_determinism()\n" + "def train():\n    model = keras.models.load_model('a')\n    model.predict(x)\n", []),
        ("KC405", MODEL + "model.fit(x, y)\nfor name in uploaded.keys():\n    x = np.expand_dims(read(name), axis=0)\n    model.predict(np.vstack([x]), batch_size=10)\n", []),
        ("KC405", MODEL + "model.fit(x, y)\nfor name in names:\n    x = np.expand_dims(read(name), axis=0)\n    model.predict(np.vstack([x]), batch_size=10)\n", [10]),
        ("KC207", COUNTED.format("object", "0", "if self.steps > 9:\n            self.steps = 9\n        self.steps += 1"), [13]),
        ("KC207", COUNTED.format("object", "0", "self.steps += 1\n        self.steps = 9"), [11]),
        # The larger the pictures, the fewer make a step.
        ("KC411", "model = keras.Sequential([layers.Input((64, 64, 3)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(load(), y, batch_size=16)\n", [7]),
        ("KC411", "model = keras.Sequential([layers.Input((96, 96, 3)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(load(), y, batch_size=16)\n", []),
        ("KC411", "model = keras.Sequential([layers.Input((96, 96, 3)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(load(), y, batch_size=4)\n", [7]),
        ("KC411", "model = keras.Sequential([layers.Input((x.shape[1],)), layers.Dense(8), layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y, batch_size=16)\n", [7]),
        ("KC405", MODEL + "for epoch in range(99):\n    for x, y in val_loader:\n        model.evaluate(x, y)\n", [9]),
        ("KC405", MODEL + "for name, (x, y) in sets.items():\n    model.evaluate(x, y)\n", []),
        ("KC405", MODEL + "for name, (x, y) in dataset.items():\n    model.evaluate(x, y)\n", []),
        # The environment is read when the runtime starts.
        ("KC307", "import os\n" + MODEL + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\nmodel.fit(x, y)\n", [8]),
        ("KC307", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC307", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n" + MODEL + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", []),
        ("KC307", "import os, subprocess\n" + MODEL + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\nmodel.fit(x, y)\n", []),
        ("KC307", "import os\n" + MODEL + "os.environ['TF_CPP_MIN_LOG_LEVEL'] = '1'\nmodel.fit(x, y)\n", []),
        # What a step hands back when it is done is no hindrance.
        ("KC401", "import gym\nenv = gym.make('Game')\n" + OPTIMIZED + STEPS.replace("return loss", "return loss.numpy()") + "def play():\n    env.step(0)\n    for x in load():\n        step(x)\nplay()\n", [10]),
        ("KC401", "import gym\nenv = gym.make('Game')\n" + OPTIMIZED + STEPS.replace("loss = tf.reduce_sum(model(x))", "loss = tf.reduce_sum(model(x.numpy()))") + "def play():\n    env.step(0)\n    for x in load():\n        step(x)\nplay()\n", []),
        ("KC128", "ds = tf.data.Dataset.range(9)\nds.repeat(2)\nmodel.fit(ds)\n", [6]),
        ("KC128", "ds = tf.data.Dataset.range(9)\nds.repeat(1)\nmodel.fit(ds)\n", []),
        # No tensor equals None, and Python is told so at once.
        ("KC202", "class Net(layers.Layer):\n    def call(self, x):\n        if tf.reduce_sum(x) == None:\n            return x\n        return 2 * x\nmodel = keras.Sequential([Net()])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", []),
        ("KC202", "class Net(layers.Layer):\n    def call(self, x):\n        if tf.reduce_sum(x) == 1:\n            return x\n        return 2 * x\nmodel = keras.Sequential([Net()])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", [7]),
        # What comes too late sets nothing.
        ("KC312", "gpus = tf.config.list_physical_devices('GPU')\ntf.config.experimental.set_memory_growth(gpus[0], True)\nmodel.fit(x, y)\n", [6]),
        ("KC312", MODEL + "gpus = tf.config.list_physical_devices('GPU')\ntf.config.experimental.set_memory_growth(gpus[0], True)\nmodel.fit(x, y)\n", []),
        ("KC124", "def seed(flag):\n    if flag:\n        tf.config.experimental.enable_op_determinism()\nseed(True)\n" + MODEL + "model.fit(x, y)\n", []),
        ("KC124", "def seed():\n    tf.config.experimental.enable_op_determinism()\nseed()\n" + MODEL + "model.fit(x, y)\n", [6]),
        ("KC124", MODEL + "if __name__ == '__main__':\n    tf.config.experimental.enable_op_determinism()\n    model.fit(x, y)\n", [8]),
        ("KC405", MODEL + "for epoch in range(99):\n    for x, y in val_loader:\n        model.evaluate(x, y, length)\n", []),
        ("KC309", "tf.config.run_functions_eagerly(True)\n" + OPTIMIZED + STEPS + "for x in load():\n    step(x)\n", []),
        ("KC412", MODEL + "callbacks = [keras.callbacks.TensorBoard('logs', histogram_freq=1)]\nmodel.fit(x, y)\n", []),
        ("KC301", BIG + "class Grid(layers.Layer):\n    def call(self, x):\n        return x * tf.linspace(0.0, 1.0, 9)\nGrid()(x)\nmodel.fit(x, y)\n", [11]),
        ("KC301", BIG + "class Grid(layers.Layer):\n    def call(self, x):\n        return x * tf.constant(np.array([0.5]))\nGrid()(x)\nmodel.fit(x, y)\n", [11]),
        ("KC301", BIG + "class Grid(layers.Layer):\n    def call(self, x):\n        return tf.pad(x, tf.constant([[0, 1]]))\nGrid()(x)\nmodel.fit(x, y)\n", [11]),
        ("KC301", "from tensorflow.python.keras import backend\n" + BIG + "model.fit(load(), load(), epochs=90)\n", []),
        ("KC301", "from tensorflow.python.keras.losses import MeanSquaredError\n" + BIG + "model.fit(load(), load(), epochs=90)\n", [8]),
        ("KC301", BIG + "model.fit(load(), steps_per_epoch=5, epochs=2)\n", []),
        ("KC301", BIG + "model.fit(load(), steps_per_epoch=6, epochs=2)\n", [7]),
        ("KC301", BIG_STEP + "for i in range(10):\n    step(i)\n", []),
        ("KC301", BIG_STEP + "for i in range(11):\n    step(i)\n", [13]),
        *(("KC301", DENSE + f"model.fit(x, y, batch_size={size})\n", lines) for size, lines in ((7, []), (8, [9]))),
        ("KC301", DENSE.replace("Dense(2000)", "Conv2D(512, 3)") + "model.fit(x, y, batch_size=1)\n", [9]),
        ("KC301", "import tensorflow_model_optimization as tfmot\n" + BIG + "q = tfmot.quantization.keras.quantize_model(model)\nq.fit(x, y, epochs=9)\n", []),
        # What goes into a dense layer counts as much as what comes out.
        ("KC301", "model = keras.Sequential([layers.Lambda(lambda x: x[:, -1:]), layers.Dense(512), layers.Dense(9)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", []),
        ("KC301", "model = keras.Sequential([layers.Lambda(lambda x: x[:, -1:]), layers.Dense(2048), layers.Dense(2048)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", [7]),
        ("KC301", "model = keras.Sequential([layers.Conv2D(32, 3), layers.Flatten(), layers.Dense(512), layers.Dense(9)])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", [7]),
        ("KC301", "i = keras.Input(shape=(512))\nmodel = keras.Model(i, layers.Dense(9)(layers.Dense(1024)(i)))\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", []),
        ("KC301", "layers.Conv2D(512, 3)(x)\nmodel = keras.models.clone_model(keras.models.load_model('a.keras'))\nmodel.fit(x, y, epochs=9)\n", []),
        ("KC301", "(x, y), _ = keras.datasets.imdb.load_data()\n" + DENSE + "model.fit(x, y)\n", []),
        ("KC301", "import cvnn.layers\n" + BIG + "model.fit(load(), load(), epochs=90)\n", []),
        ("KC301", "import tensorflow.compat.v1 as tf\n" + BIG + "model.fit(load(), load(), epochs=90)\n", []),
        # A stage for debugging hides nothing; the same model is reported once by hand and once by Keras.
        ("KC301", BIG_STEP + "if debug():\n    for x in load():\n        step(x)\nelse:\n    model.fit(load())\nmodel.fit(load())\n", [14, 17]),
        ("KC301", "for net in (keras.applications.ResNet50(), keras.applications.VGG16()):\n    net.fit(x, y)\n", [6]),
        ("KC301", BIG + "model.fit(x, y)\nmodel = keras.applications.VGG16()\nmodel.fit(x, y)\nmodel.fit(x, y)\n", [7, 9]),
        ("KC301", MODEL + "model.fit(x, y)\n" + BIG + "model.fit(x, y)\n", [10]),
        # What is out of sight is named.
        ("KC301", "import nets\nnet = nets.MyUNet(3)\nnet.fit(load(), epochs=9)\n", [7]),
        ("KC301", "from nets.resnet50 import build\nnet = build(3)\nnet.fit(load(), epochs=9)\n", [7]),
        *(("KC301", f"import nets\nnet = nets.{name}(3)\nnet.fit(load(), epochs=9)\n", [7]) for name in ("TFBertForPreTraining", "ResNet50", "MyUNet", "EfficientNetB0", "YOLOv3", "ViT")),
        *(("KC301", f"import nets\nnet = nets.{name}(3)\nnet.fit(load(), epochs=9)\n", []) for name in ("Subnet", "Sequential", "assign_densely", "Vitals")),
        ("KC301", "import nets\nnet = nets.Tiny(3)\nnet.fit(load(), epochs=9)\n", []),
        ("KC301", "import segmentation_models as sm\nnet = sm.create_model(3)\nnet.fit(load(), epochs=9)\n", [7]),
        ("KC301", "import keras_hub\nnet = keras_hub.models.TextClassifier.from_preset('a')\nnet.fit(load(), epochs=9)\n", [7]),
        ("KC301", "from transformers import AutoTokenizer\ntokenizer = AutoTokenizer.from_pretrained('a')\nnet = mine()\nnet.fit(load(), epochs=9)\n", []),
        ("KC301", "net = keras.Sequential([hub(), layers.Dense(9)])\nkeras.Sequential([layers.Conv2D(512, 3)])\nnet.fit(load(), epochs=9)\n", []),
        ("KC301", "net = keras.Sequential([hub(), layers.Dense(9)])\nlayers.Conv2D(512, 3)(x)\nnet.fit(load(), epochs=9)\n", [7]),
        ("KC301", "import tensorflow_datasets as tfds\nds = tfds.load('mnist', split='train')\n" + WIDE.format("(28, 28, 1)") + "model.fit(ds)\n", []),
        ("KC301", "import tensorflow_datasets as tfds\nds = tfds.load('mnist', split='train')\n" + WIDE.format("(224, 224, 3)") + "model.fit(ds)\n", [9]),
        ("KC301", ATTENTION.format(4, 16) + "model.fit(x, y)\n", []),
        ("KC301", ATTENTION.format(4, 64) + "model.fit(x, y)\n", [8]),
        # A choice of the user's leaves the GPU to others.
        ("KC301", BIG + "if options.cpu:\n    tf.config.set_visible_devices([], 'GPU')\nmodel.fit(x, y)\n", [9]),
        ("KC301", BIG + "if tf.config.list_physical_devices('GPU'):\n    tf.config.set_visible_devices([], 'GPU')\nmodel.fit(x, y)\n", []),
        ("KC301", BIG + "gpus = tf.config.list_physical_devices('GPU')\nif gpus:\n    tf.config.set_visible_devices([], 'GPU')\nmodel.fit(x, y)\n", []),
        ("KC301", "import os\n" + BIG + "if options.cpu:\n    os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nmodel.fit(x, y)\n", [10]),
        ("KC301", BIG + "keras.backend.set_floatx(options.x)\nmodel.fit(x, y)\n", []),
        ("KC301", "from absl import flags\nflags.DEFINE_string('precision', 'a', 'b')\n" + BIG + "model.fit(x, y)\n", []),
        ("KC301", BIG + "names = ['precision', 'recall']\nbox_loss_scale = 2\nmodel.fit(x, y)\n", [9]),
        ("KC301", BIG + "class Grid(layers.Layer):\n    def call(self, x):\n        return x * tf.sin(x)\nGrid()(x)\nmodel.fit(x, y)\n", [11]),
        ("KC111", "from tensorflow.keras.layers import *\nfrom tensorflow.keras.preprocessing.image import *\n" + MODEL + "model.fit(ImageDataGenerator().flow(x, y))\n", [9]),
    ],
)
def test_what_a_rule_says(tmp_path, rule, code, lines):
    (tmp_path / "train.py").write_text(HEAD + code)
    result = kerascheck("--isolated", "--pedantic", "--select", rule, "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert [finding["line"] for finding in json.loads(result.out)["findings"]] == lines


def test_a_method_predict_is_seen_from_the_loop_of_another_file(tmp_path):
    (tmp_path / "net.py").write_text(HEAD + "class Net:\n    def __init__(self):\n        self.model = keras.models.load_model('a.keras')\n    def predict(self, x):\n        return self.model.predict(x)\n")
    (tmp_path / "run.py").write_text(HEAD + "from net import Net\nnet = Net()\nfor x in load():\n    net.predict(x)\n")
    result = kerascheck("--isolated", "--select", "KC405", "--output-format", "json", "--exit-zero", str(tmp_path))
    found = [(finding["path"][-6:], finding["line"], finding["fix"] is None) for finding in json.loads(result.out)["findings"]]
    assert found == [("net.py", 9, False), ("run.py", 8, True)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pass", True), ("seen = []; seen.append(i)", True), ("image = image / self.scale", True),
        ("self.last = i", False), ("self.count += 1", False), ("self.remember(i)", False), ("self.cache[i] = image", False),
        ("self.seen.append(i)", False), ("self.buffer[0] = image", False), ("SEEN.append(i)", False), ("global n; n = i", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("apart", [False, True])
def test_items_that_change_what_outlives_them_are_read_by_one_worker(tmp_path, line, said, apart):
    files = (
        "import keras\nimport numpy as np\nfrom PIL import Image\nSEEN = []\nclass Files(keras.utils.PyDataset):\n    def __init__(self, paths, **kwargs):\n"
        "        super().__init__()\n        self.paths, self.cache, self.seen, self.scale = paths, {}, [], 255\n        self.count = 0\n        self.buffer = np.zeros((8, 8))\n"
        "    def remember(self, i): self.last = i\n    def __len__(self): return len(self.paths)\n    def __getitem__(self, i):\n"
        f"        image = np.asarray(Image.open(self.paths[i]))\n        {line}\n        return image, image\n"
    )
    (tmp_path / "files.py").write_text(files)
    (tmp_path / "train.py").write_text(HEAD + ("from files import Files\n" if apart else files) + MODEL + "model.fit(Files(load()), epochs=9)\n")
    result = kerascheck("--isolated", "--select", "KC110", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(("base", "own", "said"), [("keras.Model", "self(x)", []), ("Base", "self(x)", [True]), ("keras.Model", "super().predict(x)", [True])])
def test_a_model_that_is_not_seen_may_be_of_a_class_with_its_own_predict(tmp_path, base, own, said):
    (tmp_path / "net.py").write_text(HEAD + f"class Net({base}):\n    def call(self, x): return x\n\n    def predict(self, x, beams): return {own}\n")
    (tmp_path / "play.py").write_text(HEAD + "class Player:\n    def __init__(self, model): self.model = model\n    def play(self, xs):\n        for x in xs: self.model.predict(x)\n")
    (tmp_path / "run.py").write_text("from net import Net\nfrom play import Player\nplayer = Player(load(Net))\n")
    result = kerascheck("--isolated", "--select", "KC405", "--output-format", "json", "--exit-zero", str(tmp_path / "play.py"))
    assert [finding["fix"] is None for finding in json.loads(result.out)["findings"]] == said


@pytest.mark.parametrize(("printed", "place"), [("    print(float(loss))\n", ("run.py", 17)), ("", ("read.py", 6))])
def test_a_loop_that_reads_results_is_told_so_in_its_own_file(tmp_path, printed, place):
    (tmp_path / "read.py").write_text(HEAD + "def look(loss):\n    return loss.numpy()\n")
    (tmp_path / "run.py").write_text(HEAD + "from read import look\n" + OPTIMIZED + STEPS + "for x in load():\n    loss = step(x)\n    look(loss)\n" + printed)
    result = kerascheck("--isolated", "--select", "KC402", "--output-format", "json", "--exit-zero", str(tmp_path))
    (found,) = json.loads(result.out)["findings"]
    assert (found["path"].rpartition("/")[2], found["line"]) == place
    assert ["read.py" in str(related) for related in found["related"]] == ([False, False, True] if printed else [False, False])


@pytest.mark.parametrize(("called", "said"), [("", 0), ("train()\n", 1)])
def test_devices_of_a_program_that_is_not_seen(tmp_path, called, said):
    (tmp_path / "gpus.py").write_text(HEAD + "def setup():\n    for gpu in tf.config.list_physical_devices('GPU'):\n        tf.config.experimental.set_memory_growth(gpu, True)\n")
    (tmp_path / "train.py").write_text(HEAD + "from gpus import setup\ndef train():\n    x = tf.constant(1)\n    setup()\n" + called)
    result = kerascheck("--isolated", "--select", "KC307", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert len(json.loads(result.out)["findings"]) == said


@pytest.mark.parametrize(("cell", "severities"), [("ds.shuffle(9)\nprint(1)", ["error"]), ("ds.shuffle(9)", ["info"]), ("ds.map(f)", []), ("a\nb\nc\nds.batch(3)\nd", ["error"])])
def test_what_a_cell_throws_away_and_what_it_shows(tmp_path, cell, severities):
    cells = [{"cell_type": "code", "source": source} for source in (HEAD + "ds = tf.data.Dataset.range(9)", cell)]
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    result = kerascheck("--isolated", "--select", "KC128", "--output-format", "json", "--exit-zero", str(tmp_path / "train.ipynb"))
    assert [finding["severity"] for finding in json.loads(result.out)["findings"]] == severities


def test_devices_that_another_program_sets_too_late(tmp_path):
    growth = "for gpu in tf.config.list_physical_devices('GPU'):\n        tf.config.experimental.set_memory_growth(gpu, True)\n"
    (tmp_path / "train.py").write_text(HEAD + f"def main():\n    {growth}if __name__ == '__main__':\n    main()\n")
    (tmp_path / "all.py").write_text(HEAD + "from train import main\nx = tf.constant(1)\nmain()\n")
    result = kerascheck("--isolated", "--select", "KC307", "--output-format", "json", "--exit-zero", str(tmp_path))
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["path"][-6:], finding["line"], finding["related"][1]["path"][-8:], finding["fix"]) == ("all.py", 7, "train.py", None)


def test_a_model_that_a_module_beside_makes_with_old_keras(tmp_path):
    for old, lines in (("tensorflow.python.keras", []), ("tensorflow.keras", [3])):
        (tmp_path / "net.py").write_text(f"from {old}.models import Sequential\ndef make(): return Sequential([])\n")
        (tmp_path / "train.py").write_text("import net\nimport tensorflow as tf\nnet.make().fit_generator(load())\n")
        result = kerascheck("--isolated", "--select", "KC414", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
        assert [finding["line"] for finding in json.loads(result.out)["findings"]] == lines


@pytest.mark.parametrize(("pins", "said"), [("", 1), ("tensorflow==2.10\n", 0)])
def test_a_part_of_a_project_may_pin_what_it_needs(tmp_path, pins, said):
    (tmp_path / ".git").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "steps.py").write_text("import tensorflow as tf\n")
    (tmp_path / "train.py").write_text(HEAD + "from lib.steps import make\n" + MODEL + "model.fit(x, y, workers=4)\n")
    (tmp_path / "lib" / "requirements.txt").write_text(pins)
    result = kerascheck("--select", "KC414", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert len(json.loads(result.out)["findings"]) == said


@pytest.mark.parametrize(
    ("pins", "pedantic", "severities"),
    [
        ("tensorflow==2.3\n", True, []), ("tensorflow==2.10\n", True, ["info"]), ("tensorflow==2.10\n", False, []),
        ("tensorflow==2.20\n", True, ["error"]), ("tensorflow==2.20\n", False, ["error"]),
    ],
)  # fmt: skip
def test_what_is_gone_was_old_before(tmp_path, pins, pedantic, severities):
    (tmp_path / "requirements.txt").write_text(pins)
    (tmp_path / "train.py").write_text(HEAD + "from tensorflow.keras.mixed_precision import experimental as prec\nprec.set_policy('mixed_float16')\n")
    result = kerascheck("--select", "KC311", *["--pedantic"] * pedantic, "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert [finding["severity"] for finding in json.loads(result.out)["findings"]] == severities


@pytest.mark.parametrize(("name", "said"), [("read_file", False), ("RunMetadata", False), ("get_default_graph", False), ("io.read_file", True)])
def test_functions_that_only_tensorflow_1_has(tmp_path, name, said):
    (tmp_path / "train.py").write_text(HEAD + f"def read(path): return tf.{name}(path)\n" + MODEL + "model.fit_generator(load())\n")
    result = kerascheck("--isolated", "--select", "KC414,KC311", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(("name", "said"), [("RunMetadata", 0), ("io.read_file", 1)])
def test_a_module_of_tensorflow_1_is_so_whoever_runs_it(tmp_path, name, said):
    (tmp_path / "steps.py").write_text(HEAD + f"def look(): return tf.{name}('a')\ndef train(model): model.fit_generator(load())\n")
    (tmp_path / "main.py").write_text(HEAD + MODEL + "from steps import train\ntrain(model)\n")
    result = kerascheck("--isolated", "--select", "KC414", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert len(json.loads(result.out)["findings"]) == said


@pytest.mark.parametrize(
    ("pin", "severity"),
    [
        ("", "info"), ("tensorflow>=2.4,<3\n", "info"), ("tensorflow>=2.16\n", "info"),
        ("tensorflow==2.18.0\n", "error"), ("tensorflow>=2.16,<2.20\n", "error"), ("keras==3.4\n", "error"),
    ],
)  # fmt: skip
def test_what_is_gone_is_an_error_where_no_version_has_it(tmp_path, pin, severity):
    (tmp_path / "requirements.txt").write_text(pin)
    (tmp_path / "train.py").write_text(HEAD + MODEL + "print(tf.Session())\nmodel.fit_generator(load())\n")
    result = kerascheck("--select", "KC311,KC414", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    found = json.loads(result.out)["findings"]
    assert [finding["severity"] for finding in found] == [severity, "error"]
    assert ["is assumed" in finding["because"] for finding in found] == [severity == "info"] * 2


@pytest.mark.parametrize(("pin", "said"), [("tensorflow==2.1\n", 1), ("tensorflow==1.14\n", 0)])
def test_methods_of_datasets_are_older_than_other_new_names(tmp_path, pin, said):
    (tmp_path / "requirements.txt").write_text(pin)
    (tmp_path / "train.py").write_text(HEAD + "ds = tf.data.Dataset.range(9).batch(3).apply(tf.data.experimental.unbatch())\n")
    result = kerascheck("--pedantic", "--select", "KC311", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert len(json.loads(result.out)["findings"]) == said


@pytest.mark.parametrize(("picked", "severity", "fixed"), [("x", "warning", True), ("x['a']", "info", False)])
def test_what_a_map_leaves_out_may_be_of_any_shape(tmp_path, picked, severity, fixed):
    parse = "def parse(x): return tf.io.parse_single_example(x, features)\n"
    (tmp_path / "train.py").write_text(HEAD + parse + MODEL + PARSED.format(f"lambda x: tf.cast({picked}, tf.float32)"))
    result = kerascheck("--isolated", "--select", "KC103", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["severity"], finding["fix"] is not None) == (severity, fixed)


@pytest.mark.parametrize(
    ("use", "severities"),
    [
        ("model.fit(ds)", ["warning"]),
        ("def data(): return ds", ["info"]),
        ("metric = tfrs.metrics.FactorizedTopK(candidates=ds)", []),
        ("index.index_from_dataset(ds)", []),
        ("load(ds)", ["info"]),
    ],
)
def test_a_map_costs_where_it_is_trained_on(tmp_path, use, severities):
    maps = "ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: x + tf.random.normal(())).batch(8)\n"
    (tmp_path / "train.py").write_text(HEAD + MODEL + maps + use + "\n")
    result = kerascheck("--isolated", "--select", "KC101", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    found = json.loads(result.out)["findings"]
    assert [finding["severity"] for finding in found] == severities
    # Stateful, it is serial wherever it is used.
    assert all("runs one call at a time" in finding["message"] for finding in found)


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        (OWN.format("x = layers.Dense(8)(x)") + TINY.format(64), "error"),
        (OWN.format("x = layers.Dense(8)(x)") + "net = Net()\nnet(tf.ones((1, 9)))\nnet.save('net.keras'), tf.function(net)\n", "info"),
        ("@tf.function\ndef f(x): return tf.Variable(x)\nf(1.0)\n", "error"),
    ],
)
def test_state_that_is_made_where_nothing_trains(tmp_path, code, severity):
    (tmp_path / "train.py").write_text(HEAD + code)
    result = kerascheck("--isolated", "--select", "KC204", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert {finding["severity"] for finding in json.loads(result.out)["findings"]} == {severity}


@pytest.mark.parametrize(("between", "fixed"), [("", True), (".take(80)", False)])
def test_a_shuffle_that_deals_out_stays_before_the_cache(tmp_path, between, fixed):
    (tmp_path / "train.py").write_text(HEAD + MODEL + f"ds = tf.data.Dataset.from_tensor_slices(load()).shuffle(100){between}.cache().batch(8)\nmodel.fit(ds, epochs=3)\n")
    result = kerascheck("--isolated", "--select", "KC114", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["fix"] is not None) is fixed
    assert ("move cache() before" in finding["message"]) is fixed


@pytest.mark.parametrize(("inside", "fixed"), [("pass", True), ("print(float(loss))", False), ("other.predict(x)", False)])
def test_a_step_that_runs_python_is_not_decorated(tmp_path, inside, fixed):
    step = STEPS.replace("    return loss\n", f"    {inside}\n    return loss\n")
    (tmp_path / "train.py").write_text(HEAD + MODEL + "other = keras.models.load_model('a.keras')\noptimizer = keras.optimizers.SGD()\n" + step + "for x in load():\n    step(x)\n")
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["fix"] is not None) is fixed


@pytest.mark.parametrize(("beside", "said"), [("", True), ("gunicorn\n", False)])
def test_a_server_needs_no_gpu(tmp_path, beside, said):
    (tmp_path / "requirements.txt").write_text(f"tensorflow-cpu==2.15\n{beside}")
    result = kerascheck("--isolated", "--select", "KC701", "--output-format", "json", "--exit-zero", str(tmp_path / "requirements.txt"))
    assert bool(json.loads(result.out)["findings"]) is said


def test_keras_may_come_with_the_star_of_a_module_beside(tmp_path):
    (tmp_path / "model.py").write_text("from keras.models import *\nfrom keras.layers import *\ndef unet(): return Sequential([Dense(1)])\n")
    (tmp_path / "main.py").write_text("from model import *\nmodel = unet()\nmodel.fit_generator(load())\n")
    result = kerascheck("--isolated", "--select", "KC414", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [finding["line"] for finding in json.loads(result.out)["findings"]] == [3]


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
    (tmp_path / "images.py").write_text(reader + "".join(f"def helper_{number}(image):\n    return image + {number}\n" for number in range(100)))
    (tmp_path / "data.py").write_text(
        HEAD + "from images import read\nclass Photos(keras.utils.PyDataset):\n    def __init__(self, paths):\n        super().__init__()\n        self.paths = paths\n"
        "    def __getitem__(self, index):\n        return read(self.paths[index])\nclass Chosen(Photos):\n    def __init__(self, paths, **options):\n        super().__init__(paths)\n"
    )  # fmt: skip
    (tmp_path / "train.py").write_text(f"from data import Chosen, Photos\nfrom network import Net\npaths = []\n{line}\n")
    result = kerascheck("--isolated", "--select", "KC110", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [finding["line"] for finding in json.loads(result.out)["findings"]] == lines


def test_what_a_dataset_of_another_module_reads_is_seen_where_it_is_trained_on(tmp_path):
    (tmp_path / "data.py").write_text(
        HEAD + "import cv2\nclass Photos(keras.utils.PyDataset):\n    def __init__(self, paths):\n        super().__init__()\n        self.paths = paths\n"
        "    def __getitem__(self, index):\n        return cv2.imread(self.paths[index])\n"
    )  # fmt: skip
    (tmp_path / "train.py").write_text(HEAD + "from data import Photos\n" + MODEL + "model.fit(Photos(load()))\n")
    result = kerascheck("--isolated", "--select", "KC110", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert [finding["line"] for finding in json.loads(result.out)["findings"]] == [8]


def test_a_module_of_the_project_may_have_the_name_of_a_library(tmp_path):
    (tmp_path / "datasets.py").write_text(HEAD + "def batches(rows):\n    return tf.data.Dataset.from_tensor_slices(rows).map(load).batch(8)\n")
    (tmp_path / "train.py").write_text("from datasets import batches\n" + HEAD + MODEL + "model.fit(batches(x))\n")
    result = kerascheck("--isolated", "--pedantic", "--select", "KC102", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [Path(finding["path"]).name for finding in json.loads(result.out)["findings"]] == ["datasets.py"]


@pytest.mark.parametrize(("line", "found"), [("sys.path.insert(0, HERE + '/lib')", True), ("sys.path.append(HERE)", False)])
@pytest.mark.parametrize("linted", ["", "lib/flowers.py"])
def test_what_a_script_finds_in_a_folder_that_it_adds_to_the_search_path(tmp_path, line, found, linted):
    (tmp_path / ".git").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "flowers.py").write_text(HEAD + "def batches(rows):\n    return tf.data.Dataset.from_tensor_slices(rows).map(load).batch(8)\n")
    (tmp_path / "train.py").write_text(f"import os, sys\nHERE = os.path.dirname(__file__)\n{line}\nfrom flowers import batches\n" + HEAD + MODEL + "model.fit(batches(x))\n")
    result = kerascheck("--isolated", "--pedantic", "--select", "KC102", "--output-format", "json", "--exit-zero", str(tmp_path / linted))
    assert [Path(finding["path"]).name for finding in json.loads(result.out)["findings"]] == ["flowers.py"] * found


def test_what_a_module_beside_does_is_reported_where_it_stands(tmp_path):
    (tmp_path / "base.py").write_text(
        HEAD + "optimizer = keras.optimizers.SGD()\nkeras.backend.set_floatx('float64')\nmodel = keras.Sequential([layers.Dense(1)])\nclass Old:\n    "
        + STEPS.replace("\n", "\n    ") + "\ndef train(net):\n    for x in load():\n        net.step(x)\n"
    )  # fmt: skip
    (tmp_path / "main.py").write_text(
        HEAD + "from base import Old, model, optimizer, train\nclass New(Old):\n    " + STEPS.replace("(x)", "(self, x)", 1).replace("\n", "\n    ") + "\ntrain(New())\n"
    )
    result = kerascheck("--isolated", "--select", "KC401,KC305", "--output-format", "json", "--exit-zero", str(tmp_path / "main.py"))
    report = json.loads(result.out)
    assert not report["errors"]
    assert [(finding["code"], finding["line"]) for finding in report["findings"]] == [("KC401", 7)]


@pytest.mark.parametrize(("buffer", "applicability"), [("tf.data.AUTOTUNE", "safe"), ("2", "safe"), ("5000", "unsafe"), ("len(x)", "unsafe")])
def test_a_large_buffer_of_examples_is_no_buffer_of_batches(tmp_path, buffer, applicability):
    (tmp_path / "train.py").write_text(HEAD + MODEL + f"ds = tf.data.Dataset.from_tensor_slices(x).prefetch({buffer}).batch(8)\nmodel.fit(ds)\n")
    result = kerascheck("--isolated", "--pedantic", "--select", "KC125", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert finding["fix"]["applicability"] == applicability


@pytest.mark.parametrize(("layer", "severity"), [("LSTM(8, activation='relu')", "info"), ("LSTM(8, recurrent_dropout=0.1)", "warning")])
@pytest.mark.parametrize("steps", [5, 50, None])
def test_a_few_time_steps_are_a_few_turns(tmp_path, layer, severity, steps):
    (tmp_path / "train.py").write_text(HEAD + f"model = keras.Sequential([layers.Input(({steps}, 4)), layers.{layer}, layers.Dense(1)])\nmodel.fit(x, y)\n")
    result = kerascheck("--isolated", "--select", "KC208", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert finding["severity"] == (severity if steps == 5 else "warning")


@pytest.mark.parametrize(
    ("turns", "severity", "as_tracing"), [("100", "info", True), ("101", "info", False), ("1000", "info", False), ("1001", "warning", False), ("n", "warning", False)]
)
def test_a_thousand_eager_steps_take_seconds_and_a_hundred_as_long_as_tracing(tmp_path, turns, severity, as_tracing):
    (tmp_path / "train.py").write_text(HEAD + MODEL + "optimizer = keras.optimizers.SGD()\n" + STEPS + f"for i in range({turns}):\n    step(x)\n")
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["severity"], "tracing" in finding["because"]) == (severity, as_tracing)


@pytest.mark.parametrize(
    ("rule", "code", "severity"),
    [
        # What takes the place of a compiled step is not there to be compared with it.
        ("KC401", OPTIMIZED + "@tf.function\n" + STEPS + STEPS + "for x in load():\n    step(x)\n", "warning"),
        # What is counted by a comprehension, and what TensorFlow cannot count.
        ("KC122", COUNTING.format("len([_ for _ in ds])"), "warning"),
        ("KC122", MODEL + DATA + "model.fit(ds.as_numpy_iterator())\n", "error"),
        ("KC122", "import tensorflow_addons\n" + MODEL + DATA + "model.fit(ds.as_numpy_iterator())\n", "info"),
        ("KC122", MODEL + DATA + "model.fit(np.array(list(ds)), y)\n", "info"),
        ("KC122", COUNTING.format("len(list(ds.unbatch()))"), "info"),
        ("KC401", "@tf.function\ndef work(x): return tf.reduce_sum(model(x))\n" + OPTIMIZED + STEPS.replace("tf.reduce_sum(model(x))", "work(x)") + "for x in load():\n    step(x)\n", "info"),
        # A buffer of pictures, and one of as many as there are.
        ("KC130", SHUFFLED.format(224, "5000"), "warning"),
        ("KC130", SHUFFLED.format(224, "len(paths)"), "info"),
        # A switch that the program needs.
        ("KC309", "tf.config.run_functions_eagerly(True)\n" + OPTIMIZED + "@tf.function\n" + STEPS + "for x in load():\n    step(x)\n", "warning"),
        # What OpenCV reads TensorFlow reads too, but it does not draw.
        ("KC107", FILES.format("cv2.resize(cv2.imread(path), (64, 64))"), "warning"),
        ("KC107", FILES.format("cv2.line(cv2.imread(path), (0, 0), (9, 9), 255)"), "info"),
        # The backend that is there anyway.
        ("KC702", "import os\nos.environ['KERAS_BACKEND'] = 'tensorflow'\n", "pedantic"),
        ("KC702", "import os\nos.environ['KERAS_BACKEND'] = 'jax'\n", "error"),
        # The steps that a layer of the project makes may be open in the graph.
        ("KC209", OWN_STEPS.format("Steps()"), "info"),
        ("KC209", OWN_STEPS.format("layers.LSTM(4, return_sequences=True)"), "warning"),
        # Where nothing is compiled anyway.
        ("KC401", "tf.config.run_functions_eagerly(True)\n" + OPTIMIZED + STEPS + "for x in load():\n    step(x)\n", "info"),
        # A log is lines; a check of every number is work.
        ("KC309", MODEL + "tf.debugging.set_log_device_placement(True)\nmodel.fit(x, y)\n", "info"),
        ("KC309", MODEL + "tf.debugging.enable_check_numerics()\nmodel.fit(x, y)\n", "warning"),
        # What cannot be seen may need tensors with values.
        ("KC309", "model = make()\nmodel.compile('adam', 'mse', run_eagerly=True)\nmodel.fit(x, y)\n", "info"),
        ("KC309", MODEL.replace("'mse'", "'mse', run_eagerly=True") + "model.fit(x, y)\n", "warning"),
        ("KC309", "from mine import scale\n" + MAKING.format("scale(x)"), "info"),
        ("KC309", MAKING.format("tf.square(x)"), "warning"),
        ("KC309", MODEL.replace("'mse'", "loss_of(3), run_eagerly=True") + "model.fit(x, y)\n", "info"),
        # Without shapes fit raises where it is compiled.
        ("KC309", SHAPELESS.format(""), "info"),
        ("KC309", SHAPELESS.format("y.set_shape([4])"), "warning"),
        # The same step compiled, under another name, and another one.
        ("KC401", OPTIMIZED + LONG_STEPS + "@tf.function\n" + LONG_STEPS.replace("def step", "def fast") + "for x in load():\n    step(x)\nfor x in load():\n    fast(x)\n", "info"),
        ("KC401", OPTIMIZED + LONG_STEPS + "@tf.function\n" + LONG_STEPS.replace("def step", "def fast").replace("reduce_sum", "reduce_mean") + "for x in load():\n    step(x)\nfor x in load():\n    fast(x)\n", "warning"),
        # One lookup for a whole batch.
        ("KC101", LOOKED_UP.format(".batch(8)"), "info"),
        ("KC101", LOOKED_UP.format(""), "warning"),
        # A pass over the batches of a loader, and one in each epoch.
        ("KC405", PASS.format("for x, y in test_loader:\n    show(model.predict(x))\n"), "info"),
        ("KC405", PASS.format("for epoch in range(99):\n    model.train_on_batch(x, y)\n    for x, y in test_loader:\n        show(model.predict(x))\n"), "warning"),
        # What excites a model, and what it learns.
        ("KC401", MODEL + MOVED.format("x"), "info"),
        ("KC401", MODEL + "w = tf.Variable(1.0)\n" + MOVED.format("x, w"), "info"),
        ("KC401", MODEL + "w = tf.Variable(1.0)\n" + MOVED.format("*model.trainable_variables, w"), "warning"),
        ("KC401", "model = len\n" + MOVED.format("x"), "warning"),
        # A solver may need tensors with values.
        ("KC401", "from solvers import solve\ndef flow(t, x): return x\n" + OPTIMIZED + STEPS.replace("tf.reduce_sum(model(x))", "solve(flow, model(x))") + "for x in load():\n    step(x)\n", "info"),
        ("KC401", "from solvers import total\n" + OPTIMIZED + STEPS.replace("tf.reduce_sum(model(x))", "total(model(x))") + "for x in load():\n    step(x)\n", "warning"),
        ("KC401", MODEL + MOVED.format("z").replace("loss =", "z = x + 0\n        tape.watch([z])\n        loss ="), "info"),
        ("KC309", MAKING.format("layers.Dense(3)(x)"), "info"),
        ("KC309", MAKING.format("2 * x"), "warning"),
        ("KC401", OPTIMIZED + STEPS + "if options.mode == 'eager_tf':\n    for x in load():\n        step(x)\n", "info"),
        ("KC401", OPTIMIZED + STEPS + "if options.mode == 'plain':\n    for x in load():\n        step(x)\n", "warning"),
        ("KC401", OPTIMIZED + "# @tf.function: raises an error\n" + STEPS + "for x in load():\n    step(x)\n", "info"),
        ("KC401", OPTIMIZED + "# @tf.function\n" + STEPS + "for x in load():\n    step(x)\n", "info"),
        ("KC401", OPTIMIZED + STEPS + "for x in load():\n    optimizer._set_hyper('learning_rate', rate(x))\n    step(x)\n", "info"),
        ("KC401", OPTIMIZED + STEPS + "for x in load():\n    step(x)\noptimizer._set_hyper('learning_rate', rate(x))\n", "warning"),
        ("KC405", PASS.format("for i, path in enumerate(paths()):\n    faces[i % batch_size] = read(path)\n    if (i + 1) % batch_size == 0:\n        show(model.predict(faces))\n"), "info"),
        ("KC405", PASS.format("import time\nfor x in load():\n    start = time.time()\n    show(model.predict(x[None]))\n    print('latency', time.time() - start)\n"), "info"),
        ("KC405", PASS.format("import time\nfor x in load():\n    start = time.time()\n    print('latency', time.time() - start)\n    model.predict(x[None])\n"), "warning"),
        ("KC401", OPTIMIZED + STEPS.replace("def step", "def step_no_tf") + "for x in load():\n    step_no_tf(x)\n", "info"),
        ("KC401", OPTIMIZED + STEPS.replace("def step", "def step_notes") + "for x in load():\n    step_notes(x)\n", "warning"),
        ("KC401", OPTIMIZED + "# of a tf.function\n" + STEPS + "for x in load():\n    step(x)\n", "warning"),
        ("KC209", "model = keras.Sequential([layers.Input((None, 4)), layers.TimeDistributed(layers.Dense(3))])\nmodel.compile('adam', 'mse')\n", "info"),
        ("KC209", "model = keras.Sequential([layers.Input((None, 4)), layers.TimeDistributed(layers.Dense(3))])\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n", "info"),
        ("KC209", "model = keras.Sequential([layers.Input((None, 4)), layers.TimeDistributed(layers.Dense(3))])\nmodel.compile('adam', 'mse')\nmodel.fit(np.ones((9, 20, 4)), y)\n", "warning"),
        ("KC205", UNROLLED.format("self.batch_size"), "info"),
        ("KC205", UNROLLED.format("self.time_steps"), "warning"),
        ("KC309", "tf.config.run_functions_eagerly(True)\n" + OPTIMIZED + "@tf.function\n" + STEPS.replace("return loss", "return loss.numpy()") + "for x in load():\n    step(x)\n", "info"),
        *(
            ("KC309", "tf.config.run_functions_eagerly(True)\n" + OPTIMIZED + f"@tf.function\ndef work(x, y):\n    if {asked}:\n        keras.layers.Dense(3)(x)\n" + "@tf.function\n" + STEPS + "for x in load():\n    work(x, x)\n    step(x)\n", severity)
            for asked, severity in (("x.shape[-1] != y.shape[-1]", "info"), ("layer is None", "warning"))
        ),
        # Small models are overhead in any type.
        ("KC305", "keras.backend.set_floatx('float64')\n" + MODEL + "model.fit(load(), load())\n", "info"),
        ("KC305", "keras.backend.set_floatx('float64')\n" + MODEL.replace("(4,)", "(width,)") + "model.fit(load(), load())\n", "info"),
        ("KC305", "keras.backend.set_floatx('float64')\n" + MODEL.replace("(8)", "(8000)") + "model.fit(load(), load())\n", "warning"),
        ("KC108", "model.fit(tf.data.Dataset.range(9).map(lambda x: print(x)))\n", "warning"),
        ("KC108", "model.fit(tf.data.Dataset.range(9).map(lambda x: x + np.random.rand()))\n", "error"),
        # A model that compiles itself leaves little to Python.
        ("KC401", SELF_COMPILED.format(""), "warning"),
        ("KC401", SELF_COMPILED.format("@tf.function"), "info"),
        # Names of files go through Python, their contents do not.
        ("KC109", GENERATED.format(".map(lambda x: tf.io.decode_png(tf.io.read_file(x)))"), "info"),
        ("KC109", GENERATED.format(".map(lambda x: x * 2)"), "warning"),
        ("KC109", "def load_data(): return tf.data.Dataset.from_generator(names, tf.string).batch(8)\n", "info"),
        # A hundred predicts take ten seconds.
        ("KC405", MODEL + "model.fit(x, y)\nfor i in range(100):\n    model.predict(x[i])\n", "info"),
        ("KC405", MODEL + "model.fit(x, y)\nfor i in range(101):\n    model.predict(x[i])\n", "warning"),
        ("KC111", MODEL + "x = np.ones((99, 8, 8, 3))\nmodel.fit(keras.preprocessing.image.ImageDataGenerator().flow(x, y))\n", "info"),
        ("KC111", MODEL + "x = np.ones((99, 8, 8, 3))\nmodel.fit(keras.preprocessing.image.ImageDataGenerator(rotation_range=9).flow(x, y))\n", "warning"),
        ("KC115", DEALT.format("True"), "info"),
        ("KC115", DEALT.format("False"), "warning"),
        ("KC103", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices(x).map(tf.io.decode_png).map(lambda x: x / 255).batch(8))\n", "info"),
        ("KC103", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices(x).map(lambda x: x / 255).batch(8))\n", "warning"),
        # What a cache keeps is done once.
        ("KC101", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices(x).map(tf.image.random_flip_left_right).batch(8))\n", "warning"),
        ("KC101", MODEL + "model.fit(tf.data.Dataset.from_tensor_slices(x).map(tf.image.random_flip_left_right).cache().batch(8))\n", "info"),
        # TensorFlow has no such algorithm.
        ("KC203", ASSIGNED.format("scipy.optimize.linear_sum_assignment(x)") + FITTED, "info"),
        ("KC203", ASSIGNED.format("np.median(x)") + FITTED, "warning"),
        # Who uses the layer may call it eagerly.
        ("KC203", ASSIGNED.format("np.median(x)"), "info"),
        ("KC203", ASSIGNED.format("cv2.findContours(x, 1, 2)") + FITTED, "info"),
        ("KC203", ASSIGNED.format("cv2.resize(x, (8, 8))") + FITTED, "warning"),
        ("KC401", MODEL + "w = tf.Variable(1.0)\nfor x in load():\n    with tf.GradientTape() as tape:\n        loss = w * x\n    w.assign_sub(0.1 * tape.gradient(loss, w))\n", "info"),
        ("KC114", KEPT.format("False"), "info"),
        ("KC114", KEPT.format("True"), "warning"),
        ("KC209", "model = keras.Sequential([layers.GRU(4, batch_input_shape=(8, 20, 4), return_sequences=True), layers.TimeDistributed(layers.Dense(1))])\n", "info"),
        ("KC209", "model = keras.Sequential([layers.GRU(4, input_shape=(20, 4), return_sequences=True), layers.TimeDistributed(layers.Dense(1))])\n", "warning"),
        ("KC209", "model = keras.Sequential([layers.Input((2, 4)), layers.TimeDistributed(layers.Dense(1))])\n", "info"),
        ("KC209", "model = keras.Sequential([layers.Input((20, 4)), layers.TimeDistributed(layers.Dense(1))])\n", "warning"),
    ],
)
def test_how_much_it_matters(tmp_path, rule, code, severity):
    (tmp_path / "train.py").write_text(HEAD + code)
    result = kerascheck("--isolated", "--pedantic", "--select", rule, "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert ("pedantic" if finding["pedantic"] else finding["severity"]) == severity


def test_a_loop_that_makes_variables_is_told_to_make_them_before(tmp_path):
    step = "for x in load():\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(model(x) * tf.Variable(1.0))\n    optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))\n"
    (tmp_path / "train.py").write_text(HEAD + OPTIMIZED + step)
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert "create its tf.Variable once, outside it, and move the step into a function" in finding["message"]


@pytest.mark.parametrize(
    ("under", "behind", "told", "reads"),
    [
        ("", "", "decorate it", None),
        ("", "look(loss)", "move the code under its tape", 6),
        ("", "print(loss.numpy())", "move the code under its tape", 15),
        ("loss += look(loss)", "", "replace .numpy() by TensorFlow operations", 6),
        ("loss += np.mean(loss)", "", "replace np.mean by TensorFlow operations", 14),
        ("loss += np.mean([1, 2])", "", "move the code under its tape", None),
        ("print(loss.numpy())", "", "move the code under its tape", 14),
        ("loss += shape(loss)", "", "decorate it", None),
    ],
)
def test_a_step_that_reads_values_is_told_where(tmp_path, under, behind, told, reads):
    step = STEPS.replace("    optimizer", f"        {under or 'pass'}\n    {behind or 'pass'}\n    optimizer", 1)
    helpers = "def look(y):\n    return y.numpy().sum()\ndef shape(y): return np.sum(y.shape)\n"
    (tmp_path / "train.py").write_text(HEAD + helpers + OPTIMIZED + step + "for x in load():\n    step(x)\n")
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert told in finding["message"] and (finding["fix"] is None) is (told != "decorate it")
    assert [place["line"] for place in finding["related"][2:]] == ([reads] if reads else [])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "decorate it"),
        ("x = x[random.randrange(9)]", "move the code under its tape"),
        ("[].append(x)", "decorate it"),
        ("keep['loss'].append(x)", "move the code under its tape"),
        ("keep.last = x", "move the code under its tape"),
        ("x.pop('label')", "move the code under its tape"),
        ("[1].pop()", "decorate it"),
        ("model.log['loss'].append(x)", "move the code under its tape"),
        ("play()", "move the code under its tape"),
        ("noise()", "create its tf.Variable once"),
        ("keras.layers.Dense(3)(x)", "create the layer Dense once"),
        ("if keep is None: noise()", "decorate it"),
        ("keras.layers.Flatten()(x)", "decorate it"),
    ],
)
def test_what_cannot_be_compiled_is_not_told_to_be_decorated_as_it_is(tmp_path, line, told):
    step = STEPS.replace("    with", f"    {line}\n    with", 1)
    setup = "import gym\nimport random\nkeep = read()\nenv = gym.make('Game')\ndef noise(): return tf.Variable(0.0)\ndef play(): return env.step(0)\n" + MODEL + "optimizer = keras.optimizers.SGD()\n"
    (tmp_path / "train.py").write_text(HEAD + setup + step + "for x in load():\n    step(x)\n")
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert told in finding["message"]
    assert (finding["fix"] is None) is (told != "decorate it")


@pytest.mark.parametrize(
    ("turn", "needs_last"),
    [
        ("x = encode(text)\n    text += pick(model.predict(x))", True),
        ("x = np.zeros((1, 9))\n    for i, c in enumerate(text):\n        x[0, i] = index[c]\n    last = pick(model.predict(x))\n    text = text[1:] + last", True),
        ("text.append(model.predict(np.array([text[-9:]])))", True),
        ("act = np.argmax(model.predict(self.state[None]))\n    self.state, reward = play(act)", True),
        ("x = encode(path)\n    x = model.predict(x)\n    found = np.append(found, x)", False),
        ("found.append(model.predict(encode(path)))", False),
        ("x, y = read(path)\n    y = y - model.predict(x)\n    x = y", False),
        ("text = model.predict(encode(path))\n    show(text)", False),
    ],
)
def test_a_turn_that_needs_the_last_one(tmp_path, turn, needs_last):
    (tmp_path / "write.py").write_text(HEAD + MODEL + f"for path in paths():\n    {turn}\n")
    result = kerascheck("--isolated", "--select", "KC405", "--output-format", "json", "--exit-zero", str(tmp_path / "write.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert ("and depends on the one before; call predict_on_batch" in finding["message"]) is needs_last
    assert ("predict the whole array once" in finding["message"]) is not needs_last


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ("found.append(model.predict(encode(path)))", True),
        ("text += pick(model.predict(encode(text)))", False),
        ("x_batch = encode(path)\n    found.append(model.predict(x_batch))", False),
    ],
)
def test_predictions_of_old_keras(tmp_path, turn, said):
    (tmp_path / "write.py").write_text("import plaidml.keras\nplaidml.keras.install_backend()\n" + HEAD + MODEL + f"for path in paths():\n    {turn}\n")
    result = kerascheck("--isolated", "--select", "KC405", "--output-format", "json", "--exit-zero", str(tmp_path / "write.py"))
    assert [finding["severity"] for finding in json.loads(result.out)["findings"]] == ["info"] * said


@pytest.mark.parametrize(("loss", "told"), [("np.square(y)", "replace np.square by TensorFlow operations, and decorate it"), ("tf.square(y)", "; decorate it")])
def test_what_a_step_computes_by_numpy_is_to_be_rewritten(tmp_path, loss, told):
    step = STEPS.replace("tf.reduce_sum(model(x))", "total(model(x))")
    (tmp_path / "train.py").write_text(HEAD + f"def total(y):\n    return tf.reduce_sum({loss})\n" + OPTIMIZED + step + "for x in load():\n    step(x)\n")
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert told in finding["message"]
    assert (finding["fix"] is None) is ("np." in loss)


@pytest.mark.parametrize(("pin", "told"), [("keras==2.15", "get_scaled_loss(loss)"), ("keras>=3", "optimizer.scale_loss(loss)")])
def test_how_a_loss_is_scaled(tmp_path, pin, told):
    (tmp_path / "requirements.txt").write_text(pin + "\n")
    (tmp_path / "train.py").write_text(HEAD + HALF + "with tf.GradientTape() as tape:\n    loss = model(1)\noptimizer.apply_gradients(zip(tape.gradient(loss, []), []))\n")
    result = kerascheck("--isolated", "--select", "KC304", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert told in finding["message"]


@pytest.mark.parametrize(("method", "told"), [("call", "replace np.random.rand by TensorFlow operations, and move the code"), ("pick", "; move the code under its tape")])
def test_what_a_model_draws_is_to_be_drawn_by_tensorflow(tmp_path, method, told):
    net = f"class Net(keras.Model):\n    def {method}(self, x):\n        return x * np.random.rand()\nmodel, optimizer = Net(), keras.optimizers.SGD()\n"
    step = STEPS.replace("model(x)", f"model.{method}(x)")
    (tmp_path / "train.py").write_text(HEAD + net + step + "for x in load():\n    step(x)\n")
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert told in finding["message"]


@pytest.mark.parametrize(("second", "told"), [("keras.optimizers.Adam()", "per optimizer"), ("one", "decorate it")])
def test_a_step_that_is_handed_several_optimizers(tmp_path, second, told):
    setup = f"one = keras.optimizers.SGD()\nother = {second}\n" + STEPS.replace("(x):", "(x, optimizer):", 1)
    (tmp_path / "train.py").write_text(HEAD + MODEL + setup + "for x in load():\n    step(x, one)\nfor x in load():\n    step(x, other)\n")
    result = kerascheck("--isolated", "--select", "KC401", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert told in finding["message"]
    assert (finding["fix"] is None) is (told != "decorate it")


@pytest.mark.parametrize(("name", "said"), [("keras", True), ("keras_cpu", False)])
def test_an_environment_for_the_cpu_by_its_name(tmp_path, name, said):
    (tmp_path / "environment.yml").write_text(f"name: {name}\ndependencies:\n  - tensorflow=2.6.0=mkl_py39h3d85931_0\n")
    result = kerascheck("--isolated", "--select", "KC701", "--output-format", "json", "--exit-zero", str(tmp_path / "environment.yml"))
    assert len(json.loads(result.out)["findings"]) == said


@pytest.mark.parametrize(("command", "said"), [("python train.py", True), ("tensorboard --logdir logs", False)])
def test_an_image_that_shows_curves_needs_no_gpu(tmp_path, command, said):
    (tmp_path / "Dockerfile").write_text(f"FROM python:3.11\nRUN pip install tensorflow==2.15\nCMD {command}\n")
    result = kerascheck("--isolated", "--select", "KC701", "--output-format", "json", "--exit-zero", str(tmp_path / "Dockerfile"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(("pin", "said"), [("tf-nightly==1.14.1.dev20190312", False), ("keras-gpu==2.2.4", False), ("tf-nightly", True)])
def test_other_packages_of_tensorflow_and_keras_pin(tmp_path, pin, said):
    (tmp_path / "requirements.txt").write_text(pin + "\n")
    (tmp_path / "train.py").write_text(HEAD + MODEL + "model.fit_generator(load())\n")
    result = kerascheck("--isolated", "--select", "KC414", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert bool(json.loads(result.out)["findings"]) is said


def test_what_a_module_only_uses_for_its_applications_is_no_training_script(tmp_path):
    (tmp_path / "apply.py").write_text(HEAD + "model = keras.models.load_model('a.keras')\ndef run(files):\n    for x in files:\n        model.predict(x)\nif __name__ == '__main__':\n    run(load())\n")
    (tmp_path / "train.py").write_text(HEAD + MODEL + "import apply\nmodel.fit(x, y)\napply.run(load())\n")
    result = kerascheck("--isolated", "--select", "KC405", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [(finding["line"], finding["severity"]) for finding in json.loads(result.out)["findings"]] == [(8, "info")]


@pytest.mark.parametrize(("last", "said"), [("model.fit(x, y)", True), ("model(x)", False)])
def test_what_a_notebook_never_fits_may_run_eagerly(tmp_path, last, said):
    code = HEAD + MODEL.replace("'mse')", "'mse', run_eagerly=True)") + last
    cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "execution_count": None}
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    result = kerascheck("--isolated", "--select", "KC309", "--output-format", "json", "--exit-zero", str(tmp_path / "train.ipynb"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Dockerfile", "FROM tensorflow/tensorflow:latest-gpu\nENV TF_FORCE_GPU_ALLOW_GROWTH=true\n", []),
        (".env", "TF_FORCE_GPU_ALLOW_GROWTH=true\n", []),
        ("docker-compose.yml", "services:\n  train:\n    environment:\n      TF_FORCE_GPU_ALLOW_GROWTH: 'true'\n", []),
        ("Dockerfile", "FROM tensorflow/tensorflow:latest-gpu\n", [7]),
        ("notes.txt", "TF_FORCE_GPU_ALLOW_GROWTH=true\n", [7]),
    ],
)
def test_the_image_that_a_program_runs_in_may_let_memory_grow(tmp_path, name, text, said):
    (tmp_path / "src").mkdir()
    (tmp_path / name).write_text(text)
    (tmp_path / "src" / "train.py").write_text(HEAD + MODEL + "model.fit(x, y)\n")
    result = kerascheck("--isolated", "--select", "KC306", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [finding["line"] for finding in json.loads(result.out)["findings"]] == said


@pytest.mark.parametrize(("pin", "said"), [("keras==2.3.1", []), ("keras==2.4.3", [5])])
def test_what_stands_in_for_the_image_generator_came_with_keras_2_4(tmp_path, pin, said):
    (tmp_path / "requirements.txt").write_text(pin + "\n")
    (tmp_path / "train.py").write_text(HEAD + "flow = keras.preprocessing.image.ImageDataGenerator().flow_from_directory('a')\nmodel.fit(flow)\n")
    result = kerascheck("--isolated", "--select", "KC111", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert [finding["line"] for finding in json.loads(result.out)["findings"]] == said


@pytest.mark.parametrize(("shown", "other", "said"), [("0", "", 0), ("0,1", "", 1), ("0", "from setup_gpu import prepare\nprepare()\n", 1), ("0", "import main\n", 1)])
def test_a_script_that_imports_the_set_up_shows_one_gpu(tmp_path, shown, other, said):
    (tmp_path / "other.py").write_text(other)
    (tmp_path / "setup_gpu.py").write_text("import tensorflow as tf\ndef prepare():\n    tf.config.experimental.set_memory_growth(tf.config.list_physical_devices('GPU')[0], True)\n")
    (tmp_path / "main.py").write_text(f"import os\nfrom setup_gpu import prepare\nos.environ['CUDA_VISIBLE_DEVICES'] = '{shown}'\nprepare()\n")
    result = kerascheck("--isolated", "--select", "KC312", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert len(json.loads(result.out)["findings"]) == said


@pytest.mark.parametrize(("imported", "said"), [("from network import rate", [("network.py", 2)]), ("rate = 1", [])])
def test_a_module_that_is_imported_hides_the_gpus(tmp_path, imported, said):
    (tmp_path / "network.py").write_text("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nrate = 1\n")
    (tmp_path / "train.py").write_text(f"{imported}\n{HEAD}{MODEL}model.fit(x, y)\n")
    result = kerascheck("--isolated", "--select", "KC308", "--output-format", "json", "--exit-zero", str(tmp_path))
    assert [(Path(finding["path"]).name, finding["line"]) for finding in json.loads(result.out)["findings"]] == said


@pytest.mark.parametrize(
    ("flows", "told"),
    [
        ("keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2).flow_from_directory('a')", "image_dataset_from_directory"),
        ("keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2).flow_from_dataframe(table)", "Dataset of the paths"),
        ("keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2).flow(x, y)", "fit the arrays"),
        ("zip(keras.preprocessing.image.ImageDataGenerator(zoom_range=0.2).flow_from_directory('a'), masks)", "Dataset of path pairs"),
    ],
)
def test_what_to_use_in_place_of_an_image_generator(tmp_path, flows, told):
    (tmp_path / "train.py").write_text(HEAD + MODEL + f"model.fit({flows})\n")
    result = kerascheck("--isolated", "--select", "KC111", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert told in finding["message"]


def test_a_model_of_another_module_is_told_where_the_script_makes_it(tmp_path):
    (tmp_path / "models.py").write_text("from tensorflow import keras\ndef build():\n    return keras.Sequential([keras.layers.Dense(1)])\n")
    (tmp_path / "train.py").write_text("import tensorflow as tf\nfrom models import build\nstrategy = tf.distribute.MirroredStrategy()\nmodel = build()\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n")
    result = kerascheck("--isolated", "--select", "KC501", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert (Path(finding["path"]).name, finding["line"]) == ("train.py", 4)


def test_a_layer_beside_that_only_old_keras_runs(tmp_path):
    (tmp_path / "pooling.py").write_text("from keras.engine.topology import Layer\nclass Pool(Layer):\n    def call(self, x):\n        return x\n")
    code = "from pooling import Pool\nfrom keras import Sequential, layers\nmodel = Sequential([layers.Input((20, 4)), layers.TimeDistributed(layers.Dense(1)), Pool()])\n"
    (tmp_path / "train.py").write_text(code)
    result = kerascheck("--isolated", "--select", "KC209", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert finding["severity"] == "info"


@pytest.mark.parametrize(("made", "severity"), [("layers.Dense(8)(x)", "info"), ("x * 2", "warning")])
def test_a_long_module_of_layers_may_need_the_switch(tmp_path, made, severity):
    padding = "# A line of a long module.\n" * 200
    (tmp_path / "network.py").write_text(f"from tensorflow.keras import layers\n{padding}class Block(layers.Layer):\n    def call(self, x):\n        return {made}\n")
    (tmp_path / "train.py").write_text(HEAD + "from network import Block\ni = keras.Input((4,))\nmodel = keras.Model(i, Block()(i))\nmodel.compile('adam', 'mse')\nmodel.run_eagerly = True\nmodel.fit(x, y)\n")
    result = kerascheck("--isolated", "--select", "KC309", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert finding["severity"] == severity


@pytest.mark.parametrize(("given", "told"), [("", True), (", batch_size=len(memory)", False)])
def test_fit_makes_steps_of_32_where_train_on_batch_makes_one(tmp_path, given, told):
    (tmp_path / "train.py").write_text(HEAD + GAME.format("len(memory) > 32").replace("reward)", f"reward{given})"))
    result = kerascheck("--isolated", "--select", "KC415", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert ("steps of 32" in finding["because"]) is told


@pytest.mark.parametrize(("work", "epochs", "kept"), [("x * 2", 3, True), ("x * 2", 1, False), ("x * np.random.rand()", 3, False)])
def test_what_python_gives_again_in_each_epoch_can_be_kept(tmp_path, work, epochs, kept):
    code = f"import numpy as np\ndef scaled(x):\n    return {work}\nds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: tf.numpy_function(scaled, [x], tf.float32)).batch(32)\n"
    (tmp_path / "train.py").write_text(HEAD + code + f"model = keras.Sequential([layers.Dense(1)])\nmodel.compile('adam', 'mse')\nmodel.fit(ds, epochs={epochs})\n")
    result = kerascheck("--isolated", "--select", "KC107", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert ("or cache its result" in finding["message"]) is kept


@pytest.mark.parametrize(("line", "said"), [("session = tf.Session()", False), ("session = tf.compat.v1.Session()", True), ("import tensorflow.compat.v1 as tf\nsession = tf.Session()", True), ("if old:\n    session = tf.Session()", True)])
def test_what_a_script_of_tensorflow_1_imports_has_no_other_way_to_read_images(tmp_path, line, said):
    (tmp_path / "images.py").write_text(HEAD + IMAGES_MADE)
    (tmp_path / "train.py").write_text(f"import tensorflow as tf\nfrom images import images_of\n{line}\nold = True\nimages_of('train')\n")
    result = kerascheck("--isolated", "--select", "KC111", "--output-format", "json", "--exit-zero", str(tmp_path / "images.py"))
    assert bool(json.loads(result.out)["findings"]) is said


@pytest.mark.parametrize(
    ("folder", "line", "said"),
    [
        (".", "tf.config.run_functions_eagerly(True)", False),
        ("..", "tf.config.run_functions_eagerly(True)", False),
        (".", "tf.config.run_functions_eagerly(False)", True),
        (".", "pass", True),
    ],
)
def test_what_a_script_beside_it_runs_eagerly_is_not_compiled(tmp_path, folder, line, said):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "agent.py").write_text(HEAD + HELPED.format("tf.reduce_sum(x).numpy()"))
    (tmp_path / "agents" / folder / "main.py").write_text(f"import tensorflow as tf\nfrom {'agents.' * (folder == '..')}agent import Scaled\n{line}\nScaled()(1)\n")
    result = kerascheck("--isolated", "--select", "KC202", "--output-format", "json", "--exit-zero", str(tmp_path / "agents" / "agent.py"))
    assert bool(json.loads(result.out)["findings"]) is said


COUNTED = (
    "class Reader:\n    def __init__(self):\n        self.counter, self.seen, self.n = tf.Variable(0), [], 0\n    def read(self, path):\n        {}\n"
    "        return tf.image.random_flip_left_right(tf.io.decode_png(path))\n"
    "    def lines(self, path):\n        {}\n        return tf.data.TextLineDataset(path)\n"
    "reader = Reader()\n" + MODEL + "names = tf.data.Dataset.from_tensor_slices(load())\nmodel.fit(names.{}.batch(8))\n"
)


@pytest.mark.parametrize("written", ["self.counter.assign_add(1)", "self.n += 1", "self.seen.append(path)"])
@pytest.mark.parametrize(
    ("operation", "told"),
    [
        ("map(reader.read)", ["KC101"]),
        ("map(lambda path: reader.read(path))", ["KC101"]),
        ("map(reader.read, num_parallel_calls=1)", []),
        ("map(reader.read, num_parallel_calls=16)", []),
        ("interleave(reader.lines)", []),
        ("flat_map(reader.lines)", []),
        ("interleave(lambda path: tf.data.TextLineDataset(path).map(reader.read))", []),
    ],
)
def test_state_that_is_written_is_not_made_parallel(tmp_path, written, operation, told):
    def found(line):
        (tmp_path / "train.py").write_text(HEAD + COUNTED.format(line, line, operation))
        result = kerascheck("--isolated", "--pedantic", "--select", "KC101,KC105,KC116", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
        return json.loads(result.out)["findings"]

    assert [finding["code"] for finding in found("pass")] != [] and all("parallel" in finding["message"] for finding in found("pass"))
    assert [finding["code"] for finding in found(written)] == told
    assert not any(finding["fix"] or "parallel" in finding["message"] for finding in found(written))


@pytest.mark.parametrize(
    ("function", "applicability"),
    [("lambda x: x + weight", "safe"), ("lambda x: x + tf.random.normal(())", "unsafe"), ("load()", "unsafe"), ("lambda x: unseen(x) + weight", "unsafe")],
)
def test_what_is_not_in_sight_may_write_or_draw(tmp_path, function, applicability):
    code = f"from elsewhere import unseen\nweight = tf.Variable(1.0)\nmodel.fit(tf.data.Dataset.from_tensor_slices(load()).map({function}).batch(8))\n"
    (tmp_path / "train.py").write_text(HEAD + MODEL + code)
    result = kerascheck("--isolated", "--select", "KC101", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    (finding,) = json.loads(result.out)["findings"]
    assert finding["fix"]["applicability"] == applicability


@pytest.mark.parametrize(("call", "said"), [("fit_generator(load(), 100, 10)", False), ("fit(x, y, 10)", True), ("fit(x, y, epochs=9, batch_size=10)", True)])
def test_epochs_are_no_batch_size(tmp_path, call, said):
    (tmp_path / "train.py").write_text(HEAD + MODEL + f"model.{call}\n")
    result = kerascheck("--isolated", "--select", "KC411", "--output-format", "json", "--exit-zero", str(tmp_path / "train.py"))
    assert [finding["message"] for finding in json.loads(result.out)["findings"] if "10" in finding["message"]] != [] if said else "Batches of 10" not in result.out


@pytest.mark.parametrize(
    ("rule", "line", "fixed"),
    [
        ("KC122", "model.fit(ds.as_numpy_iterator(), epochs=3)", "model.fit(ds, epochs=3)"),
        ("KC122", "model.fit(x=ds.batch(4)\n    .as_numpy_iterator())", "model.fit(x=ds.batch(4))"),
        ("KC115", "model.fit(ds.padded_batch(4, padded_shapes=[None]).shuffle(100))", "model.fit(ds.shuffle(400).padded_batch(4, padded_shapes=[None]))"),
        ("KC115", "model.fit(ds.ragged_batch(4).shuffle(100))", "model.fit(ds.shuffle(400).ragged_batch(4))"),
    ],
)
def test_what_a_fix_writes(tmp_path, rule, line, fixed):
    head = HEAD + MODEL + "ds = tf.data.Dataset.from_tensor_slices(load())\n"
    (tmp_path / "train.py").write_text(f"{head}{line}\n")
    kerascheck("--isolated", "--select", rule, "--fix", "--unsafe-fixes", str(tmp_path / "train.py"))
    assert (tmp_path / "train.py").read_text() == f"{head}{fixed}\n"


@pytest.mark.parametrize(("rest", "fixed"), [("", True), ("model.fit(ds.cache(), epochs=9)\n", False)])
def test_a_prefetch_is_not_put_before_operations_that_follow(tmp_path, rest, fixed):
    chain = "ds = tf.data.Dataset.from_tensor_slices(load()).map(lambda x: tf.image.random_flip_up_down(x))\nds = ds.shuffle(100).batch(32)\n"
    (tmp_path / "train.py").write_text(HEAD + MODEL + chain + "model.fit(ds, epochs=9)\n" + rest)
    result = kerascheck("--isolated", "--target-tensorflow", "2.8", "--select", "KC102", "--output-format", "json", tmp_path)
    finding = next(finding for finding in json.loads(result.out)["findings"] if finding["line"] == 8)
    assert (finding["fix"] is not None) is fixed
