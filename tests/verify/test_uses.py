"""Lines that a training uses, in scripts that do not run."""

import textwrap

import pytest

from kerascheck.runtime.verify.messages import Frame
from kerascheck.runtime.verify.uses import lines_used


def used(text, *stack, everything_before=False, others=None):
    """The used lines without surrounding blanks; ``stack`` identifies frames by a part of their line."""
    text = textwrap.dedent(text).lstrip("\n")
    sources = {"/p/train.py": text} | {
        f"/p/{name}": textwrap.dedent(other).lstrip("\n") for name, other in (others or {}).items()
    }
    frames = []
    for part in stack:
        line = text[: text.index(part)].count("\n") + 1
        head = text.splitlines()[:line]
        start = next(
            (
                n
                for n in range(line, 0, -1)
                if head[n - 1].lstrip().startswith("def ") and _indent(head[n - 1]) < _indent(head[line - 1])
            ),
            0,
        )
        frames.append(Frame("/p/train.py", line, start))
    spans = lines_used(sources, frames, everything_before=everything_before)
    lines = {path: source.splitlines() for path, source in sources.items()}
    return {lines[path][number - 1].strip() for path, first, last in spans for number in range(first, last + 1)} - {""}


def _indent(line):
    return len(line) - len(line.lstrip())


TWO = """
    import keras
    import tensorflow as tf

    tf.config.run_functions_eagerly(False)

    def augment(x):
        return scale(x)

    def scale(x):
        return x * 2

    def dead(x):
        return x

    first = keras.Sequential()
    first.compile("sgd")
    plain = tf.data.Dataset.range(3)
    first.fit(plain)
    second = keras.Sequential()
    second.compile("sgd", run_eagerly=True)
    mapped = tf.data.Dataset.range(3)
    mapped = mapped.map(augment)
    second.fit(mapped)
    second.predict(plain)
"""


def test_each_training_uses_its_own_model_and_data():
    assert used(TWO, "first.fit") == {
        "tf.config.run_functions_eagerly(False)", "first = keras.Sequential()", 'first.compile("sgd")',
        "plain = tf.data.Dataset.range(3)", "first.fit(plain)",
    }  # fmt: skip
    assert used(TWO, "second.fit") == {
        "tf.config.run_functions_eagerly(False)", "second = keras.Sequential()", 'second.compile("sgd", run_eagerly=True)',
        "mapped = tf.data.Dataset.range(3)", "mapped = mapped.map(augment)", "second.fit(mapped)",
        "def augment(x):", "return scale(x)", "def scale(x):", "return x * 2",
    }  # fmt: skip


def test_trainings_in_one_function_are_separated():
    main = (
        "import keras\n\ndef main():\n"
        + textwrap.indent(textwrap.dedent(TWO).split("return x\n\n")[1], "    ")
        + "\nmain()\n"
    )
    assert 'second.compile("sgd", run_eagerly=True)' not in used(main, "first.fit", "main()\n")
    found = used(main, "second.fit", "\nmain()\n"[1:])
    assert 'second.compile("sgd", run_eagerly=True)' in found and 'first.compile("sgd")' not in found


def test_a_reassigned_name_has_its_last_value():
    text = """
        import keras
        model = keras.Sequential()
        model.compile("sgd")
        model.fit(x)
        model = keras.Sequential()
        model.compile("adam")
        model.trainable = False
        if quick:
            model.build()
        model.fit(y)
    """
    assert used(text, "model.fit(x)") == {"model = keras.Sequential()", 'model.compile("sgd")', "model.fit(x)"}
    found = used(text, "model.fit(y)")
    assert 'model.compile("adam")' in found and 'model.compile("sgd")' not in found
    assert {"if quick:", "model.build()", "model.trainable = False"} <= found


def test_a_conditional_assignment_does_not_hide_the_earlier_one():
    text = "import keras\nmodel = keras.Sequential()\nif large:\n    model = keras.Sequential([1])\nmodel.fit(x)\n"
    assert used(text, "model.fit") == set(
        text.splitlines()[1:2] + ["if large:", "model = keras.Sequential([1])", "model.fit(x)"]
    )


def test_a_single_training_uses_all_lines_before_it_and_none_after():
    found = used(TWO, "second.fit", everything_before=True)
    assert {'first.compile("sgd")', "def augment(x):"} <= found
    assert not {"def dead(x):", "second.predict(plain)"} & found


