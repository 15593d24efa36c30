"""Train on compressed shards that are mixed by interleave."""

import os
import tempfile

import keras
import numpy as np
from keras import layers
from tensorflow import data as tfd
from tensorflow import io as tfio
from tensorflow import strings

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

SIDE = 32
PIXELS = SIDE * SIDE * 3
SHARDS = 8


def write_shards(folder, per_shard):
    options = tfio.TFRecordOptions(compression_type="GZIP", compression_level=1)
    for shard in range(SHARDS):
        labels = rng.integers(0, 2, size=per_shard)
        images = rng.integers(0, 32, size=(per_shard, PIXELS), dtype=np.uint8)
        with tfio.TFRecordWriter(os.path.join(folder, f"{shard:02}.gz"), options) as writer:
            for label, image in zip(labels, images):
                writer.write(bytes([label]) + image.tobytes())


def decode(record):
    label = tfio.decode_raw(strings.substr(record, 0, 1), "uint8")
    image = tfio.decode_raw(strings.substr(record, 1, PIXELS), "uint8")
    return keras.ops.reshape(image, (SIDE, SIDE, 3)), label[0]


class Shards:
    """The files of one split."""

    def __init__(self, folder):
        self.files = tfd.Dataset.list_files(os.path.join(folder, "*.gz"), shuffle=False)

    def read(self, path):
        return tfd.TFRecordDataset(path, compression_type="GZIP").map(decode)

    def batches(self):
        mixed = self.files.interleave(self.read, cycle_length=4, block_length=16, num_parallel_calls=tfd.AUTOTUNE)
        return mixed.batch(64).prefetch(tfd.AUTOTUNE)


def read_compressed(path):
    return tfd.TFRecordDataset(path, compression_type="GZIP")


def all_records(pattern):
    return (
        tfd.Dataset.list_files(pattern, shuffle=False)
        .shuffle(SHARDS, seed=2)
        .interleave(read_compressed, cycle_length=SHARDS, deterministic=True, num_parallel_calls=tfd.AUTOTUNE)
        .batch(64)
        .map(lambda records: tfio.decode_raw(records, "uint8", fixed_length=PIXELS + 1))
        .map(lambda values: (values[:, 1:], values[:, 0]))
        .prefetch(1)
    )


def classifier(shape):
    model = keras.Sequential(
        [keras.Input(shape), layers.Rescaling(1 / 32), layers.Flatten(), layers.Dense(1, activation="sigmoid")]
    )
    model.compile(optimizer="sgd", loss="binary_crossentropy")
    return model


with tempfile.TemporaryDirectory() as folder:
    write_shards(folder, per_shard=250)
    pattern = os.path.join(folder, "*.gz")

    images = classifier((SIDE, SIDE, 3)).fit(Shards(folder).batches(), epochs=4, verbose=0)
    rows = classifier((PIXELS,)).fit(all_records(pattern), epochs=4, verbose=0)

    files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    dataset = tfd.Dataset.from_tensor_slices(files)
    dataset = dataset.interleave(lambda path: read_compressed(path).map(decode), 2, num_parallel_calls=tfd.AUTOTUNE)
    pairs = classifier((SIDE, SIDE, 3)).fit(dataset.batch(64).prefetch(1), epochs=4, verbose=0)

print("loss:", sum(history.history["loss"][-1] for history in (images, rows, pairs)))
