"""Small programs that tests write to a folder and load like a project."""

import textwrap

import libcst as cst

from kerascheck.interpreter.project import Project
from kerascheck.meaning.module import Module
from kerascheck.project.config import Settings
from kerascheck.source import read

IMPORTS = "import tensorflow as tf\nfrom tensorflow import keras\n"
MODEL = IMPORTS + "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"
TAPE = """\
with tf.GradientTape() as tape:
    loss = model(x)
opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
DATA = (
    MODEL
    + """\
def aug(x):
    return x + tf.random.uniform([])
base = tf.data.Dataset.range(100)
ds = base.map(aug).batch(2)
opt = keras.optimizers.Adam()
def step(x):
    with tf.GradientTape() as tape:
        loss = model(x)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
)


def step(name="step", parameters="x", indent=""):
    """A training step, with operations in a tape."""
    body = "".join(f"{indent}    {line}\n" for line in TAPE.splitlines())
    return f"{indent}def {name}({parameters}):\n{body}"


STEP = MODEL + "opt = keras.optimizers.Adam()\n" + step()
LOOP = "for x in load(): step(x)"


def load(folder, files, head="", **settings):
    """Write files to ``folder`` and load the first one as a module.

    Args:
        files: texts by name, or the text of a script.
        head: text before the text of the script.
    """
    files = {"train.py": head + textwrap.dedent(files)} if isinstance(files, str) else files
    # Marks the project root, so that modules above are ignored.
    (folder / ".git").mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return Project(Settings(**settings), read, Module).load(read(folder / next(iter(files))))


def sinks(module):
    """One "role: operations" for every consumer of a dataset.

    Operations have their last name, with "?" if they are not always applied.
    """
    found = []
    for sink, role in module.pipelines.sinks:
        names = [stage.name.rpartition(".")[2] + "?" * stage.maybe for stage in sink.stage.upstream()]
        found.append(f"{role}: {' '.join(reversed(names))}")
    return found


def roles(module, *names):
    """The roles of every operation of these names, in program order."""
    return [" ".join(sorted(op.roles)) for op in module.pipelines.operations(*names)]


def operation(module, name="map"):
    """The only operation of this name."""
    (found,) = module.pipelines.operations(name)
    return found


def written(module, node):
    """The text of a node."""
    start, end = module.tree.range_of(node)
    return module.text[start:end]


def shown(module):
    """The arguments of all calls of ``show``, an unknown function."""
    return [
        call.arguments.positional[0]
        for call in module.run.calls
        if isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Name) and call.node.func.value == "show"
    ]
