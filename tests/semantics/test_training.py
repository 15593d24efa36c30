"""What a program does when it runs: which steps are compiled, what happens before what, where it trains."""

import pytest
from snippets import IMPORTS, MODEL, load, written

from kerascheck.semantics.training import eager_steps, happens_before, is_expected_to_raise, is_guarded, makes_layer, turns, varies

TAPE = """\
with tf.GradientTape() as tape:
    loss = model(x)
opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


def step(name="step", parameters="x", indent=""):
    """A training step, with operations in a tape."""
    body = "".join(f"{indent}    {line}\n" for line in TAPE.splitlines())
    return f"{indent}def {name}({parameters}):\n{body}"


STEP = MODEL + "opt = keras.optimizers.Adam()\n" + step()
LOOP = "for x in load(): step(x)"
METHOD = step("step", "self, x", "    ")


def found(module):
    """The first word after ``def`` of every eager step; "with" for those written in a loop."""
    return [one.node.name.value if one.is_function else "with" for one in eager_steps(module)]


@pytest.mark.parametrize(
    ("under", "beside", "steps"),
    [
        ("pass", "pass", ["with"]),
        # Logs, which can move out of the step, and the environment of the process.
        ("log(loss.numpy())", "pass", ["with"]),
        ("losses.append(float(loss.numpy()))", "pass", ["with"]),
        ("pass", "n = os.environ.get('N')", ["with"]),
        ("reward = score(loss.numpy())", "pass", []),
        ("reward = space.decode(loss.numpy())", "pass", []),
        ("pass", "reward = space.decode(loss.numpy())", ["with"]),
        ("reward = env.get(loss)", "pass", []),
        ("pass", "reward = self.train_env.rewards()", []),
    ],
)
def test_steps_that_play(tmp_path, under, beside, steps):
    text = f"""
        import os
        from z import env, load, log, losses, score, self, space
        for x in load():
            {beside}
            with tf.GradientTape() as tape:
                loss = model(x)
                {under}
            opt.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
    """
    assert found(load(tmp_path, text, MODEL + "opt = keras.optimizers.Adam()\n")) == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (LOOP, ["step"]),
        ("for e in range(9):\n    for x in load():\n        loss = step(x)", ["step"]),
        ("def train(data):\n    for x in data: step(x)\ntrain(load())", ["step"]),
        ("def train(data):\n    for x in data: step(x)", ["step"]),
        ("def outer(x): return step(x)\nfor x in load(): outer(x)", ["step"]),
        ("while True:\n    step(next(it))", ["step"]),
        ("batches = []\nfor b in load(): batches.append(b)\nfor x in batches: step(x)", ["step"]),
        ("batches = [b for b in load()]\nfor x in batches: step(x)", ["step"]),
        ("for x in load()[1:]: step(x)", ["step"]),
        ("for x in tf.data.Dataset.range(3).batch(2): step(x)", ["step"]),
        ("s = tf.distribute.MirroredStrategy()\nfor x in load(): s.run(step, args=(x,))", ["step"]),
        ("import functools\nf = functools.partial(step)\nfor x in load(): f(x)", ["step"]),
        ("import functools\ndef log(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\nstep = log(step)\nfor x in load(): step(x)", ["step"]),
        # A few turns, a look, nothing that loops.
        ("step(load())", []),
        ("for i in range(10): step(load())", []),
        ("for i in range(4):\n    for j in range(4): step(load())", []),
        ("for x in load().take(3): step(x)", []),
        ("for x in load()[:5]: step(x)", []),
        ("for x in [1, 2, 3]: step(x)", []),
        ("def test_step():\n    for x in load(): step(x)", []),
        # Compiled in one form or another.
        (f"step = tf.function(step)\n{LOOP}", []),
        ("fast = tf.function(step, jit_compile=True)\nfor x in load(): fast(x)", []),
        (f"step = tf.function(jit_compile=True)(step)\n{LOOP}", []),
        (f"import functools\njit = functools.partial(tf.function, jit_compile=True)\nstep = jit(step)\n{LOOP}", []),
        (f"if args.graph:\n    step = tf.function(step)\n{LOOP}", []),
        # The same name compiled: compared in one place, another's method in the other.
        (f"{LOOP}\n@tf.function\ndef step(x): return update(x)", []),
        (f"{LOOP}\nclass Other:\n    @tf.function\n    def step(self, x): return update(x)", ["step"]),
        ("run = tf.function(step) if args.graph else step\nfor x in load(): run(x)", []),
        ("run = step\nif not args.eager: run = tf.function(run)\nfor x in load(): run(x)", []),
        (f"try:\n    step = tf.function(step)\nexcept Exception: pass\n{LOOP}", []),
        ("@tf.function\ndef outer(x): return step(x)\nfor x in load(): outer(x)", []),
        ("def train(data):\n    @tf.function\n    def one(x): return step(x)\n    for x in data: one(x)\ntrain(load())", []),
        ("@tf.function\ndef epoch(data):\n    for x in data: step(x)\nfor e in range(99): epoch(load())", []),
        ("f = tf.function(lambda x: step(x))\nfor x in load(): f(x)", []),
        ("steps = {'a': tf.function(step)}\nfor x in load(): steps['a'](x)", []),
        ("s = tf.distribute.MirroredStrategy()\n@tf.function\ndef go(x): s.run(step, args=(x,))\nfor x in load(): go(x)", []),
        ("s = tf.distribute.MirroredStrategy()\nstep = tf.function(step)\nfor x in load(): s.run(step, args=(x,))", []),
        (f"fast = tf.function(step)\nfast(0)\n{LOOP}", []),
        ("import jax\nstep = jax.jit(step)\nfor x in load(): step(x)", []),
        # Nobody can see what happens to it.
        ("from runner import run\nrun(step, load())", []),
        (f"from runner import compiled\nstep = compiled(step)\n{LOOP}", []),
        # Games run in Python anyway.
        ("import gym\nenv = gym.make('x')\nwhile True:\n    x = env.step(1)\n    step(x)", ["step"]),
        ("import gym\nenv = gym.make('x')\nwhile True:\n    x = env.step(1)\n    with tf.GradientTape() as tape: loss = model(x)\n    opt.apply_gradients(zip(tape.gradient(loss, v), v))", []),
    ],
)
def test_steps_that_run_eagerly(tmp_path, text, steps):
    assert found(load(tmp_path, f"{STEP}{text}\n")) == steps


GRADIENTS = """\
opt = keras.optimizers.Adam()
def gradients(x):
    with tf.GradientTape() as tape:
        loss = model(x)
    return loss, tape.gradient(loss, model.trainable_variables)
