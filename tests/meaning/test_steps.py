"""Hand-written training steps."""

import textwrap

import pytest
from snippets import IMPORTS, LOOP, MODEL, STEP, TAPE, load, step, written

from kerascheck.meaning.training.steps import eager_steps

METHOD = step("step", "self, x", "    ")


def found(module):
    """The first word after ``def`` of every eager step; "with" for steps written in a loop."""
    return [one.node.name.value if one.is_function else "with" for one in eager_steps(module)]


@pytest.mark.parametrize(
    ("under", "beside", "steps"),
    [
        ("pass", "pass", ["with"]),
        # Logs, which can leave the step, and the environment of the process.
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
def test_steps_in_an_environment(tmp_path, under, beside, steps):
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
        # Another tape before, and a loop over optimizers after its own.
        (
            TAPE
            + f"for x in load():\n{textwrap.indent(TAPE, '    ').replace('    opt.', '    for opt in (a, opt): opt.')}",
            ["with"],
        ),
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
        (
            "import functools\ndef log(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\nstep = log(step)\nfor x in load(): step(x)",
            ["step"],
        ),
        # A few iterations, an inspection, no loop.
        ("step(load())", []),
        ("for i in range(10): step(load())", []),
        ("for i in range(2):\n    for j in range(4): step(load())", []),
        ("for i in range(4):\n    for j in range(4): step(load())", ["step"]),
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
        # The same name compiled: a comparison in one place, a method of another class in the other.
        (f"{LOOP}\n@tf.function\ndef step(x): return update(x)", []),
        (f"{LOOP}\nclass Other:\n    @tf.function\n    def step(self, x): return update(x)", ["step"]),
        ("run = tf.function(step) if args.graph else step\nfor x in load(): run(x)", []),
        ("run = step\nif not args.eager: run = tf.function(run)\nfor x in load(): run(x)", []),
        (f"try:\n    step = tf.function(step)\nexcept Exception: pass\n{LOOP}", []),
        ("@tf.function\ndef outer(x): return step(x)\nfor x in load(): outer(x)", []),
        (
            "def train(data):\n    @tf.function\n    def one(x): return step(x)\n    for x in data: one(x)\ntrain(load())",
            [],
        ),
        ("@tf.function\ndef epoch(data):\n    for x in data: step(x)\nfor e in range(99): epoch(load())", []),
        ("f = tf.function(lambda x: step(x))\nfor x in load(): f(x)", []),
        ("steps = {'a': tf.function(step)}\nfor x in load(): steps['a'](x)", []),
        (
            "s = tf.distribute.MirroredStrategy()\n@tf.function\ndef go(x): s.run(step, args=(x,))\nfor x in load(): go(x)",
            [],
        ),
        ("s = tf.distribute.MirroredStrategy()\nstep = tf.function(step)\nfor x in load(): s.run(step, args=(x,))", []),
        (f"fast = tf.function(step)\nfast(0)\n{LOOP}", []),
        ("import jax\nstep = jax.jit(step)\nfor x in load(): step(x)", []),
        # Its use is not visible.
        ("from runner import run\nrun(step, load())", []),
        (f"from runner import compiled\nstep = compiled(step)\n{LOOP}", []),
        # Games run in Python anyway.
        ("import gym\nenv = gym.make('x')\nwhile True:\n    x = env.step(1)\n    step(x)", ["step"]),
        (
            "import gym\nenv = gym.make('x')\nwhile True:\n    x = env.step(1)\n    with tf.GradientTape() as tape: loss = model(x)\n    opt.apply_gradients(zip(tape.gradient(loss, v), v))",
            [],
        ),
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


INLINE = (
    "for x in load():\n    loss, grads = gradients(x)\n    opt.apply_gradients(zip(grads, model.trainable_variables))\n"
)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (INLINE, ["loss, grads = gradients(x)"]),
        ("for x in load(): train(x)", ["train"]),
        (
            f"with tf.GradientTape() as tape: loss = model(load())\nprint(tape.gradient(loss, v))\n{INLINE}",
            ["loss, grads = gradients(x)"],
        ),
        (
            "for i in range(9):\n    loss, grads = gradients(load())\n    opt.apply_gradients(zip(grads, model.trainable_variables))",
            [],
        ),
        (f"gradients = tf.function(gradients)\n{INLINE}", []),
        (f"fast = tf.function(gradients)\n{INLINE}", []),
        (f"from runner import compiled\ngradients = compiled(gradients)\n{INLINE}", []),
        ("train = tf.function(train)\nfor x in load(): train(x)", []),
        # Optimizers of other libraries have apply_gradients, too.
        ("import tensorflow_addons as tfa\nopt = tfa.optimizers.AdamW(1e-4)\nfor x in load(): train(x)", ["train"]),
        ("import tensorflow.compat.v1 as tf\nopt = tf.train.AdamOptimizer()\nfor x in load(): train(x)", ["train"]),
        # The gradients of the update come from elsewhere: a tape of the iteration is compiled.
        (
            "@tf.function\ndef other(x):\n    with tf.GradientTape() as tape: loss = model(x)\n    return tape.gradient(loss, v)\nfor x in load():\n    gradients(x)\n    opt.apply_gradients(zip(other(x), v))",
            [],
        ),
        # An earlier loop inspects the gradients.
        ("for x in load(): print(gradients(x))\nfor x in load(): opt.apply_gradients(zip(elsewhere(x), v))", []),
    ],
)
def test_steps_whose_tape_is_in_a_function_of_its_own(tmp_path, text, steps):
    module = load(tmp_path, f"{MODEL}{GRADIENTS}{text}\n")
    assert [
        one.node.name.value if one.is_function else written(module, one.node) for one in eager_steps(module)
    ] == steps


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
        (
            f"class T:\n    @tf.function\n{METHOD}    def train(self):\n        for x in load(): self.step(x)\nT().train()",
            [],
        ),
        (
            f"class T:\n    def __init__(self):\n        self.f = tf.function(self.step)\n{METHOD}    def train(self):\n        for x in load(): self.f(x)\nT().train()",
            [],
        ),
        (
            f"class T:\n    def __init__(self, graph):\n        if graph:\n            self.step = tf.function(self.step)\n{METHOD}    def train(self):\n        for x in load(): self.step(x)\nT(load()).train()",
            [],
        ),
        (
            f"class T:\n{METHOD}    def train(self):\n        for x in load(): self.step(x)\n    def compile(self):\n        self.step = tf.function(self.step)",
            [],
        ),
        (
            f"class B:\n    def train(self):\n        for x in load(): self.step(x)\nclass T(B):\n    @tf.function\n{METHOD}T().train()",
            [],
        ),
        (
            f"class B:\n    def __init__(self):\n        self.f = self.wrap(self.step)\n    def wrap(self, f): return tf.function(f)\n    def train(self):\n        for x in load(): self.f(x)\nclass T(B):\n{METHOD}T().train()",
            [],
        ),
        (
            f"class T:\n    @property\n    def fast(self):\n        return tf.function(self.step)\n{METHOD}    def train(self):\n        for x in load(): self.fast(x)\nT().train()",
            [],
        ),
        (
            f"class M(keras.Model):\n{METHOD.replace('step(', 'train_step(', 1)}m = M()\nm.compile('adam')\nfor e in range(99): m.fit(load())",
            [],
        ),
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
def test_steps_inside_their_loop(tmp_path, around, steps):
    inner = "".join(f"      {line}\n" for line in TAPE.splitlines())
    assert found(load(tmp_path, f"{MODEL}opt = keras.optimizers.Adam()\n{around}\n{inner}")) == steps


def test_a_compiled_step_of_another_module(tmp_path):
    steps = (
        f"{IMPORTS}opt = keras.optimizers.Adam()\n@tf.function\n{step('step', 'model, x')}{step('slow', 'model, x')}"
    )
    script = f"{MODEL}from steps import slow, step\nfor x in load(): step(model, x)\nfor x in load(): slow(model, x)\n"
    assert found(load(tmp_path, {"train.py": script, "steps.py": steps})) == ["slow"]
