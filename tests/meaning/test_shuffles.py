"""Contents of shuffle buffers."""

import pytest
from snippets import IMPORTS, load, operation

from kerascheck.meaning.data.shuffles import (
    Unmixed,
    is_batched_again,
    shuffled_batches,
    shuffled_images,
    unmixed,
)

DECODE = "lambda p: tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(p)), (64, 32))"
FILES = "tf.data.Dataset.list_files('*.jpg')"


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ("tf.data.Dataset.range(9).batch(8).shuffle(3)", ["batch"]),
        ("tf.data.Dataset.range(9).batch(8).map(f).cache().shuffle(3)", ["batch", "examples"]),
        ("tf.data.Dataset.range(9).batch(8).unbatch().shuffle(3)", None),
        ("tf.data.Dataset.range(9).batch(1).shuffle(3)", None),
        ("tf.data.Dataset.zip((a.batch(8), a.padded_batch(8))).shuffle(3)", ["batch", "padded_batch", "examples"]),
        ("tf.data.Dataset.zip((a.batch(8), a)).shuffle(3)", None),
        (f"{FILES}.batch(8).shuffle(3)", ["batch", "files"]),
        ("tfds.load('a', shuffle_files=True).batch(8).shuffle(3)", ["batch", "by file"]),
        ("tf.data.Dataset.from_generator(f, tf.int32).batch(8).shuffle(3)", ["batch", "generated"]),
        ("tf.data.Dataset.range(9).batch(2).shuffle(3)", ["batch", "examples"]),
    ],
)
def test_shuffled_batches(tmp_path, chain, expected):
    head = "import tensorflow_datasets as tfds\na = tf.data.Dataset.range(9)\n"
    found = shuffled_batches(operation(load(tmp_path, IMPORTS + head + f"data = {chain}"), "shuffle"))
    facts = found and {
        "files": found.mixes_files,
        "by file": found.mixes_examples_by_file,
        "generated": found.are_generated,
        "examples": found.may_be_examples,
    }
    assert (found and [batch.name for batch in found.batches] + [key for key in facts if facts[key]]) == expected


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ("tf.data.Dataset.range(9).shuffle(3)", Unmixed.NO_BATCHES),
        ("tf.data.Dataset.range(9).batch(8).unbatch().shuffle(3)", Unmixed.NO_BATCHES),
        ("tf.data.Dataset.range(9).shuffle(9).batch(8).shuffle(3)", Unmixed.SHUFFLED_BEFORE),
        ("keras.utils.image_dataset_from_directory('a').shuffle(3)", Unmixed.SOURCE_BATCHES),
        ("tf.data.Dataset.range(9).batch(1).shuffle(3)", Unmixed.NOTHING_GAINED),
    ],
)
def test_why_a_shuffle_mixes_no_batches(tmp_path, chain, reason):
    ops = load(tmp_path, IMPORTS + f"data = {chain}").pipelines.operations("shuffle")
    assert unmixed([*ops][-1]) is reason


@pytest.mark.parametrize(("after", "again"), [("", False), (".map(f)", False), (".map(f).unbatch()", True)])
def test_batches_after_a_shuffle(tmp_path, after, again):
    module = load(tmp_path, IMPORTS + f"data = tf.data.Dataset.range(9).batch(8).shuffle(3){after}")
    assert is_batched_again(module, operation(module, "shuffle")) is again


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (f"{FILES}.map({DECODE}).shuffle(900)", (900, 2048, False, False)),
        (f"{FILES}.map({DECODE}).take(700).shuffle(900)", (900, 2048, False, True)),
        (f"{FILES}.map({DECODE}).take(70).shuffle(900)", None),
        (f"{FILES}.map({DECODE}).batch(8).shuffle(900)", None),
        (f"{FILES}.shuffle(900).map({DECODE})", None),
        (f"tf.data.Dataset.zip((a, {FILES}.map({DECODE}))).shuffle(900)", (900, 2048, True, False)),
        (f"{FILES}.map({DECODE}).shuffle(len(names))", (None, 2048, False, False)),
        (f"{FILES}.map({DECODE}).shuffle(a.cardinality())", (None, 2048, False, False)),
        (f"{FILES}.map({DECODE}).shuffle(BUFFER)", None),
    ],
)
def test_shuffled_images(tmp_path, chain, expected):
    module = load(tmp_path, IMPORTS + f"a = tf.data.Dataset.range(9)\ndata = {chain}")
    found = list(shuffled_images(operation(module, "shuffle"), many=500))
    assert [(each.count, each.pixels, each.is_joined, each.is_cut) for each in found] == (
        [expected] if expected else []
    )