LOOP = """
    import tensorflow as tf

    class Net(tf.keras.Model):
        def call(self, x):
            return block(x)

    def block(x):
        return x

    def step(model, x):
        optimizer.apply_gradients(helper(x))

    def helper(x):
        return x

    def train(model, data):
        unused = 1
        rows = data.batch(2)
        for epoch in range(3):
            for x in rows:
                step(model, x)
            print(epoch)

    optimizer = tf.keras.optimizers.SGD()
    optimizer.build([])
    net, other = Net(), 3
    train(net, tf.data.Dataset.range(3).map(block))
"""


def test_a_loop_uses_its_whole_body_and_its_callees():
    found = used(LOOP, "optimizer.apply", "step(model, x)\n    ", "train(net")
    assert {"print(epoch)", "rows = data.batch(2)", "def helper(x):", "def block(x):", "net, other = Net(), 3"} <= found
    assert {"optimizer = tf.keras.optimizers.SGD()", "optimizer.build([])", "class Net(tf.keras.Model):"} <= found
    assert "unused = 1" not in found


def test_a_function_includes_the_comments_above_it():
    found = used(
        LOOP.replace("    def helper", "    # what helps\n    def helper"),
        "optimizer.apply",
        "step(model, x)\n    ",
        "train(net",
    )
    assert "# what helps" in found


def test_attributes_are_followed_through_the_methods_of_a_class():
    text = """
        import keras

        class Trainer:
            def __init__(self):
                self.small = self.make()
                self.small.compile("sgd")
                model = keras.Sequential()
                model.compile("sgd", run_eagerly=True)
                self.large = model

            def make(self):
                return keras.Sequential([1])

            def pretrain(self, x):
                self.small.fit(x)

            def finetune(self, x):
                self.large.fit(x)

        trainer = Trainer()
        trainer.pretrain(1)
        trainer.finetune(2)
    """
    found = used(text, "self.small.fit", "trainer.pretrain")
    assert {'self.small.compile("sgd")', "return keras.Sequential([1])", "trainer = Trainer()"} <= found
    assert not {'model.compile("sgd", run_eagerly=True)', "self.large.fit(x)"} & found
    found = used(text, "self.large.fit", "trainer.finetune")
    assert {
        "self.large = model",
        'model.compile("sgd", run_eagerly=True)',
    } <= found and 'self.small.compile("sgd")' not in found


def test_modules_of_the_script_are_followed():
    others = {
        "lib/data.py": "import tensorflow as tf\nSIZE = 3\ndef make():\n    return tf.data.Dataset.range(SIZE)\ndef other():\n    return 1\n",
        "lib/__init__.py": "",
        "nets.py": "def build():\n    return 2\n",
    }
    text = "from lib.data import make as made\nimport nets\ndata = made()\nmodel = nets.build()\nmodel.fit(data)\n"
    found = used(text, "model.fit", others=others)
    assert {"return tf.data.Dataset.range(SIZE)", "SIZE = 3", "def build():"} <= found and "def other():" not in found


def test_validation_is_not_run():
    text = "train = make()\nval = make()\nmodel.fit(train, validation_data=val)\n"
    assert used(text, "model.fit") == {"train = make()", "model.fit(train, validation_data=val)"}


def test_process_wide_settings_concern_every_training_after_them():
    text = """
        import os
        import keras

        def setup():
            keras.config.set_floatx("float64")

        def other():
            model.fit(z)

        os.environ["X"] = "1"
        setup()
        model = keras.Sequential()
        for gpu in keras.gpus():
            keras.grow(gpu)
        other()
        model.fit(x)
        keras.later()
    """
    found = used(text, "model.fit(x)")
    assert {
        'os.environ["X"] = "1"',
        "setup()",
        'keras.config.set_floatx("float64")',
        "keras.grow(gpu)",
        "for gpu in keras.gpus():",
    } <= found
    assert not {"other()", "keras.later()", "model.fit(z)"} & found


@pytest.mark.parametrize("text", ["def f(:", "\0", "x = " + "(" * 300 + ")" * 300])
def test_unparsable_files_are_ignored(text):
    assert lines_used({"/p/train.py": text}, [Frame("/p/train.py", 1, 0)]) == []


def test_a_stack_in_other_files_uses_no_lines():
    assert lines_used({"/p/train.py": "x = 1"}, [Frame("/elsewhere.py", 1, 0), Frame("/p/train.py", 99, 0)]) == []


def test_a_long_chain_of_calls_is_followed_as_far_as_possible():
    text = "".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(3000)) + "model.fit(f0())\n"
    spans = lines_used({"/p/train.py": text}, [Frame("/p/train.py", 6001, 0)])
    assert ("/p/train.py", 6001, 6001) in spans and ("/p/train.py", 1, 2) in spans
