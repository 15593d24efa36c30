"""Callbacks in every batch of training."""

import pytest
from snippets import MODEL, load

from kerascheck.meaning.training.callbacks import (
    calls_of_every_batch,
    frequent_saves,
    may_act_on_batches,
    needless_recordings,
)

CALLBACK = MODEL + "class Watch(keras.callbacks.Callback):\n"


def attributes(module):
    return [call.attribute for call, _ in calls_of_every_batch(module, module.run.calls) if call.attribute]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALLBACK + "    def on_train_batch_end(self, b, logs=None): self.model.evaluate(x)", ["evaluate"]),
        (CALLBACK + "    def on_batch_begin(self, b, logs): model.predict(x)", ["predict"]),
        (CALLBACK.replace("Callback)", "EarlyStopping)") + "    def on_batch_end(self, b, logs): self.model.save('m.keras')", ["save"]),
        (CALLBACK + "    def show(self): self.model.predict(x)\n    def on_batch_end(self, b, logs): self.show()", ["predict"]),
        (CALLBACK + "    def on_batch_end(self, b, logs):\n        for x in data: self.model.predict(x)", ["predict"]),
        (CALLBACK + "    def on_batch_end(self, b, logs):\n        with open('log') as f: self.model.predict(x)", ["predict"]),
        (MODEL + "from tensorflow.keras.callbacks import Callback as C\nclass Base(C): pass\nclass W(Base):\n    def on_batch_end(self, b, logs): model.predict(x)", ["predict"]),
        (MODEL + "cb = keras.callbacks.LambdaCallback(on_batch_end=lambda b, logs: model.predict(x))", ["predict"]),
        (MODEL + "def after(b, logs): model.predict(x)\ncb = keras.callbacks.LambdaCallback(on_train_batch_end=after)", ["predict"]),
        # In some batches only.
        (CALLBACK + "    def on_batch_end(self, b, logs):\n        if b % 100 == 0: self.model.predict(x)", []),
        (CALLBACK + "    def on_batch_end(self, b, logs):\n        if b % 100: return\n        self.model.predict(x)", []),
        (CALLBACK + "    def on_batch_end(self, b, logs):\n        for x in data:\n            if x.used: continue\n            self.model.predict(x)", []),
        (CALLBACK + "    def show(self, b):\n        if b % 100: return\n        self.model.predict(x)\n    def on_batch_end(self, b, logs): self.show(b)", []),
        (CALLBACK + "    def on_batch_end(self, b, logs):\n        return self.model.predict(x) if b % 100 == 0 else None", []),
        (CALLBACK + "    def on_batch_end(self, b, logs): b % 100 == 0 and self.model.predict(x)", []),
        (CALLBACK + "    def on_batch_end(self, b, logs):\n        while self.waiting: self.model.predict(self.waiting.pop())", []),
        # Other hooks, other classes.
        (CALLBACK + "    def on_epoch_end(self, e, logs): self.model.predict(x)", []),
        (CALLBACK + "    def on_test_batch_end(self, b, logs): self.model.predict(x)", []),
        (MODEL + "class W:\n    def on_batch_end(self, b, logs): model.predict(x)", []),
        (MODEL + "cb = keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: model.predict(x))", []),
    ],
)  # fmt: skip
def test_calls_of_every_batch(tmp_path, text, expected):
    assert attributes(load(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("callbacks", "expected"),
    [
        ("None", False),
        ("[]", False),
        ("[keras.callbacks.EarlyStopping(), keras.callbacks.TensorBoard('logs')]", False),
        ("[keras.callbacks.ModelCheckpoint('m.keras', save_freq='epoch')]", False),
        ("[OfEpochs()]", False),
        ("[keras.callbacks.ModelCheckpoint('m.keras', save_freq=10)]", True),
        ("[keras.callbacks.TensorBoard('logs', update_freq=n)]", True),
        ("[keras.callbacks.TerminateOnNaN()]", True),
        ("[keras.callbacks.LambdaCallback(on_batch_end=f)]", True),
        ("[OfBatches()]", True),
        ("[Foreign()]", True),
        ("[keras.callbacks.EarlyStopping(), own]", True),
        ("make()", True),
    ],
)
def test_callbacks_on_batches(tmp_path, callbacks, expected):
    classes = (
        "class OfEpochs(keras.callbacks.Callback):\n    def on_epoch_end(self, e, logs): pass\n"
        "class OfBatches(keras.callbacks.Callback):\n    def on_train_batch_end(self, b, logs): pass\n"
        "class Foreign(WandbCallback): pass\n"
    )
    module = load(
        tmp_path, f"{MODEL}from wandb.keras import WandbCallback\n{classes}model.fit(x, y, callbacks={callbacks})\n"
    )
    (fit,) = module.program.model_calls("fit")
    assert may_act_on_batches(fit) is expected


@pytest.mark.parametrize(
    ("arguments", "saved"),
    [
        ("'a', save_freq=5", (5, None)),
        ("'a', save_freq=20", None),
        ("'a', save_freq='epoch'", None),
        ("'a', save_freq=5, save_best_only=False", (5, None)),
        ("'a', save_freq=5, save_best_only=True", (5, "val_loss")),
        ("'a', save_freq=5, save_best_only=True, monitor='val_acc'", (5, "val_acc")),
        ("'a', save_freq=5, save_best_only=True, monitor='loss'", None),
        ("'a', save_freq=5, save_best_only=best", None),
    ],
)
def test_frequent_saves(tmp_path, arguments, saved):
    module = load(tmp_path, MODEL + f"model.fit(x, y, callbacks=[keras.callbacks.ModelCheckpoint({arguments})])")
    assert [(each.batches, each.missed) for each in frequent_saves(module, 20)] == ([saved] if saved else [])


@pytest.mark.parametrize(
    ("before", "arguments", "recorded"),
    [
        ("", "histogram_freq=1", ["histogram_freq"]),
        ("", "histogram_freq=2, write_images=True", ["write_images"]),
        ("", "update_freq='batch', profile_batch=(2, 90)", ["update_freq", "profile_batch"]),
        ("", "update_freq=100", []),
        ("if args.debug: ", "histogram_freq=1", []),
        ("if args.board: ", "histogram_freq=1", ["histogram_freq"]),
        ("import wandb\nwandb.init(sync_tensorboard=True)\n", "histogram_freq=1", []),
    ],
)
def test_needless_recordings_of_tensorboard(tmp_path, before, arguments, recorded):
    text = f"callbacks = []\n{before}callbacks.append(keras.callbacks.TensorBoard('a', {arguments}))\n"
    module = load(tmp_path, MODEL + text + "model.fit(x, y, callbacks=callbacks)")
    assert [argument for _, argument in needless_recordings(module)] == recorded


def test_an_unused_callback_records_nothing(tmp_path):
    module = load(tmp_path, MODEL + "keras.callbacks.TensorBoard('a', histogram_freq=1)\nmodel.fit(x, y)")
    assert list(needless_recordings(module)) == []