def train(x):
    loss, grads = gradients(x)
    opt.apply_gradients(zip(grads, model.trainable_variables))
"""
INLINE = "for x in load():\n    loss, grads = gradients(x)\n    opt.apply_gradients(zip(grads, model.trainable_variables))\n"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (INLINE, ["loss, grads = gradients(x)"]),
        ("for x in load(): train(x)", ["train"]),
        (f"with tf.GradientTape() as tape: loss = model(load())\nprint(tape.gradient(loss, v))\n{INLINE}", ["loss, grads = gradients(x)"]),
        ("for i in range(9):\n    loss, grads = gradients(load())\n    opt.apply_gradients(zip(grads, model.trainable_variables))", []),
        (f"gradients = tf.function(gradients)\n{INLINE}", []),
        (f"fast = tf.function(gradients)\n{INLINE}", []),
        (f"from runner import compiled\ngradients = compiled(gradients)\n{INLINE}", []),
        ("train = tf.function(train)\nfor x in load(): train(x)", []),
        # The gradients of the update come from elsewhere: one of the tapes of the turn is compiled.
        (f"@tf.function\ndef other(x):\n    with tf.GradientTape() as tape: loss = model(x)\n    return tape.gradient(loss, v)\nfor x in load():\n    gradients(x)\n    opt.apply_gradients(zip(other(x), v))", []),
        # A look at the gradients, in a loop before.
        ("for x in load(): print(gradients(x))\nfor x in load(): opt.apply_gradients(zip(elsewhere(x), v))", []),
    ],
)
def test_steps_whose_tape_is_in_a_function_of_its_own(tmp_path, text, steps):
    module = load(tmp_path, f"{MODEL}{GRADIENTS}{text}\n")
    assert [one.node.name.value if one.is_function else written(module, one.node) for one in eager_steps(module)] == steps


@pytest.mark.parametrize(
    ("decorator", "steps"),
    [
        ("", ["step"]),
        ("@tf.function", []),
        ("@tf.function()", []),
        ("@tf.function(jit_compile=True)", []),
        ("@tf.function(input_signature=[tf.TensorSpec([None])])", []),
        ("@tf.compat.v1.function", []),
        ("@graph", []),
        ("@jit", []),
        ("@maybe", []),
        ("@unknown", []),
        ("@unknown(1)", []),
        ("@tf.autograph.experimental.do_not_convert", ["step"]),
    ],
)
def test_decorators_of_a_step(tmp_path, decorator, steps):
    head = (
        f"{MODEL}from tensorflow import function as graph\nimport functools\nfrom somewhere import unknown\n"
        "jit = functools.partial(tf.function, jit_compile=True)\ndef maybe(f):\n    return tf.function(f) if GRAPH else f\n"
        "opt = keras.optimizers.Adam()\n"
    )
    assert found(load(tmp_path, f"{head}{decorator}\n{step()}{LOOP}\n")) == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (f"class T:\n{METHOD}    def train(self):\n        for x in load(): self.step(x)\nT().train()", ["step"]),
        (f"class T:\n{METHOD}    def train(self):\n        for x in load(): self.step(x)", ["step"]),
        (f"class T:\n    @tf.function\n{METHOD}    def train(self):\n        for x in load(): self.step(x)\nT().train()", []),
        (f"class T:\n    def __init__(self):\n        self.f = tf.function(self.step)\n{METHOD}    def train(self):\n        for x in load(): self.f(x)\nT().train()", []),
        (f"class T:\n    def __init__(self, graph):\n        if graph:\n            self.step = tf.function(self.step)\n{METHOD}    def train(self):\n        for x in load(): self.step(x)\nT(load()).train()", []),
        (f"class T:\n{METHOD}    def train(self):\n        for x in load(): self.step(x)\n    def compile(self):\n        self.step = tf.function(self.step)", []),
        (f"class B:\n    def train(self):\n        for x in load(): self.step(x)\nclass T(B):\n    @tf.function\n{METHOD}T().train()", []),
        (f"class B:\n    def __init__(self):\n        self.f = self.wrap(self.step)\n    def wrap(self, f): return tf.function(f)\n    def train(self):\n        for x in load(): self.f(x)\nclass T(B):\n{METHOD}T().train()", []),
        (f"class T:\n    @property\n    def fast(self):\n        return tf.function(self.step)\n{METHOD}    def train(self):\n        for x in load(): self.fast(x)\nT().train()", []),
        (f"class M(keras.Model):\n{METHOD.replace('step(', 'train_step(', 1)}m = M()\nm.compile('adam')\nfor e in range(99): m.fit(load())", []),
        (f"class M(keras.Model):\n    @tf.function\n{METHOD}m = M()\nfor x in load(): m.step(x)", []),
        (f"class M(keras.Model):\n{METHOD}m = M()\nfor x in load(): m.step(x)", ["step"]),
    ],
)
def test_steps_that_are_methods(tmp_path, text, steps):
    assert found(load(tmp_path, f"{MODEL}opt = keras.optimizers.Adam()\n{text}\n")) == steps


@pytest.mark.parametrize(
    ("around", "steps"),
    [
        ("for x in load():", ["with"]),
        ("for e in range(9):\n  for x in tf.data.Dataset.range(3):", ["with"]),
        ("def train():\n  for x in load():", ["with"]),
        ("@tf.function\ndef train():\n  for x in load():", []),
        ("for e in range(5):", []),
        ("class M(keras.Model):\n def train_step(self, x):\n  for i in load():", []),
    ],
)
def test_steps_written_in_their_loop(tmp_path, around, steps):
    inner = "".join(f"      {line}\n" for line in TAPE.splitlines())
    assert found(load(tmp_path, f"{MODEL}opt = keras.optimizers.Adam()\n{around}\n{inner}")) == steps


def test_a_compiled_step_of_another_module(tmp_path):
    steps = f"{IMPORTS}opt = keras.optimizers.Adam()\n@tf.function\n{step('step', 'model, x')}{step('slow', 'model, x')}"
    script = f"{MODEL}from steps import slow, step\nfor x in load(): step(model, x)\nfor x in load(): slow(model, x)\n"
    assert found(load(tmp_path, {"train.py": script, "steps.py": steps})) == ["slow"]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("first()\nsecond()", True),
        ("second()\nfirst()", False),
        ("if a:\n    first()\nsecond()", False),
        ("if a:\n    first()\n    second()", True),
        ("if a:\n    first()\nelse:\n    second()", False),
        ("first()\nif a:\n    second()", True),
        ("with first() as x:\n    second()", True),
        ("try:\n    first()\nexcept E:\n    second()", True),
        ("try:\n    pass\nexcept E:\n    first()\nsecond()", False),
        ("def f(): second()\nfirst()\nf()", True),
        ("def f(): first()\nf()\nsecond()", True),
        ("def f(): first()\nsecond()\nf()", False),
        ("def f(): first()\nif a: f()\nsecond()", False),
        ("first()\ndef f(): second()", True),
        ("def f(): first()\ndef g(): second()", False),
        ("def f(): first()\nsecond()", False),
        ("def f(x=first()): pass\nsecond()", True),
        ("class A:\n    x = first()\nsecond()", True),
        ("f = lambda: first()\nf()\nsecond()", True),
        ("x = first() if a else 0\nsecond()", False),
        ("if __name__ == '__main__':\n    first()\nsecond()", True),
        ("def main():\n    if a:\n        first()\n        return\n    second()\nmain()", False),
        ("import multiprocessing as mp\ndef f(): second()\nfirst()\nmp.Process(target=f).start()", False),
        ("import multiprocessing as mp\ndef f():\n    first()\n    second()\nmp.Process(target=f).start()", True),
        ("import threading\ndef f(): second()\nfirst()\nthreading.Thread(target=f).start()", True),
    ],
)
def test_what_has_certainly_run(tmp_path, text, before):
    text = text.replace("first()", "tf.random.uniform([])").replace("second()", "tf.random.normal([])")
    program = load(tmp_path, f"import tensorflow as tf\n{text}\n").program
    (first,), (second,) = program.calls("tensorflow.random.uniform"), program.calls("tensorflow.random.normal")
    assert happens_before(first, second) is before
    assert not happens_before(second, first) or not before


@pytest.mark.parametrize(
    ("text", "initialises"),
    [
        ("tf.constant(1)", True),
        ("tf.Variable(1)", True),
        ("tf.random.normal([2])", True),
        ("tf.config.list_logical_devices()", True),
        ("tf.config.experimental.list_logical_devices('GPU')", True),
        # It looks at devices of its own: what is set up afterwards is heeded (tried on TensorFlow 2.21).
        ("tf.test.is_gpu_available()", False),
        ("tf.distribute.MirroredStrategy()", True),
        ("tf.data.Dataset.range(3)", True),
        ("keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])", True),
        ("keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])", True),
        ("keras.layers.Dense(1)(keras.Input((3,)))", True),
        ("keras.models.load_model('x')", True),
        ("keras.applications.ResNet50()", True),
        ("def f():\n    tf.constant(1)\nf()", True),
        ("keras.Sequential([keras.layers.Dense(1)])", False),
        ("keras.Input((3,))", False),
        ("keras.layers.Dense(1)", False),
        ("keras.losses.MeanSquaredError()", False),
        ("tf.config.list_physical_devices('GPU')", False),
        ("tf.random.set_seed(1)", False),
        ("keras.utils.set_random_seed(1)", False),
        ("keras.mixed_precision.set_global_policy('mixed_float16')", False),
        ("tf.TensorSpec([None])", False),
        ("tf.io.FixedLenFeature([], tf.string)", False),
        ("@tf.function\ndef f():\n    return tf.constant(1)", False),
        ("def f():\n    tf.constant(1)", False),
        ("if args.test:\n    tf.constant(1)", False),
        ("tf.get_logger().setLevel('ERROR')", False),
        ("keras.backend.clear_session()", False),
    ],
)
def test_what_initialises_the_devices(tmp_path, text, initialises):
    program = load(tmp_path, f"{IMPORTS}{text}\ntf.config.experimental.set_memory_growth(gpu, True)\n").program
    (growth,) = program.calls("tensorflow.config.experimental.set_memory_growth")
    assert (program.initialising_call(growth) is not None) is initialises


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
        ("from sklearn.base import BaseEstimator\nclass M(BaseEstimator): pass\n", "M().fit_generator(1)", False),
        ("class M: pass\n", "M().fit(1, epochs=3)", False),
        ("from mine import Base\nclass M(Base): pass\n", "M().fit_generator(1)", True),
    ],
)
def test_models_are_told_from_other_estimators(tmp_path, head, call, is_one):
    module = load(tmp_path, f"{IMPORTS}{head}{call}\n")
    assert len(list(module.program.model_calls("fit", "fit_generator"))) == is_one


@pytest.mark.parametrize(
    ("loops", "number"),
    [
        ("for i in range(3):", 3),
        ("for i in range(2, 10, 2):", 4),
        ("N = 5\nfor i in range(N):", 5),
        ("for i in range(n):", None),
        ("for i in range(3):\n for j in range(4):", 12),
        ("for i in range(3):\n for j in load():", None),
        ("for i in [1, 2]:", 2),
        ("for i in (1, 2, *load()):", None),
        ("for i in {'a': 1}:", 1),
        ("for k, v in {'a': 1, 'b': 2}.items():", 2),
        ("for i in enumerate(range(3)):", 3),
        ("for i in zip(range(3), load()):", 3),
        ("from tqdm import trange\nfor i in trange(7):", 7),
        ("import tqdm\nfor i in tqdm.tqdm(range(7)):", 7),
        ("for x in tf.data.Dataset.range(9).take(4):", 4),
        ("for x in tf.data.Dataset.range(9).take(4).repeat():", None),
        ("for x in tf.data.Dataset.range(9):", None),
        ("for x in load()[:4]:", 4),
        ("for x in load()[2:4]:", 2),
        ("for x in load()[2:]:", None),
        ("a = []\nfor x in load(): a.append(x)\nfor x in a:", None),
        ("while True:", None),
        ("def f(n):\n for i in range(n):", None),
    ],
)
def test_turns_of_loops(tmp_path, loops, number):
    module = load(tmp_path, f"{IMPORTS}{loops}\n     tf.print(1)\n")
    (call,) = module.program.calls("tensorflow.print")
    assert turns(call.scope) == (float("inf") if number is None else number)


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("for x in load(): tf.print(x)", True),
        ("for x in load(): tf.print(y)", False),
        ("for x in load():\n    y = x + 1\n    tf.print(y)", True),
        ("for i in range(9): tf.print(data[i])", True),
        ("def f(v): tf.print(v)\nfor x in load(): f(x)", True),
        ("def f(v): tf.print(w)\nfor x in load(): f(x)", False),
        ("def f(v): tf.print(v)\nfor x in load(): f(y)", False),
        ("[tf.print(x) for x in load()]", True),
        ("[tf.print(y) for x in load()]", False),
        ("tf.print(x)", False),
        ("n = 0\nwhile n < 9:\n    n += 1\n    tf.print(n)", True),
    ],
)
def test_expressions_that_depend_on_the_turn(tmp_path, text, depends):
    module = load(tmp_path, f"{IMPORTS}{text}\n")
    (call,) = module.program.calls("tensorflow.print")
    assert (varies(call.arguments.nodes[0].value, call.scope) is not None) is depends


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("tf.print(1)", False),
        ("if a: tf.print(1)", True),
        ("a and tf.print(1)", False),
        ("tf.print(1) if a else 0", True),
        ("if __name__ == '__main__': tf.print(1)", False),
        ("def f(): tf.print(1)\nif a: f()", True),
        ("def f(debug=False):\n    if debug: tf.print(1)\nf(load())", True),
        ("def f(debug=False):\n    if debug: tf.print(1)\nf(True)", False),
        ("try: pass\nexcept E: tf.print(1)", True),
        ("match a:\n    case 1: tf.print(1)", True),
        ("for i in load(): tf.print(1)", False),
        ("with a: tf.print(1)", False),
    ],
)
def test_places_under_a_condition(tmp_path, text, guarded):
    (call,) = load(tmp_path, f"import tensorflow as tf\n{text}\n").program.calls("tensorflow.print")
    assert is_guarded(call.scope) is guarded


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("try:\n    mark()\nexcept ValueError: pass", True),
        # The program around it, as in try: app.run(main).
        ("def main(): mark()\ntry: main()\nexcept SystemExit: pass", False),
        ("mark()", False),
    ],
)
def test_what_is_expected_to_raise(tmp_path, code, expected):
    (call,) = load(tmp_path, "from z import mark\n" + code).program.calls("z.mark")
    assert is_expected_to_raise(call.scope) is expected


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
        ("", False),
    ],
)
def test_scripts_that_hide_the_gpus(tmp_path, text, pinned):
    assert load(tmp_path, f"import tensorflow as tf\n{text}\n").program.pins_cpu is pinned


def test_settings_in_an_imported_module_come_before_what_follows_the_import(tmp_path):
    setup = "import tensorflow as tf\nfor gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)\n"
    for order, late in ((("import setup\n", "x = tf.constant(1)\n"), False), (("x = tf.constant(1)\n", "import setup\n"), True)):
        folder = tmp_path / str(late)
        folder.mkdir()
        program = load(folder, {"train.py": "import tensorflow as tf\n" + "".join(order), "setup.py": setup}).program
        (growth,) = program.calls("tensorflow.config.experimental.set_memory_growth")
        assert (program.initialising_call(growth) is not None) is late


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
    ("before", "expected"),
    [
        ("tf.keras.mixed_precision.set_global_policy('mixed_float16')", "mixed_float16"),
        ("keras.mixed_precision.set_global_policy(keras.mixed_precision.Policy('mixed_bfloat16'))", "mixed_bfloat16"),
        ("keras.config.set_dtype_policy(policy='mixed_float16')", "mixed_float16"),
        ("def prepare(): keras.mixed_precision.set_global_policy('mixed_float16')\nprepare()", "mixed_float16"),
        ("if half: keras.mixed_precision.set_global_policy('mixed_float16')", None),
        ("keras.mixed_precision.set_global_policy('mixed_float16')\nkeras.mixed_precision.set_global_policy(name)", None),
        ("keras.mixed_precision.set_global_policy('mixed_float16')\nkeras.mixed_precision.set_global_policy('float32')", "float32"),
        ("keras.mixed_precision.set_global_policy('mixed_float16')\nkeras.backend.clear_session()", None),
        ("", None),
    ],
)
def test_the_policy_that_holds(tmp_path, before, expected):
    program = load(tmp_path, f"{IMPORTS}{before}\nkeras.layers.Dense(3)\n").program
    (layer,) = program.calls("keras.layers.Dense")
    assert program.policy_at(layer) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{policy}\ndef build(): return keras.layers.Dense(3)", "mixed_float16"),
        ("def build(): return keras.layers.Dense(3)\n{policy}\nbuild()", "mixed_float16"),
        ("def build(): return keras.layers.Dense(3)\n{policy}", None),
    ],
)
def test_a_function_that_nobody_calls_may_run_before_the_policy(tmp_path, text, expected):
    program = load(tmp_path, IMPORTS + text.format(policy="keras.config.set_dtype_policy('mixed_float16')")).program
    (layer,) = program.calls("keras.layers.Dense")
    assert program.policy_at(layer) == expected


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


def test_a_file_that_never_says_keras_has_no_generators_of_its(tmp_path):
    text = "import tensorflow as tf\nfrom mine import build\nbuild().fit_generator(1)\n"
    assert not list(load(tmp_path, text).program.model_calls("fit_generator"))
    assert list(load(tmp_path, text.replace("mine", "mine_of_keras")).program.model_calls("fit_generator"))


@pytest.mark.parametrize(
    ("called", "given"),
    [
        ("f(model, x)", "model"),
        ("f(x=x, model=model)", "model"),
        ("f(*parts)", None),
    ],
)
def test_a_parameter_varies_with_its_own_argument_only(tmp_path, called, given):
    text = f"def f(model, x):\n    return model.predict(x)\nfor x in load():\n    parts = model, x\n    {called}\n"
    module = load(tmp_path, MODEL + text)
    (call,) = (call for call in module.run.calls if call.attribute == "predict")
    assert varies(call.arguments.node(0, "x").value, call.scope) is not None
    assert (varies(call.node.func, call.scope) is None) is (given == "model")


def test_another_keras_may_be_chosen_by_an_imported_module(tmp_path):
    (tmp_path / "backend.py").write_text("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nfrom tensorflow import keras\n")
    assert load(tmp_path, "from backend import keras\n").program.chooses_legacy_keras
    assert not load(tmp_path, "from tensorflow import keras\n").program.chooses_legacy_keras


@pytest.mark.parametrize(
    ("line", "old"),
    [
        ("from keras.layers.core import Dense", True),
        ("from tensorflow.keras.layers.experimental import preprocessing", True),
        ("x = tf.keras.layers.experimental.preprocessing.Rescaling(1)", True),
        ("from keras import losses, objectives", True),
        ("from keras.layers import Dense, core", False),
        ("# from keras.layers.core import Dense", False),
    ],
)
def test_imports_that_only_old_keras_has(tmp_path, line, old):
    assert load(tmp_path, f"import tensorflow as tf\n{line}\n").program.imports_old_keras is old


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
def test_what_makes_layers(tmp_path, call, expected):
    assert any(map(makes_layer, load(tmp_path, IMPORTS + call).run.calls)) is expected
