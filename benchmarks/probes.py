"""Measures the overhead of the probes, and runs verify on two identical scripts.

    python benchmarks/probes.py [--rounds 6] [--budget 60]

The first part runs trainings that time their own steps and switch the probes off and on every hundred steps, because
processes of the same script differ by more than the overhead. Disabled probes still test one flag per step. The ratio
should be below 1.02. The second part gives verify the same script twice; the interval should contain 1.0 and be
narrower than +-5 %. Needs TensorFlow and an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from kerascheck.runtime.verify.budget import Budget
from kerascheck.runtime.verify.compare import compare
from kerascheck.runtime.verify.process import Plan, Script
from kerascheck.runtime.verify.rounds import run_alone
from kerascheck.runtime.verify.stats import speedup
from kerascheck.runtime.verify.variants import Variant

_DATA = """
import gc, os, time
import numpy as np
import tensorflow as tf
from tensorflow import keras
keras.utils.set_random_seed(1)
x, y = np.random.default_rng(0).random((8192, 128), dtype="float32"), np.random.default_rng(1).integers(0, 10, 8192)
model = keras.Sequential([keras.Input((128,)), keras.layers.Dense(WIDTH, "relu"), keras.layers.Dense(10)])
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(64).repeat().prefetch(2)
times = []
probes = [each for each in gc.get_objects() if type(each).__name__ == "Recorder"] if "STEP_TIMES" in os.environ else []
def tick():
    times.append(time.perf_counter())
    if len(times) % BLOCK == 0:
        for each in probes:
            each.disabled = not each.disabled
    if len(times) == STEPS and "STEP_TIMES" in os.environ:
        with open(os.environ["STEP_TIMES"], "w") as stream:
            stream.write(" ".join(map(repr, times)))
        os._exit(0)
"""
_FIT = """
class Clock(keras.callbacks.Callback):
    async_safe = True
    def on_train_batch_end(self, batch, logs=None):
        tick()
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, steps_per_epoch=STEPS, verbose=0, callbacks=[Clock()])
"""
_LOOP = """
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.01)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for x, y in ds.take(STEPS):
    step(x, y)
    tick()
"""
_BLOCK = 100
TRAININGS = {
    f"{name}, {size} steps": (_DATA + body)
    .replace("WIDTH", str(width))
    .replace("STEPS", str(steps))
    .replace("BLOCK", str(_BLOCK))
    for name, body in (("fit", _FIT), ("tf.function loop", _LOOP))
    for size, width, steps in (("short", 64, 6000), ("long", 2048, 1500))
}


def blocks(output: str) -> tuple[list[float], list[float]]:
    """Mean step times of alternating blocks of steps, with the probes on and off, without warm-up."""
    times = list(map(float, output.split()))[2 * _BLOCK - 1 :]
    means = [(times[i + _BLOCK] - times[i]) / _BLOCK for i in range(0, len(times) - _BLOCK, _BLOCK)]
    return means[::2], means[1::2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--budget", type=float, default=60.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for title, text in TRAININGS.items():
            path, times = Path(folder, "train.py"), Path(folder, "times")
            path.write_text(text)
            environment = {"STEP_TIMES": str(times), "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "0"}
            script = Script(str(path), {str(path): text}, directory=folder, environment=environment)
            # No block ends before the training does, so the probes only observe.
            plan = Plan(warmup_steps=5, block_steps=10**9, blocks=1)
            rounds = []
            for _ in range(arguments.rounds):
                run_alone(script, plan, start_limit=300, block_limit=300)
                rounds.append(blocks(times.read_text()))
                times.unlink()
            probed, plain = zip(*rounds)
            ratio = speedup(probed, plain)
            step = statistics.median(time for run in plain for time in run)
            print(
                f"{title} ({step * 1e3:.2f} ms): with probes x{ratio.value:.3f} [{ratio.low:.3f}-{ratio.high:.3f}]",
                flush=True,
            )
            script = Script(str(path), {str(path): text}, directory=folder, environment={"TF_CPP_MIN_LOG_LEVEL": "3"})
            (verdict,) = compare(
                script, [Variant("the same", {str(path): text + "\n"})], Budget(arguments.budget), ceilings=False
            ).verdicts
            same = verdict.ratio
            shown = f"x{same.value:.3f} [{same.low:.3f}-{same.high:.3f}] +-{same.width:.1%}" if same else ""
            print(f"  against itself: {verdict.status.value}: {verdict.reason} {shown}", flush=True)


if __name__ == "__main__":
    main()
